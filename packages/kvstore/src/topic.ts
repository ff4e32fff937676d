/**
 * The topic `tm_kvstore` (BRC-35 §3): admits outputs that are tokens, and keeps what they replace. What a transaction
 * does to a tuple follows from what it spends and makes of it (§3.4): a token without a prior one creates, one with a
 * prior one updates, a prior one alone is deleted.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isP2pkh } from '@quoin/chain'
import { makeOutpoint, type Outpoint } from '@quoin/keyspace'
import {
  isRefusal,
  type KvContent,
  type KvToken,
  parseToken,
  protocolText
} from '@quoin/kvstore-client/token'
import type { Admittance, Candidate } from '@quoin/overlay'
import { verifyToken } from './verify.ts'

/** Outputs that are looked at before others have their turn. */
const AT_ONCE = 100
/** Of a transaction, those who made outputs by mistake are told about so many. */
const MAX_REASONS = 100

export const admitEntries = async ({ transaction, previousCoins }: Candidate): Promise<Admittance> => {
  const prior = previousCoins.flatMap(({ input, output }) => {
    const token = parseToken(output.script)
    // What was admitted was verified then.
    return isRefusal(token) ? [] : [{ input, tuple: tupleText(token), lockKey: token.lockKey }]
  })
  const locks = new Map(prior.map(({ tuple, lockKey }) => [tuple, lockKey]))
  const isKnown = (token: KvToken): boolean => {
    const lock = prior.length > 0 ? locks.get(tupleText(token)) : undefined
    return lock !== undefined && Buffer.compare(lock, token.lockKey) === 0
  }
  const outputs: number[] = []
  const refused: Record<number, string> = {}
  const tuples = new Set<string>()
  for (const [vout, { script }] of transaction.outputs.entries()) {
    // Nobody takes a payment for a token, so nobody is told why it is none.
    if (isP2pkh(script)) continue
    if (vout % AT_ONCE === AT_ONCE - 1) await nextTurn()
    const token = verifyToken(script, isKnown)
    if (!isRefusal(token)) {
      outputs.push(vout)
      if (prior.length > 0) tuples.add(tupleText(token))
    } else if (Object.keys(refused).length < MAX_REASONS) refused[vout] = token.reason
  }
  const retain = prior.filter(({ tuple }) => tuples.has(tuple)).map(({ input }) => input)
  return { outputs, retain, ...(Object.keys(refused).length > 0 && { refused }) }
}

/**
 * What a transaction with entries spends, whatever that is: without it the transaction cannot be shown without its proof,
 * and a client that stops at proofs would not come by it (§3.6).
 */
export const neededBy = ({ transaction }: Candidate): Outpoint[] =>
  transaction.outputs.some(({ script }) => !isRefusal(parseToken(script)))
    ? transaction.inputs.map(({ txid, vout }) => makeOutpoint(txid, vout))
    : []

/** Each part is told from the next. */
const tupleText = ({ controller, protocolID, key }: KvContent): string =>
  `${controller}${protocolText(protocolID)}${key}`
