/**
 * Queries to `ls_kvstore` (BRC-35 §3.5), parsed from untrusted JSON. Two fields extend the standard: `cursor`, from the
 * page before, and `history`, for all of it or none.
 */

import { MAX_KEY_LENGTH, MAX_TAGS, normalizeProtocol, type ProtocolID } from '@quoin/kvstore-client/token'
import { QuoinError } from '@quoin/primitives'

export interface KvQuery {
  readonly key?: string
  /** Lower-case hex. */
  readonly controller?: string
  /** In canonical form. */
  readonly protocolID?: ProtocolID
  /** Without duplicates. An empty list is no selector. */
  readonly tags: readonly string[]
  readonly tagQueryMode: 'all' | 'any'
  readonly limit: number
  readonly skip: number
  readonly sortOrder: 'asc' | 'desc'
  readonly cursor?: string
  /** Unless given, as much history as clients with @bsv/sdk can walk. */
  readonly history?: boolean
}

const DEFAULT_LIMIT = 50
/** A greater limit is reduced to this one. */
const MAX_LIMIT = 1000
/** Rows beyond are reached with a cursor. */
const MAX_SKIP = 9000

/**
 * Checks a query of `ls_kvstore` (BRC-35 §3.5).
 *
 * @example
 * const { tags, limit } = readQuery({ tags: ['profile'], limit: 10 })
 * tags // [ 'profile' ]
 * readQuery({ limit: 10 }) // throws ERR_REQUEST
 */
export const readQuery = (input: unknown): KvQuery => {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw invalid('', 'the query must be an object')
  }
  const { key, controller, protocolID, tags, tagQueryMode, limit, skip, sortOrder, cursor, history } =
    withoutNull(input)
  const query: KvQuery = {
    ...(key !== undefined && { key: keyOf(key) }),
    ...(controller !== undefined && { controller: controllerOf(controller) }),
    ...(protocolID !== undefined && { protocolID: protocolOf(protocolID) }),
    tags: tagsOf(tags ?? []),
    tagQueryMode: oneOf('tagQueryMode', tagQueryMode ?? 'all', ['all', 'any']),
    limit: Math.min(integerOf('limit', limit ?? DEFAULT_LIMIT, 1, Number.MAX_SAFE_INTEGER), MAX_LIMIT),
    skip: integerOf('skip', skip ?? 0, 0, MAX_SKIP),
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
    throw invalid('', 'a query needs at least one selector: key, controller, protocolID or tags')
  }
  return query
}

/** Some clients send null for an absent field. */
const withoutNull = (input: object): Record<keyof KvQuery, unknown> =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)) as Record<
    keyof KvQuery,
    unknown
  >

const invalid = (field: string, message: string): QuoinError =>
  new QuoinError('ERR_REQUEST', message, { where: 'query', path: field && `/${field}` })

const textOf = (field: string, value: unknown): string => {
  if (typeof value !== 'string') throw invalid(field, `${field} must be a string`)
  return value
}

const keyOf = (value: unknown): string => {
  // As UTF-8 encoders of clients write the key: with U+FFFD for a lone surrogate.
  const key = Buffer.from(textOf('key', value)).toString()
  if (key.length > 0 && key.length <= MAX_KEY_LENGTH) return key
  throw invalid('key', `key must be a string of 1 to ${MAX_KEY_LENGTH} characters`)
}

const controllerOf = (value: unknown): string => {
  if (typeof value === 'string' && /^0[23][0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase()
  throw invalid('controller', 'controller must be a compressed public key in hex')
}

const protocolOf = (value: unknown): ProtocolID => {
  const protocolID = normalizeProtocol(value)
  if (protocolID) return protocolID
  throw invalid(
    'protocolID',
    'protocolID must be a level from 0 to 2 and a name that wallets accept, for example [1,"kvstore"]'
  )
}

const tagsOf = (value: unknown): string[] => {
  const isTag = (tag: unknown): boolean => typeof tag === 'string'
  if (Array.isArray(value) && value.length <= MAX_TAGS && value.every(isTag))
    return [...new Set<string>(value)]
  throw invalid('tags', `tags must be a list of at most ${MAX_TAGS} strings`)
}

const oneOf = <const T extends string>(field: string, value: unknown, words: readonly T[]): T => {
  const found = words.find(each => each === value)
  if (found !== undefined) return found
  throw invalid(field, `${field} must be ${words.join(' or ')}`)
}

const integerOf = (field: string, value: unknown, min: number, max: number): number => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value
  throw invalid(field, `${field} must be an integer from ${min} to ${max}`)
}

const historyOf = (value: unknown): boolean => {
  if (typeof value === 'boolean') return value
  throw invalid('history', 'history must be true or false')
}
