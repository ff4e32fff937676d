/**
 * Where the parts of a key begin and end. Most layouts can be cut without trying alternatives: a part of one
 * length, one that ends itself, one up to a byte that it cannot contain, or the one before a tail of one length.
 * Any other layout is read through its automaton. Either way the cuts are the only possible ones (P1); whether
 * each piece is a word of its part is for the caller to check.
 */
import type { Language } from './language/language.ts'
import type { Layout } from './layout.ts'

/** The start of every part and then the end of the last; undefined when the bytes cannot be cut so. */
export type Splitter = (key: Uint8Array) => readonly number[] | undefined

type Cut = (key: Uint8Array, start: number) => number

export const splitter = (layout: Layout): Splitter => {
  const cuts = layout.parts.map((_, i) => cutAfter(layout, i))
  if (!cuts.every(cut => cut !== undefined)) return key => throughAutomaton(layout, key)
  return key => {
    const bounds = [0]
    let at = 0
    for (let i = 0; i < cuts.length; i++) {
      at = cuts[i]!(key, at)
      if (at < 0 || at > key.length) return undefined
      bounds.push(at)
    }
    return at === key.length ? bounds : undefined
  }
}

const cutAfter = ({ parts }: Layout, i: number): Cut | undefined => {
  const { language } = parts[i]!
  const { fixedLength } = language
  if (fixedLength !== undefined) return (_, start) => start + fixedLength
  const tails = parts.slice(i + 1).map(part => part.language.fixedLength)
  if (tails.every(length => length !== undefined)) {
    const tail = tails.reduce((sum, length) => sum + length, 0)
    return (key, start) => Math.max(start, key.length - tail)
  }
  const next = parts[i + 1]!
  if (next.kind === 'literal' && !language.alphabet.has(next.bytes[0]!)) {
    const stop = next.bytes[0]!
    return (key, start) => key.indexOf(stop, start)
  }
  if (endsItself(language)) return (key, start) => language.firstEnd(key, start)
  return undefined
}

/** No word is the beginning of another: the first end is the only one. */
const endsItself = (language: Language): boolean =>
  language.edges.every((out, state) => !language.accepting[state] || out.length === 0)

const throughAutomaton = (layout: Layout, key: Uint8Array): readonly number[] | undefined => {
  const parsed = layout.parse(key)
  return 'spans' in parsed ? [0, ...parsed.spans.map(span => span.end)] : undefined
}
