/** Verification of an index against the stored transactions. */
import { openStore, type Store } from '@quoin/store'
import { compareIndexes, type Difference } from './compare.ts'
import { type RebuildOptions, rebuildIndex } from './rebuild.ts'

export interface VerifyOptions extends RebuildOptions {
  /** An empty store for the rebuilt index, for one that does not fit in memory. It is not deleted. */
  readonly into?: Store
  /** The most differences to report, 1,000 unless given. */
  readonly limit?: number
}

export interface Verdict {
  readonly transactions: number
  readonly differences: readonly Difference[]
}

/**
 * Rebuilds the index from a snapshot of a store, and compares them. Writes nothing to the store.
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
