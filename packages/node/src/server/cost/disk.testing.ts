/** Disk of a BSV21 transfer: how much the files grow, and the bytes that the disk writes. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Sheet } from '../../../../../bench/case.ts'
import { writtenToDiskOf } from '../../../../../bench/process.ts'
import { backfillWork } from './backfill.testing.ts'
import type { NodeCosts } from './node.testing.ts'
import type { Counts } from './submissions.testing.ts'

const GROWTH = { lmdb: 4096, level: 1536 }
const WRITTEN = { lmdb: 20_480, level: null }

/** The disk counts the writes of all processes of the machine, and those of the file system. */
export const diskSheet = async (
  { warm, slice, slices }: Counts,
  { folder, after, progress }: NodeCosts
): Promise<Sheet> => {
  const rows: (string | number | null)[][] = []
  for (const engine of ['lmdb', 'level'] as const) {
    const path = await folder()
    const { warmUp, next, close } = await backfillWork(`${engine}:${path}`, { warm, slice, slices }, progress)
    after(close)
    await warmUp()
    const [bytes, written] = [bytesIn(path), writtenToDiskOf(path)]
    for (let i = 0; i < slices; i++) await next()
    const count = slice * slices
    const ofDisk = written === null ? null : Math.round((writtenToDiskOf(path)! - written) / count)
    rows.push([
      engine,
      warm,
      Math.round((bytesIn(path) - bytes) / count),
      GROWTH[engine],
      ofDisk,
      WRITTEN[engine]
    ])
  }
  return {
    columns: ['engine', 'after', 'file B/transfer', 'at most', 'disk B/transfer', 'at most '],
    rows
  }
}

const bytesIn = (path: string): number =>
  readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map(name => statSync(join(path, name)))
    .reduce((sum, each) => sum + (each.isFile() ? each.size : 0), 0)
