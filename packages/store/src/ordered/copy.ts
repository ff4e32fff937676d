/**
 * Copies the rows of one state from a database to another, in the order of their keys, checks them and digests them on
 * the way.
 * It works in chunks and gives up the event loop after each, so that a process that serves goes on serving. The
 * schema row stays behind: it makes a store of the rows, and is written when all else has proved right.
 */
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { equalBytes } from '@quoin/primitives'
import type { BackupOptions, KeyValue } from '../engine.ts'
import { unseal } from './checksum.ts'
import type { StoreKind } from './directory.ts'
import { schemaRow } from './schema.ts'

/** A chunk has at most so many rows, and ends after so many bytes. */
export const CHUNK_ROWS = 2000
export const CHUNK_BYTES = 256 * 1024
/** Bytes after which a copy waits for the disk: unsynced pages of the copy delay commits to the store. */
const SYNC_BYTES = 4 * 1024 * 1024

/** All rows of one state, in the order of their keys. */
export type Chunks = AsyncIterable<readonly KeyValue[]>

/** A database that nothing else writes to. */
export interface Volume {
  /** All rows, or all from a key on. */
  chunks(from?: Uint8Array): Chunks
  count(): Promise<number>
  lastKey(): Promise<Uint8Array | undefined>
  get(key: Uint8Array): Uint8Array | undefined
  /** Rows behind all others; `durably` resolves when they, and all before, are on the disk. */
  append(rows: readonly KeyValue[], durably: boolean): Promise<void>
  put(row: KeyValue): Promise<void>
  close(): Promise<void>
}

/** How a volume is opened. A plain write is on the disk when its files were synced, a synced one when it returns. */
export type VolumeMode = 'read' | 'write' | 'write synced'

/** Imports the module of one kind only. */
export const openVolume = async (kind: StoreKind, path: string, mode: VolumeMode): Promise<Volume> =>
  kind === 'lmdb'
    ? (await import('./lmdb-volume.ts')).openLmdbVolume(path, mode)
    : (await import('./level-volume.ts')).openLevelVolume(path, mode)

/** Identifies contents: two states with one digest are the same. */
export interface Digest {
  readonly rows: number
  /** Of keys and values. */
  readonly bytes: number
  /** Over all rows, each as u32 length ‖ key ‖ u32 length ‖ value, little-endian. */
  readonly sha256: string
}

/** Copies the rows to a volume. */
export const copyRows = (from: Chunks, to: Volume, options: BackupOptions): Promise<Digest> =>
  walk(from, options, 'copying', (rows, durably) => to.append(rows, durably))

/** Reads the rows, and copies none. */
export const digestRows = (from: Chunks, options: BackupOptions): Promise<Digest> =>
  walk(from, options, 'verifying', async () => {})

const walk = async (
  from: Chunks,
  { onProgress, signal }: BackupOptions,
  doing: 'copying' | 'verifying',
  visit: (rows: readonly KeyValue[], durably: boolean) => Promise<void>
): Promise<Digest> => {
  const hash = createHash('sha256')
  let rows = 0
  let bytes = 0
  let synced = 0
  for await (const chunk of from) {
    signal?.throwIfAborted()
    const data = chunk.filter(({ key }) => !equalBytes(key, schemaRow.key))
    for (const { key, value } of data) unseal(key, value)
    const framed = frame(data)
    hash.update(framed)
    rows += data.length
    bytes += framed.length - data.length * 8
    const durably = bytes - synced >= SYNC_BYTES
    if (durably) synced = bytes
    await visit(data, durably)
    onProgress?.(rows, doing)
    await nextTurn()
  }
  signal?.throwIfAborted()
  return { rows, bytes, sha256: hash.digest('hex') }
}

/** One buffer, as a hash takes one large piece much faster than many small ones. */
const frame = (rows: readonly KeyValue[]): Buffer => {
  let size = 0
  for (const { key, value } of rows) size += 8 + key.length + value.length
  const framed = Buffer.allocUnsafe(size)
  let at = 0
  for (const row of rows) {
    for (const part of [row.key, row.value]) {
      at = framed.writeUInt32LE(part.length, at)
      framed.set(part, at)
      at += part.length
    }
  }
  return framed
}
