/** Whether the index of a store is the one that follows from its transactions. */
import { openStore, type Store } from '@quoin/store'
import { compareIndexes, type Difference } from './compare.ts'
import { type RebuildOptions, rebuildIndex } from './rebuild.ts'

export interface VerifyOptions extends RebuildOptions {
  /** An empty store to rebuild the index in, for one that does not fit in memory; it is left as it is then. */
  readonly into?: Store
  /** Differences to report at most, 1,000 unless given. */
  readonly limit?: number
}

export interface Verdict {
  readonly transactions: number
  readonly differences: readonly Difference[]
}

/**
 * Rebuilds the index of one state of a store, and compares. The store is left as it is.
 *
 * @example
 * import { openStore } from '@quoin/store'
 * await verifyIndex(await openStore('memory:')) // { transactions: 0, differences: [] }
 */
export const verifyIndex = async (store: Store, options: VerifyOptions = {}): Promise<Verdict> => {
  const into = options.into ?? (await openStore('memory:'))
  try {
    return await store.snapshot(async reads => {
      const transactions = await rebuildIndex(reads, into, options)
      const differences: Difference[] = []
      for await (const difference of compareIndexes(reads, into, { transactions: false })) {
        differences.push(difference)
        if (differences.length >= (options.limit ?? 1000)) break
      }
      return { transactions, differences }
    })
  } finally {
    if (!options.into) await into.close()
  }
}
