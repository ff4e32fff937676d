/**
 * What the engine of `@bsv/overlay` writes, as changes of the index. It says everything about one output at a time and
 * hands over the whole BEEF each time; here the transactions of the BEEF are stored once, and all that follows from
 * them (what they spend, where they are mined) is in the same commit as what the engine says.
 */
import type { Beef, BeefTransaction, Bump, Transaction } from '@quoin/chain'
import { formatTxid, makeOutpoint, QuoinError, type Txid } from '@quoin/primitives'
import type { Batch } from '@quoin/store'
import type { OutputStore } from './output-store.ts'
import type { BlockPosition } from './position.ts'
import { TxUpdate } from './tx-update.ts'

/** A transaction, and where it is in the chain, if that is known. */
export interface Fact extends BeefTransaction {
  readonly transaction: Transaction
  /** Unix seconds. */
  readonly seen: number | undefined
  /** Whether to say what it spends. */
  readonly spends: boolean
}

/** One write of the engine. */
export interface EngineWrite {
  /** What it says itself. */
  readonly changes: readonly TxUpdate[]
  /** What it comes with. */
  readonly facts: readonly Fact[]
}

/**
 * A transaction of a BEEF and what it rests on, back to what is proved: that is as far as the engine has verified it.
 * Of proofs further back nobody has checked anything, and of transactions beside it neither. The spends of what is not
 * mined are said, so that taking back an ancestor takes back everything downstream.
 */
export const factsOf = async (
  { transactions }: OutputStore,
  beef: Beef,
  subject: Txid,
  seen?: number
): Promise<Fact[]> => {
  const facts = new Map<string, Fact>()
  const wanted = [subject]
  for (const txid of wanted) {
    const name = formatTxid(txid)
    const found = beef.find(txid)
    // One that is named only, or not at all, is one that the sender takes to be known here.
    if (facts.has(name) || !found?.transaction) continue
    const { transaction, bump } = found
    facts.set(name, { txid, transaction, bump, seen, spends: !bump })
    if (!bump) wanted.push(...transaction.inputs.map(input => input.txid))
  }
  if (facts.size === 0) {
    throw new QuoinError('ERR_TX_UNKNOWN', 'the BEEF does not have the transaction', {
      txid: formatTxid(subject)
    })
  }
  // Who sends a BEEF need not know of every proof that is stored here.
  const all = [...facts.values()]
  const stored = await Promise.all(all.map(({ txid, bump }) => bump ?? transactions.proof(txid)))
  return all.map((fact, i) => ({ ...fact, bump: stored[i] }))
}

/** Commits writes as one batch. */
export const commitWrites = (outputs: OutputStore, writes: readonly EngineWrite[]): Promise<boolean> => {
  const facts = distinct(writes.flatMap(write => write.facts))
  const changes = facts.map(changeOf)
  changes[0]?.addWrites(batch => storeIn(batch, outputs, facts))
  return outputs.commit(...writes.flatMap(write => write.changes), ...changes)
}

/** The outputs of one transaction come with the same BEEF each. */
const distinct = (facts: readonly Fact[]): Fact[] => [
  ...new Map(
    facts.map(fact => [`${formatTxid(fact.txid)} ${fact.spends} ${fact.bump?.height}`, fact])
  ).values()
]

const changeOf = ({ txid, transaction, bump, seen, spends }: Fact): TxUpdate => {
  const change = new TxUpdate(txid, {
    seen,
    position: provenPlace(txid, bump),
    vouts: transaction.outputCount
  })
  if (!spends || transaction.isCoinbase) return change
  for (const input of transaction.inputs) change.spend(makeOutpoint(input.txid, input.vout))
  return change
}

export const provenPlace = (txid: Txid, bump: Bump | undefined): BlockPosition | undefined =>
  bump && { height: bump.height, index: BigInt(bump.offsetOf(txid)!) }

/** What is stored stays as it is, verified or not. */
const storeIn = async (
  batch: Batch,
  { transactions }: OutputStore,
  facts: readonly Fact[]
): Promise<void> => {
  const stored = await transactions.getMany(facts.map(({ txid }) => txid))
  for (const [i, { txid, transaction, bump }] of facts.entries()) {
    if (!stored[i]) transactions.saveIn(batch, transaction, { verified: false })
    if (bump) transactions.saveProofIn(batch, txid, bump)
  }
}
