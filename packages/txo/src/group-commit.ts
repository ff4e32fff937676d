/**
 * Writes that come while another is under way are committed together when it is done. A caller that writes many parts
 * of one transaction at once would otherwise be in its own way: each commit changes what the others have read.
 */
import { QuoinError } from '@quoin/primitives'

interface QueuedItem<T> {
  readonly item: T
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** The most that are committed together. */
const MAX_GROUP = 256

export class GroupCommit<T> {
  readonly #commit: (items: readonly T[]) => Promise<unknown>
  readonly #waiting: QueuedItem<T>[] = []
  #isRunning = false

  constructor(commit: (items: readonly T[]) => Promise<unknown>) {
    this.#commit = commit
  }

  /** Resolves when the item is committed, with whatever else. */
  add(item: T): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (!this.#isRunning) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.length > 0) await this.#settle(this.#waiting.splice(0, MAX_GROUP))
    this.#isRunning = false
  }

  async #settle(group: readonly QueuedItem<T>[]): Promise<void> {
    try {
      await this.#commit(group.map(({ item }) => item))
      for (const { resolve } of group) resolve()
    } catch (error) {
      // What is wrong with one of them is the error of that one only.
      if (group.length === 1 || isOfStore(error)) for (const { reject } of group) reject(error)
      else for (const half of halves(group)) await this.#settle(half)
    }
  }
}

/** The store refuses every commit: parts of the group would wait for it one after the other. */
const isOfStore = (error: unknown): boolean => error instanceof QuoinError && OF_STORE.has(error.code)

const OF_STORE: ReadonlySet<string> = new Set([
  'ERR_STORE_CLOSED',
  'ERR_STORE_CONNECTION',
  'ERR_STORE_FAILED',
  'ERR_STORE_REPLICAS'
])

const halves = <T>(group: readonly T[]): (readonly T[])[] => {
  const middle = Math.ceil(group.length / 2)
  return [group.slice(0, middle), group.slice(middle)]
}
