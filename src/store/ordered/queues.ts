/**
 * The operations of queues on hashes and sorted sets: a sorted set of items for each state, a record for each item,
 * and the items that wait for each dependency. What each operation means is said in `program.ts`.
 */
import type { QueueItem } from '../engine.ts'
import { EXPIRE_LIMIT, EXPIRED_CLASS, EXPIRED_REASON, MEND_LIMIT, type Operations } from '../program.ts'
import { ProgramReader } from '../program-reader.ts'
import type { HashChanges } from './hashes.ts'
import type { Walk } from './kv.ts'
import { KIND, numbered, ROLE, type Role, TAG } from './layout.ts'
import { type ItemRecord, NO_TOKEN, packItem, unpackItem } from './rows.ts'
import type { SortedSetChanges } from './sorted-sets.ts'

const EMPTY = new Uint8Array()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const ALL = Number.MAX_SAFE_INTEGER

export class QueueChanges {
  readonly #hashes: HashChanges
  readonly #sortedSets: SortedSetChanges

  constructor(hashes: HashChanges, sortedSets: SortedSetChanges) {
    this.#hashes = hashes
    this.#sortedSets = sortedSets
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
    this.#mend(ROLE.leased, key, clock)
    this.#endLeases(key, allowed, now, clock)
    this.#mend(ROLE.waiting, key, now)
    this.#endWaits(key, now)
    this.#mend(ROLE.due, key, now)
    return this.#sortedSets.upTo(ROLE.due, key, now, count).map(({ member: item }) => {
      const record = this.#record(key, item)!
      const leased = { ...record, attempts: record.attempts + 1, since: clock, token }
      this.#move(key, item, ROLE.due, ROLE.leased, until, leased)
      const { score, enqueued, attempts, errorClass, reason } = leased
      return { item, score, enqueued, attempts, errorClass, reason }
    })
  }

  renew(key: Uint8Array, item: Uint8Array, until: number, clock: number): void {
    if (!this.#isIn(ROLE.leased, key, item)) return
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
    this.#hashes.set(EMPTY, this.#dependants(key, dependency)!, item, EMPTY)
  }

  wake(key: Uint8Array, dependency: Uint8Array): void {
    const dependants = this.#dependants(key, dependency)
    if (!dependants) return
    for (const item of this.#hashes.fields(EMPTY, dependants, ALL)) this.#endWait(key, item)
  }

  revive(key: Uint8Array, item: Uint8Array): void {
    if (!this.#isIn(ROLE.dead, key, item)) return
    const record = this.#record(key, item)!
    this.#move(key, item, ROLE.dead, ROLE.due, record.score, { ...record, attempts: 0 })
  }

  /**
   * What `lease` and `wake` in the batch will walk. An operation before them may take items away, so as many more
   * are asked for as it could take.
   */
  walks(batch: Uint8Array): Walk[] {
    const walks: Walk[] = []
    let taken = 0
    const took = (): void => {
      taken++
    }
    const counter: Operations<undefined> = {
      set: took,
      del: took,
      hset: took,
      hdel: took,
      sadd: took,
      srem: took,
      zadd: took,
      zrem: took,
      zincrby: () => 0,
      ztally: took,
      append: took,
      enqueue: took,
      renew: took,
      remove: took,
      retry: took,
      bury: took,
      wait: took,
      revive: took,
      lease: (key, _token, count, _until, _allowed, now, clock) => {
        for (const [role, limit, time] of [
          [ROLE.leased, EXPIRE_LIMIT, clock],
          [ROLE.waiting, EXPIRE_LIMIT, now],
          [ROLE.due, count, now]
        ] as const) {
          const range = this.#sortedSets.walk(role, key, time)
          if (range) walks.push({ ...range, limit: limit + taken })
          const above = this.#sortedSets.walkAbove(role, key, time)
          if (above) walks.push({ ...above, limit: MEND_LIMIT + taken, reverse: true })
        }
        taken += count + 2 * EXPIRE_LIMIT + 3 * MEND_LIMIT
        return undefined
      },
      wake: (key, dependency) => {
        const dependants = this.#dependants(key, dependency)
        const range = dependants && this.#hashes.walk(EMPTY, dependants)
        if (range) walks.push({ ...range, limit: ALL })
        taken++
      }
    }
    new ProgramReader(batch).run(counter)
    return walks
  }

  /** Times in a state that a clock which was ahead has written. */
  #mend(role: Role, key: Uint8Array, now: number): void {
    for (const { member: item, score: at } of this.#sortedSets.above(role, key, now, MEND_LIMIT)) {
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
      const record = { ...this.#record(key, item)!, since: undefined, token: NO_TOKEN }
      if (record.attempts < allowed) this.#move(key, item, ROLE.leased, ROLE.due, record.score, record)
      else {
        this.#move(key, item, ROLE.leased, ROLE.dead, now, {
          ...record,
          errorClass: EXPIRED_CLASS,
          reason: EXPIRED_REASON
        })
      }
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
      since,
      token: NO_TOKEN,
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
    this.#hashes.delete(EMPTY, this.#dependants(key, dependency)!, item)
  }

  /** The set of items that wait for a dependency; undefined when the queue has no waiting item at all. */
  #dependants(key: Uint8Array, dependency: Uint8Array): Uint8Array | undefined {
    const id = this.#sortedSets.id(ROLE.waiting, key)
    return id === undefined ? undefined : numbered(TAG.dependants, id, dependency)
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
