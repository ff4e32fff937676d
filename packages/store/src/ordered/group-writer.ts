/**
 * Executes batches on rows. The changes of a group of batches are gathered (`hashes.ts`, `sorted-sets.ts`) and
 * written in the order of the keys by `flush`, so that a row that many operations touch is written once. A batch
 * whose check fails changes nothing; once its checks hold, nothing in it can fail.
 */
import { bytesKey, bytesOfKey, equalBytes, QuoinError } from '@quoin/primitives'
import { BatchDecoder } from '../batch-decoder.ts'
import type { OperationResult } from '../engine.ts'
import type { Conditions, Operations } from '../operations.ts'
import { HashChanges } from './hashes.ts'
import type { RowWrites, Scan } from './kv.ts'
import { KIND, MAX_ID, META, ROLE, readId, TAG, tagged } from './layout.ts'
import type { LeaseOwners } from './owners.ts'
import { QueueChanges } from './queues.ts'
import { packId } from './rows.ts'
import { SortedSetChanges } from './sorted-sets.ts'

const EMPTY = new Uint8Array()

/** The result of a batch: its answers, the index of the check that refused it, or the error that it met alone. */
export type Outcome =
  | { readonly answers: OperationResult[] }
  | { readonly failed: number }
  | { readonly error: QuoinError }

/** A committed group. */
export interface GroupResult {
  readonly outcomes: readonly Outcome[]
  /** False when no batch changed a row: then nothing was written. */
  readonly written: boolean
}

/** A group whose changes are made. The next may begin; `done` is when this one is durable. */
export interface GroupCommit {
  readonly done: Promise<GroupResult>
}

export class GroupWriter implements Conditions, Operations<OperationResult> {
  readonly #rows: RowWrites
  readonly #values = new Map<string, Uint8Array | null>()
  readonly #hashes: HashChanges
  readonly #sortedSets: SortedSetChanges
  readonly #queues: QueueChanges
  readonly enqueue: Operations<OperationResult>['enqueue']
  readonly lease: Operations<OperationResult>['lease']
  readonly renew: Operations<OperationResult>['renew']
  readonly remove: Operations<OperationResult>['remove']
  readonly retry: Operations<OperationResult>['retry']
  readonly bury: Operations<OperationResult>['bury']
  readonly wait: Operations<OperationResult>['wait']
  readonly wake: Operations<OperationResult>['wake']
  readonly revive: Operations<OperationResult>['revive']
  /** As the database has them, after the last commit of this writer. */
  #nextId = 0
  #storedNextId = 0
  #commits = -1
  /** Whether a row was put or deleted since the last commit. */
  #isChanged = false

  /** Without owners leases are of nobody in particular, and end by the clock alone. */
  constructor(database: RowWrites, owners?: LeaseOwners) {
    const rows: RowWrites = {
      get: key => database.get(key),
      keys: (start, end, limit, reverse) => database.keys(start, end, limit, reverse),
      put: (key, value) => {
        this.#isChanged = true
        database.put(key, value)
      },
      del: key => {
        this.#isChanged = true
        database.del(key)
      }
    }
    const newId = (): number => {
      if (this.#nextId >= MAX_ID) throw new QuoinError('ERR_STORE_FULL', 'the store has no ids left')
      return this.#nextId++
    }
    this.#rows = rows
    this.#hashes = new HashChanges(rows, newId)
    this.#sortedSets = new SortedSetChanges(rows, newId)
    this.#queues = new QueueChanges(this.#hashes, this.#sortedSets, owners)
    this.enqueue = this.#queues.enqueue.bind(this.#queues)
    this.lease = this.#queues.lease.bind(this.#queues)
    this.renew = this.#queues.renew.bind(this.#queues)
    this.remove = this.#queues.remove.bind(this.#queues)
    this.retry = this.#queues.retry.bind(this.#queues)
    this.bury = this.#queues.bury.bind(this.#queues)
    this.wait = this.#queues.wait.bind(this.#queues)
    this.wake = this.#queues.wake.bind(this.#queues)
    this.revive = this.#queues.revive.bind(this.#queues)
  }

  /** Begins a group of batches. If another process has committed since, the caches of this writer are stale. */
  begin(): void {
    const commits = readCount(this.#rows.get(META.commits))
    if (commits === this.#commits) return
    this.forget()
    this.#commits = commits
    this.#nextId = this.#storedNextId = readCount(this.#rows.get(META.next))
  }

  run(batch: Uint8Array): Outcome {
    const decoder = new BatchDecoder(batch)
    const failed = decoder.firstFailing(this)
    return failed === -1 ? { answers: decoder.run<OperationResult>(this) } : { failed }
  }

  /** The ranges that a batch will scan, for databases that cannot scan while they write. */
  scans(batch: Uint8Array): Scan[] {
    return this.#queues.scans(batch)
  }

  /** Writes all changes of the group for the caller to commit; false when there are none. */
  flush(): boolean {
    this.#hashes.flush()
    this.#sortedSets.flush()
    for (const name of [...this.#values.keys()].sort()) {
      const value = this.#values.get(name)
      if (value) this.#rows.put(bytesOfKey(name), value)
      else this.#rows.del(bytesOfKey(name))
    }
    this.#values.clear()
    if (this.#nextId !== this.#storedNextId) this.#rows.put(META.next, packId(this.#nextId))
    this.#storedNextId = this.#nextId
    const isChanged = this.#isChanged
    if (isChanged) this.#rows.put(META.commits, packId(++this.#commits))
    this.#isChanged = false
    return isChanged
  }

  /** Drops all that is gathered or remembered, after a commit that failed. */
  forget(): void {
    this.#values.clear()
    this.#hashes.clear()
    this.#sortedSets.clear()
    this.#queues.forget()
    this.#commits = -1
    this.#isChanged = false
  }

  #value(key: Uint8Array): Uint8Array | undefined {
    const name = bytesKey(tagged(TAG.value, key))
    const changed = this.#values.get(name)
    return changed === undefined ? this.#rows.get(bytesOfKey(name)) : (changed ?? undefined)
  }

  valueIs(key: Uint8Array, expected: Uint8Array): boolean {
    return isValue(this.#value(key), expected)
  }
  valueAbsent(key: Uint8Array): boolean {
    return this.#value(key) === undefined
  }
  fieldIs(key: Uint8Array, field: Uint8Array, expected: Uint8Array): boolean {
    return isValue(this.#hashes.get(KIND.hash, key, field), expected)
  }
  fieldAbsent(key: Uint8Array, field: Uint8Array): boolean {
    return this.#hashes.get(KIND.hash, key, field) === undefined
  }
  scoreIs(key: Uint8Array, member: Uint8Array, score: number): boolean {
    return this.#sortedSets.score(ROLE.user, key, member) === score
  }
  scoreAbsent(key: Uint8Array, member: Uint8Array): boolean {
    return this.#sortedSets.score(ROLE.user, key, member) === undefined
  }
  memberPresent(key: Uint8Array, member: Uint8Array): boolean {
    return this.#hashes.get(KIND.set, key, member) !== undefined
  }
  memberAbsent(key: Uint8Array, member: Uint8Array): boolean {
    return !this.memberPresent(key, member)
  }
  leaseHeld(key: Uint8Array, item: Uint8Array, token: Uint8Array): boolean {
    return this.#queues.isLeased(key, item, token)
  }

  set(key: Uint8Array, value: Uint8Array): void {
    this.#values.set(bytesKey(tagged(TAG.value, key)), value)
  }
  del(key: Uint8Array): void {
    this.#values.set(bytesKey(tagged(TAG.value, key)), null)
  }
  hset(key: Uint8Array, field: Uint8Array, value: Uint8Array): void {
    this.#hashes.set(KIND.hash, key, field, value)
  }
  hdel(key: Uint8Array, field: Uint8Array): void {
    this.#hashes.delete(KIND.hash, key, field)
  }
  sadd(key: Uint8Array, member: Uint8Array): void {
    this.#hashes.set(KIND.set, key, member, EMPTY)
  }
  srem(key: Uint8Array, member: Uint8Array): void {
    this.#hashes.delete(KIND.set, key, member)
  }
  zadd(key: Uint8Array, member: Uint8Array, score: number): void {
    this.#sortedSets.add(ROLE.user, key, member, score)
  }
  zrem(key: Uint8Array, member: Uint8Array): void {
    this.#sortedSets.remove(ROLE.user, key, member)
  }
  zincrby(key: Uint8Array, member: Uint8Array, increment: number): number {
    // Adding 0 makes a -0 that two numbers may add up to a 0.
    const score = (this.#sortedSets.score(ROLE.user, key, member) ?? 0) + increment + 0
    this.#sortedSets.add(ROLE.user, key, member, score)
    return score
  }
  zcounter(key: Uint8Array, member: Uint8Array, increment: number): void {
    const score = (this.#sortedSets.score(ROLE.user, key, member) ?? 0) + increment
    if (score === 0) this.#sortedSets.remove(ROLE.user, key, member)
    else this.#sortedSets.add(ROLE.user, key, member, score)
  }
  append(key: Uint8Array, entry: Uint8Array): void {
    if (this.#sortedSets.score(ROLE.user, key, entry) !== undefined) return
    const position = (this.#sortedSets.score(ROLE.user, key, EMPTY) ?? 0) + 1
    this.#sortedSets.add(ROLE.user, key, EMPTY, position)
    this.#sortedSets.add(ROLE.user, key, entry, position)
  }
  appendDeferred(key: Uint8Array, entry: Uint8Array): void {
    this.append(key, entry)
  }
}

const readCount = (row: Uint8Array | undefined): number => (row ? readId(row, 0) : 0)

const isValue = (value: Uint8Array | undefined, expected: Uint8Array): boolean =>
  value !== undefined && equalBytes(value, expected)
