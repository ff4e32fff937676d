/** The one batch that changes headers of a store. */
import type { Store } from '@quoin/store'
import { chain } from '../keys.ts'
import type { ChainHeader } from './header.ts'

const { header: headers, active, tip: tips } = chain.collections

export interface HeaderCommit {
  /** Tip that the batch was computed for; another tip fails with `ERR_STORE_PRECONDITION`. */
  readonly tip: ChainHeader
  /** Headers that the store does not have. */
  readonly fresh: readonly ChainHeader[]
  /** Headers that join the chain of most work, which ends at `best`. */
  readonly activated: readonly ChainHeader[]
  readonly best: ChainHeader
}

export const commitHeaders = (store: Store, { tip, fresh, activated, best }: HeaderCommit): Promise<void> => {
  const batch = store.batch()
  batch.use(tips).at().expect(tip.header.hash)
  const rows = batch.use(headers)
  for (const each of fresh) rows.at(each.header.hash).set(each)
  const heights = batch.use(active)
  for (const { header, height } of activated) heights.at(height).set(header.hash)
  // A chain of more work may be the shorter one.
  for (let height = best.height + 1; height <= tip.height; height++) heights.at(height).delete()
  if (best !== tip) batch.use(tips).at().set(best.header.hash)
  return batch.commit()
}
