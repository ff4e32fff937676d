/**
 * The update of one transaction: outputs with their events and data, spends, admissions by topics, and the block
 * position. Several writers (an indexer, lookup services, topics) add to one update, which is committed as a whole.
 * Updates are idempotent.
 */
import type { Outpoint, Topic, Txid } from '@quoin/primitives'
import type { Batch } from '@quoin/store'
import type { BlockPosition } from './position.ts'
import type { MembershipReason } from './working-set.ts'

export interface OutputUpdate {
  readonly satoshis?: number
  /** Texts of declared events, added to the output's events. */
  readonly events?: Iterable<string>
  /** Data by tag; it replaces the data under the same tag. */
  readonly data?: Readonly<Record<string, unknown>>
}

export interface Admission {
  /** Outputs that the topic saw the transaction consume. */
  readonly inputs?: readonly Outpoint[]
  /** Transactions that the topic needs with it. */
  readonly dependencies?: readonly Txid[]
  /** The output was a member before, and left with a spender that was rolled back. */
  readonly isRestored?: boolean
}

/** The events of a spent output; the function is called only if the output is not indexed. */
export type SpentEvents = Iterable<string> | (() => Iterable<string>)

export interface TxUpdateOptions {
  /** Unix seconds of the first sighting, for a transaction without a record. */
  readonly seen?: number | undefined
  /** `null` makes it unmined, `undefined` keeps its position. */
  readonly position?: BlockPosition | null | undefined
  /** The number of its outputs: outputs that are not indexed can be spent too. */
  readonly vouts?: number
}

export class TxUpdate {
  readonly txid: Txid
  readonly seen: number | undefined
  readonly position: BlockPosition | null | undefined
  readonly vouts: number
  readonly outputs = new Map<number, OutputUpdate[]>()
  readonly admissions = new Map<Topic, Map<number, Admission>>()
  readonly appliedTopics = new Set<Topic>()
  readonly departures = new Map<Topic, Map<number, MembershipReason>>()
  readonly spentMarks = new Map<Topic, Set<number>>()
  readonly erasures = new Set<number>()
  readonly spends = new Map<Outpoint, SpentEvents>()
  readonly dependencies = new Set<Txid>()
  isEnsured = false
  isProved = false
  readonly extraWrites: ((batch: Batch) => void | Promise<void>)[] = []

  constructor(txid: Txid, { seen, position, vouts = 0 }: TxUpdateOptions = {}) {
    this.txid = txid
    this.vouts = vouts
    this.seen = seen
    this.position = position
  }

  output(vout: number, change: OutputUpdate): this {
    const changes = this.outputs.get(vout)
    if (changes) changes.push(change)
    else this.outputs.set(vout, [change])
    return this
  }

  /** The transaction spends an output. */
  spend(outpoint: Outpoint, events: SpentEvents = []): this {
    this.spends.set(outpoint, events)
    return this
  }

  /** A topic admits an output of the transaction. */
  admit(topic: Topic, vout: number, admission: Admission = {}): this {
    const outputs = this.admissions.get(topic) ?? new Map<number, Admission>()
    this.admissions.set(topic, outputs.set(vout, admission))
    return this
  }

  /** An output of the transaction leaves a topic. */
  removeFromTopic(topic: Topic, vout: number, reason: MembershipReason = 'removed'): this {
    this.departures.set(topic, (this.departures.get(topic) ?? new Map()).set(vout, reason))
    return this
  }

  /** A topic marks an output as spent, by an unknown spender. */
  markSpent(topic: Topic, vout: number): this {
    this.spentMarks.set(topic, (this.spentMarks.get(topic) ?? new Set()).add(vout))
    return this
  }

  /** Removes an output of the transaction from the index, with the writes of all writers. */
  erase(vout: number): this {
    this.erasures.add(vout)
    return this
  }

  /** The commit replaces the proof of the transaction, or removes it. */
  markProved(): this {
    this.isProved = true
    return this
  }

  /** The transaction was applied to a topic, with or without admitted outputs. */
  markApplied(topic: Topic): this {
    this.appliedTopics.add(topic)
    return this
  }

  /** Creates a record of the transaction, even if the update has no outputs, spends or topics. */
  ensure(): this {
    this.isEnsured = true
    return this
  }

  /** The commit fails (`ERR_STALE_READ`) unless another transaction, such as an ancestor, is in the index. */
  dependOn(txid: Txid): this {
    this.dependencies.add(txid)
    return this
  }

  /**
   * Further writes of the same commit; repeated when the commit is retried. Its reads follow the read of the record, on
   * which the commit is conditional.
   */
  addWrites(write: (batch: Batch) => void | Promise<void>): this {
    this.extraWrites.push(write)
    return this
  }
}
