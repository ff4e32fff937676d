/**
 * Queries to `ls_ship` and `ls_slap`, parsed from untrusted JSON: the text `findAll`, or an object with selectors that all
 * have to match.
 */
import { QuoinError } from '@quoin/primitives'
import type { Protocol } from './advertisement.ts'

export interface DiscoveryQuery {
  /** The URI of a host. */
  readonly domain?: string
  /** Topics or lookup services, of which one has to match; all unless given. */
  readonly names?: readonly string[]
  /** Lower-case hex. */
  readonly identityKey?: string
  readonly limit: number
  readonly skip: number
  readonly sortOrder: 'asc' | 'desc'
}

/** An answer with more is refused, as it would not be whole. */
export const MAX_RESULTS = 1000
const MAX_NAMES = 100
const MAX_TEXT = 1000
const FIND_ALL = 'findAll'

/**
 * Checks a query of `ls_ship` or `ls_slap`.
 *
 * @example
 * parseQuery('SHIP', { topics: ['tm_kvstore'] }).names // [ 'tm_kvstore' ]
 * parseQuery('SLAP', { service: 7 }) // throws ERR_REQUEST
 */
export const parseQuery = (protocol: Protocol, input: unknown): DiscoveryQuery => {
  if (input === FIND_ALL) return { limit: 0, skip: 0, sortOrder: 'desc' }
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw invalid('', `invalid query: expected "${FIND_ALL}" or an object`)
  const query = Object.fromEntries(
    Object.entries(input).filter(([, value]) => value !== null && value !== undefined)
  )
  const { domain, identityKey, limit = 0, skip = 0, sortOrder = 'desc' } = query
  const names = protocol === 'SHIP' ? query['topics'] : query['service']
  const isAll = query[FIND_ALL] === true
  if (!isAll && domain === undefined && identityKey === undefined && names === undefined)
    throw invalid(
      '',
      `invalid query: expected findAll, domain, identityKey or ${protocol === 'SHIP' ? 'topics' : 'service'}`
    )
  return {
    ...(!isAll && domain !== undefined && { domain: textOf('domain', domain) }),
    ...(!isAll && identityKey !== undefined && { identityKey: keyOf(identityKey) }),
    ...(!isAll && names !== undefined && { names: namesOf(protocol, names) }),
    limit: countOf('limit', limit),
    skip: countOf('skip', skip),
    sortOrder: orderOf(sortOrder)
  }
}

const invalid = (field: string, message: string): QuoinError =>
  new QuoinError('ERR_REQUEST', message, { where: 'query', path: field && `/${field}` })

const textOf = (field: string, value: unknown): string => {
  if (typeof value === 'string' && value.length > 0 && value.length <= MAX_TEXT) return value
  throw invalid(field, `invalid ${field}: expected text of 1 to ${MAX_TEXT} characters`)
}

const keyOf = (value: unknown): string => {
  if (typeof value === 'string' && /^0[23][0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase()
  throw invalid('identityKey', 'invalid identityKey: expected a compressed public key in hex')
}

const namesOf = (protocol: Protocol, value: unknown): string[] => {
  if (protocol === 'SLAP') return [textOf('service', value)]
  if (Array.isArray(value) && value.length <= MAX_NAMES)
    return [...new Set(value.map(each => textOf('topics', each)))]
  throw invalid('topics', `invalid topics: expected a list of at most ${MAX_NAMES} names`)
}

const countOf = (field: string, value: unknown): number => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw invalid(field, `invalid ${field}: expected a whole number from 0`)
}

const orderOf = (value: unknown): 'asc' | 'desc' => {
  if (value === 'asc' || value === 'desc') return value
  throw invalid('sortOrder', 'invalid sortOrder: expected asc or desc')
}
