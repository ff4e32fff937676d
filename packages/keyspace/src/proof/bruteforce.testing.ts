/**
 * For tests: random layouts, and an independent way to read keys by trying every cut. Nothing here uses an
 * automaton: a component knows its words by a predicate and their order by a comparison.
 */
import fc from 'fast-check'
import { type Component, component } from '../codec.ts'
import { decimal } from '../components/decimal.ts'
import { asciiCodec } from '../components/text.ts'
import { partsOf, partsSpanned } from '../declaration.ts'
import { matchEnds, patternsOver } from '../language/match.testing.ts'
import { alt, word as exactly, type Pattern } from '../language/pattern.ts'
import { Layout } from '../layout.ts'
import type { Subject } from './findings.ts'

const LETTERS = 'ab|1'

export interface Model {
  /** Undefined for a literal. */
  readonly component: Component | undefined
  readonly literal: string
  isWord(text: string): boolean
  /** The order of the values that two words stand for. */
  compare(a: string, b: string): number
  readonly words: readonly string[]
}

export interface ModelLayout {
  readonly name: string
  readonly models: readonly Model[]
  readonly subject: Subject
}

const strings = (letters: string, longest: number): string[] =>
  longest === 0
    ? ['']
    : ['', ...strings(letters, longest - 1).flatMap(tail => [...letters].map(letter => letter + tail))]

const SHORT = [...new Set(strings(LETTERS, 3))]
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

const fromPattern = (name: string, pattern: Pattern): Model | undefined => {
  const isWord = (text: string): boolean => matchEnds(pattern, bytesOf(text), 0).has(text.length)
  const words = SHORT.filter(isWord)
  if (words.length === 0) return undefined
  return {
    component: component(name, asciiCodec<string>('random', 'random', pattern)),
    literal: '',
    isWord,
    compare: byText,
    words
  }
}

const fromDecimal = (name: string, max: number): Model => ({
  component: decimal(name, { max: BigInt(max) }) as Component,
  literal: '',
  isWord: text => /^(0|[1-9][0-9]*)$/.test(text) && Number(text) <= max,
  compare: (a, b) => Number(a) - Number(b),
  words: Array.from({ length: max + 1 }, (_, n) => `${n}`)
})

const fromLiteral = (literal: string): Model => ({
  component: undefined,
  literal,
  isWord: text => text === literal,
  compare: byText,
  words: [literal]
})

const models = (name: string): fc.Arbitrary<Model> =>
  fc.oneof(
    {
      weight: 3,
      arbitrary: patternsOver(LETTERS, 3).map(pattern => fromPattern(name, pattern) ?? fromDecimal(name, 9))
    },
    {
      weight: 2,
      arbitrary: fc
        .uniqueArray(fc.constantFrom(...SHORT), { minLength: 1, maxLength: 4 })
        .map(words => fromPattern(name, alt(...words.map(each => exactly(bytesOf(each)))))!)
    },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 21 }).map(max => fromDecimal(name, max)) },
    { weight: 3, arbitrary: fc.constantFrom('|', 'a', '1', 'b|').map(fromLiteral) }
  )

/** A layout of up to four parts that promises scans over its leading components. */
export const layouts = (name: string): fc.Arbitrary<ModelLayout> =>
  fc
    .tuple(
      fc
        .integer({ min: 1, max: 4 })
        .chain(count => fc.tuple(...Array.from({ length: count }, (_, i) => models(`c${i}`)))),
      fc.boolean()
    )
    .map(([parts, trailing]) => {
      const joined = joinLiterals(parts)
      const layout = new Layout(partsOf(joined.map(model => model.component ?? model.literal)))
      const names = joined.flatMap(({ component: is }) => (is ? [is.name] : []))
      return {
        name,
        models: joined,
        subject: {
          name,
          layout,
          scans: Array.from({ length: names.length + 1 }, (_, count) => ({
            components: names.slice(0, count),
            parts:
              trailing || count === 0 ? partsSpanned(layout.parts, count) : endOfComponent(joined, count),
            order: 'value' as const
          }))
        }
      }
    })

const endOfComponent = (joined: readonly Model[], count: number): number => {
  let seen = 0
  return 1 + joined.findIndex(({ component: is }) => is !== undefined && ++seen === count)
}

const joinLiterals = (parts: readonly Model[]): Model[] =>
  parts.reduce<Model[]>((joined, part) => {
    const last = joined.at(-1)
    if (last && !last.component && !part.component)
      joined[joined.length - 1] = fromLiteral(last.literal + part.literal)
    else joined.push(part)
    return joined
  }, [])

/** Every way to cut `key` into words of the parts from number `from`. */
export const readings = ({ models: parts }: ModelLayout, key: string, from = 0): string[][] => {
  const part = parts[from]
  if (!part) return key === '' ? [[]] : []
  return Array.from({ length: key.length + 1 }, (_, end) => key.slice(0, end))
    .filter(piece => part.isWord(piece))
    .flatMap(piece =>
      readings({ models: parts } as ModelLayout, key.slice(piece.length), from + 1).map(rest => [
        piece,
        ...rest
      ])
    )
}

/** Keys of short words, as the lists of their pieces; undefined when there are too many to look at. */
export const shortKeys = ({ models: parts }: ModelLayout, most: number): string[][] | undefined => {
  if (parts.reduce((count, { words }) => count * words.length, 1) > most) return undefined
  return parts.reduce<string[][]>(
    (keys, { words }) => keys.flatMap(key => words.map(each => [...key, each])),
    [[]]
  )
}
