/**
 * Repairs an index in place: deletes rows that the transactions do not imply, and writes missing rows. A batch is
 * conditional on its rows, and on the records and spends that imply them. So a node may write during a repair, a killed
 * repair can be started again, and a correct row is never written.
 */

import type { FindingKind } from '@quoin/chain'
import { chain, type RootTracker, TransactionStore } from '@quoin/chain'
import { equalBytes, hasCode, type Outpoint, QuoinError, type Txid, toHex, txidOf } from '@quoin/primitives'
import type { Batch, Store, StoreReads } from '@quoin/store'
import type { Difference } from './compare.ts'
import { outputs } from './keys.ts'
import type { OutputStore } from './output-store.ts'
import { Proofs } from './proofs.ts'
import { transactionRecord } from './record.ts'
import { TxUpdate } from './tx-update.ts'

const { output: outputHashes, spends } = outputs.collections
const { proof: proofs, log } = chain.collections
const SPENDS = spends.encode()
const TXID_LENGTH = 32
const OUTPOINT_LENGTH = 36
const AT_ONCE = 200

interface RepairItem extends Difference {
  readonly kind: FindingKind
}

/** Repairs the differences between a store and a rebuilt index. */
export class IndexRepair {
  readonly #store: Store
  readonly #rebuilt: StoreReads
  #waiting: RepairItem[] = []
  /** Repaired differences by the kind of their findings. */
  readonly mended = new Map<FindingKind, number>()
  /** Rows that other writers changed during the repair: the next repair compares them again. */
  changed = 0

  constructor(store: Store, rebuilt: StoreReads) {
    this.#store = store
    this.#rebuilt = rebuilt
  }

  async mend(difference: Difference, kind: FindingKind): Promise<void> {
    const last = this.#waiting.at(-1)
    // Rows of other keys may follow from records in the pending batch.
    if (last && equalBytes(last.key, SPENDS) && !equalBytes(difference.key, SPENDS)) {
      await this.flush()
    }
    this.#waiting.push({ ...difference, kind })
    if (this.#waiting.length >= AT_ONCE) await this.flush()
  }

  /** Commits all pending differences at once, or one by one if a row has changed. */
  async flush(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    if (waiting.length === 0 || (await this.#commit(waiting))) return
    for (const each of waiting) if (!(await this.#commit([each]))) this.changed++
  }

  async #commit(differences: readonly RepairItem[]): Promise<boolean> {
    const batch = this.#store.batch()
    for (const each of differences) {
      if (!(await this.#guardIn(batch, each))) return false
      writeIn(batch, each)
    }
    try {
      await batch.commit()
    } catch (error) {
      if (hasCode(error, 'ERR_STORE_PRECONDITION')) return false
      throw error
    }
    for (const { kind } of differences) this.mended.set(kind, (this.mended.get(kind) ?? 0) + 1)
    return true
  }

  /** Conditions: the row as found, and its sources as in the rebuilt index. */
  async #guardIn(batch: Batch, { structure, key, part, stored }: Difference): Promise<boolean> {
    if (structure === 'member') batch.ifScore(key, part, stored as number | undefined)
    else batch.ifField(key, part, stored as Uint8Array | undefined)
    if (equalBytes(key, SPENDS)) return true
    const fields = await this.#sources(key, part)
    if (fields.length === 0) return true
    const [live, rebuilt] = [
      await this.#store.hmget(SPENDS, fields),
      await this.#rebuilt.hmget(SPENDS, fields)
    ]
    for (const [i, field] of fields.entries()) {
      if (!isSameSource(live[i], rebuilt[i])) return false
      batch.ifField(SPENDS, field, live[i])
    }
    return true
  }

  /** The fields of `h:spnd` that the rows of an output or a transaction follow from. */
  async #sources(key: Uint8Array, part: Uint8Array): Promise<Uint8Array[]> {
    if (outputHashes.owns(key)) return [outputHashes.decode(key)[0]]
    if (part.length === TXID_LENGTH) return [part]
    if (part.length !== OUTPOINT_LENGTH) return []
    const spender = await this.#rebuilt.hget(SPENDS, part)
    return [txidOf(part as Outpoint), part, ...(spender ? [spender] : [])]
  }
}

/** Compares records without their revisions. */
const isSameSource = (live: Uint8Array | undefined, rebuilt: Uint8Array | undefined): boolean =>
  live === undefined || rebuilt === undefined
    ? live === rebuilt
    : withoutRevision(live) === withoutRevision(rebuilt)

const withoutRevision = (value: Uint8Array): string => {
  if (value.length === TXID_LENGTH) return toHex(value)
  try {
    return toHex(transactionRecord.codec.encode({ ...transactionRecord.codec.decode(value), revision: 0 }))
  } catch (error) {
    if (error instanceof QuoinError) return toHex(value)
    throw error
  }
}

const writeIn = (batch: Batch, { structure, key, part, stored, derived }: Difference): void => {
  if (structure === 'member') {
    if (derived === undefined) batch.zrem(key, part)
    else batch.zadd(key, { member: part, score: derived as number })
  } else if (derived === undefined) batch.hdel(key, part)
  else batch.hset(key, part, nextRevision(key, part, stored, derived as Uint8Array))
}

/** A greater revision fails commits that read the record before the repair. */
const nextRevision = (
  key: Uint8Array,
  part: Uint8Array,
  stored: Difference['stored'],
  derived: Uint8Array
): Uint8Array => {
  if (!equalBytes(key, SPENDS) || part.length !== TXID_LENGTH || !(stored instanceof Uint8Array)) {
    return derived
  }
  const revision = stored.length >= 4 ? new DataView(stored.buffer, stored.byteOffset).getUint32(0) : 0
  return transactionRecord.codec.encode({
    ...transactionRecord.codec.decode(derived),
    revision: (revision + 1) >>> 0
  })
}

/**
 * Removes an invalid proof: the transaction is unmined until a node fetches a new proof. A coinbase, which is part of
 * its block, is rolled back.
 */
export const repairProof = async (outputs: OutputStore, tracker: RootTracker, txid: Txid): Promise<void> => {
  const bytes = await outputs.store.get(proofs.encode(txid))
  if (!bytes) return
  const bump = await readProof(outputs.store, txid)
  if (bump) {
    await new Proofs(outputs, tracker).recheck(txid, bump)
    if (!(await outputs.store.get(proofs.encode(txid)))) return
  }
  const remove = (batch: Batch): void => {
    batch.ifValue(proofs.encode(txid), bytes)
    batch.del(proofs.encode(txid))
    batch.use(log).at('mined').delete(txid)
  }
  if (await outputs.record(txid)) {
    await outputs.commit(new TxUpdate(txid, { position: null }).dependOn(txid).addWrites(remove))
    return
  }
  const batch = outputs.store.batch()
  remove(batch)
  await batch.commit()
}

/** The stored proof of a transaction; undefined if it is corrupt or another transaction's. */
const readProof = async (store: Store, txid: Txid) => {
  try {
    const bump = await new TransactionStore(store).proof(txid)
    return bump?.rootOf(txid) ? bump : undefined
  } catch (error) {
    if (error instanceof QuoinError) return undefined
    throw error
  }
}
