/** The rows of a token transfer: a fact that is stored twice shows in their number. */
import { expect, it } from 'vitest'
import { countTransferRows } from './transfer-rows.testing.ts'

it('a transfer writes at most 37 rows and 3.8 KB, of which its transaction is 0.7 KB', async () => {
  const { transfers, counts } = await countTransferRows(20, 4)
  const per = (name: string): readonly number[] => {
    const { operations, bytes } = counts.get(name)!
    return [operations / transfers, bytes / transfers]
  }
  const totals = [...counts.values()]
  expect(totals.reduce((sum, each) => sum + each.operations, 0) / transfers).toBeLessThan(37)
  expect(totals.reduce((sum, each) => sum + each.bytes, 0) / transfers).toBeLessThan(3800)
  expect(per('value of chain.transaction')[0]).toBe(1)
  expect(per('hash of outputs.output')[0]).toBe(2)
  expect(per('hash of outputs.output')[1]).toBeLessThan(680)
  expect(per('value of overlay.judgements')[1]).toBeLessThan(100)
  expect(counts.has('hash of outputs.changes')).toBe(false)
})
