/**
 * Live events: what a commit changed, published once it is durable. The journal in the store is what is published;
 * subscribers read it from any position that is still there and then follow it, so nothing is lost or repeated
 * across a reconnect, a restart, or between processes.
 */
import { QuoinError } from '@quoin/primitives'
import type { Batch, Log, Store } from '@quoin/store'
import { newId } from './change-id.ts'
import { changeFields, outputs } from './keys.ts'

/** What happened: a transaction was added to, got another place in the chain, or was taken back. */
export type ChangeKind = 'saved' | 'moved' | 'removed'

/** As it is stored: texts for people, so that it can be sent as it is. */
export interface StoredChange {
  readonly kind: ChangeKind
  readonly txid: string
  /** The score it has, or had. */
  readonly score: number
  /** Outputs that changed, with all events and topics they have, or had. */
  readonly outputs: readonly {
    readonly vout: number
    readonly events: readonly string[]
    readonly topics: readonly string[]
    /** Topics that it was in before. */
    readonly left?: readonly string[]
  }[]
  /** Outputs of others that are spent by it now, or were, with the topics that they were in, or are. */
  readonly spends: readonly {
    readonly outpoint: string
    readonly events: readonly string[]
    readonly topics: readonly string[]
  }[]
}

export interface LiveChange extends StoredChange {
  /** Where it is in the journal: give it back as `after` to go on. */
  readonly position: number
}

export interface Subscription {
  /** The position of the last change that was received; without it only what comes from here on. */
  readonly after?: number | undefined
  /** Only changes that touch one of these events. */
  readonly events?: Iterable<string> | undefined
  readonly signal?: AbortSignal | undefined
}

const { journal, changes } = outputs.collections
const { change: changeField } = changeFields.collections
const PAGE = 500
/** Seconds between looks for what other processes committed. */
const POLL = 1
/** Changes to trim at once, so that not every commit does. */
const TRIM_EVERY = 1024

export class Journal {
  readonly #store: Store
  readonly #log: Log<Uint8Array>
  readonly #keep: number
  readonly #waiting = new Set<() => void>()
  #untrimmed = 0
  /** Changes that this process appended. */
  appended = 0
  #trimming: Promise<unknown> = Promise.resolve()

  constructor(store: Store, keep: number) {
    this.#store = store
    this.#log = store.logAt(journal, [])
    this.#keep = keep
  }

  appendIn(batch: Batch, change: StoredChange): void {
    const id = newId()
    this.#log.appendIn(batch, id)
    batch.use(changes).at().set(changeField, [id], change)
  }

  /** Something was committed: whoever waits looks again. */
  published(count: number): void {
    for (const wake of this.#waiting) wake()
    this.appended += count
    this.#untrimmed += count
    if (this.#untrimmed < TRIM_EVERY) return
    this.#untrimmed = 0
    this.#trimming = this.#trimming
      .then(() => this.trim())
      .catch(() => {
        // A store that is closing or full: the next commits trim again, and nothing depends on it meanwhile.
      })
  }

  /** Forgets the oldest changes beyond those to keep. */
  async trim(): Promise<void> {
    const last = await this.#log.last()
    const before = last - this.#keep + 1
    for (;;) {
      const { entries } = await this.#log.read({ limit: PAGE })
      const old = entries.filter(({ position }) => position < before)
      if (old.length === 0) return
      const batch = this.#store.batch()
      batch.zrem(journal.encode(), ...old.map(({ entry }) => entry))
      for (const { entry } of old) batch.use(changes).at().delete(changeField, entry)
      await batch.commit()
    }
  }

  async last(): Promise<number> {
    return this.#log.last()
  }

  /** The oldest position that is kept; with nothing kept, the one that comes next. */
  async first(): Promise<number> {
    return (await this.#log.first()) ?? (await this.#log.last()) + 1
  }

  /** Waits for trimming that goes on. */
  async idle(): Promise<void> {
    await this.#trimming
  }

  /** Changes from a position on, then as they come, until the signal aborts. */
  async *follow({ after, events, signal }: Subscription = {}): AsyncGenerator<LiveChange, void, undefined> {
    const wanted = events && new Set(events)
    let position = after ?? (await this.#log.last())
    while (!signal?.aborted) {
      const found = await this.#page(position)
      for (const change of found) {
        position = change.position
        if (signal?.aborted) return
        if (!wanted || touches(change, wanted)) yield change
      }
      if (found.length === 0) await this.#news(position, signal)
    }
  }

  /**
   * What follows a position. Without a snapshot: where snapshots are optimistic, followers would wait for
   * writers. An
   * entry without its change was trimmed meanwhile, and all before it with it.
   */
  async #page(after: number): Promise<LiveChange[]> {
    const { entries, last } = await this.#log.read({ after, limit: PAGE })
    const ids = entries.map(({ entry }): [Uint8Array] => [entry])
    const stored = await this.#store.use(changes).at().getMany(changeField, ids)
    const missing = stored.indexOf(undefined)
    const oldest = missing === -1 ? entries[0]?.position : await this.#log.first()
    if (after > last || after < (oldest ?? last + 1) - 1) {
      throw new QuoinError(
        'ERR_TXO_POSITION',
        `the journal has positions ${oldest ?? last + 1} to ${last}, not what follows ${after}`,
        { after, oldest: oldest ?? last + 1, last }
      )
    }
    if (missing !== -1) {
      const { position } = entries[missing]!
      throw new QuoinError(
        'ERR_STORE_CORRUPT',
        `the journal has position ${position} without its change; start from the last position instead`,
        { position, last }
      )
    }
    return entries.map(({ position }, i) => ({ ...stored[i]!, position }))
  }

  /** Resolves when there may be more: at a commit of this process, and once in a while for those of others. */
  async #news(position: number, signal: AbortSignal | undefined): Promise<void> {
    let wake: () => void = () => undefined
    const news = new Promise<void>(resolve => {
      wake = resolve
    })
    const timer = setTimeout(wake, POLL * 1000)
    this.#waiting.add(wake)
    signal?.addEventListener('abort', wake, { once: true })
    try {
      if (!signal?.aborted && (await this.#log.last()) === position) await news
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(wake)
      signal?.removeEventListener('abort', wake)
    }
  }
}

const touches = ({ outputs: changed, spends }: StoredChange, wanted: ReadonlySet<string>): boolean =>
  changed.some(({ events }) => events.some(event => wanted.has(event))) ||
  spends.some(({ events }) => events.some(event => wanted.has(event)))
