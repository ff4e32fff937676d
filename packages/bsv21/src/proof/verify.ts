/**
 * Verifies token proofs (BRC-176) with headers alone. The BEEF comes first: each merkle path against the headers, each
 * unmined transaction of the history back to proofs. Then the rules run over the history, parents first, from nothing: an
 * output counts once its own inputs do. A transaction that is missing counts as nothing, so that omission proves less and
 * never more.
 *
 * A proof says that outputs are valid token outputs of the amounts on their scripts. It does not say that they are
 * unspent, and nothing about other mints.
 */
import { type BeefTransaction, type RootTracker, type Transaction, verifyBeef } from '@quoin/chain'
import {
  bytesKey,
  formatOutpoint,
  formatTxid,
  makeOutpoint,
  type Outpoint,
  QuoinError,
  type TokenId,
  type Txid,
  txidOf,
  voutOf
} from '@quoin/primitives'
import { type Bsv21, decodeBsv21 } from '@quoin/txo'
import { refusalText, tokenOutputs } from '../rules.ts'
import { TokenHistory } from './history.ts'
import { readTokenPacket, type TokenPacket } from './packet.ts'

export interface TokenProofOptions {
  readonly tracker: RootTracker
  /** The outputs to prove. Needed for a bare BEEF; the outputs that the envelope names, unless given. */
  readonly subjects?: readonly Outpoint[] | undefined
}

export interface ProvedOutput {
  readonly outpoint: Outpoint
  readonly id: TokenId
  readonly op: Bsv21['op']
  readonly encoding: Bsv21['encoding']
  /** 0 for an authority. */
  readonly amount: bigint
}

interface UnprovedOutput {
  readonly outpoint: Outpoint
  readonly reason: string
}

export interface TokenProof {
  readonly proved: readonly ProvedOutput[]
  readonly unproved: readonly UnprovedOutput[]
}

/** Limits on a packet from a stranger; beyond them nothing is proved. */
const TOKEN_PROOF_LIMITS = {
  bytes: 32 * 1024 * 1024,
  transactions: 50_000,
  /** Inputs of unmined transactions. */
  unminedInputs: 10_000,
  subjects: 10_000
} as const

/**
 * Verifies a packet. Throws when the packet is malformed, beyond a limit, or has a merkle path or a transaction that does
 * not verify: then nothing is proved.
 *
 * @example
 * import { DevChain } from '@quoin/dev-chain'
 * import { makeOutpoint } from '@quoin/primitives'
 * const chain = new DevChain()
 * const { txid } = chain.fund('1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc', 1000)
 * const subjects = [makeOutpoint(txid, 0)]
 * const { proved, unproved } = await verifyTokenProof(chain.beef(txid), { tracker: chain, subjects })
 * proved.length // 0
 * unproved[0]!.reason // 'It is not a token output.'
 */
export const verifyTokenProof = async (
  bytes: Uint8Array,
  { tracker, subjects }: TokenProofOptions
): Promise<TokenProof> => {
  const packet = readTokenPacket(bytes, TOKEN_PROOF_LIMITS)
  const wanted = subjectsOf(packet, subjects)
  const history = new TokenHistory(packet.beef)
  for (const { outpoint, claim } of wanted.claims) history.add(outpoint, claim.id)
  await verifyTransactions(packet, history.transactions, tracker)
  const results = history.evaluate()
  const proved: ProvedOutput[] = []
  const unproved: UnprovedOutput[] = [...wanted.unproved]
  for (const { outpoint, claim } of wanted.claims) {
    const { id, op, encoding, amt = 0n } = claim
    const result = results.get(bytesKey(outpoint))!
    if (result === 'valid') proved.push({ outpoint, id, op, encoding, amount: amt })
    else unproved.push({ outpoint, reason: refusalText(result) })
  }
  return { proved, unproved }
}

interface PacketSubjects {
  readonly claims: readonly { readonly outpoint: Outpoint; readonly claim: Bsv21 }[]
  readonly unproved: readonly UnprovedOutput[]
}

/** The token outputs to prove, and the subjects that are none. */
const subjectsOf = (packet: TokenPacket, given: readonly Outpoint[] | undefined): PacketSubjects => {
  const outpoints = new Map((given ?? scopeOf(packet)).map(outpoint => [bytesKey(outpoint), outpoint]))
  if (outpoints.size > TOKEN_PROOF_LIMITS.subjects) {
    throw new QuoinError('ERR_BEEF_LIMIT', `more than ${TOKEN_PROOF_LIMITS.subjects} outputs to prove`)
  }
  const claims: PacketSubjects['claims'][number][] = []
  const unproved: UnprovedOutput[] = []
  for (const outpoint of outpoints.values()) {
    const transaction = packet.beef.find(txidOf(outpoint))?.transaction
    const claim = transaction && claimAt(transaction, voutOf(outpoint))
    if (!isInScope(packet, outpoint)) unproved.push({ outpoint, reason: 'The packet is not about it.' })
    else if (!transaction) unproved.push({ outpoint, reason: 'The packet lacks its transaction.' })
    else if (!claim) unproved.push({ outpoint, reason: 'It is not a token output.' })
    else claims.push({ outpoint, claim })
  }
  return { claims, unproved }
}

const scopeOf = ({ scope, beef }: TokenPacket): Outpoint[] => {
  if (scope.kind === 'outpoint') return [scope.outpoint]
  if (scope.kind === 'none') {
    throw new QuoinError(
      'ERR_REQUEST',
      'the packet is a bare BEEF, which does not say what it proves: name the outputs',
      { where: 'subjects' }
    )
  }
  const transaction = beef.find(scope.txid)?.transaction
  if (transaction) {
    return [...tokenOutputs(transaction).keys()].map(vout => makeOutpoint(scope.txid, vout))
  }
  throw new QuoinError('ERR_BEEF_FORMAT', 'invalid packet: it lacks the transaction that it is about', {
    txid: formatTxid(scope.txid)
  })
}

const isInScope = ({ scope }: TokenPacket, outpoint: Outpoint): boolean =>
  scope.kind === 'none' ||
  (scope.kind === 'outpoint'
    ? bytesKey(scope.outpoint) === bytesKey(outpoint)
    : bytesKey(scope.txid) === bytesKey(txidOf(outpoint)))

const claimAt = ({ txid, outputs }: Transaction, vout: number): Bsv21 | undefined =>
  outputs[vout] && decodeBsv21(outputs[vout].script, makeOutpoint(txid, vout))

/** Checks all merkle paths, and the scripts of unmined transactions of the history. Throws for the first that fails. */
const verifyTransactions = async (
  { beef }: TokenPacket,
  history: readonly BeefTransaction[],
  tracker: RootTracker
): Promise<void> => {
  for (const bump of beef.bumps) {
    const root = formatTxid(bump.root as Txid)
    if (await tracker.isValidRootForHeight(root, bump.height)) continue
    throw new QuoinError('ERR_PROOF_INVALID', `a merkle path does not lead to block ${bump.height}`, {
      height: bump.height,
      root
    })
  }
  const mined = new Map(
    beef.bumps.flatMap(({ txids, height }) => txids.map(txid => [bytesKey(txid), height] as const))
  )
  limitUnmined(beef.transactions.filter(({ txid }) => !mined.has(bytesKey(txid))))
  const verified = new Map<string, Transaction>()
  const known = async (txids: readonly Txid[]) =>
    txids.map(txid => {
      const key = bytesKey(txid)
      const transaction = verified.get(key) ?? (mined.has(key) ? beef.find(txid)?.transaction : undefined)
      return transaction && { transaction, height: mined.get(key) }
    })
  for (const { txid } of history) {
    if (mined.has(bytesKey(txid)) || verified.has(bytesKey(txid))) continue
    const { transactions, bumps } = beef
    const bundle = { subject: txid, transactions, bumps, find: (wanted: Txid) => beef.find(wanted) }
    const result = await verifyBeef(bundle, { tracker, known })
    for (const transaction of result.transactions) verified.set(bytesKey(transaction.txid), transaction)
  }
}

const limitUnmined = (unmined: readonly BeefTransaction[]): void => {
  const inputs = unmined.reduce((sum, { transaction }) => sum + (transaction?.inputCount ?? 0), 0)
  if (inputs <= TOKEN_PROOF_LIMITS.unminedInputs) return
  throw new QuoinError(
    'ERR_BEEF_LIMIT',
    `more than ${TOKEN_PROOF_LIMITS.unminedInputs} inputs of unmined transactions`,
    { most: TOKEN_PROOF_LIMITS.unminedInputs, given: inputs }
  )
}

/** An output of a proof as text, for messages and JSON. */
export const provedOutputJson = ({ outpoint, id, op, encoding, amount }: ProvedOutput) => ({
  outpoint: formatOutpoint(outpoint),
  id,
  op,
  encoding,
  amount: amount.toString()
})
