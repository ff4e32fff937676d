/**
 * Witnesses of values that people recognise. The shortest witness is often an empty text beside one character: true,
 * and not persuasive. The proof is searched again with components restricted to samples, as many as allow a witness.
 */
import { compareBytes, hasCode, toHex } from '@quoin/primitives'
import type { Codec } from '../codec.ts'
import { ByteSet } from '../language/byteset.ts'
import { type Edge, Language } from '../language/language.ts'
import { Layout, type Part } from '../layout.ts'
import { copyWritten } from '../scratch-buffer.ts'
import {
  type Finding,
  notLeading,
  overlaps,
  type Subject,
  strayUnderScan,
  twoOwners,
  twoReadings,
  wrongOrders
} from './findings.ts'
import { ordersOf } from './order.ts'

/** The limit on words that a component is restricted to. */
const MAX_WORDS = 60
/** Literals beyond are not put into sample values. */
const MAX_LITERAL = 24
/** The limit on the work of a restricted search; beyond it the witness stays as it is. */
const MAX_STATES = 1200

/** The finding with a witness of sample values where there is one. */
export const realistic = (subjects: readonly Subject[], finding: Finding): Finding => {
  const involved = finding.collections.map(name => subjects.find(subject => subject.name === name)!)
  if (finding.property === 'P5' || involved.length === 0) return finding
  if (involved.some(({ layout }) => layout.size > MAX_STATES)) return finding
  const literals = involved.flatMap(({ layout }) =>
    layout.parts.flatMap(part =>
      part.kind === 'literal' && part.bytes.length <= MAX_LITERAL ? [part.bytes] : []
    )
  )
  const places = involved.flatMap((subject, s) =>
    subject.layout.parts.flatMap((part, i) => {
      if (part.kind === 'literal') return []
      const { codec } = part.component
      const languages = [
        wordsLanguage(sampleWords(codec, 2, [])),
        wordsLanguage(sampleWords(codec, 2, literals)),
        wordsLanguage(sampleWords(codec, MAX_WORDS, literals)),
        withoutEmpty(part.language)
      ]
      return languages.some(Boolean) ? [{ s, i, languages }] : []
    })
  )
  let chosen = involved.map(({ layout }) => layout.parts)
  let best: Finding | undefined
  const attempt = (parts: readonly (readonly Part[])[]): boolean => {
    const found = again(
      involved.map((subject, s) => ({ ...subject, layout: new Layout(parts[s]!) })),
      finding
    )
    if (!found) return false
    best = found
    chosen = [...parts]
    return true
  }
  const restricted = (
    given: typeof chosen,
    place: (typeof places)[number],
    language: Language
  ): typeof chosen =>
    given.map((parts, s) => (s === place.s ? parts.with(place.i, { ...parts[place.i]!, language }) : parts))
  const all = (tier: number): typeof chosen =>
    places.reduce((given, place) => {
      const language = place.languages[tier]
      return language ? restricted(given, place, language) : given
    }, chosen)
  if (!attempt(all(0)) && !attempt(all(1)) && !attempt(all(2))) {
    for (const place of places) {
      for (const language of place.languages) {
        if (language && attempt(restricted(chosen, place, language))) break
      }
    }
  }
  return best ?? finding
}

/** The same finding about restricted layouts. */
const again = (subjects: readonly Subject[], finding: Finding): Finding | undefined => {
  const effort = { visited: 0 }
  const [one, other] = subjects
  const found = (): readonly Finding[] => {
    switch (finding.property) {
      case 'P1':
        return twoReadings(one!, effort)
      case 'P2':
        return strayUnderScan(one!, finding.scanIndex!, effort)
      case 'P3':
        return other ? overlaps(one!, other, effort) : []
      case 'P6':
        return other ? twoOwners(overlaps(one!, other, effort)) : []
      case 'P4':
        return wrongOrders(one!, ordersOf(one!.layout, effort))
      default:
        return notLeading(one!, finding.scanIndex!)
    }
  }
  return found().find(
    each =>
      each.property === finding.property &&
      each.component === finding.component &&
      each.scanIndex === finding.scanIndex &&
      each.about === finding.about &&
      each.collections.join('\n') === finding.collections.join('\n')
  )
}

/** The words of some sample values, and with literals those around them: `gold:depth` and, of a literal, `depth`. */
const sampleWords = (codec: Codec<unknown>, count: number, literals: readonly Uint8Array[]): Uint8Array[] => {
  const { matcher } = codec.language
  const isWord = (word: Uint8Array): boolean =>
    word.length > 0 && matcher.departs(word, 0, word.length) === -1
  const plain = (codec.samples?.flatMap(value => writtenOf(codec, value) ?? []) ?? GENERIC)
    .filter(isWord)
    .slice(0, count)
  const [first = [], second = first] = plain
  const around = literals.flatMap(literal => [
    [...first, ...literal, ...second],
    [...first, ...literal],
    [...literal.subarray(1)]
  ])
  const words = new Map(
    [...plain, ...around.map(bytes => Uint8Array.from(bytes))]
      .filter(isWord)
      .slice(0, MAX_WORDS)
      .map(word => [toHex(word), word])
  )
  if (words.size === 0) return []
  const { order, collision } = codec
  for (const value of [...(typeof order === 'string' ? [] : order), ...(collision ? [collision[0]] : [])]) {
    const word = writtenOf(codec, value)
    if (word) words.set(toHex(word), word)
  }
  return [...words.values()]
}

/** The word of a value, or undefined when the component's bounds exclude it. */
const writtenOf = (codec: Codec<unknown>, value: unknown): Uint8Array | undefined => {
  try {
    return copyWritten(target => codec.write(value, target, 0))
  } catch (error) {
    if (hasCode(error, 'ERR_KEY_VALUE')) return undefined
    throw error
  }
}

const GENERIC: readonly Uint8Array[] = ['gold', 'golden', 'a1b2', 'a1b2c3', '1', '10', '2'].map(text =>
  new TextEncoder().encode(text)
)

/** The language of some words, as a tree. */
const wordsLanguage = (words: readonly Uint8Array[]): Language | undefined => {
  if (words.length === 0) return undefined
  const edges: Edge[][] = [[]]
  const accepting = [false]
  for (const word of [...words].sort(compareBytes)) {
    let at = 0
    for (const byte of word) {
      const known = edges[at]!.find(({ set }) => set.has(byte))
      if (known) at = known.to
      else {
        const to = edges.push([]) - 1
        accepting.push(false)
        edges[at]!.push({ set: ByteSet.of(byte), to })
        at = to
      }
    }
    accepting[at] = true
  }
  return Language.from(`words ${words.map(word => toHex(word)).join()}`, { edges, accepting })
}

/** The words but the empty one; undefined when that is all of them, or none is empty. */
const withoutEmpty = (language: Language): Language | undefined => {
  if (!language.acceptsEmpty || language.maxLength === 0) return undefined
  const shifted = language.edges.map(out => out.map(({ set, to }) => ({ set, to: to + 1 })))
  return Language.from(`nonempty ${language.notation}`, {
    edges: [shifted[0]!, ...shifted],
    accepting: [false, ...language.accepting]
  })
}
