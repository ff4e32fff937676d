/** The reads of an engine, made of `OrderedReads` by their names. */
import type { Reads, SyncReads } from '../engine.ts'
import { runAsync, runSync } from '../plan.ts'
import type { AsyncRows, RowPlan, SyncRows } from './kv.ts'
import { OrderedReads, type WideIds } from './reader.ts'

/** A state of the rows that stays until it is released. */
export interface Snapshot<Rows> {
  readonly rows: Rows
  release(): void
}

/** Reads of single rows. */
const POINTS = [
  'get',
  'mget',
  'hget',
  'hmget',
  'sismember',
  'zscore',
  'zscores',
  'zaligned',
  'zcard'
] as const satisfies readonly (keyof Reads)[]
/** Reads that scan, which are plans. */
const SCANS = [
  'range',
  'hgetall',
  'hscan',
  'mhgetall',
  'mhexists',
  'hrange',
  'smembers',
  'zfilter',
  'zrows',
  'zsum',
  'zkeys',
  'qcounts',
  'qlist'
] as const satisfies readonly Exclude<keyof Reads, (typeof POINTS)[number]>[]
type Method = (...args: never[]) => unknown
type ScanMethod = (...args: never[]) => RowPlan<unknown>

const methods = (
  point: (name: (typeof POINTS)[number]) => Method,
  scan: (name: (typeof SCANS)[number]) => Method
): unknown =>
  Object.fromEntries([
    ...POINTS.map(name => [name, point(name)] as const),
    ...SCANS.map(name => [name, scan(name)] as const)
  ])

/** The caches of `wideIds` hold for a state that only goes forward. */
export const syncReadsOf = (rows: SyncRows, assertOpen: () => void, wideIds?: WideIds): SyncReads => {
  const reads = new OrderedReads(rows, wideIds)
  return methods(
    name => {
      const read: Method = reads[name]
      return (...args) => {
        assertOpen()
        return read.apply(reads, args)
      }
    },
    name => {
      const read: ScanMethod = reads[name]
      return (...args) => {
        assertOpen()
        return runSync(read.apply(reads, args), rows)
      }
    }
  ) as SyncReads
}

/** Gives a read the rows that it is to see. */
export type Lend = <T>(name: keyof Reads, read: (rows: AsyncRows) => Promise<T>) => Promise<T>

export const asyncReadsOf = (lend: Lend): Reads =>
  methods(
    name =>
      (...args) =>
        lend(name, async rows => {
          const reads = new OrderedReads(rows)
          return (reads[name] as Method).apply(reads, args)
        }),
    name =>
      (...args) =>
        lend(name, rows => {
          const reads = new OrderedReads(rows)
          return runAsync((reads[name] as ScanMethod).apply(reads, args), rows)
        })
  ) as Reads
