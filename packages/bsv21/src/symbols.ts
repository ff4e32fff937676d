/**
 * Deployments by symbol prefix, page by page: in the order of the symbols' keys, and of one symbol in the order of their
 * deployment. A page visits a bounded number of keys.
 */
import { type Outpoint, prefixEnd, QuoinError, successor } from '@quoin/primitives'
import type { SearchPage, StoreReads } from '@quoin/store'
import { bsv21Events } from './keys.ts'

export interface DeploymentPage {
  readonly deployments: readonly Outpoint[]
  /** Undefined after the last page. */
  readonly cursor: string | undefined
}

/** The end of a page: the end of a symbol, or a cursor within it. */
interface Place {
  readonly symbol: string
  readonly within: string | undefined
}

const { index, spent } = bsv21Events.types.sym
/** Keys visited by one page: sorted sets of symbols, and of their spent outputs. */
const MOST_KEYS = 512
/** Symbols read together: most have one deployment, some have many. */
const TOGETHER = 16

export const searchSymbols = async (
  reads: StoreReads,
  prefix: string,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined }
): Promise<DeploymentPage> => {
  const after = cursor === undefined ? undefined : readPlace(cursor, prefix)
  const keys = await reads.zkeys(rangeAfter(prefix, after), { limit: MOST_KEYS })
  const symbols = keys.filter(key => index.owns(key)).map(key => index.decode(key)[0])
  const read = (symbol: string, most: number): Promise<SearchPage> => {
    const within = symbol === after?.symbol ? after.within : undefined
    const key = index.encode(symbol)
    return reads.search({ keys: [key], limit: most, ...(within !== undefined && { cursor: within }) })
  }
  const deployments: Outpoint[] = []
  for (let i = 0; i < symbols.length; i += TOGETHER) {
    const some = symbols.slice(i, i + TOGETHER)
    const left = limit - deployments.length
    const pages = await Promise.all(some.map(symbol => read(symbol, left)))
    for (const [j, symbol] of some.entries()) {
      const room = limit - deployments.length
      // The symbols before may have filled a part of the page.
      const page = pages[j]!.rows.length > room ? await read(symbol, room) : pages[j]!
      for (const { member } of page.rows) deployments.push(member as Outpoint)
      if (deployments.length === limit)
        return { deployments, cursor: writePlace({ symbol, within: page.cursor }) }
    }
  }
  const last = keys.length === MOST_KEYS ? keys.at(-1)! : undefined
  return { deployments, cursor: last && writePlace({ symbol: symbolOf(last), within: undefined }) }
}

const symbolOf = (key: Uint8Array): string => (index.owns(key) ? index : spent).decode(key)[0]

const rangeAfter = (prefix: string, place: Place | undefined) => {
  const first = index.encode(prefix)
  const at = place && index.encode(place.symbol)
  const start = at ? (place.within === undefined ? successor(at) : at) : first
  return { start, end: prefixEnd(first), reverse: false }
}

/** The symbol as base64url and, behind a dot, the place within it. */
const writePlace = ({ symbol, within }: Place): string => {
  const text = Buffer.from(symbol).toString('base64url')
  return within === undefined ? text : `${text}.${within}`
}

/** Strict: only what `writePlace` writes, for symbols that begin like that. */
const readPlace = (cursor: string, prefix: string): Place => {
  const [, text, within] = CURSOR.exec(cursor) ?? []
  const symbol = text === undefined ? undefined : Buffer.from(text, 'base64url').toString()
  if (!symbol?.startsWith(prefix) || writePlace({ symbol, within }) !== cursor) {
    throw new QuoinError('ERR_STORE_CURSOR', 'invalid cursor: expected one of this search')
  }
  return { symbol, within }
}
const CURSOR = /^([A-Za-z0-9_-]{1,2000})(?:\.([A-Za-z0-9_-]{1,100}))?$/
