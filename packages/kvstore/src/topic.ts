/**
 * The topic `tm_kvstore` (BRC-35 §3): admits valid tokens and retains the tokens that they replace. The effect on a tuple
 * follows from the inputs and outputs of the transaction (§3.4): an output alone creates the entry, an input and an output
 * update it, an input alone deletes it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isP2pkh } from '@quoin/chain'
import {
  isRefusal,
  type KvContent,
  type KvToken,
  parseToken,
  protocolText
} from '@quoin/kvstore-client/token'
import type { Admittance, Candidate } from '@quoin/overlay'
import { equalBytes, makeOutpoint, type Outpoint } from '@quoin/primitives'
import { verifyToken } from './verify.ts'

/** Outputs verified before the event loop gets a turn. */
const OUTPUTS_PER_TURN = 100
/** Refused outputs per transaction that are reported with a reason. */
const MAX_REASONS = 100

export const admitEntries = async ({ transaction, previousCoins }: Candidate): Promise<Admittance> => {
  const prior = previousCoins.flatMap(({ input, output }) => {
    const token = parseToken(output.script)
    // Admission verified these tokens.
    return isRefusal(token) ? [] : [{ input, tuple: tupleText(token), lockKey: token.lockKey }]
  })
  const locks = new Map(prior.map(({ tuple, lockKey }) => [tuple, lockKey]))
  const hasKnownLock = (token: KvToken): boolean => {
    const lock = prior.length > 0 ? locks.get(tupleText(token)) : undefined
    return lock !== undefined && equalBytes(lock, token.lockKey)
  }
  const outputs: number[] = []
  const refused: Record<number, string> = {}
  const tuples = new Set<string>()
  for (const [vout, { script }] of transaction.outputs.entries()) {
    // A payment is not reported as a malformed token.
    if (isP2pkh(script)) continue
    if (vout % OUTPUTS_PER_TURN === OUTPUTS_PER_TURN - 1) await nextTurn()
    const token = verifyToken(script, hasKnownLock)
    if (!isRefusal(token)) {
      outputs.push(vout)
      if (prior.length > 0) tuples.add(tupleText(token))
    } else if (Object.keys(refused).length < MAX_REASONS) refused[vout] = token.reason
  }
  const retain = prior.filter(({ tuple }) => tuples.has(tuple)).map(({ input }) => input)
  return { outputs, retain, ...(Object.keys(refused).length > 0 && { refused }) }
}

/**
 * All inputs of a transaction with entries. A history sends the transaction without its proof, because clients stop at
 * proofs (§3.6); its inputs then have to be verifiable.
 */
export const neededBy = ({ transaction }: Candidate): Outpoint[] =>
  transaction.outputs.some(({ script }) => !isRefusal(parseToken(script)))
    ? transaction.inputs.map(({ txid, vout }) => makeOutpoint(txid, vout))
    : []

/** Map key of a tuple. */
const tupleText = ({ controller, protocolID, key }: KvContent): string =>
  `${controller}${protocolText(protocolID)}${key}`
