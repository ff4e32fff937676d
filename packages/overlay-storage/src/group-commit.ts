/**
 * Group commit: items added during a commit are committed together after it. Separate concurrent commits of one
 * transaction's parts would fail each other's conditions and be retried.
 */
import { QuoinError } from '@quoin/primitives'

interface QueuedItem<T> {
  readonly item: T
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Items of one commit. */
const MAX_GROUP = 256

export class GroupCommit<T> {
  readonly #commit: (items: readonly T[]) => Promise<unknown>
  readonly #waiting: QueuedItem<T>[] = []
  #isRunning = false

  constructor(commit: (items: readonly T[]) => Promise<unknown>) {
    this.#commit = commit
  }

  /** Resolves when the item is committed. */
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
      // An item that cannot be committed rejects its own caller only: halves of the group are committed apart.
      if (group.length === 1 || isStoreFailure(error)) for (const { reject } of group) reject(error)
      else for (const half of halves(group)) await this.#settle(half)
    }
  }
}

/** The store refuses every commit, so that halves of the group would fail one after the other. */
const isStoreFailure = (error: unknown): boolean =>
  error instanceof QuoinError && STORE_FAILURES.has(error.code)

const STORE_FAILURES: ReadonlySet<string> = new Set([
  'ERR_STORE_CLOSED',
  'ERR_STORE_CONNECTION',
  'ERR_STORE_FAILED',
  'ERR_STORE_REPLICAS'
])

const halves = <T>(group: readonly T[]): (readonly T[])[] => {
  const middle = Math.ceil(group.length / 2)
  return [group.slice(0, middle), group.slice(middle)]
}
