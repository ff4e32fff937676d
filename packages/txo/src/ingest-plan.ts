/**
 * What a transaction brings with it into the index: its ancestors, their proofs, and where all of them are. Of an
 * ancestor only what it spends is known: what conflicts with it conflicts with all that rest on it, and taking it back
 * takes them too.
 */
import { bytesKey, type Transaction, type Verified } from '@quoin/chain'
import { makeOutpoint, type Txid } from '@quoin/primitives'
import type { OutputStore } from './output-store.ts'
import type { BlockPosition } from './position.ts'
import { TxUpdate } from './tx-update.ts'

export interface IngestOptions {
  /** Unix seconds; when it was first seen. */
  readonly seen?: number | undefined
  /** Whether the transactions were found good, and need not be looked at again. */
  readonly verified: boolean
}

export interface IngestPlan {
  /** Where the transaction is, if it came with a proof. */
  readonly position: BlockPosition | undefined
  /** Loads the transactions whose outputs it spends, as far as they are at hand. */
  readonly sources: () => Promise<(txid: Txid) => Transaction | undefined>
  /** To commit before the change of the transaction itself. */
  readonly changes: readonly TxUpdate[]
  /** Makes the change of the transaction itself store everything, and depend on what it rests on. */
  readonly complete: (change: TxUpdate) => void
}

export const planIngest = (
  outputs: OutputStore,
  subject: Transaction,
  given: Verified,
  { seen, verified }: IngestOptions
): IngestPlan => {
  const { transactions } = outputs
  const name = bytesKey(subject.txid)
  const fresh = new Map(given.transactions.map(each => [bytesKey(each.txid), each]))
  const positions = new Map(given.proofs.map(({ txid, bump }) => [bytesKey(txid), bump]))
  const positionOf = (txid: Txid): BlockPosition | undefined => {
    const bump = positions.get(bytesKey(txid))
    return bump && { height: bump.height, index: BigInt(bump.offsetOf(txid)!) }
  }
  const moved = given.proofs
    .filter(({ txid }) => bytesKey(txid) !== name && !fresh.has(bytesKey(txid)))
    .map(({ txid }) => new TxUpdate(txid, { position: positionOf(txid) }).dependOn(txid))
  const ancestors = given.transactions.filter(({ txid }) => bytesKey(txid) !== name)
  return {
    position: positionOf(subject.txid),
    sources: async () => {
      const sources = new Map(fresh)
      for (const parent of await storedParents(outputs, subject, fresh)) {
        sources.set(bytesKey(parent.txid), parent)
      }
      return txid => sources.get(bytesKey(txid))
    },
    changes: [...moved, ...ancestors.map(each => ancestorChange(each, positionOf(each.txid), seen))],
    complete: change => {
      // What was known when it was looked at has to be so still when the subject is committed.
      if (!fresh.has(name)) change.dependOn(subject.txid)
      for (const { txid, inputs } of verified ? fresh.values() : []) {
        if (positions.has(bytesKey(txid))) continue
        for (const input of inputs) if (!fresh.has(bytesKey(input.txid))) change.dependOn(input.txid)
      }
      change.addWrites(batch => {
        for (const each of given.transactions) transactions.saveIn(batch, each, { verified })
        for (const { txid, bump } of given.proofs) transactions.saveProofIn(batch, txid, bump)
      })
    }
  }
}

const storedParents = async (
  outputs: OutputStore,
  subject: Transaction,
  given: ReadonlyMap<string, unknown>
): Promise<Transaction[]> => {
  const missing = new Map(subject.inputs.map(({ txid }) => [bytesKey(txid), txid]))
  for (const txid of given.keys()) missing.delete(txid)
  return (await outputs.transactions.getMany([...missing.values()])).filter(each => each !== undefined)
}

/** The change of a transaction of which only the spends are known. */
export const ancestorChange = (
  { txid, inputs, outputCount, isCoinbase }: Transaction,
  position: BlockPosition | undefined,
  seen: number | undefined
): TxUpdate => {
  const change = new TxUpdate(txid, { seen, position, vouts: outputCount }).ensure()
  if (!isCoinbase) for (const input of inputs) change.spend(makeOutpoint(input.txid, input.vout))
  return change
}
