/**
 * One reader of the journal for all subscribers of a process. It reads after commits of this process, after commits of others
 * where the store tells of them, and once a second, into a ring buffer that subscribers share: neither the reads nor the filters of
 * a commit depend on the number of subscribers that it does not touch. A subscriber that lags behind the ring reads pages of
 * the store at its own pace.
 */
import { Task } from '@quoin/primitives'
import { type ChangeFilter, ChangeIndex, filterOf, passes } from './change-index.ts'
import type { LiveChange } from './journal-changes.ts'

/** The journal in the store. */
export interface JournalSource {
  /** The changes after a position, at most `PAGE`. */
  read(after: number): Promise<readonly LiveChange[]>
  /** The position of the last change. */
  last(): Promise<number>
  /** Calls the listener after commits of every process, until the result is called. */
  watch?(listener: () => void): (() => void) | undefined
}

/** Changes of one read. */
export const PAGE = 256
/** Milliseconds between reads for commits of other processes that nothing tells of. */
const POLL = 1000
/** Bounds of the ring: changes, and the outputs and spends in them. */
const RING = { changes: 1024, rows: 16_384 }
/** Polls without a waiting subscriber before the reader stops. */
const IDLE_POLLS = 2

export interface FollowOptions {
  /** The position of the last change that was received; the last of the journal unless given. */
  readonly after?: number | undefined
  /** Only changes that touch one of these events, or one of the topics. */
  readonly events?: Iterable<string> | undefined
  /** Only changes of outputs that are or were in one of these topics, or have one of the events. */
  readonly topics?: Iterable<string> | undefined
  /** Of these, only changes for which it answers true; called once for each, in order. */
  readonly matches?: ((change: LiveChange) => boolean) | undefined
  readonly signal?: AbortSignal | undefined
}

interface Run {
  readonly task: Task
  readonly keepAlive: ReturnType<typeof setInterval>
  readonly unwatch: (() => void) | undefined
}

export class JournalReader {
  readonly #source: JournalSource
  readonly #capacity: number
  readonly #waiting = new ChangeIndex<JournalSubscription>()
  #ring: LiveChange[] = []
  /** Outputs and spends in the ring. */
  #rows = 0
  /** The last position read, where the ring ends. */
  #last = 0
  #run: Run | undefined
  #idlePolls = 0

  /** @param keep Changes that the journal keeps: the ring keeps no more. */
  constructor(source: JournalSource, keep: number) {
    this.#source = source
    this.#capacity = Math.min(keep, RING.changes)
  }

  /** Reads the changes of a commit. */
  wake(): void {
    this.#run?.task.wake()
  }

  /** The change after a position: `null` if it is not committed yet, undefined if it is not in the ring. */
  changeAfter(position: number): LiveChange | null | undefined {
    if (!this.#run || position > this.#last) return undefined
    return position === this.#last ? null : this.#ring[position - (this.#last - this.#ring.length)]
  }

  /** Whether somebody follows the journal, or did a moment ago. */
  get isRunning(): boolean {
    return this.#run !== undefined
  }

  /** The position that a waiting subscriber has reached: changes that do not touch it are not offered to it. */
  reached(position: number): number {
    return this.#run ? Math.max(position, this.#last) : position
  }

  /** Whether it has read changes after a position. */
  isAheadOf(position: number): boolean {
    return this.#run !== undefined && position < this.#last
  }

  /** Adds a subscriber that has received all changes up to its position, and to that of the reader. */
  join(subscription: JournalSubscription, position: number): void {
    this.#waiting.add(subscription, subscription.filter)
    this.#idlePolls = 0
    if (!this.#run) this.#start(position)
    this.#run!.keepAlive.ref()
  }

  leave(subscription: JournalSubscription): void {
    if (this.#waiting.delete(subscription, subscription.filter) && this.#waiting.size === 0)
      this.#run?.keepAlive.unref()
  }

  #start(position: number): void {
    this.#last = position
    const task = new Task({ name: 'journal', interval: POLL, work: () => this.#read() })
    // The pauses of a task do not keep a process alive; a subscriber that waits does.
    const keepAlive = setInterval(() => this.#stopWhenIdle(), POLL)
    const unwatch = this.#source.watch?.(() => task.wake())
    this.#run = { task, keepAlive, unwatch }
    task.start()
  }

  #stopWhenIdle(): void {
    if (this.#waiting.size === 0 && ++this.#idlePolls >= IDLE_POLLS) this.#stop()
  }

  #stop(): void {
    clearInterval(this.#run?.keepAlive)
    this.#run?.unwatch?.()
    void this.#run?.task.stop()
    this.#run = undefined
    this.#ring = []
    this.#rows = 0
  }

  /** One page; answers 1 if there may be more. */
  async #read(): Promise<number> {
    const run = this.#run
    let changes: readonly LiveChange[]
    try {
      changes = await this.#source.read(this.#last)
    } catch (error) {
      if (run === this.#run) this.#fail(error)
      return 0
    }
    if (run !== this.#run) return 0
    for (const change of changes) this.#push(change)
    for (const change of changes) {
      for (const subscription of this.#waiting.touchedBy(change)) subscription.offer(change)
    }
    return changes.length === PAGE ? 1 : 0
  }

  #push(change: LiveChange): void {
    this.#last = change.position
    this.#ring.push(change)
    this.#rows += rowsOf(change)
    let oldest = 0
    while (this.#ring.length - oldest > this.#capacity || this.#rows > RING.rows) {
      this.#rows -= rowsOf(this.#ring[oldest++]!)
    }
    if (oldest > 0) this.#ring.splice(0, oldest)
  }

  /** Rejects all that wait with an error. The next subscriber that waits starts the reader again. */
  #fail(error: unknown): void {
    const waiting = this.#waiting.all()
    this.#stop()
    for (const subscription of waiting) subscription.fail(error)
  }
}

const rowsOf = ({ outputs, spends }: LiveChange): number => 1 + outputs.length + spends.length

type Result = IteratorResult<LiveChange, void>

const DONE: Result = { done: true, value: undefined }

interface Waiter {
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** The changes after a position, then changes as they are committed. One call of `next` at a time. */
export class JournalSubscription implements AsyncIterableIterator<LiveChange, void, undefined> {
  readonly #reader: JournalReader
  readonly #source: JournalSource
  /** @internal */
  readonly filter: ChangeFilter | undefined
  readonly #matches: (change: LiveChange) => boolean
  readonly #signal: AbortSignal | undefined
  #position: number | undefined
  /** Changes read from the store, and the number of them that were received. */
  #page: readonly LiveChange[] = []
  #received = 0
  #waiter: Waiter | undefined
  #isClosed = false

  /** @internal Created by `Journal.follow`. */
  constructor(
    reader: JournalReader,
    source: JournalSource,
    { after, events, topics, matches = () => true, signal }: FollowOptions
  ) {
    this.#reader = reader
    this.#source = source
    this.filter = filterOf(events, topics)
    this.#matches = matches
    this.#position = after
    this.#signal = signal
    if (signal?.aborted) this.#close()
    else signal?.addEventListener('abort', this.#close, { once: true })
  }

  /** The last change that was received or left out by the filter; undefined before the first call of `next`. */
  get position(): number | undefined {
    return this.#waiter ? this.#reader.reached(this.#position!) : this.#position
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<Result> {
    try {
      this.#position ??= await this.#source.last()
      for (let isAtEnd = false; ; ) {
        const change = this.#take(this.#position)
        if (change) return { done: false, value: change }
        if (this.#isClosed) return DONE
        // The reader may have read on while this page was read.
        if (change === null || (isAtEnd && !this.#reader.isAheadOf(this.#position))) return await this.#wait()
        this.#page = await this.#source.read(this.#position)
        this.#received = 0
        isAtEnd = this.#page.length === 0
      }
    } catch (error) {
      this.#close()
      throw error
    }
  }

  async return(): Promise<Result> {
    this.#close()
    return DONE
  }

  /** @internal A change that passes the filter, while it waits. */
  offer(change: LiveChange): void {
    if (change.position <= this.#position!) return
    this.#position = change.position
    try {
      if (this.#matches(change)) this.#settle({ done: false, value: change })
    } catch (error) {
      this.fail(error)
    }
  }

  /** @internal */
  fail(error: unknown): void {
    this.#position = this.position
    this.#waiter?.reject(error)
    this.#waiter = undefined
    this.#close()
  }

  /** The next change in memory that matches: `null` if it is not committed yet, undefined if it has to be read. */
  #take(after: number): LiveChange | null | undefined {
    for (let position = after; !this.#isClosed; position = this.#position!) {
      const change = this.#page[this.#received] ?? this.#reader.changeAfter(position)
      if (!change) return change
      if (this.#received < this.#page.length) this.#received++
      this.#position = change.position
      if (passes(change, this.filter) && this.#matches(change)) return change
    }
    return undefined
  }

  #wait(): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject }
      this.#reader.join(this, this.#position!)
    })
  }

  #settle(result: Result): void {
    this.#reader.leave(this)
    this.#waiter?.resolve(result)
    this.#waiter = undefined
  }

  readonly #close = (): void => {
    this.#isClosed = true
    this.#position = this.position
    this.#page = []
    this.#signal?.removeEventListener('abort', this.#close)
    this.#settle(DONE)
  }
}
