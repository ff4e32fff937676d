/** Symbols and decimals of tokens by id: ids that one frame of a view asks for go in one request. */
import { signal } from '@preact/signals'
import { ApiError, ask } from './api/client.ts'
import { outpointOf } from './format.ts'

export interface TokenName {
  readonly sym: string | undefined
  readonly dec: number
}

/** Null for a token without a known deployment. */
export const tokenNames = signal<ReadonlyMap<string, TokenName | null>>(new Map())

const MOST_KEPT = 5000
/** The limit of the node on the ids of one request. */
const MOST_ASKED = 100

const isTokenId = (id: string): boolean => /^[0-9a-f]{64}_/.test(id) && outpointOf(id) !== undefined

/** The token of a topic `tm_{token id}`. */
export const tokenOfTopic = (topic: string): string | undefined => {
  const id = topic.startsWith('tm_') ? topic.slice('tm_'.length) : ''
  return isTokenId(id) ? id : undefined
}

const wanted = new Set<string>()

/** Unknown tokens are asked for again by the next view, since they may be deployed by then. */
export const loadToken = (id: string): void => {
  if (tokenNames.value.get(id)) return
  if (wanted.size === 0) setTimeout(loadWanted)
  wanted.add(id)
}

const loadWanted = async (): Promise<void> => {
  const ids = [...wanted]
  wanted.clear()
  for (let at = 0; at < ids.length; at += MOST_ASKED) {
    const asked = ids.slice(at, at + MOST_ASKED)
    // One malformed id of a stranger's output would refuse the whole request.
    const body = asked.filter(isTokenId)
    const found = await ask('POST /1sat/bsv21/lookup', { body }).catch(withoutTokens)
    const names = new Map([...tokenNames.value].slice(-MOST_KEPT))
    for (const id of asked) names.set(id, null)
    for (const { tokenId, token } of found) names.set(tokenId, { sym: token.sym, dec: token.dec })
    tokenNames.value = names
  }
}

/** A node without tokens, or without an answer, leaves the ids as names: the rows stay readable. */
const withoutTokens = (error: unknown): readonly never[] => {
  if (error instanceof ApiError) return []
  throw error
}
