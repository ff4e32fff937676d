/**
 * A regular language over bytes, held as its minimal deterministic automaton without dead states: from every
 * state some word can still be completed. That last fact is what lets the proofs stop as soon as two runs meet.
 */
import { QuoinError } from '@quoin/primitives'
import { ByteSet } from './byteset.ts'
import { determinise } from './compile.ts'
import { Matcher } from './matcher.ts'
import type { Length, Pattern } from './pattern.ts'

export interface Edge {
  readonly set: ByteSet
  readonly to: number
}

export interface Automaton {
  /** State 0 is the start. */
  readonly edges: readonly (readonly Edge[])[]
  readonly accepting: readonly boolean[]
}

export class Language {
  readonly edges: readonly (readonly Edge[])[]
  readonly accepting: readonly boolean[]
  /** For each state, the length of the shortest and of the longest word that completes it. */
  readonly shortest: readonly number[]
  readonly longest: readonly number[]
  /** The length of every word, when all have the same one. */
  readonly fixedLength: number | undefined
  /** Whether any bytes of the fixed length are a word, so that a length check is the whole check. */
  readonly isAllBytes: boolean
  #matcher: Matcher | undefined

  private constructor(automaton: Automaton) {
    if (automaton.edges.length === 0) {
      throw new QuoinError('ERR_KEYSPACE_DECLARATION', 'the component has no possible value')
    }
    this.edges = automaton.edges
    this.accepting = automaton.accepting
    this.shortest = shortestCompletions(automaton)
    this.longest = longestCompletions(automaton)
    this.fixedLength = this.minLength === this.maxLength ? this.minLength : undefined
    this.isAllBytes =
      this.fixedLength !== undefined && this.edges.flat().every(edge => edge.set.equals(ByteSet.all))
  }

  /** The language of an automaton that is minimal and has no dead states. */
  static from(automaton: Automaton): Language {
    return new Language(automaton)
  }

  static of(pattern: Pattern, length: Length = {}): Language {
    return new Language(determinise(pattern, length))
  }

  /** The language of these bytes alone: literals are most of what keys are declared with, and need no search. */
  static word(bytes: Uint8Array): Language {
    return new Language({
      edges: [...Array.from(bytes, (byte, i) => [{ set: ByteSet.of(byte), to: i + 1 }]), []],
      accepting: [...Array.from(bytes, () => false), true]
    })
  }

  get size(): number {
    return this.edges.length
  }

  get minLength(): number {
    return this.shortest[0]!
  }

  get maxLength(): number {
    return this.longest[0]!
  }

  get acceptsEmpty(): boolean {
    return this.accepting[0]!
  }

  /** The bytes that occur in some word. */
  get alphabet(): ByteSet {
    return this.edges.flat().reduce((sum, edge) => sum.union(edge.set), NONE)
  }

  /** The automaton made fast to run, made when it is first needed. */
  get matcher(): Matcher {
    this.#matcher ??= new Matcher(this)
    return this.#matcher
  }

  /** What could stand at `offset` instead, given the bytes before it. */
  expected(bytes: Uint8Array, start: number, offset: number): ByteSet {
    let state = 0
    for (let i = start; i < offset; i++) state = this.edges[state]!.find(edge => edge.set.has(bytes[i]!))!.to
    return this.edges[state]!.reduce((sum, edge) => sum.union(edge.set), NONE)
  }

  /** The shortest word that completes `state`, in readable bytes. */
  completion(state: number): number[] {
    const bytes: number[] = []
    let at = state
    while (!this.accepting[at]) {
      const edge = this.edges[at]!.find(({ to }) => this.shortest[to]! === this.shortest[at]! - 1)!
      bytes.push(edge.set.sample)
      at = edge.to
    }
    return bytes
  }

  /** A word other than the shortest one, or the shortest again where the language has no other. */
  get otherWord(): number[] {
    const shortest = this.completion(0)
    let state = 0
    for (let i = 0; i <= shortest.length; i++) {
      for (const { set, to } of this.edges[state]!) {
        const byte = i < shortest.length && set.has(shortest[i]!) ? set.minus(ByteSet.of(shortest[i]!)) : set
        if (!byte.isEmpty) return [...shortest.slice(0, i), byte.sample, ...this.completion(to)]
      }
      state = this.edges[state]!.find(({ set }) => set.has(shortest[i]!))?.to ?? state
    }
    return shortest
  }

  /** The longest word that completes `state`, or one longer than `beyond` bytes where there is no longest. */
  stretch(state: number, beyond: number): number[] {
    const bytes: number[] = []
    let at = state
    while (this.longest[at]! > 0 && bytes.length <= beyond) {
      const best = this.edges[at]!.reduce((a, b) => (this.longest[b.to]! > this.longest[a.to]! ? b : a))
      bytes.push(best.set.sample)
      at = best.to
    }
    return [...bytes, ...this.completion(at)]
  }
}

const shortestCompletions = ({ edges, accepting }: Automaton): number[] => {
  const distance: number[] = accepting.map(accepts => (accepts ? 0 : Number.POSITIVE_INFINITY))
  const sources: number[][] = edges.map(() => [])
  edges.forEach((out, state) => {
    for (const { to } of out) sources[to]!.push(state)
  })
  const queue = distance.flatMap((d, state) => (d === 0 ? [state] : []))
  for (const state of queue) {
    for (const source of sources[state]!) {
      if (distance[source] !== Number.POSITIVE_INFINITY) continue
      distance[source] = distance[state]! + 1
      queue.push(source)
    }
  }
  return distance
}

/** Longest path, or infinity through a cycle: every state is live, so every cycle can be pumped. */
const longestCompletions = ({ edges }: Automaton): number[] => {
  const longest: (number | 'open' | undefined)[] = edges.map(() => undefined)
  const visit = (state: number): number => {
    const known = longest[state]
    if (known === 'open') return Number.POSITIVE_INFINITY
    if (known !== undefined) return known
    longest[state] = 'open'
    let most = 0
    for (const { to } of edges[state]!) most = Math.max(most, 1 + visit(to))
    longest[state] = most
    return most
  }
  edges.forEach((_, state) => {
    visit(state)
  })
  return longest as number[]
}

const NONE = ByteSet.of()
