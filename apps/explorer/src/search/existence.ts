/** Asks whether the node knows the name of a reading. */
import { ApiError, ask } from '../api/client.ts'
import type { SearchReading } from './classify.ts'

export type Existence = 'known' | 'unknown' | 'unavailable'

export const checkExistence = async (
  { kind, name }: SearchReading,
  signal: AbortSignal
): Promise<Existence> => {
  try {
    return (await askFor(kind, name, signal)) ? 'known' : 'unknown'
  } catch (error) {
    if (error instanceof ApiError && error.isMissing) return 'unavailable'
    // Malformed as a name of that kind: a wrong checksum, for example.
    if (error instanceof ApiError && error.status >= 400 && error.status < 500) return 'unknown'
    throw error
  }
}

const hasEvent = async (key: string, signal: AbortSignal): Promise<boolean> => {
  const { outputs } = await ask('GET /txo/search', { query: { key: [key], limit: 1 }, signal })
  return outputs.length > 0
}

const askFor = async (kind: SearchReading['kind'], name: string, signal: AbortSignal): Promise<boolean> => {
  switch (kind) {
    case 'transaction':
      await ask('GET /txo/tx/{txid}', { path: { txid: name }, query: { include: ['satoshis'] }, signal })
      return true
    case 'output':
      await ask('GET /txo/outpoint/{outpoint}', { path: { outpoint: name }, query: {}, signal })
      return true
    case 'address':
      return hasEvent(`own:${name}`, signal)
    case 'topic':
      return hasEvent(`tp:${name}`, signal)
    case 'event':
      return hasEvent(name, signal)
    case 'raw key':
      return (await ask('GET /keyspace/explain/{hex}', { path: { hex: name }, signal })).found
    case 'controller':
      return (await ask('GET /kv', { query: { controller: name, limit: 1 }, signal })).entries.length > 0
    case 'entry key':
      return (await ask('GET /kv', { query: { key: name, limit: 1 }, signal })).entries.length > 0
    case 'token':
      await ask('GET /1sat/bsv21/{token}', { path: { token: name }, signal })
      return true
    case 'symbol':
      return (
        (await ask('GET /1sat/bsv21/tokens', { query: { sym: name, limit: 1 }, signal })).tokens.length > 0
      )
    case 'pool':
      await ask('GET /liquidity/pools/{pool}', { path: { pool: name }, signal })
      return true
  }
}
