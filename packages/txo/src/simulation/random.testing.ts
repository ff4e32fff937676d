/** Choices that follow from a seed: a counter whose values are mixed as in MurmurHash3. */
export class Random {
  #counter: number

  constructor(seed: number) {
    this.#counter = mixed(seed)
  }

  /** From 0 to below 1. */
  #next(): number {
    this.#counter = (this.#counter + 0x9e3779b9) >>> 0
    return mixed(this.#counter) / 0x100000000
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#next() * (most - least + 1))
  }

  chance(probability: number): boolean {
    return this.#next() < probability
  }

  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    return list[this.between(0, list.length - 1)]!
  }

  /** So many different ones, or all if there are fewer, in any order. */
  some<T>(list: readonly T[], count: number): T[] {
    const rest = [...list]
    const chosen: T[] = []
    while (chosen.length < count && rest.length > 0) {
      chosen.push(...rest.splice(this.between(0, rest.length - 1), 1))
    }
    return chosen
  }

  /** One of them, as likely as its weight says. */
  weighted<T>(choices: readonly (readonly [weight: number, choice: T])[]): T {
    let rest = this.#next() * choices.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, choice] of choices) {
      rest -= weight
      if (rest < 0) return choice
    }
    return choices.at(-1)![1]
  }

  /** A generator of its own, for something whose number of choices must not matter to others. */
  fork(): Random {
    return new Random(this.between(0, 0xffffffff))
  }
}

const mixed = (number: number): number => {
  let bits = number >>> 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
