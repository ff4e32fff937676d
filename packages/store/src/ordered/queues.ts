/**
 * The operations of queues on hashes and sorted sets: a sorted set of items for each state, a record for each item,
 * and the items that wait for each dependency. `operations.ts` defines the operations.
 */
import { bytesKey } from '@quoin/primitives'
import type { QueueItem } from '../engine.ts'
import { CLOCK_REPAIRS, EXPIRE_LIMIT, EXPIRED_CLASS, EXPIRED_REASON } from '../operations.ts'
import type { HashChanges } from './hashes.ts'
import type { Scan } from './kv.ts'
import { KIND, ROLE, type Role } from './layout.ts'
import type { LeaseOwners } from './owners.ts'
import { dependantsOf, queueScans } from './queue-scans.ts'
import { type ItemRecord, NO_TOKEN, packItem, unpackItem } from './rows.ts'
import type { SortedSetChanges } from './sorted-sets.ts'

const EMPTY = new Uint8Array()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const ALL = Number.MAX_SAFE_INTEGER

/** Queues whose owners are remembered. */
const REMEMBERED = 100_000
/** Of an item without a lease. */
const FREE = { since: undefined, token: NO_TOKEN, owner: undefined } as const

export class QueueChanges {
  readonly #hashes: HashChanges
  readonly #sortedSets: SortedSetChanges
  readonly #owners: LeaseOwners | undefined
  /** Queues with leases of this writer only. */
  readonly #ownQueues = new Set<string>()
  /** When the latest of them began: rows that cannot be ahead of the clock are not scanned, deleted ones included. */
  #latestLease = Number.NEGATIVE_INFINITY

  constructor(hashes: HashChanges, sortedSets: SortedSetChanges, owners?: LeaseOwners) {
    this.#hashes = hashes
    this.#sortedSets = sortedSets
    this.#owners = owners
  }

  /** Another process has written, or a commit of this one failed. */
  forget(): void {
    this.#ownQueues.clear()
  }

  isLeased(key: Uint8Array, item: Uint8Array, token: Uint8Array): boolean {
    if (!this.#isIn(ROLE.leased, key, item)) return false
    const held = this.#record(key, item)?.token
    return held !== undefined && held.length === token.length && held.every((byte, i) => byte === token[i])
  }

  enqueue(key: Uint8Array, item: Uint8Array, score: number, now: number): void {
    const record = this.#record(key, item)
    if (!record) {
      this.#save(key, item, {
        score,
        enqueued: now,
        attempts: 0,
        token: NO_TOKEN,
        errorClass: '',
        reason: '',
        dependency: EMPTY
      })
      this.#sortedSets.add(ROLE.due, key, item, score)
    } else if (record.attempts === 0 && this.#isIn(ROLE.due, key, item)) {
      this.#save(key, item, { ...record, score })
      this.#sortedSets.add(ROLE.due, key, item, score)
    }
  }

  lease(
    key: Uint8Array,
    token: Uint8Array,
    count: number,
    until: number,
    allowed: number,
    now: number,
    clock: number
  ): QueueItem[] {
    this.#endLeasesOfTheGone(key, allowed, now)
    if (this.#hasOthers(key) || this.#latestLease > clock) this.#mend(ROLE.leased, key, clock)
    this.#endLeases(key, allowed, now, clock)
    this.#mend(ROLE.waiting, key, now)
    this.#endWaits(key, now)
    this.#mend(ROLE.due, key, now)
    this.#latestLease = Math.max(this.#latestLease, clock)
    return this.#sortedSets.upTo(ROLE.due, key, now, count).map(({ member: item }) => {
      const record = this.#record(key, item)!
      const leased = {
        ...record,
        attempts: record.attempts + 1,
        since: clock,
        token,
        owner: this.#owners?.own
      }
      this.#move(key, item, ROLE.due, ROLE.leased, until, leased)
      const { score, enqueued, attempts, errorClass, reason } = leased
      return { item, score, enqueued, attempts, errorClass, reason }
    })
  }

  renew(key: Uint8Array, item: Uint8Array, until: number, clock: number): void {
    if (!this.#isIn(ROLE.leased, key, item)) return
    this.#latestLease = Math.max(this.#latestLease, clock)
    this.#sortedSets.add(ROLE.leased, key, item, until)
    this.#save(key, item, { ...this.#record(key, item)!, since: clock })
  }

  remove(key: Uint8Array, item: Uint8Array): void {
    const record = this.#record(key, item)
    if (!record) return
    this.#forgetDependency(key, item, record)
    for (const role of [ROLE.due, ROLE.leased, ROLE.waiting, ROLE.dead]) {
      this.#sortedSets.remove(role, key, item)
    }
    this.#hashes.delete(KIND.items, key, item)
  }

  retry(
    key: Uint8Array,
    item: Uint8Array,
    errorClass: Uint8Array,
    reason: Uint8Array,
    at: number,
    now: number
  ): void {
    this.#fail(key, item, ROLE.due, at, errorClass, reason, now)
  }

  bury(key: Uint8Array, item: Uint8Array, errorClass: Uint8Array, reason: Uint8Array, now: number): void {
    this.#fail(key, item, ROLE.dead, now, errorClass, reason)
  }

  wait(
    key: Uint8Array,
    item: Uint8Array,
    errorClass: Uint8Array,
    reason: Uint8Array,
    dependency: Uint8Array,
    until: number,
    now: number
  ): void {
    const record = this.#fail(key, item, ROLE.waiting, until, errorClass, reason, now)
    if (!record) return
    this.#save(key, item, { ...record, attempts: Math.max(0, record.attempts - 1), dependency })
    this.#hashes.set(EMPTY, dependantsOf(this.#sortedSets, key, dependency)!, item, EMPTY)
  }

  wake(key: Uint8Array, dependency: Uint8Array): void {
    const dependants = dependantsOf(this.#sortedSets, key, dependency)
    if (!dependants) return
    for (const item of this.#hashes.fields(EMPTY, dependants, ALL)) this.#endWait(key, item)
  }

  revive(key: Uint8Array, item: Uint8Array): void {
    if (!this.#isIn(ROLE.dead, key, item)) return
    const record = this.#record(key, item)!
    this.#move(key, item, ROLE.dead, ROLE.due, record.score, { ...record, attempts: 0 })
  }

  /** What the batch will scan. */
  scans(batch: Uint8Array): Scan[] {
    return queueScans(batch, this.#hashes, this.#sortedSets, {
      latestLease: this.#latestLease,
      hasOthers: key => this.#hasOthers(key)
    })
  }

  /** Times in a state that a clock which was ahead has written. */
  #mend(role: Role, key: Uint8Array, now: number): void {
    for (const { member: item, score: at } of this.#sortedSets.above(role, key, now, CLOCK_REPAIRS)) {
      const record = this.#record(key, item)!
      const { since, enqueued, score } = record
      if (since !== undefined) {
        if (since <= now) return
        this.#sortedSets.add(role, key, item, now + (at - since))
        this.#save(key, item, { ...record, since: now })
      } else if (role === ROLE.due && enqueued > now && score <= enqueued) {
        const mended = now + (score - enqueued)
        this.#sortedSets.add(role, key, item, mended)
        this.#save(key, item, { ...record, score: mended, enqueued: now })
      }
    }
  }

  #endLeases(key: Uint8Array, allowed: number, now: number, clock: number): void {
    for (const { member: item } of this.#sortedSets.upTo(ROLE.leased, key, clock, EXPIRE_LIMIT)) {
      this.#endLease(key, item, this.#record(key, item)!, allowed, now)
    }
  }

  #endLeasesOfTheGone(key: Uint8Array, allowed: number, now: number): void {
    const owners = this.#owners
    if (!owners || !this.#hasOthers(key)) return
    const gone = new Map([[bytesKey(owners.own), false]])
    let hasOthers = false
    for (const { member: item } of this.#sortedSets.upTo(ROLE.leased, key, Number.POSITIVE_INFINITY, ALL)) {
      const record = this.#record(key, item)!
      const { owner = EMPTY, since } = record
      if (since !== undefined) this.#latestLease = Math.max(this.#latestLease, since)
      const name = bytesKey(owner)
      if (!gone.has(name)) gone.set(name, owners.isGone(owner))
      if (gone.get(name)) this.#endLease(key, item, record, allowed, now)
      else hasOthers ||= name !== bytesKey(owners.own)
    }
    if (hasOthers) return
    if (this.#ownQueues.size >= REMEMBERED) this.#ownQueues.clear()
    this.#ownQueues.add(bytesKey(key))
  }

  /** Whether a queue may have leases that another has written. */
  #hasOthers(key: Uint8Array): boolean {
    return !this.#ownQueues.has(bytesKey(key))
  }

  #endLease(key: Uint8Array, item: Uint8Array, leased: ItemRecord, allowed: number, now: number): void {
    const record = { ...leased, ...FREE }
    if (record.attempts < allowed) this.#move(key, item, ROLE.leased, ROLE.due, record.score, record)
    else {
      this.#move(key, item, ROLE.leased, ROLE.dead, now, {
        ...record,
        errorClass: EXPIRED_CLASS,
        reason: EXPIRED_REASON
      })
    }
  }

  #endWaits(key: Uint8Array, now: number): void {
    for (const { member } of this.#sortedSets.upTo(ROLE.waiting, key, now, EXPIRE_LIMIT)) {
      this.#endWait(key, member)
    }
  }

  #endWait(key: Uint8Array, item: Uint8Array): void {
    const record = this.#record(key, item)!
    this.#forgetDependency(key, item, record)
    this.#move(key, item, ROLE.waiting, ROLE.due, record.score, {
      ...record,
      since: undefined,
      dependency: EMPTY
    })
  }

  /** A leased item goes to another state with a reason; the record it has then, or undefined if it was not leased. */
  #fail(
    key: Uint8Array,
    item: Uint8Array,
    to: Role,
    at: number,
    errorClass: Uint8Array,
    reason: Uint8Array,
    since?: number
  ): ItemRecord | undefined {
    if (!this.#isIn(ROLE.leased, key, item)) return undefined
    const record = {
      ...this.#record(key, item)!,
      ...FREE,
      since,
      errorClass: decoder.decode(errorClass),
      reason: decoder.decode(reason)
    }
    this.#move(key, item, ROLE.leased, to, at, record)
    return record
  }

  #move(key: Uint8Array, item: Uint8Array, from: Role, to: Role, at: number, record: ItemRecord): void {
    this.#sortedSets.remove(from, key, item)
    this.#sortedSets.add(to, key, item, at)
    this.#save(key, item, record)
  }

  #forgetDependency(key: Uint8Array, item: Uint8Array, { dependency }: ItemRecord): void {
    if (!this.#isIn(ROLE.waiting, key, item)) return
    this.#hashes.delete(EMPTY, dependantsOf(this.#sortedSets, key, dependency)!, item)
  }

  #isIn(role: Role, key: Uint8Array, item: Uint8Array): boolean {
    return this.#sortedSets.score(role, key, item) !== undefined
  }

  #record(key: Uint8Array, item: Uint8Array): ItemRecord | undefined {
    const row = this.#hashes.get(KIND.items, key, item)
    return row && unpackItem(row)
  }

  #save(key: Uint8Array, item: Uint8Array, record: ItemRecord): void {
    this.#hashes.set(KIND.items, key, item, packItem(record))
  }
}
