/**
 * Layout files: layouts of other systems as JSON, `{ name, collections: [{ name, key, scans }] }`. Parsing is strict,
 * and errors have the JSON path. `docs/audit.md` describes the format.
 */
import { fromHex } from '@quoin/primitives'
import { type Codec, type Component, component } from '../codec.ts'
import { descendingCodec } from '../components/descending.ts'
import { type KeyPart, partsOf } from '../declaration.ts'
import { Layout, type Part } from '../layout.ts'
import type { Subject } from '../proof/findings.ts'
import { COMPONENTS, type LayoutComponent } from './components.ts'
import { type DocumentLoader, type FileLocation, readDocument } from './document.ts'
import { array, located, malformed, nonEmpty, record } from './errors.ts'
import { OPTIONS, type OptionName, type Options } from './options.ts'
import { parseScan } from './scans.ts'

export interface LayoutFile {
  readonly name: string
  readonly subjects: readonly Subject[]
  /** The file as it was parsed, with references resolved. */
  readonly source: LayoutSource
  /** The place in the file, or in a referenced one, of a JSON path such as `$.collections[0].key`. */
  locate(path: string): FileLocation | undefined
}

/** The content of a layout file. */
export interface LayoutSource {
  readonly name: string
  readonly collections: readonly CollectionSource[]
}

export interface CollectionSource {
  readonly name: string
  readonly key: readonly unknown[]
  readonly scans?: readonly unknown[]
}

/** Limits of a file, which bound the time of its proofs. */
const MAX_COLLECTIONS = 1000
const MAX_PARTS = 64
const MAX_DEPTH = 8

/** Components without options that a layout file may use beside those of this package, by codec name. */
export type LayoutComponents = Readonly<Record<string, (name: string) => Component>>

/** The components that every layout file may name. */
export const LAYOUT_CODECS: readonly string[] = Object.keys(COMPONENTS)

/** Fields that hold no layout. */
const PROSE = ['$comment', 'about']

/**
 * Parses the text of a layout file: JSON, with comments.
 *
 * @example
 * const layout = `{ "name": "app", "collections": [{ "name": "a", "key": ["a:", { "text": "x" }, ":", { "text": "y" }] }] }`
 * auditLayout(parseLayout(layout)).findings.map(({ property }) => property) // [ 'P1' ]
 */
export const parseLayout = (
  source: string,
  components: LayoutComponents = {},
  loader?: DocumentLoader
): LayoutFile => {
  const { value, locate } = readDocument(source, loader)
  return { ...layoutOf(value, components), locate }
}

/** The layout of a file's content, without references. */
export const layoutOf = (file: unknown, components: LayoutComponents = {}): Omit<LayoutFile, 'locate'> => {
  const { name, collections } = record(file, '$', ['name', 'collections', 'definitions', '$schema', ...PROSE])
  const list = array(collections, '$.collections', MAX_COLLECTIONS)
  const names = new Set<string>()
  const codecs = new LayoutCodecs(components)
  const layoutName = nonEmpty(name, '$.name')
  const subjects = list.map((each, i) => {
    const subject = parseCollection(each, `$.collections[${i}]`, codecs)
    if (names.has(subject.name))
      throw malformed(`$.collections[${i}].name`, `${subject.name} is declared twice`)
    names.add(subject.name)
    return subject
  })
  return { name: layoutName, subjects, source: { name: layoutName, collections: list as CollectionSource[] } }
}

const parseCollection = (given: unknown, path: string, codecs: LayoutCodecs): Subject => {
  const { name, key, scans } = record(given, path, ['name', 'key', 'scans', ...PROSE])
  const parts = parseParts(key, `${path}.key`, codecs, 0)
  return {
    name: nonEmpty(name, `${path}.name`),
    layout: new Layout(parts),
    scans: array(scans ?? [], `${path}.scans`, MAX_PARTS).map((scan, i) =>
      parseScan(scan, parts, `${path}.scans[${i}]`)
    )
  }
}

const parseParts = (given: unknown, path: string, codecs: LayoutCodecs, depth: number): readonly Part[] => {
  if (depth > MAX_DEPTH) throw malformed(path, `at most ${MAX_DEPTH} components within each other`)
  const list = array(given, path, MAX_PARTS).map((part, i) => parsePart(part, `${path}[${i}]`, codecs, depth))
  return located(path, () => partsOf(list))
}

const parsePart = (given: unknown, path: string, codecs: LayoutCodecs, depth: number): KeyPart => {
  if (typeof given === 'string') return given
  const entries = Object.entries(record(given, path)).filter(([name]) => !PROSE.includes(name))
  const named = entries.filter(([name]) => name === 'raw' || codecs.knows(name))
  if (named.length === 0) throw malformed(path, `no codec name; one of: raw ${codecs.names.join(' ')}`)
  if (named.length > 1) throw malformed(path, `two codec names, ${named.map(([name]) => name).join(' and ')}`)
  const [codec, value] = named[0]!
  if (codec === 'raw') {
    if (entries.length > 1) throw malformed(path, 'raw takes no options')
    if (typeof value !== 'string' || value === '')
      throw malformed(`${path}.raw`, 'literal bytes in hexadecimal')
    return located(`${path}.raw`, () => fromHex(value))
  }
  const name = nonEmpty(value, `${path}.${codec}`)
  const options = Object.fromEntries(entries.filter(([option]) => option !== codec))
  return component(name, codecs.codec(codec, name, options, path, depth))
}

/** The codecs of a file: one of many collections has few, and each is constructed and checked once. */
class LayoutCodecs {
  readonly #own: LayoutComponents
  readonly #made = new Map<string, Codec<unknown>>()

  constructor(own: LayoutComponents) {
    this.#own = own
  }

  get names(): readonly string[] {
    return [...LAYOUT_CODECS, ...Object.keys(this.#own)]
  }

  knows(name: string): boolean {
    return Object.hasOwn(COMPONENTS, name) || Object.hasOwn(this.#own, name)
  }

  codec(
    codec: string,
    name: string,
    given: Record<string, unknown>,
    path: string,
    depth: number
  ): Codec<unknown> {
    const key = JSON.stringify([codec, Object.entries(given).sort(([a], [b]) => (a < b ? -1 : 1))])
    const known = this.#made.get(key)
    if (known) return known
    const options = this.#options(codec, given, path, depth)
    const own = Object.hasOwn(this.#own, codec) ? this.#own[codec]!(name).codec : undefined
    const made = located(path, () => {
      const base = own ?? COMPONENTS[codec]!.codec(options)
      return options.descending ? descendingCodec(base) : base
    })
    this.#made.set(key, made)
    return made
  }

  #options(codec: string, given: Record<string, unknown>, path: string, depth: number): Options {
    const { options, required = [] }: Pick<LayoutComponent, 'options' | 'required'> = Object.hasOwn(
      this.#own,
      codec
    )
      ? { options: [] }
      : COMPONENTS[codec]!
    const known: readonly string[] = [...options, 'descending']
    for (const option of required) {
      if (given[option] === undefined)
        throw malformed(path, `${codec} needs ${option}: ${OPTIONS[option].about}`)
    }
    return Object.fromEntries(
      Object.entries(given).map(([option, setting]) => {
        if (!known.includes(option))
          throw malformed(`${path}.${option}`, `${codec} takes only ${known.join(', ')}`)
        const parts = (inner: unknown, at: string): readonly Part[] =>
          Array.isArray(inner)
            ? parseParts(inner, at, this, depth + 1)
            : located(at, () => partsOf([parsePart(inner, at, this, depth + 1)]))
        const parsed = OPTIONS[option as OptionName].parse(setting, `${path}.${option}`, parts)
        if (typeof parsed === 'bigint' && parsed < 0n && !known.includes('flipped'))
          throw malformed(`${path}.${option}`, 'a whole number from 0 up')
        return [option, parsed]
      })
    )
  }
}
