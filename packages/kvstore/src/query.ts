/**
 * Questions to `ls_kvstore` (BRC-35 §3.5), read from whatever a stranger sends. Beyond the standard a question may have a
 * `cursor`, from the answer before, and `history`: all of it, or none.
 */

import { isProtocolID, isText, MAX_KEY_LENGTH, MAX_TAGS, type ProtocolID } from '@quoin/kvstore-client/token'
import { QuoinError } from '@quoin/primitives'

export interface KvQuery {
  readonly key?: string
  /** Lower-case hex. */
  readonly controller?: string
  readonly protocolID?: ProtocolID
  /** Each once; none is no selector. */
  readonly tags: readonly string[]
  readonly tagQueryMode: 'all' | 'any'
  readonly limit: number
  readonly skip: number
  readonly sortOrder: 'asc' | 'desc'
  readonly cursor?: string
  /** As much as clients with @bsv/sdk can walk unless given. */
  readonly history?: boolean
}

const DEFAULT_LIMIT = 50
/** A greater one is taken for this. */
const MAX_LIMIT = 1000
/** What comes later is reached with a cursor. */
const MAX_SKIP = 9000

export const readQuery = (given: unknown): KvQuery => {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw wrong('', 'a query is an object')
  }
  const { key, controller, protocolID, tags, tagQueryMode, limit, skip, sortOrder, cursor, history } =
    withoutNull(given)
  const query: KvQuery = {
    ...(key !== undefined && { key: keyOf(key) }),
    ...(controller !== undefined && { controller: controllerOf(controller) }),
    ...(protocolID !== undefined && { protocolID: protocolOf(protocolID) }),
    tags: tagsOf(tags ?? []),
    tagQueryMode: oneOf('tagQueryMode', tagQueryMode ?? 'all', ['all', 'any']),
    limit: Math.min(wholeOf('limit', limit ?? DEFAULT_LIMIT, 1, Number.MAX_SAFE_INTEGER), MAX_LIMIT),
    skip: wholeOf('skip', skip ?? 0, 0, MAX_SKIP),
    sortOrder: oneOf('sortOrder', sortOrder ?? 'desc', ['asc', 'desc']),
    ...(cursor !== undefined && { cursor: textOf('cursor', cursor) }),
    ...(history !== undefined && { history: historyOf(history) })
  }
  if (
    query.key === undefined &&
    query.controller === undefined &&
    !query.protocolID &&
    query.tags.length === 0
  ) {
    throw wrong('', 'a query has at least one selector: key, controller, protocolID or tags')
  }
  return query
}

/** What is null is as if it were not there. */
const withoutNull = (given: object): Record<keyof KvQuery, unknown> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)) as Record<
    keyof KvQuery,
    unknown
  >

const wrong = (field: string, message: string): QuoinError =>
  new QuoinError('ERR_REQUEST', message, { where: 'query', path: field && `/${field}` })

const textOf = (field: string, value: unknown): string => {
  if (typeof value !== 'string') throw wrong(field, `${field} is a text`)
  return value
}

const keyOf = (value: unknown): string => {
  const key = textOf('key', value)
  if (key.length > 0 && key.length <= MAX_KEY_LENGTH && isText(key)) return key
  throw wrong('key', `key is a text of 1 to ${MAX_KEY_LENGTH} characters`)
}

const controllerOf = (value: unknown): string => {
  if (typeof value === 'string' && /^0[23][0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase()
  throw wrong('controller', 'controller is a compressed public key in hex')
}

const protocolOf = (value: unknown): ProtocolID => {
  if (isProtocolID(value)) return value
  throw wrong('protocolID', 'protocolID is a level from 0 to 2 and a name as wallets take it: [1,"kvstore"]')
}

const tagsOf = (value: unknown): string[] => {
  const isTag = (tag: unknown): boolean => typeof tag === 'string' && isText(tag)
  if (Array.isArray(value) && value.length <= MAX_TAGS && value.every(isTag))
    return [...new Set<string>(value)]
  throw wrong('tags', `tags are at most ${MAX_TAGS} texts`)
}

const oneOf = <const T extends string>(field: string, value: unknown, words: readonly T[]): T => {
  const found = words.find(each => each === value)
  if (found !== undefined) return found
  throw wrong(field, `${field} is ${words.join(' or ')}`)
}

const wholeOf = (field: string, value: unknown, least: number, most: number): number => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most)
    return value
  throw wrong(field, `${field} is a whole number from ${least} to ${most}`)
}

const historyOf = (value: unknown): boolean => {
  if (typeof value === 'boolean') return value
  throw wrong('history', 'history is true or false')
}
