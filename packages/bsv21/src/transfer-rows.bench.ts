/** The rows of a BSV21 transfer by their collections, and the growth of files. */
import { suite } from '../../../bench/harness.ts'
import { countTransferRows } from './transfer-rows.testing.ts'

export default suite(({ sheet, scale, note }) => {
  note(
    'the operations are those of the rows below the structures of the embedded engines, per transfer of a backfill'
  )
  sheet('rows of a transfer', async () => {
    const [holders, rounds] = scale === 'quick' ? [50, 4] : [200, 20]
    const { transfers, counts } = await countTransferRows(holders!, rounds!)
    const per = (total: number): number => Math.round((100 * total) / transfers) / 100
    const rows = [...counts].map(
      ([name, { operations, bytes }]) => [name, per(operations), per(bytes)] as const
    )
    const sum = (of: 1 | 2): number => Math.round(100 * rows.reduce((total, row) => total + row[of], 0)) / 100
    return {
      columns: ['row', 'operations', 'bytes'],
      rows: [...rows.sort((a, b) => b[2] - a[2]), ['all', sum(1), sum(2)]]
    }
  })
})
