/**
 * The topic `tm_kvstore` (BRC-35 §3): admits valid tokens and retains the tokens that they replace. The effect on a tuple
 * follows from the inputs and outputs of the transaction (§3.4): an output alone creates the entry, an input and an output
 * update it, an input alone deletes it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isP2pkh } from '@quoin/chain'
import {
  isRefusal,
  type KvToken,
  parseToken,
  type Refusal,
  refusal,
  tupleText
} from '@quoin/kvstore-client/token'
import type { Admittance, Candidate } from '@quoin/overlay'
import { equalBytes, makeOutpoint, type Outpoint } from '@quoin/primitives'
import { readVerified, verifyToken } from './verify.ts'

/** What an operator indexes of one entry. The standard has no limit; each tag is a row in two indexes. */
export interface TagLimits {
  /** Tags of an entry. */
  readonly tags: number
  /** Length of a tag in UTF-8. */
  readonly tagBytes: number
}

export const TAG_LIMITS: TagLimits = { tags: 1000, tagBytes: 10_000 }

/** Outputs verified before the event loop gets a turn. */
const OUTPUTS_PER_TURN = 100
/** Refused outputs per transaction that are reported with a reason. */
const MAX_REASONS = 100

export const admitEntries =
  (limits: TagLimits) =>
  async ({ transaction, previousCoins }: Candidate): Promise<Admittance> => {
    const prior = previousCoins.flatMap(({ input, output }) => {
      const token = readVerified(output.script)
      return token ? [{ input, tuple: tupleText(token), lockKey: token.lockKey }] : []
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
      const token = withinLimits(limits, verifyToken(script, hasKnownLock))
      if (!isRefusal(token)) {
        outputs.push(vout)
        if (prior.length > 0) tuples.add(tupleText(token))
      } else if (Object.keys(refused).length < MAX_REASONS) refused[vout] = messageOf(token)
    }
    const retain = prior.filter(({ tuple }) => tuples.has(tuple)).map(({ input }) => input)
    return { outputs, retain, ...(Object.keys(refused).length > 0 && { refused }) }
  }

const withinLimits = ({ tags, tagBytes }: TagLimits, token: KvToken | Refusal): KvToken | Refusal => {
  if (isRefusal(token)) return token
  if (token.tags.length > tags) {
    return refusal('limit', `the entry has ${token.tags.length} tags, and this node indexes at most ${tags}`)
  }
  const longest = token.tags.find(tag => Buffer.byteLength(tag) > tagBytes)
  if (longest === undefined) return token
  return refusal(
    'limit',
    `a tag has ${Buffer.byteLength(longest)} bytes, and this node indexes at most ${tagBytes}`
  )
}

const messageOf = ({ reason, section, code }: Refusal): string =>
  code === 'limit' ? reason : `${reason} (BRC-35 ${section})`

/**
 * All inputs of a transaction with entries. A history sends the transaction without its proof, because clients stop at
 * proofs (§3.6); its inputs then have to be verifiable.
 */
export const neededBy = ({ transaction }: Candidate): Outpoint[] =>
  transaction.outputs.some(({ script }) => !isRefusal(parseToken(script)))
    ? transaction.inputs.map(({ txid, vout }) => makeOutpoint(txid, vout))
    : []
