/**
 * What is to be written for one transaction: outputs with their events and data, what it spends, the topics that
 * admitted it, and where it is in the chain. Several writers (an indexer, lookup services, topics) add to one change,
 * and it is committed as a whole. Every part only says what holds, so committing it again changes nothing.
 */
import type { Outpoint, Topic, Txid } from '@quoin/primitives'
import type { Batch } from '@quoin/store'
import type { BlockPosition } from './position.ts'
import type { MembershipReason } from './working-set.ts'

export interface OutputUpdate {
  readonly satoshis?: number
  /** Texts of declared events, added to those the output has. */
  readonly events?: Iterable<string>
  /** By tag; each replaces what was there under its tag. */
  readonly data?: Readonly<Record<string, unknown>>
}

export interface Admission {
  /** Outputs that the topic saw the transaction consume. */
  readonly inputs?: readonly Outpoint[]
  /** Transactions that the topic needs beside it. */
  readonly dependencies?: readonly Txid[]
  /** The output was a member before, and left with a spender that was rolled back. */
  readonly isRestored?: boolean
}

/** The events of an output that is spent, asked for only when the output itself is not indexed. */
export type SpentEvents = Iterable<string> | (() => Iterable<string>)

export class TxUpdate {
  readonly txid: Txid
  /** Unix seconds; when it was first seen, if it is new. */
  readonly seen: number | undefined
  /** `null` takes it out of the chain, `undefined` leaves it where it is. */
  readonly position: BlockPosition | null | undefined
  /** How many outputs the transaction has; those that nobody indexes can be spent too. */
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

  constructor(
    txid: Txid,
    at: {
      readonly seen?: number | undefined
      readonly position?: BlockPosition | null | undefined
      readonly vouts?: number
    } = {}
  ) {
    this.txid = txid
    this.vouts = at.vouts ?? 0
    this.seen = at.seen
    this.position = at.position
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

  /** A topic no longer has an output of the transaction. */
  removeFromTopic(topic: Topic, vout: number, reason: MembershipReason = 'removed'): this {
    this.departures.set(topic, (this.departures.get(topic) ?? new Map()).set(vout, reason))
    return this
  }

  /** A topic holds an output to be spent, without saying by what. */
  markSpent(topic: Topic, vout: number): this {
    this.spentMarks.set(topic, (this.spentMarks.get(topic) ?? new Set()).add(vout))
    return this
  }

  /** Nothing is known of an output of the transaction any more, by whatever writer. */
  erase(vout: number): this {
    this.erasures.add(vout)
    return this
  }

  /** The commit replaces the proof of the transaction, or removes it. */
  markProved(): this {
    this.isProved = true
    return this
  }

  /** The transaction was appliedTopics to a topic, whatever that admitted. */
  markApplied(topic: Topic): this {
    this.appliedTopics.add(topic)
    return this
  }

  /** The transaction is to be known, whatever else is said of it. */
  ensure(): this {
    this.isEnsured = true
    return this
  }

  /** The transaction rests on another that is in the index, and must be there still when this is committed. */
  dependOn(txid: Txid): this {
    this.dependencies.add(txid)
    return this
  }

  /**
   * More to write in the same commit. It is written again when the commit is tried again. What it reads is read after
   * the record of the transaction, on which the commit depends.
   */
  addWrites(write: (batch: Batch) => void | Promise<void>): this {
    this.extraWrites.push(write)
    return this
  }
}
