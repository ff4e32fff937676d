/**
 * Documents and the references between them. `{ "$ref": "common.json#/definitions/owner" }` stands for that value; in
 * the list of collections, a reference to a list or to a whole layout stands for its collections. The places of all
 * values are kept, so that errors and findings name the file and line.
 */
import { QuoinError } from '@quoin/primitives'
import { malformed, record } from './errors.ts'
import { parseJson, placeOf } from './json.ts'

export interface FileLocation {
  /** The name of the file; empty for the first one. */
  readonly file: string
  readonly line: number
  readonly column: number
}

/** The content of a file, and the offsets of its values by their paths. */
interface ParsedText {
  readonly text: string
  readonly value: unknown
  readonly offsets: ReadonlyMap<string, number>
}

/** Reads a file that a reference names, relative to the file of the reference. */
export interface DocumentLoader {
  /** The name of the first file. */
  readonly file: string
  load(reference: string, from: string): { readonly file: string; readonly content: ParsedText }
}

export interface LayoutDocument {
  readonly value: unknown
  locate(path: string): FileLocation | undefined
}

const MAX_REFERENCES = 10_000
const MAX_DEPTH = 32

interface Source {
  readonly file: string
  readonly content: ParsedText
}

/** Parses JSON and resolves its references. */
export const readDocument = (text: string, loader?: DocumentLoader): LayoutDocument =>
  resolveDocument({ text, ...parseJson(text) }, loader)

export const resolveDocument = (content: ParsedText, loader?: DocumentLoader): LayoutDocument => {
  const main: Source = { file: loader?.file ?? '', content }
  const origins = new Map<string, { source: Source; path: string }>()
  let references = 0

  const resolve = (value: unknown, source: Source, path: string, at: string, depth: number): unknown => {
    if (depth > MAX_DEPTH)
      throw malformed(at, `more than ${MAX_DEPTH} values within each other, or a reference to itself`)
    if (source !== main || path !== at) origins.set(at, { source, path })
    if (Array.isArray(value)) return list(value, source, path, at, depth)
    if (typeof value !== 'object' || value === null) return value
    if ('$ref' in value) {
      const target = follow(record(value, at, ['$ref', '$comment']), source, at)
      return resolve(target.value, target.source, target.path, at, depth + 1)
    }
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [
        name,
        // Definitions are resolved where they are used.
        at === '$' && name === 'definitions'
          ? each
          : resolve(each, source, `${path}.${name}`, `${at}.${name}`, depth + 1)
      ])
    )
  }

  const list = (
    items: readonly unknown[],
    source: Source,
    path: string,
    at: string,
    depth: number
  ): unknown[] => {
    const all: unknown[] = []
    items.forEach((each, i) => {
      const isReference =
        at === '$.collections' && typeof each === 'object' && each !== null && '$ref' in each
      const target = isReference ? follow(record(each, at, ['$ref', '$comment']), source, at) : undefined
      const found = target?.value
      const inner = Array.isArray(found)
        ? { items: found, path: target!.path }
        : collectionsOf(found, target?.path)
      if (!inner) {
        all.push(resolve(each, source, `${path}[${i}]`, `${at}[${all.length}]`, depth + 1))
        return
      }
      inner.items.forEach((one, k) => {
        all.push(resolve(one, target!.source, `${inner.path}[${k}]`, `${at}[${all.length}]`, depth + 2))
      })
    })
    return all
  }

  const follow = (reference: Record<string, unknown>, source: Source, at: string) => {
    const given = reference['$ref']
    if (typeof given !== 'string') throw malformed(`${at}.$ref`, 'a reference: a file, # and a pointer')
    if (++references > MAX_REFERENCES) throw malformed(at, `more than ${MAX_REFERENCES} references`)
    const [file = '', pointer = ''] = given.split('#', 2)
    const target = file === '' ? source : external(file, source, at)
    return { source: target, ...pointed(target, pointer, `${at}.$ref`) }
  }

  const external = (file: string, from: Source, at: string): Source => {
    if (!loader)
      throw malformed(`${at}.$ref`, `no file can be read here, only #/… of this text; given ${file}`)
    try {
      return loader.load(file, from.file)
    } catch (error) {
      if (!(error instanceof QuoinError)) throw error
      throw malformed(`${at}.$ref`, error.message, error)
    }
  }

  return {
    value: resolve(content.value, main, '$', '$', 0),
    locate(path) {
      // The nearest value that came from another place, and the rest of the path from there.
      for (let at = path; ; at = parentOf(at)) {
        const origin = origins.get(at) ?? (at === '$' ? { source: main, path: '$' } : undefined)
        if (!origin) continue
        const { source } = origin
        for (let inner = origin.path + path.slice(at.length); ; inner = parentOf(inner)) {
          const offset = source.content.offsets.get(inner)
          if (offset !== undefined) return { file: source.file, ...placeOf(source.content.text, offset) }
          if (inner === '$') return undefined
        }
      }
    }
  }
}

const collectionsOf = (found: unknown, path = ''): { items: unknown[]; path: string } | undefined => {
  if (typeof found !== 'object' || found === null || !('collections' in found)) return undefined
  return Array.isArray(found.collections)
    ? { items: found.collections, path: `${path}.collections` }
    : undefined
}

/** The value of a JSON pointer (RFC 6901). An item of a list may also be given by its `name`. */
const pointed = ({ content }: Source, pointer: string, at: string): { value: unknown; path: string } => {
  if (pointer !== '' && !pointer.startsWith('/'))
    throw malformed(at, `a pointer begins with /, not ${pointer}`)
  let value = content.value
  let path = '$'
  for (const escaped of pointer.split('/').slice(1)) {
    const step = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(value)) {
      const index = /^\d+$/.test(step) ? Number(step) : value.findIndex(each => each?.name === step)
      value = value[index]
      path = `${path}[${index}]`
    } else {
      value =
        typeof value === 'object' && value !== null && Object.hasOwn(value, step)
          ? (value as Record<string, unknown>)[step]
          : undefined
      path = `${path}.${step}`
    }
    if (value === undefined) throw malformed(at, `${pointer} leads nowhere: there is no ${step}`)
  }
  return { value, path }
}

const parentOf = (path: string): string => path.replace(/(\.[^.[\]]*|\[\d+\])$/, '') || '$'
