/**
 * The layout of a collection as canonical text: two collections with equal texts have the same keys, with the same
 * meaning, and hold values in the same form. Names of components, scans and prose are left out: they change no byte.
 */
import { toHex } from '@quoin/primitives'
import type { Collection } from './collection.ts'
import type { ByteSet } from './language/byteset.ts'
import type { Language } from './language/language.ts'
import type { Part } from './layout.ts'
import type { Shape } from './value.ts'

export const canonicalLayout = ({ layout, value }: Collection): string =>
  `${layout.parts.map(canonicalPart).join(' ')} => ${canonicalShape(value)}`

const canonicalPart = (part: Part): string => {
  if (part.kind === 'literal') return toHex(part.bytes)
  const { codec } = part.component
  return `${codec.name}(${canonicalLanguage(codec.language)})`
}

const canonicalShape = (shape: Shape): string => {
  if (shape.kind === 'value') return `value ${shape.codec.name}`
  if (shape.kind !== 'hash')
    return `${shape.kind} ${shape.member.name}(${canonicalLanguage(shape.member.language)})`
  const { fields } = shape
  if (!hasCollections(fields)) return `hash ${fields.name}`
  return `hash {${fields.all.map(field => `${field.name}: ${canonicalLayout(field)}`).join('; ')}}`
}

/** The fields of a hash may be declared as a keyspace. */
const hasCollections = (
  fields: object
): fields is { readonly name: string; readonly all: readonly Collection[] } => 'all' in fields

const canonicalLanguages = new WeakMap<Language, string>()

/** The minimal automaton, its states numbered in the order of a walk along edges sorted by byte. */
const canonicalLanguage = (language: Language): string => {
  const known = canonicalLanguages.get(language)
  if (known !== undefined) return known
  const numbers = new Map([[0, 0]])
  const states: string[] = []
  for (const state of numbers.keys()) {
    const edges = language.edges[state]!.map(({ set, to }) => ({ bytes: canonicalSet(set), to }))
    edges.sort((a, b) => (a.bytes < b.bytes ? -1 : 1))
    const moves = edges.map(({ bytes, to }) => {
      if (!numbers.has(to)) numbers.set(to, numbers.size)
      return `${numbers.get(to)}:${bytes}`
    })
    states.push(`${language.accepting[state] ? '!' : ''}${moves.join(',')}`)
  }
  const text = states.join('/')
  canonicalLanguages.set(language, text)
  return text
}

/** The bytes as ranges: `30-39` and `41`. */
const canonicalSet = (set: ByteSet): string => {
  const ranges: string[] = []
  for (let low = 0; low < 256; low++) {
    if (!set.has(low)) continue
    let high = low
    while (high < 255 && set.has(high + 1)) high++
    ranges.push(low === high ? hexByte(low) : `${hexByte(low)}-${hexByte(high)}`)
    low = high
  }
  return ranges.join('+')
}

const hexByte = (byte: number): string => byte.toString(16).padStart(2, '0')
