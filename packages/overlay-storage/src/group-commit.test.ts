/** Errors of writes that are committed together. */

import { QuoinError } from '@quoin/primitives'
import { describe, expect, it } from 'vitest'
import { GroupCommit } from './group-commit.ts'

/** The first is committed alone, the others together. */
const commitAll = async (commit: (items: readonly number[]) => Promise<void>) => {
  const groups: (readonly number[])[] = []
  const commits = new GroupCommit<number>(async items => {
    groups.push(items)
    await commit(items)
  })
  const outcomes = await Promise.allSettled([0, 1, 2, 3, 4].map(item => commits.add(item)))
  return { groups, failed: outcomes.flatMap(({ status }, i) => (status === 'rejected' ? [i] : [])) }
}

describe('a group that fails', () => {
  it('for one of its writes fails that one only', async () => {
    const { failed } = await commitAll(async items => {
      if (items.includes(3)) throw new QuoinError('ERR_TXO_CONFLICT', 'spent already')
    })
    expect(failed).toEqual([3])
  })

  it('because the store does is not tried again in parts', async () => {
    const { groups, failed } = await commitAll(async items => {
      if (items.length > 1) throw new QuoinError('ERR_STORE_REPLICAS', 'the replica is away')
    })
    expect(groups).toEqual([[0], [1, 2, 3, 4]])
    expect(failed).toEqual([1, 2, 3, 4])
  })
})
