/**
 * A bounded queue that is fair between clients: the next item is that of the client that used the least time lately,
 * and a full queue drops the last item of the client that fills it most.
 */

export interface QueueLimits {
  readonly items: number
  readonly bytes: number
  /** Part of both limits that one client may fill, from 0 to 1. */
  readonly share: number
}

interface Entry<T> {
  readonly item: T
  readonly bytes: number
}

interface Line<T> {
  readonly entries: Entry<T>[]
  bytes: number
}

export class FairQueue<T> {
  readonly #limits: QueueLimits
  readonly #usage: RecentUsage
  /** Lines by client, in the order of their first items; none is empty. */
  readonly #lines = new Map<string, Line<T>>()
  #length = 0
  #bytes = 0

  constructor(limits: QueueLimits, usage: RecentUsage) {
    this.#limits = limits
    this.#usage = usage
  }

  get length(): number {
    return this.#length
  }

  lengthOf(client: string): number {
    return this.#lines.get(client)?.entries.length ?? 0
  }

  /**
   * Appends an item; returns the refused items: this one when its client is over its share, or the items that it
   * displaced.
   */
  add(client: string, item: T, bytes: number): T[] {
    const line = this.#lines.get(client) ?? { entries: [], bytes: 0 }
    const { items: maxItems, bytes: maxBytes, share } = this.#limits
    // An item larger than a share is taken when it is the only one.
    const isOver = line.entries.length >= maxItems * share || line.bytes + bytes > maxBytes * share
    if (line.entries.length > 0 && isOver) return [item]
    this.#lines.set(client, line)
    line.entries.push({ item, bytes })
    this.#count(line, 1, bytes)
    const refused: T[] = []
    while (this.#length > 1 && (this.#length > maxItems || this.#bytes > maxBytes)) {
      refused.push(this.#removeFrom(this.#fullest(), 'last'))
    }
    return refused
  }

  /** Removes the first item of the client that used the least, among the clients that may be served. */
  take(mayServe: (client: string) => boolean = () => true): T | undefined {
    let least: string | undefined
    let usage = Number.POSITIVE_INFINITY
    for (const client of this.#lines.keys()) {
      const used = this.#usage.of(client)
      if (used >= usage || !mayServe(client)) continue
      least = client
      usage = used
    }
    return least === undefined ? undefined : this.#removeFrom(least, 'first')
  }

  /** Removes all items. */
  clear(): T[] {
    const items = [...this.#lines.values()].flatMap(({ entries }) => entries.map(({ item }) => item))
    this.#lines.clear()
    this.#length = 0
    this.#bytes = 0
    return items
  }

  /** The client whose items fill the larger part of a limit. */
  #fullest(): string {
    let fullest = ''
    let most = -1
    for (const [client, { entries, bytes }] of this.#lines) {
      const part = Math.max(entries.length / this.#limits.items, bytes / this.#limits.bytes)
      if (part > most) [fullest, most] = [client, part]
    }
    return fullest
  }

  #removeFrom(client: string, end: 'first' | 'last'): T {
    const line = this.#lines.get(client)!
    const { item, bytes } = end === 'first' ? line.entries.shift()! : line.entries.pop()!
    this.#count(line, -1, -bytes)
    if (line.entries.length === 0) this.#lines.delete(client)
    return item
  }

  #count(line: Line<T>, items: number, bytes: number): void {
    line.bytes += bytes
    this.#bytes += bytes
    this.#length += items
  }
}

/** Milliseconds after which half of a usage is forgotten. */
const HALF_LIFE_MS = 30_000
/** Clients that are remembered; the one charged longest ago is forgotten first. */
const MAX_CLIENTS = 10_000

/** Milliseconds that clients used, the recent ones weighted more. */
export class RecentUsage {
  readonly #now: () => number
  /** In the order of their last charges. */
  readonly #clients = new Map<string, { readonly ms: number; readonly at: number }>()

  /** The clock is in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  of(client: string): number {
    const usage = this.#clients.get(client)
    return usage ? usage.ms * 0.5 ** ((this.#now() - usage.at) / HALF_LIFE_MS) : 0
  }

  /** Adds to the usage of a client; a negative charge gives back part of one that was too high. */
  charge(client: string, ms: number): void {
    const usage = Math.max(0, this.of(client) + ms)
    this.#clients.delete(client)
    this.#clients.set(client, { ms: usage, at: this.#now() })
    if (this.#clients.size <= MAX_CLIENTS) return
    for (const oldest of this.#clients.keys()) {
      this.#clients.delete(oldest)
      return
    }
  }
}
