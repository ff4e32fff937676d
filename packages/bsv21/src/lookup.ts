/**
 * The events of admitted token outputs: `id:`, `sym:` for a deployment, and the events of the lock. A burn has no holder,
 * and only the event of its token. `dt:bsv21` holds the output's own fields, in the form of the script indexer; symbol,
 * decimals and icon of a transfer are those of the deployment. `dt:bsv21-minted` of a binary value is the minted amount of
 * its transaction, which depends on the token inputs of the transaction.
 */

import type { AdmittedOutput, LookupResult, LookupUpdate, QuoinLookup } from '@quoin/overlay'
import {
  formatOutpoint,
  type Outpoint,
  parseOutpoint,
  QuoinError,
  type TokenId,
  voutOf
} from '@quoin/primitives'
import type { Batch } from '@quoin/store'
import { bsv21Data, decodeBsv21, isClaim, type OutputStore } from '@quoin/txo'
import { bsv21Events } from './keys.ts'
import { MINTED } from './ledger.ts'
import { enqueueTokenIn, queueOfToken } from './pipeline/queues.ts'
import { evaluateToken, isDeployment, tokenInputs, tokenOutputs } from './rules.ts'
import { lockEvents, readTokenLock } from './token-lock.ts'
import { DISCOVERY, tokenOfTopic } from './topic-names.ts'

const { id, sym } = bsv21Events.types
const MAX_PAGE = 1000

export const tokenLookup = (outputs: OutputStore): QuoinLookup => ({
  index: admitted => {
    const indexed = indexTokenOutput(admitted)
    if (admitted.topic !== DISCOVERY || !indexed) return indexed
    // The token's own topic evaluates the deployment too, from any source of it.
    return { ...indexed, extraWrites: batch => queueDeployment(batch, outputs, admitted.outpoint) }
  },
  lookup: async query => {
    const { event, limit } = readQuery(query)
    const { rows } = await outputs.search({ keys: [event], filterSpent: true, limit })
    return rows.map(({ outpoint }): LookupResult => ({ outpoint }))
  },
  getDocumentation: async () =>
    'Finds unspent outputs of BSV21 tokens: `{"event": "p2pkh:{address}:{tokenId}", "limit": 100}`. Events are `id:`, ' +
    '`sym:`, `p2pkh:`, `cos:`, `ltm:`, `pow20:` and `list:`.',
  getMetaData: async () => ({ name: 'BSV21', shortDescription: 'Outputs of BSV21 tokens.' })
})

/** Events and data of an output that a BSV21 topic admitted. */
const indexTokenOutput = (admitted: AdmittedOutput): LookupUpdate | undefined => {
  const { topic, outpoint, output } = admitted
  const token = tokenOfTopic(topic)
  if (token === undefined && topic !== DISCOVERY) return undefined
  const claim = decodeBsv21(output.script, outpoint)
  if (!claim) return undefined
  const events = [id.text(claim.id)]
  if (isDeployment(claim) && isClaim(claim.sym)) events.push(sym.text(claim.sym))
  // The deployer is a holder once the token's own topic admits the deployment.
  if (token !== undefined && claim.op !== 'burn') {
    events.push(...lockEvents(readTokenLock(output.script), token))
  }
  const data = { bsv21: bsv21Data(claim) }
  if (token === undefined || claim.op !== 'value') return { events, data }
  return { events, data: { ...data, [MINTED]: mintedBy(admitted, token).toString() } }
}

/** The minted part of the binary values of a transaction, as data of the first of them. */
const mintedBy = ({ transaction, outpoint, previousCoins }: AdmittedOutput, token: TokenId): bigint => {
  const claims = tokenOutputs(transaction, token)
  const first = [...claims].find(([, { op }]) => op === 'value')![0]
  return first === voutOf(outpoint)
    ? evaluateToken(claims, tokenInputs(previousCoins, token)).mintedBinary
    : 0n
}

const queueDeployment = (batch: Batch, { store }: OutputStore, outpoint: Outpoint): void => {
  const token = formatOutpoint(outpoint, '_') as TokenId
  const now = Date.now() / 1000
  enqueueTokenIn(
    batch,
    queueOfToken(store, token, () => now),
    { token, outpoint, score: now, now }
  )
}

const readQuery = (query: unknown): { event: string; limit: number } => {
  const { event, limit = 100 } = typeof query === 'object' && query !== null ? (query as Partial<Query>) : {}
  if (typeof event !== 'string' || !Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw new QuoinError('ERR_REQUEST', `a query is {"event": text, "limit": 1 to ${MAX_PAGE}}`, {
      where: 'query'
    })
  }
  return { event, limit }
}

interface Query {
  readonly event: string
  readonly limit: number
}

/**
 * Parses a token id in any spelling of an outpoint.
 *
 * @example
 * parseTokenId(`${'00'.repeat(31)}ff.0`) // '…ff_0'
 */
export const parseTokenId = (text: string): TokenId => formatOutpoint(parseOutpoint(text), '_') as TokenId
