/** Damaged rows of a store in files, before anything is read through them. */
import type { Finding } from '@quoin/chain'
import type { InspectedRow } from '@quoin/store'
import type { Progress } from './progress.ts'

const EXPECTED: Readonly<Record<InspectedRow['fault'], readonly [found: string, expected: string]>> = {
  checksum: ['a checksum that does not fit', 'the checksum of its key and value'],
  order: ['a key out of order', 'a key above the one before'],
  unreachable: ['a row that a read by its key does not find', 'a row that is found']
}
const BACKUP = 'restore a backup (quoin store restore)'

/** Whether rows can be inspected: a server looks after its own. */
const hasRows = (url: string): boolean => /^(lmdb|level):/.test(url)

export interface RowDamage {
  readonly rows: readonly InspectedRow[]
  /** Faults of the database beside its rows: no more is read in this process. */
  readonly faults: readonly Finding[]
}

export const inspectRows = async (url: string, progress: Progress): Promise<RowDamage> => {
  if (!hasRows(url)) return { rows: [], faults: [] }
  const { inspectStore } = await import('@quoin/store')
  const rows: InspectedRow[] = []
  const { faults } = await inspectStore(url, {
    onProgress: (done, total) => progress.report('reading, rows', done, total),
    onDamage: row => rows.push(row)
  })
  return {
    rows,
    faults: faults.map(fault => ({
      kind: 'row-damaged',
      subject: url,
      found: fault,
      expected: 'rows that can be read',
      advice: BACKUP
    }))
  }
}

export const rowFinding = ({ row, collection, fault }: InspectedRow, isLeft: boolean): Finding => {
  const [found, expected] = EXPECTED[fault]
  return {
    kind: 'row-damaged',
    subject: `store-rows.${collection}  ${row}`,
    found,
    expected,
    ...(isLeft && { advice: BACKUP })
  }
}
