/**
 * Converts the rows of a store in files to the schema of this version, in a copy: `PATH.upgrading`, which takes the place
 * of the store when it has proved right, or a directory that the caller names. The store as it was stays beside it. A
 * conversion that was cut off goes on behind the last row that is on the disk.
 */
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { equalBytes, QuoinError, successor } from '@quoin/primitives'
import { open } from 'lmdb'
import type { BackupOptions, KeyValue } from '../engine.ts'
import { seal, unseal } from '../ordered/checksum.ts'
import { openVolume, type Volume } from '../ordered/copy.ts'
import {
  checkLmdbFile,
  claimConversion,
  holdsFiles,
  isUnfinished,
  releaseConversion,
  type StoreKind,
  syncDirectory,
  syncFolder
} from '../ordered/directory.ts'
import { storeError } from '../ordered/failure.ts'
import { readId } from '../ordered/layout.ts'
import { SCHEMA_VERSION, schemaRow } from '../ordered/schema.ts'
import type { Store } from '../store.ts'
import type { FilesUrl } from '../url.ts'
import { openCheckpoint, recoverCopy } from './redo-log.ts'

export interface UpgradeOptions {
  /** Called now and then with a step, how many of its parts are done, and how many there are if that is known. */
  readonly onProgress?: ((step: string, done: number, total: number | undefined) => void) | undefined
  /** Ends the upgrade early; the next one goes on from there. */
  readonly signal?: AbortSignal | undefined
}

export interface RowsUpgrade {
  readonly rows: number
  /** Commits that were in the redo log alone. */
  readonly recovered: number
  /** Where the store as it was is. */
  readonly before: string
}

/** So many bytes of rows are one commit of the copy. */
const COMMIT_BYTES = 8 * 1024 * 1024
/** The schema whose rows have no checksums. */
const UNSEALED = 1

/** Upgrades in place, or into the directory `target`. Undefined when the store has the schema of this version. */
export const upgradeRows = async (
  { kind, path: given }: FilesUrl,
  target: string | undefined,
  options: UpgradeOptions
): Promise<RowsUpgrade | undefined> => {
  const path = resolve(given)
  const copy = target === undefined ? upgradingPath(path) : resolve(target)
  try {
    if (target === undefined && !(await holdsFiles(kind, path)) && (await isConverted(kind, copy))) {
      // It ended between the two renames.
      await moveDurably(copy, path)
      return { rows: 0, recovered: 0, before: lastBefore(path) }
    }
    if (!(await holdsFiles(kind, path))) throw noStore(kind, path)
    const source = await openSource(kind, path, copy)
    if (!source) return undefined
    try {
      const rows = await convert(kind, source.volume, copy, path, options)
      await source.close()
      if (target !== undefined) return { rows, recovered: source.recovered, before: path }
      return { rows, recovered: source.recovered, before: await replaceStore(path, copy) }
    } finally {
      await source.close()
    }
  } catch (error) {
    throw options.signal?.aborted ? options.signal.reason : storeError(error)
  }
}

const noStore = (kind: StoreKind, path: string): QuoinError =>
  new QuoinError('ERR_STORE_OPTION', `no ${kind} store in ${path}`, { path, engine: kind })

interface Source {
  readonly volume: Volume
  readonly recovered: number
  close(): Promise<void>
}

/** The rows of a store with the earlier schema: its own, or those of a copy that was recovered from the redo log. */
const openSource = async (kind: StoreKind, path: string, copy: string): Promise<Source | undefined> => {
  const checkpoint = kind === 'lmdb' ? await openCheckpoint(path) : undefined
  if (checkpoint) {
    await refuseWriters(join(path, 'writers'), path)
    const scratch = `${copy}.recovered`
    await rm(scratch, { recursive: true, force: true })
    await mkdir(scratch)
    const recovered = await recoverCopy(path, checkpoint, scratch)
    const volume = await openVolume(kind, scratch, 'read')
    return {
      volume,
      recovered,
      close: once(async () => {
        await volume.close()
        await rm(scratch, { recursive: true, force: true })
      })
    }
  }
  const volume = await openVolume(kind, path, 'read')
  const schema = schemaIn(volume)
  if (schema === UNSEALED) {
    if (kind === 'lmdb') await refuseWriters(path, path)
    return { volume, recovered: 0, close: once(() => volume.close()) }
  }
  await volume.close()
  if (schema === SCHEMA_VERSION) return undefined
  throw new QuoinError(
    'ERR_STORE_VERSION',
    `${path} has schema version ${schema ?? 'none'}, and this version upgrades ${UNSEALED} to ${SCHEMA_VERSION}`,
    { path, schema }
  )
}

const schemaIn = (volume: Volume): number | undefined => {
  const row = volume.get(schemaRow.key)
  return row?.length === schemaRow.value.length ? readId(row, 0) : undefined
}

const once = (work: () => Promise<void>): (() => Promise<void>) => {
  let done: Promise<void> | undefined
  return () => {
    done ??= work()
    return done
  }
}

/** LMDB lists the ids of the processes that read a database; opening it removed the ended ones. */
const refuseWriters = async (database: string, path: string): Promise<void> => {
  if (!existsSync(database)) return
  const handle = open({ path: database, noSubdir: database !== path, readOnly: true, maxDbs: 1 })
  try {
    const list = (handle as unknown as { readerList(): string }).readerList()
    const others = [...list.matchAll(/^\s*(\d+)\s/gm)].map(([, pid]) => Number(pid))
    if (others.every(pid => pid === process.pid)) return
  } finally {
    await handle.close()
  }
  throw new QuoinError(
    'ERR_STORE_LOCKED',
    `another process has the store in ${path} open. Stop it, then upgrade`,
    { path }
  )
}

/** Copies the rows with their checksums, then reads both sides and compares. Answers how many rows there are. */
const convert = async (
  kind: StoreKind,
  source: Volume,
  copy: string,
  path: string,
  { onProgress, signal }: UpgradeOptions
): Promise<number> => {
  const total = await source.count()
  const into = await openCopy(kind, copy, path)
  try {
    let done = await into.count()
    const last = await into.lastKey()
    for await (const rows of large(source.chunks(last && successor(last)))) {
      signal?.throwIfAborted()
      await into.append(
        rows.filter(isData).map(({ key, value }) => ({ key, value: seal(key, value).slice() })),
        true
      )
      done += rows.length
      onProgress?.('copying rows', done, total)
      await nextTurn()
    }
    signal?.throwIfAborted()
    await compare(source, into, (read, of) => onProgress?.('comparing rows', read, of), total, signal)
    await into.put(schemaRow)
  } finally {
    await into.close()
  }
  await syncDirectory(copy)
  await releaseConversion(copy)
  return total
}

/** A power loss while the database was made may leave files that do not open: then the copy begins again. */
const openCopy = async (kind: StoreKind, copy: string, path: string): Promise<Volume> => {
  const isResumed = await claimConversion(copy, path)
  try {
    if (isResumed && kind === 'lmdb') await checkLmdbFile(copy)
    return await openVolume(kind, copy, 'write synced')
  } catch (error) {
    if (!isResumed) throw error
    await rm(copy, { recursive: true, force: true })
    await claimConversion(copy, path)
    return openVolume(kind, copy, 'write synced')
  }
}

const isData = ({ key }: KeyValue): boolean => !equalBytes(key, schemaRow.key)

/** Chunks put together to the size of a commit. */
async function* large(chunks: AsyncIterable<readonly KeyValue[]>): AsyncGenerator<readonly KeyValue[]> {
  let rows: KeyValue[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    for (const row of chunk) bytes += row.key.length + row.value.length
    rows.push(...chunk)
    if (bytes < COMMIT_BYTES) continue
    yield rows
    rows = []
    bytes = 0
  }
  if (rows.length > 0) yield rows
}

const compare = async (
  source: Volume,
  copy: Volume,
  report: (done: number, total: number) => void,
  total: number,
  signal: AbortSignal | undefined
): Promise<void> => {
  const copied = rowsOf(copy)
  let done = 0
  for await (const { key, value } of rowsOf(source)) {
    const { value: row } = await copied.next()
    const isSame = row && equalBytes(row.key, key) && equalBytes(unseal(key, row.value), value)
    if (!isSame) throw new QuoinError('ERR_STORE_CORRUPT', 'the copy does not read back as it was written')
    if (++done % 1000 === 0) {
      signal?.throwIfAborted()
      report(done, total)
    }
  }
  report(total, total)
  signal?.throwIfAborted()
  if (!(await copied.next()).done) {
    throw new QuoinError('ERR_STORE_CORRUPT', 'the copy has rows that the store does not have')
  }
}

async function* rowsOf(volume: Volume): AsyncGenerator<KeyValue, undefined> {
  for await (const chunk of volume.chunks()) yield* chunk.filter(isData)
}

/** Whether a directory holds a finished conversion. */
const isConverted = async (kind: StoreKind, path: string): Promise<boolean> =>
  (await holdsFiles(kind, path)) && !(await isUnfinished(path))

/** Puts a finished copy in the place of a store, and keeps that beside it. Answers where. */
export const replaceStore = async (path: string, copy: string): Promise<string> => {
  const before = nextBefore(path)
  await moveDurably(path, before)
  await moveDurably(copy, path)
  return before
}

/** Backs a store up beside its directory. Answers where. */
export const backupBeside = async (store: Store, path: string, options: BackupOptions): Promise<string> => {
  const before = nextBefore(path)
  await store.backup(before, options)
  return before
}

const moveDurably = async (from: string, to: string): Promise<void> => {
  await rename(from, to)
  await syncFolder(dirname(resolve(to)))
}

/** Where the copy is made that takes the place of a store. */
export const upgradingPath = (path: string): string => `${resolve(path)}.upgrading`

const beforeName = (path: string, number: number): string =>
  `${resolve(path)}.before-upgrade${number === 1 ? '' : `-${number}`}`

/** A name that is free for the store as it was. */
const nextBefore = (path: string): string => {
  for (let number = 1; ; number++) if (!existsSync(beforeName(path, number))) return beforeName(path, number)
}

/** The last name that was taken for it. */
const lastBefore = (path: string): string => {
  let number = 1
  while (existsSync(beforeName(path, number + 1))) number++
  return beforeName(path, number)
}
