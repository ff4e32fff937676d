/**
 * A key layout as an automaton: the automata of its parts, concatenated. A state belongs to one part, so a run over a
 * key assigns each byte to a part, and two runs over one key are two readings. Every state is live: any prefix that
 * has been read can be completed.
 */
import { QuoinError, toHex } from '@quoin/primitives'
import type { Component } from './codec.ts'
import { ByteSet } from './language/byteset.ts'
import { type Edge, Language } from './language/language.ts'

export type Part =
  | { readonly kind: 'literal'; readonly bytes: Uint8Array; readonly language: Language }
  | { readonly kind: 'component'; readonly component: Component; readonly language: Language }

/** One byte of a run, and the state after it. */
interface Step {
  readonly byte: number
  readonly state: number
}

export type Run = readonly Step[]

/** A key with the components of one run over it. */
export interface ParsedKey {
  readonly key: Uint8Array
  readonly spans: readonly Span[]
}

export interface Span {
  readonly part: Part
  readonly start: number
  readonly end: number
}

/** The offset at which bytes leave the layout. */
export interface Departure {
  readonly offset: number
  /** The bytes that may stand there. */
  readonly expected: ByteSet
  /** Whether a key may end there. */
  readonly mayEnd: boolean
  /** The parts that may continue there. */
  readonly parts: readonly Part[]
}

interface Graph {
  readonly moves: readonly (readonly Edge[])[]
  readonly accepting: readonly boolean[]
  readonly rest: readonly number[]
  /** The part of each state, and the first state of each part. */
  readonly part: readonly number[]
  readonly first: readonly number[]
}

export class Layout {
  readonly parts: readonly Part[]
  #built: Graph | undefined

  constructor(parts: readonly Part[]) {
    this.parts = parts
  }

  /** Built on first use: most keys are written and read without it. */
  get #graph(): Graph {
    this.#built ??= graphOf(this.parts)
    return this.#built
  }

  /** The moves of each state: within its part, and into the parts that may follow it. */
  get moves(): readonly (readonly Edge[])[] {
    return this.#graph.moves
  }

  get accepting(): readonly boolean[] {
    return this.#graph.accepting
  }

  /** The least number of bytes that complete a key from each state. */
  get rest(): readonly number[] {
    return this.#graph.rest
  }

  /** The number of states; state 0 is the start. */
  get size(): number {
    return this.#graph.part.length
  }

  partOf(state: number): number {
    return this.#graph.part[state]!
  }

  /** The state within its part. */
  local(state: number): number {
    return state - this.#graph.first[this.#graph.part[state]!]!
  }

  /** The literal that all keys begin with; empty when a component is first. */
  get lead(): Uint8Array {
    const [first] = this.parts
    return first?.kind === 'literal' ? first.bytes : NO_BYTES
  }

  get minLength(): number {
    return this.parts.reduce((sum, part) => sum + part.language.minLength, 0)
  }

  get maxLength(): number {
    return this.parts.reduce((sum, part) => sum + part.language.maxLength, 0)
  }

  /** Whether the bytes so far can be exactly the first `count` parts. */
  endsPrefix(state: number, count: number): boolean {
    const at = this.#graph.part[state]!
    if (at >= count) return count === 0 && state === 0
    if (!this.parts[at]!.language.accepting[this.local(state)]) return false
    return this.parts.slice(at + 1, count).every(part => part.language.acceptsEmpty)
  }

  /** The shortest completion of the part of `state` and of all later parts. */
  complete(state: number): Run {
    const at = this.#graph.part[state]!
    return [
      ...this.follow(state, this.parts[at]!.language.completion(this.local(state))),
      ...this.shortest(at + 1)
    ]
  }

  /** The run of the shortest words of parts `from` to `to`, which is not included. */
  shortest(from: number, to = this.parts.length): Run {
    return this.parts
      .slice(from, to)
      .flatMap((part, i) => this.follow(this.#graph.first[from + i]!, part.language.completion(0)))
  }

  /** The run of `bytes` within the part of `state`, from that state. */
  follow(state: number, bytes: readonly number[]): Run {
    const first = this.#graph.first[this.#graph.part[state]!]!
    const { edges } = this.parts[this.#graph.part[state]!]!.language
    let at = this.local(state)
    return bytes.map(byte => {
      at = edges[at]!.find(edge => edge.set.has(byte))!.to
      return { byte, state: first + at }
    })
  }

  /** The run of a word of part number `part`, from its start. */
  word(part: number, bytes: readonly number[]): Run {
    return this.follow(this.#graph.first[part]!, bytes)
  }

  /**
   * Parses a key: the set of states after each byte, then back from the end along states that lead there. With P1
   * proved there is one path back. Otherwise gives the offset at which no state is left, and the bytes that may stand
   * there.
   */
  parse(key: Uint8Array): ParsedKey | Departure {
    const reached: number[][] = [[0]]
    for (const byte of key) {
      const from = reached.at(-1)!
      const next = new Set(
        from.flatMap(state => this.moves[state]!.flatMap(({ set, to }) => (set.has(byte) ? [to] : [])))
      )
      if (next.size === 0) return this.#departure(from, reached.length - 1)
      reached.push([...next])
    }
    let state = reached.at(-1)!.find(at => this.accepting[at])
    if (state === undefined) return this.#departure(reached.at(-1)!, key.length)
    const run: Step[] = []
    for (let i = key.length - 1; i >= 0; i--) {
      const to: number = state!
      run.push({ byte: key[i]!, state: to })
      state = reached[i]!.find(from =>
        this.moves[from]!.some(move => move.to === to && move.set.has(key[i]!))
      )
    }
    return this.reading(run.reverse())
  }

  #departure(states: readonly number[], offset: number): Departure {
    const moves = states.flatMap(state => this.moves[state]!)
    return {
      offset,
      expected: moves.reduce((sum, { set }) => sum.union(set), ByteSet.of()),
      mayEnd: states.some(state => this.accepting[state]),
      parts: [...new Set(moves.map(({ to }) => this.parts[this.#graph.part[to]!]!))]
    }
  }

  reading(run: Run): ParsedKey {
    const key = Uint8Array.from(run, step => step.byte)
    const spans: Span[] = []
    let end = 0
    this.parts.forEach((part, i) => {
      const start = end
      while (end < run.length && this.#graph.part[run[end]!.state] === i) end++
      spans.push({ part, start, end })
    })
    return { key, spans }
  }
}

const NO_BYTES = new Uint8Array()

const graphOf = (parts: readonly Part[]): Graph => {
  const first = parts.map((_, i) => parts.slice(0, i).reduce((sum, part) => sum + part.language.size, 0))
  const accepting: boolean[] = []
  const rest: number[] = []
  const moves: Edge[][] = []
  let entry: Edge[] = []
  let tailNullable = true
  let tailRest = 0
  for (let i = parts.length - 1; i >= 0; i--) {
    const { language } = parts[i]!
    const start = first[i]!
    const own = language.edges.map(out => out.map(({ set, to }) => ({ set, to: start + to })))
    language.edges.forEach((_, state) => {
      accepting[start + state] = language.accepting[state]! && tailNullable
      rest[start + state] = language.shortest[state]! + tailRest
      moves[start + state] = language.accepting[state] ? [...own[state]!, ...entry] : own[state]!
    })
    entry = moves[start]!
    tailNullable &&= language.acceptsEmpty
    tailRest += language.minLength
  }
  return { moves, accepting, rest, part: parts.flatMap((part, i) => part.language.edges.map(() => i)), first }
}

/** The value of each component of a parsed key, by name. */
export const valuesOf = ({ key, spans }: ParsedKey): Map<string, unknown> =>
  new Map(
    spans.flatMap(({ part, start, end }) =>
      part.kind === 'component' ? [[part.component.name, part.component.codec.read(key, start, end)]] : []
    )
  )

/** A parsed key as text: `pool=1 tick=-5`, or `no components`. */
export const inWords = (reading: ParsedKey): string => {
  const words = reading.spans.flatMap(({ part, start, end }) => {
    if (part.kind === 'literal') return []
    const { name, codec } = part.component
    return [`${name}=${codec.show(codec.read(reading.key, start, end)) || '(empty)'}`]
  })
  return words.join(' ') || 'no components'
}

export const literal = (bytes: Uint8Array): Part => {
  if (bytes.length > 256) {
    throw new QuoinError('ERR_KEYSPACE_DECLARATION', 'a literal has more than 256 bytes', {
      bytes: toHex(bytes)
    })
  }
  return { kind: 'literal', bytes, language: Language.word(bytes) }
}
