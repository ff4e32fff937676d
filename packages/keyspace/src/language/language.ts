/**
 * A regular language over bytes, as its minimal deterministic automaton without dead states: every state has a
 * completion. So a proof may stop as soon as two runs meet.
 */
import { QuoinError, toHex } from '@quoin/primitives'
import { ByteSet } from './byteset.ts'
import { determinise, MAX_STATES } from './compile.ts'
import { Matcher } from './matcher.ts'
import { checkLength, type Length, type Pattern } from './pattern.ts'

export interface Edge {
  readonly set: ByteSet
  readonly to: number
}

export interface Automaton {
  /** State 0 is the start. */
  readonly edges: readonly (readonly Edge[])[]
  readonly accepting: readonly boolean[]
}

/** An automaton with the measures of its words. */
interface AutomatonMeasures extends Automaton {
  readonly shortest: readonly number[]
  readonly longest: readonly number[]
  readonly isAllBytes: boolean
}

export class Language {
  /** Text that determines the automaton without building it: equal texts are equal languages. */
  readonly notation: string
  readonly #build: () => Automaton
  #measured: AutomatonMeasures | undefined
  #matcher: Matcher | undefined
  #selfDelimiting: boolean | undefined

  private constructor(notation: string, build: () => Automaton) {
    this.notation = notation
    this.#build = build
  }

  /** The language of an automaton that is minimal and has no dead states; `notation` determines it. */
  static from(notation: string, automaton: Automaton): Language {
    return new Language(notation, () => automaton)
  }

  /**
   * The language of a pattern. Equal patterns share one automaton, built on first use, or at once where it may be
   * empty or too large.
   */
  static of(pattern: Pattern, { min = 0, max = Number.POSITIVE_INFINITY }: Length = {}): Language {
    checkLength({ min, max })
    const notation = `${notationOf(pattern)}{${min},${max}}`
    const known = languages.get(notation)
    if (known) return known
    if (languages.size >= SHARED_LANGUAGES) languages.clear()
    const language = new Language(notation, () => determinise(pattern, { min, max }))
    const size = sizeOf(pattern)
    if (size === 0 || size > MAX_STATES || min > 0 || Number.isFinite(max)) language.#automaton
    languages.set(notation, language)
    return language
  }

  /** The language of one word. Most parts are literals, which need no determinisation. */
  static word(bytes: Uint8Array): Language {
    return new Language(toHex(bytes), () => ({
      edges: [...Array.from(bytes, (byte, i) => [{ set: ByteSet.of(byte), to: i + 1 }]), []],
      accepting: [...Array.from(bytes, () => false), true]
    }))
  }

  /** The words with every bit flipped: they sort the other way. */
  get inverted(): Language {
    return new Language(`~${this.notation}`, () => ({
      edges: this.edges.map(out => out.map(({ set, to }) => ({ set: set.inverted, to }))),
      accepting: this.accepting
    }))
  }

  get edges(): readonly (readonly Edge[])[] {
    return this.#automaton.edges
  }

  get accepting(): readonly boolean[] {
    return this.#automaton.accepting
  }

  /** For each state, the length of the shortest word that completes it. */
  get shortest(): readonly number[] {
    return this.#automaton.shortest
  }

  /** For each state, the length of the longest word that completes it. */
  get longest(): readonly number[] {
    return this.#automaton.longest
  }

  /** The length of every word, when all have the same one. */
  get fixedLength(): number | undefined {
    return this.minLength === this.maxLength ? this.minLength : undefined
  }

  /** Whether no word begins another, so that a word shows its own end. */
  get isSelfDelimiting(): boolean {
    this.#selfDelimiting ??= this.edges.every((out, state) => !this.accepting[state] || out.length === 0)
    return this.#selfDelimiting
  }

  /** Whether every sequence of the fixed length is a word, so that a length check is enough. */
  get isAllBytes(): boolean {
    return this.#automaton.isAllBytes
  }

  get #automaton(): AutomatonMeasures {
    this.#measured ??= measured(this.#build())
    return this.#measured
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

  /** The bytes that occur in words. */
  get alphabet(): ByteSet {
    return this.edges.flat().reduce((sum, edge) => sum.union(edge.set), NONE)
  }

  /** The automaton compiled for speed, on first use. */
  get matcher(): Matcher {
    this.#matcher ??= new Matcher(this)
    return this.#matcher
  }

  /** The bytes that may stand at `offset`, after the bytes before it. */
  expected(bytes: Uint8Array, start: number, offset: number): ByteSet {
    let state = 0
    for (let i = start; i < offset; i++) state = this.edges[state]!.find(edge => edge.set.has(bytes[i]!))!.to
    return this.edges[state]!.reduce((sum, edge) => sum.union(edge.set), NONE)
  }

  /** The shortest completion of `state`, in readable bytes. */
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

  /** A word other than the shortest one, or the shortest when it is the only one. */
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

  /** The longest completion of `state`, or one longer than `beyond` bytes when there is no longest. */
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

const SHARED_LANGUAGES = 1000
/** The languages of patterns by notation. */
const languages = new Map<string, Language>()

const notationOf = (pattern: Pattern): string => {
  switch (pattern.kind) {
    case 'set':
      return pattern.set.notation
    case 'seq':
      return `(${pattern.parts.map(notationOf).join(' ')})`
    case 'alt':
      // No option is no word; an empty sequence is the empty word.
      return pattern.options.length === 0 ? '(|)' : `(${pattern.options.map(notationOf).join('|')})`
    case 'repeat':
      return `${notationOf(pattern.of)}{${pattern.min},${pattern.max}}`
    case 'language':
      return `<${pattern.language.notation}>`
  }
}

/** The number of byte sets in a pattern with its repetitions expanded; 0 for a pattern without words. */
const sizeOf = (pattern: Pattern): number => {
  switch (pattern.kind) {
    case 'set':
      return pattern.set.isEmpty ? 0 : 1
    case 'seq': {
      const sizes = pattern.parts.map(sizeOf)
      return sizes.includes(0) ? 0 : sizes.reduce((sum, size) => sum + size, 1)
    }
    case 'alt':
      return pattern.options.reduce((sum, option) => sum + sizeOf(option), 0)
    case 'repeat': {
      const size = sizeOf(pattern.of)
      if (size === 0) return pattern.min === 0 ? 1 : 0
      return 1 + size * (Number.isFinite(pattern.max) ? pattern.max : pattern.min + 1)
    }
    case 'language':
      return pattern.language.size
  }
}

const measured = (automaton: Automaton): AutomatonMeasures => {
  if (automaton.edges.length === 0) {
    throw new QuoinError('ERR_KEYSPACE_DECLARATION', 'the component has no values')
  }
  const shortest = shortestCompletions(automaton)
  const longest = longestCompletions(automaton)
  const isAllBytes =
    shortest[0] === longest[0] && automaton.edges.flat().every(({ set }) => set.equals(ByteSet.all))
  return { ...automaton, shortest, longest, isAllBytes }
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

/** The longest path, or infinity through a cycle: every state is live, so every cycle can be pumped. */
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
