/**
 * The admission of listed transactions in batches: their transactions come in a few BEEFs, and are submitted side by side,
 * each after its parents. A transaction that fails, or is not in a batch, is left for the queue, which fetches its graph.
 */
import { Beef, type BeefTransaction } from '@quoin/chain'
import { bytesKey, formatTxid, type Outpoint, txidOf } from '@quoin/primitives'
import type { Engine } from '../engine.ts'
import { isQuoinTopic } from '../types.ts'
import { failureOf } from './failure.ts'
import { type FetchedNode, missingParents } from './graph.ts'
import type { Peer } from './peer.ts'
import { type ListedRow, readBatch, VERSION } from './wire.ts'

/** Transactions of one request. */
const BATCH_SIZE = 500
/** Submissions side by side: they share commits. */
const CONCURRENCY = 64

export interface BatchAdmissionOptions {
  readonly engine: Engine
  readonly topic: string
  readonly peer: Peer
  readonly client: string
  /** Inputs that the topic needs to evaluate a proved transaction. */
  readonly needs: (node: FetchedNode) => Promise<readonly Outpoint[]>
  /** Whether an unproved transaction is verified; all are unless given. */
  readonly isSampled?: (() => boolean) | undefined
  /** Called for each transaction that was admitted. */
  readonly onAdmitted: () => void
}

interface Batch {
  readonly rows: readonly ListedRow[]
  /** Undefined if the peer served none of the rows. */
  readonly beef: Beef | undefined
}

export class BatchAdmission {
  readonly #options: BatchAdmissionOptions
  /** False once the peer has refused a batch. */
  #isSupported: boolean

  constructor(options: BatchAdmissionOptions) {
    this.#options = options
    this.#isSupported = options.peer.transactions !== undefined
  }

  /**
   * Admits the transactions of rows; answers the rows that are left. A transaction with a parent in the queue, or left, is
   * left too: a topic evaluates it with its coins.
   */
  async admit(
    rows: readonly ListedRow[],
    pending: ReadonlyMap<string, number>,
    signal: AbortSignal | undefined
  ): Promise<readonly ListedRow[]> {
    if (!this.#isSupported || rows.length === 0) return rows
    const left = new LeftRows(pending)
    const batches = this.#batches(rows, signal)
    // The next batch is fetched while one is submitted.
    let next = batches.next()
    for (let batch = await next; !batch.done; batch = await next) {
      next = batches.next()
      next.catch(() => undefined)
      await this.#submit(batch.value, left, signal)
    }
    return left.rows
  }

  /** Admits a transaction with its proof; false leaves it for the queue. */
  async admitProved(node: FetchedNode): Promise<boolean> {
    try {
      return await this.#admit(node, Beef.of([node]), NOTHING_LISTED)
    } catch (error) {
      if (isOfTransaction(error)) return false
      throw error
    }
  }

  async *#batches(
    rows: readonly ListedRow[],
    signal: AbortSignal | undefined
  ): AsyncGenerator<Batch, void, undefined> {
    for (let open = rows; open.length > 0; ) {
      const wanted = this.#isSupported ? open.slice(0, BATCH_SIZE) : open
      const beef = this.#isSupported ? await this.#fetch(wanted, signal) : undefined
      // A peer serves in order, up to the size of a batch: rows after the last served one are requested again.
      const served = wanted.findLastIndex(({ outpoint }) => beef?.find(txidOf(outpoint))) + 1
      const rowsOfBatch = wanted.slice(0, served || wanted.length)
      yield { rows: rowsOfBatch, beef }
      open = open.slice(rowsOfBatch.length)
    }
  }

  async #fetch(rows: readonly ListedRow[], signal: AbortSignal | undefined): Promise<Beef | undefined> {
    const { peer, topic } = this.#options
    const txids = rows.map(({ outpoint }) => txidOf(outpoint))
    const answer = await peer.transactions!(topic, { version: VERSION, txids }, signal)
    this.#isSupported = answer !== undefined
    return answer && readBatch(answer)
  }

  async #submit({ rows, beef }: Batch, left: LeftRows, signal: AbortSignal | undefined): Promise<void> {
    /** By txid; resolves when the submission has ended. */
    const inFlight = new Map<string, Promise<void>>()
    const listed = new Set(rows.map(({ outpoint }) => bytesKey(txidOf(outpoint))))
    const failures: unknown[] = []
    for (const row of rows) {
      if (failures.length > 0 || signal?.aborted) break
      const txid = txidOf(row.outpoint)
      const node = beef?.find(txid)
      if (!beef || !node?.transaction) {
        left.add(row)
        continue
      }
      const submit = async (): Promise<void> => {
        await Promise.all(node.transaction!.spentTxids().map(parent => inFlight.get(bytesKey(parent))))
        if (left.hasParentOf(node) || !(await this.#admit(node as FetchedNode, beef, listed))) left.add(row)
      }
      const submitting = submit()
        .catch(error => {
          if (isOfTransaction(error)) left.add(row)
          else failures.push(error)
        })
        .finally(() => inFlight.delete(bytesKey(txid)))
      inFlight.set(bytesKey(txid), submitting)
      if (inFlight.size >= CONCURRENCY) await Promise.race(inFlight.values())
    }
    await Promise.all(inFlight.values())
    signal?.throwIfAborted()
    if (failures.length > 0) throw failures[0]
  }

  /** Whether the transaction was submitted: the queue fetches the inputs that a topic needs beside a proof. */
  async #admit(node: FetchedNode, beef: Beef, listed: ReadonlySet<string>): Promise<boolean> {
    const { engine, topic, client, needs, isSampled, onAdmitted } = this.#options
    if (node.bump && !(await this.#areKnown(await needs(node)))) return false
    const nodes = ancestryIn(beef, node, listed)
    const isVerified = node.bump !== undefined || isSampled === undefined || isSampled()
    // The proofs of its ancestors are checked all the same.
    if (!isVerified) for (const { txid, bump } of nodes) if (bump) await engine.proofs.check(txid, bump)
    const request = { beef: Beef.of(await this.#withStored(nodes, isVerified)), topics: [topic], client }
    await engine.admit(request, isVerified ? 'historical-tx' : 'historical-tx-no-spv')
    onAdmitted()
    return true
  }

  async #areKnown(outpoints: readonly Outpoint[]): Promise<boolean> {
    const known = await this.#options.engine.outputs.transactions.areVerified(outpoints.map(txidOf))
    return known.every(Boolean)
  }

  /**
   * With stored ancestors for a topic in the form of `@bsv/overlay`, which gets the whole ancestry, and where ancestors may
   * have been accepted without verification.
   */
  async #withStored(
    nodes: readonly BeefTransaction[],
    isVerified: boolean
  ): Promise<readonly BeefTransaction[]> {
    const { engine, topic, isSampled } = this.#options
    const needsAll = isVerified && isSampled !== undefined
    if (isQuoinTopic(engine.topics.get(topic)!) && !needsAll) return nodes
    const missing = missingParents(nodes)
    if (missing.length === 0) return nodes
    return [...(await engine.outputs.transactions.ancestry(missing)), ...nodes]
  }
}

/** Rows for the queue. */
class LeftRows {
  readonly rows: ListedRow[] = []
  readonly #pending: ReadonlyMap<string, number>
  readonly #txids = new Set<string>()

  /** @param pending Items of the queue by txid. */
  constructor(pending: ReadonlyMap<string, number>) {
    this.#pending = pending
  }

  add(row: ListedRow): void {
    this.rows.push(row)
    this.#txids.add(bytesKey(txidOf(row.outpoint)))
  }

  hasParentOf({ transaction }: BeefTransaction): boolean {
    const { size } = this.#pending
    if (size + this.#txids.size === 0) return false
    return transaction!
      .spentTxids()
      .some(txid => this.#txids.has(bytesKey(txid)) || (size > 0 && this.#pending.has(formatTxid(txid))))
  }
}

const NOTHING_LISTED: ReadonlySet<string> = new Set()

/** An error that does not concern the transaction, as one of the store, ends the run. */
export const isOfTransaction = (error: unknown): boolean => {
  try {
    failureOf(error, 1)
    return true
  } catch {
    return false
  }
}

/** A transaction after its ancestors in a BEEF, back to proofs and to listed transactions, which are submitted by themselves. */
const ancestryIn = (
  beef: Beef,
  subject: BeefTransaction,
  listed: ReadonlySet<string>
): readonly BeefTransaction[] => {
  const found = new Map([[bytesKey(subject.txid), subject]])
  const open = [subject]
  for (let each = open.pop(); each; each = open.pop()) {
    if (each.bump) continue
    for (const parent of each.transaction?.spentTxids() ?? []) {
      const key = bytesKey(parent)
      const entry = found.has(key) || listed.has(key) ? undefined : beef.find(parent)
      if (!entry?.transaction) continue
      found.set(key, entry)
      open.push(entry)
    }
  }
  return [...found.values()].reverse()
}
