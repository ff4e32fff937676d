/**
 * Backups. A backup is a store of its own: a copy of one state, read back and compared, beside a manifest that is
 * written last. Until it has proved right it is no store either.
 */
import { join } from 'node:path'
import { QuoinError } from '@quoin/primitives'
import type { BackupOptions } from '../engine.ts'
import { parseFilesUrl } from '../url.ts'
import { type Chunks, copyRows, type Digest, digestRows, openVolume } from './copy.ts'
import {
  claimDirectory,
  needDirectory,
  needStore,
  readJson,
  type StoreKind,
  syncDirectory,
  writeDurably
} from './directory.ts'
import { storeError } from './failure.ts'
import { checkSchema, knownSchema, SCHEMA_VERSION, schemaRow } from './schema.ts'

const MANIFEST = 'backup.json'

/** The manifest of a backup. */
export interface Backup extends Digest {
  readonly engine: StoreKind
  readonly schema: number
  /** When it was made, by ISO 8601. */
  readonly time: string
}

/** Writes a backup of the rows into a directory that is new or empty. */
export const writeBackup = async (
  engine: StoreKind,
  from: Chunks,
  directory: string,
  options: BackupOptions = {}
): Promise<Backup> => {
  const time = new Date().toISOString()
  return fillDirectory(engine, from, directory, options, async digest => {
    const backup: Backup = { engine, schema: SCHEMA_VERSION, ...digest, time }
    await writeDurably(directory, MANIFEST, { ...backup })
    return backup
  })
}

/** Reads a backup and compares it with its manifest. Nothing may have it open for writing. */
export const verifyBackup = async (directory: string, options: BackupOptions = {}): Promise<Backup> => {
  const backup = await readBackup(directory)
  await needStore(backup.engine, directory)
  const found = await readBack(backup.engine, directory, options)
  if (found.schema !== backup.schema) {
    throw new QuoinError(
      'ERR_STORE_CORRUPT',
      `the backup in ${directory} has schema version ${found.schema}, and its ${MANIFEST} says ${backup.schema}`,
      { directory }
    )
  }
  compare(`the backup in ${directory} is damaged, or was written to`, backup, found.digest)
  return backup
}

/** Verifies a backup and makes a new store of it, of either kind: `lmdb:PATH` or `level:PATH`. */
export const restore = async (
  directory: string,
  url: string,
  options: BackupOptions = {}
): Promise<Backup> => {
  const target = parseFilesUrl(url)
  if (!target || target.readOnly) {
    throw new QuoinError(
      'ERR_STORE_URL',
      `a backup is restored to lmdb:PATH or level:PATH, not to ${JSON.stringify(url)}`,
      { url }
    )
  }
  const backup = await verifyBackup(directory, options)
  const source = await openVolume(backup.engine, directory, 'read')
  try {
    return await fillDirectory(target.kind, source.chunks(), target.path, options, async digest => {
      compare(`the backup in ${directory} changed while it was restored`, backup, digest)
      return backup
    })
  } finally {
    await source.close()
  }
}

/**
 * Copies the rows, reads them back, and then makes a store of them. `finish` is called when the copy has proved
 * right. After a failure nothing is left of it.
 */
const fillDirectory = async <T>(
  kind: StoreKind,
  from: Chunks,
  path: string,
  options: BackupOptions,
  finish: (digest: Digest) => Promise<T>
): Promise<T> => {
  const claim = await claimDirectory(path)
  try {
    const volume = await openVolume(kind, path, 'write')
    let copied: Digest
    try {
      copied = await copyRows(from, volume, options)
    } finally {
      await volume.close()
    }
    await syncDirectory(path)
    const { digest } = await readBack(kind, path, options)
    compare(`what was written to ${path} does not read back as it was`, copied, digest)
    await writeSchema(kind, path)
    await claim.release()
    return await finish(copied)
  } catch (error) {
    await claim.abandon()
    throw options.signal?.aborted ? options.signal.reason : storeError(error)
  }
}

const writeSchema = async (kind: StoreKind, path: string): Promise<void> => {
  const volume = await openVolume(kind, path, 'write')
  try {
    await volume.put(schemaRow)
  } finally {
    await volume.close()
  }
  await syncDirectory(path)
}

const readBack = async (
  kind: StoreKind,
  path: string,
  options: BackupOptions
): Promise<{ schema: number | undefined; digest: Digest }> => {
  const volume = await openVolume(kind, path, 'read')
  try {
    const schema = checkSchema(kind, path, volume.get(schemaRow.key), () => true)
    return { schema, digest: await digestRows(volume.chunks(), options) }
  } finally {
    await volume.close()
  }
}

const compare = (what: string, expected: Digest, found: Digest): void => {
  for (const field of ['rows', 'bytes', 'sha256'] as const) {
    if (found[field] === expected[field]) continue
    throw new QuoinError(
      'ERR_STORE_CORRUPT',
      `${what}: ${field} should be ${expected[field]}, and is ${found[field]}`,
      { field, expected: expected[field], found: found[field] }
    )
  }
}

/** Reads the manifest of a backup; `verifyBackup` compares it with the rows. */
export const readBackup = async (directory: string): Promise<Backup> => {
  await needDirectory(directory)
  const { engine, schema, rows, bytes, sha256, time } = await readJson(join(directory, MANIFEST))
  if (
    (engine !== 'lmdb' && engine !== 'level') ||
    typeof schema !== 'number' ||
    typeof rows !== 'number' ||
    typeof bytes !== 'number' ||
    typeof sha256 !== 'string' ||
    typeof time !== 'string'
  ) {
    throw new QuoinError(
      'ERR_STORE_CORRUPT',
      `no finished backup in ${directory}: its ${MANIFEST} is missing or damaged`,
      { directory }
    )
  }
  knownSchema(engine, directory, schema)
  return { engine, schema, rows, bytes, sha256, time }
}
