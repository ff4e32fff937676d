/**
 * Directories (`ord-fs/json`): a JSON object from names to pointers. A pointer is an outpoint or a txid, `ord://` before it
 * or not, or `_N` for another output of the directory's transaction.
 */
import { formatTxid, type Outpoint, QuoinError, txidOf } from '@quoin/primitives'
import type { OrdinalWalk } from '@quoin/txo'
import { type ResolvedContent, resolveContent } from './resolved-content.ts'

const DIRECTORY = 'ord-fs/json'
/** Directories within directories. */
const MAX_DEPTH = 8
const MAX_BYTES = 1024 * 1024
const DEFAULT = '.'
export const INDEX = 'index.html'

export const isDirectory = ({ content }: ResolvedContent): boolean => content?.type === DIRECTORY

/** The file at a path of a directory. The last name may be unknown: then it is the index. */
export const fileAt = async (
  walk: OrdinalWalk,
  directory: ResolvedContent,
  names: readonly string[]
): Promise<ResolvedContent> => {
  let at = directory
  for (const [depth, name] of names.entries()) {
    if (!isDirectory(at)) throw notThere(name)
    if (depth >= MAX_DEPTH)
      throw new QuoinError('ERR_CONTENT_LIMIT', `more than ${MAX_DEPTH} directories deep`)
    const entries = entriesOf(at)
    const pointer = entries.get(name) ?? (depth === names.length - 1 ? entries.get(INDEX) : undefined)
    if (pointer === undefined) throw notThere(name)
    at = await resolveContent(walk, absolute(pointer, at.holder!))
  }
  return at
}

/** The name that stands for a directory itself: served in its place, or a redirect to the index. */
export const defaultOf = (directory: ResolvedContent): typeof DEFAULT | typeof INDEX => {
  const entries = entriesOf(directory)
  if (entries.has(DEFAULT)) return DEFAULT
  if (entries.has(INDEX)) return INDEX
  throw new QuoinError(
    'ERR_NOT_FOUND',
    `the directory has neither ${DEFAULT} nor ${INDEX}; ?raw=true is its JSON`
  )
}

const entriesOf = ({ content }: ResolvedContent): ReadonlyMap<string, string> => {
  const { bytes } = content!
  if (bytes.length > MAX_BYTES) {
    throw new QuoinError('ERR_CONTENT_LIMIT', `the directory has more than ${MAX_BYTES} bytes`)
  }
  const value = jsonOf(bytes)
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

const jsonOf = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new QuoinError('ERR_NOT_FOUND', 'the directory is not JSON')
  }
}

const absolute = (pointer: string, directory: Outpoint): string => {
  const text = pointer.replace(/^ord:\/\//, '')
  return /^_(0|[1-9][0-9]{0,9})$/.test(text) ? formatTxid(txidOf(directory)) + text : text
}

const notThere = (name: string): QuoinError =>
  new QuoinError('ERR_NOT_FOUND', 'the directory has no such file', { name: name.slice(0, 200) })
