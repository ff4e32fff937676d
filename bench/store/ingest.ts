/** Races of transactions being ingested, and their course. */
import type { Sheet } from '../case.ts'
import type { Contestant } from './contestant.ts'
import { allMemory, ownMemory } from './memory.ts'

interface Mark {
  /** Transactions ingested so far. */
  readonly transactions: number
  /** Transactions a second, since the mark before. */
  readonly rate: number
  readonly bytes: number
  /** Of the process that runs everything but the Redis servers. */
  readonly ownMemory: number
  readonly allMemory: number
}

/** The course of one contestant. */
export class Course {
  readonly #contestant: Contestant
  readonly #slice: number
  readonly #total: number
  readonly marks: Mark[] = []

  constructor(contestant: Contestant, slice: number, total: number) {
    this.#contestant = contestant
    this.#slice = slice
    this.#total = total
  }

  get #taken(): number {
    return this.marks.at(-1)?.transactions ?? 0
  }

  /** Ingests one slice. */
  async next(): Promise<number> {
    const begin = performance.now()
    await this.#contestant.take(this.#taken, this.#slice)
    const rate = this.#slice / ((performance.now() - begin) / 1000)
    const transactions = this.#taken + this.#slice
    const bytes = await this.#contestant.bytes()
    this.marks.push({ transactions, rate, bytes, ownMemory: ownMemory(), allMemory: allMemory() })
    if (transactions === this.#total) await this.#verify()
    return transactions
  }

  /** The rate over the last tenth of the transactions, or over the slice that contains it. */
  rateAt(transactions: number): number {
    const last = this.marks.filter((mark, i) => {
      const begin = this.marks[i - 1]?.transactions ?? 0
      return begin < transactions && mark.transactions > transactions * 0.9
    })
    return last.length / last.reduce((sum, { rate }) => sum + 1 / rate, 0)
  }

  bytesAt(transactions: number): number {
    const mark = this.marks.find(each => each.transactions >= transactions)!
    return mark.bytes / mark.transactions
  }

  /** The most memory in one half of the run. */
  memoryIn(half: 'first' | 'second'): number {
    const middle = Math.ceil(this.marks.length / 2)
    const marks = half === 'first' ? this.marks.slice(0, middle) : this.marks.slice(-middle)
    return Math.max(...marks.map(mark => mark.ownMemory))
  }

  async #verify(): Promise<void> {
    const found = await this.#contestant.transactions()
    if (found !== this.#total) throw new Error(`${found} transactions were taken in, not ${this.#total}`)
  }
}

const LINES = 10

/** At most ten lines, each for as many marks. */
export const courseSheet = (courses: ReadonlyMap<string, Course>): Sheet => {
  const [first] = courses.values()
  const step = Math.ceil(first!.marks.length / LINES)
  const ends = first!.marks.map((_, i) => i).filter(i => i % step === step - 1)
  const names = [...courses.keys()]
  return {
    columns: [
      'transactions',
      ...names.map(name => `${name} tx/s`),
      ...names.map(name => `${name} B/tx`),
      'own MB',
      'with mapped files MB'
    ],
    rows: ends.map(end => {
      const each = [...courses.values()]
      const marks = each.map(({ marks }) => marks[end]!)
      return [
        marks[0]!.transactions,
        ...each.map(course => {
          const rates = course.marks.slice(end - step + 1, end + 1).map(({ rate }) => rate)
          return Math.round(rates.length / rates.reduce((sum, rate) => sum + 1 / rate, 0))
        }),
        ...marks.map(({ bytes, transactions }) => Math.round(bytes / transactions)),
        Math.round(marks[0]!.ownMemory),
        Math.round(marks[0]!.allMemory)
      ]
    })
  }
}
