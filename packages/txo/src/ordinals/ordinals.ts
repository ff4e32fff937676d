/** The content of an ordinal at a sequence number: of the last output at or before it that has any. */
import { formatOutpoint, type Outpoint, QuoinError } from '@quoin/primitives'
import { readContent } from './content.ts'
import type { OrdinalWalk } from './ordinal-walk.ts'

/** Sequence numbers that name an output by its place. */
export const LATEST = -1
export const ORIGIN = -2

export interface ResolvedOrdinal {
  readonly origin: Outpoint
  /** The output at the sequence number, and the number: 0 at the origin. */
  readonly outpoint: Outpoint
  readonly sequence: number
  /** The output whose content counts; undefined where none has any. */
  readonly content: Outpoint | undefined
  /** MAP of all outputs from the origin on, later values over earlier ones. */
  readonly map: Readonly<Record<string, string>> | undefined
  /** The parent that the last inscription with one has. */
  readonly parent: Outpoint | undefined
  /** Whether transactions alone fix the answer, and no spend that a reorg could change. */
  readonly isSettled: boolean
}

/** An output of 1 satoshi that is stored, and a sequence number or `LATEST`. */
export const resolveOrdinal = async (
  walk: OrdinalWalk,
  outpoint: Outpoint,
  sequence: number
): Promise<ResolvedOrdinal> => {
  const path = [outpoint]
  for (let each = await walk.previous(outpoint); each; each = await walk.previous(each)) path.push(each)
  path.reverse()
  const own = path.length - 1
  const wanted = sequence === LATEST ? Number.POSITIVE_INFINITY : sequence
  while (path.length <= wanted) {
    const next = await walk.next(path.at(-1)!)
    if (!next) break
    path.push(next)
  }
  if (sequence >= path.length) {
    throw new QuoinError(
      'ERR_NOT_FOUND',
      `sequence ${sequence} of the ordinal ${formatOutpoint(path[0]!, '_')} is not known; the last one is ${path.length - 1}`
    )
  }
  const last = Math.min(wanted, path.length - 1)
  const found: Pick<Writable<ResolvedOrdinal>, 'content' | 'map' | 'parent'> = {
    content: undefined,
    map: undefined,
    parent: undefined
  }
  for (const each of path.slice(0, last + 1)) {
    const { content, map, parent } = readContent((await walk.output(each))!.script)
    if (content) found.content = each
    if (map) found.map = { ...found.map, ...map }
    if (parent) found.parent = parent
  }
  return {
    ...found,
    origin: path[0]!,
    outpoint: path[last]!,
    sequence: last,
    isSettled: sequence !== LATEST && last <= own
  }
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

/** The origin of an output of 1 satoshi. */
export const originOf = async (walk: OrdinalWalk, outpoint: Outpoint): Promise<Outpoint> => {
  let origin = outpoint
  for (let each = await walk.previous(origin); each; each = await walk.previous(each)) origin = each
  return origin
}

/** A part of a file in several inscriptions of one ordinal. */
export interface ContentPart {
  readonly outpoint: Outpoint
  readonly length: number
}

const CONTINUED = 'ordfs/stream'

/** The parts of a file that begins in an output: its content, then every next one of the type `ordfs/stream`. */
export const contentParts = async (walk: OrdinalWalk, outpoint: Outpoint): Promise<ContentPart[]> => {
  const parts: ContentPart[] = []
  for (let each: Outpoint | undefined = outpoint; each; each = await walk.next(each)) {
    const output = await walk.output(each)
    const content = output && readContent(output.script).content
    if (!content || (parts.length > 0 && content.type !== CONTINUED)) break
    parts.push({ outpoint: each, length: content.bytes.length })
    // Satoshis are followed through outputs of 1 satoshi only.
    if (output.satoshis !== 1) break
  }
  return parts
}
