/**
 * Directories of stores: whose they are, before a database opens them and changes their files; and how they become
 * durable. LevelDB rewrites files of any database that it opens, so a store of ours says so in a file beside them.
 */
import {
  access,
  constants,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  writeFile
} from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { QuoinError } from '@quoin/primitives'
import { assertFreeSpace } from './disk-full.ts'
import { readOnlyError } from './failure.ts'
import { knownSchema, needsUpgrade, SCHEMA_VERSION } from './schema.ts'

export type StoreKind = 'lmdb' | 'level'

export const LMDB_FILE = 'data.mdb'
export const LEVEL_FILE = 'CURRENT'
/** Beside the files of LevelDB. */
const MARKER = 'quoin.json'
/** Beside the files of a store that rows are being copied to. */
const UNFINISHED = 'unfinished.json'

/** Beside an LMDB of version 0.1, which had a redo log (`upgrade/redo-log.ts`). */
export const REDO_CHECKPOINT = 'checkpoint'

/** Of LMDB's first page: its header, then the magic number and the format of the file, little-endian. */
const PAGE_HEADER = 24
const LMDB_MAGIC = 0xbeefc0de
const LMDB_FORMAT = 2

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')

const filesIn = async (path: string): Promise<string[]> => {
  try {
    return await readdir(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw unusable(path, error)
  }
}

/** The sizes of the files in a directory. */
export const sizesIn = async (path: string): Promise<number[]> =>
  Promise.all((await filesIn(path)).map(async file => (await stat(join(path, file))).size))

/** The first directory that it made, if it made any. */
const make = async (path: string): Promise<string | undefined> => {
  try {
    return await mkdir(path, { recursive: true })
  } catch (error) {
    throw unusable(path, error)
  }
}

const unusable = (path: string, error: unknown): QuoinError => {
  const { code, message, syscall } = error as NodeJS.ErrnoException
  if (syscall !== 'scandir' && ['EACCES', 'EPERM', 'EROFS'].includes(code ?? '')) {
    return readOnlyError(path, message, error)
  }
  if (code === 'ENOSPC')
    return new QuoinError('ERR_STORE_FULL', `no space left for ${path}: ${message}`, { cause: error })
  return new QuoinError('ERR_STORE_OPTION', `${path} cannot be the directory of a store: ${message}`, {
    path,
    cause: error
  })
}

/** Whether there is a store of that kind. Refuses a directory that holds something else. */
const holdsStore = async (kind: StoreKind, path: string): Promise<boolean> => {
  const files = await filesIn(path)
  if (files.includes(UNFINISHED)) {
    throw new QuoinError(
      'ERR_STORE_VERSION',
      `${path} is a copy that was cut off, or is being made. Delete it and copy again, or wait`,
      { path }
    )
  }
  if (files.includes(REDO_CHECKPOINT)) {
    throw needsUpgrade('lmdb', path, 'it has a redo log')
  }
  const [mine, other] = kind === 'lmdb' ? [LMDB_FILE, LEVEL_FILE] : [LEVEL_FILE, LMDB_FILE]
  if (files.includes(other)) {
    const found = kind === 'lmdb' ? 'level' : 'lmdb'
    throw new QuoinError(
      'ERR_STORE_VERSION',
      `${path} holds a database of another kind: open it as ${found}:${path}`,
      { path, found }
    )
  }
  if (!files.includes(mine)) return false
  if (kind === 'lmdb') await checkLmdbFile(path)
  else await checkMarker(path, files)
  return true
}

/** Throws unless there is a store of that kind. */
export const needStore = async (kind: StoreKind, path: string): Promise<true> => {
  if (await holdsStore(kind, path)) return true
  throw new QuoinError('ERR_STORE_OPTION', `no ${kind} store in ${path}`, { path, engine: kind })
}

/** Makes the directory of a store unless it is there. Answers whether it holds a store. */
export const prepareStore = async (kind: StoreKind, path: string): Promise<boolean> => {
  const held = await holdsStore(kind, path)
  await makeDurably(path)
  if (!held && kind === 'level') await markLevel(path)
  if (held) await removeUnfinished(path)
  return held
}

/** The name under which a store is made (`makeLmdb`, `makeLevel`); a power loss may leave it. */
export const MAKING = 'making-'

const removeUnfinished = async (path: string): Promise<void> => {
  for (const file of await filesIn(path)) {
    if (file.startsWith(MAKING)) await rm(join(path, file), { recursive: true, force: true })
  }
}

/** Makes a directory, with the parents it lacks, so that their names survive a power loss. */
const makeDurably = async (path: string): Promise<void> => {
  const first = await make(path)
  if (first === undefined) return
  const above = dirname(resolve(first))
  for (let made = resolve(path); made !== above; made = dirname(made)) await syncFolder(dirname(made))
}

/** Says that the LevelDB that is about to be made there is a store. */
export const markLevel = (path: string): Promise<void> =>
  writeDurably(path, MARKER, { engine: 'level', schema: SCHEMA_VERSION })

/** LMDB itself would refuse these files too, but not always survive it. */
export const checkLmdbFile = async (path: string): Promise<void> => {
  const file = await open(join(path, LMDB_FILE))
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(PAGE_HEADER + 8), 0, PAGE_HEADER + 8, 0)
    // Nothing yet: a process was killed while it made the file, or is making it.
    if (bytesRead === 0) return
    const format = buffer.readUInt16LE(PAGE_HEADER + 4)
    if (buffer.readUInt32LE(PAGE_HEADER) === LMDB_MAGIC && format === LMDB_FORMAT) return
  } finally {
    await file.close()
  }
  throw new QuoinError(
    'ERR_STORE_VERSION',
    `${join(path, LMDB_FILE)} is not an LMDB file that Quoin can read: another program wrote it, or it is damaged. ` +
      'Name another directory',
    { path }
  )
}

const checkMarker = async (path: string, files: readonly string[]): Promise<void> => {
  if (!files.includes(MARKER)) {
    throw new QuoinError(
      'ERR_STORE_VERSION',
      `the LevelDB in ${path} is of another program: it has no ${MARKER} beside it. Name another directory`,
      { path }
    )
  }
  const { schema } = await readJson(join(path, MARKER))
  knownSchema('level', path, Number(schema))
}

/** The files of an open store. */
export interface StoreFiles {
  /** Rejects when they were deleted or replaced, or cannot be written. Nothing is written to find out. */
  probe(): Promise<void>
  /** Rejects when they were deleted or replaced: an upgrade of the store puts a copy in its place. */
  probeReader(): Promise<void>
}

export const openFiles = async (kind: StoreKind, path: string): Promise<StoreFiles> => {
  const file = join(path, kind === 'lmdb' ? LMDB_FILE : LEVEL_FILE)
  const opened = await stat(path)
  const needFiles = async (consequence: string): Promise<void> => {
    const found = await stat(path).catch(() => undefined)
    if (found?.ino === opened.ino && found.dev === opened.dev && (await exists(file))) return
    throw new QuoinError(
      'ERR_STORE_FAILED',
      `the files of the store in ${path} were deleted or replaced while it is open: ${consequence}`,
      { path }
    )
  }
  return {
    probeReader: () => needFiles('this process reads the files of before. Start it again'),
    async probe() {
      await needFiles('commits are lost. Close the store, restore a backup, and open it again')
      for (const each of [path, file]) await needWritable(each)
      assertFreeSpace(path)
    }
  }
}

const exists = async (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false
  )

const needWritable = async (path: string): Promise<void> => {
  try {
    await access(path, constants.W_OK)
  } catch (error) {
    throw readOnlyError(path, (error as Error).message, error)
  }
}

/** Throws unless the path is a directory. */
export const needDirectory = async (path: string): Promise<void> => {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return
  throw new QuoinError('ERR_STORE_OPTION', `directory does not exist: ${path}`, { path })
}

/** A directory that rows are being copied to: no store until the claim is released. */
export interface Claim {
  release(): Promise<void>
  /** Deletes the partial copy. */
  abandon(): Promise<void>
}

/** Takes a directory for a copy: it is made, or must be empty. */
export const claimDirectory = async (path: string): Promise<Claim> => {
  const files = await filesIn(path)
  if (files.length > 0) {
    throw new QuoinError(
      'ERR_STORE_OPTION',
      `${path} is not empty; a copy goes to a directory that is new or empty. ` +
        'If it is a copy that was cut off, delete it first',
      { path, files: files.slice(0, 10) }
    )
  }
  const made = await make(path)
  const claim: Claim = {
    release: async () => {
      await rm(join(path, UNFINISHED))
      await syncFolder(path)
    },
    abandon: async () => {
      for (const file of await filesIn(path)) await rm(join(path, file), { recursive: true, force: true })
      if (made !== undefined) await rmdir(path)
    }
  }
  try {
    await writeDurably(path, UNFINISHED, { since: new Date().toISOString() })
    return claim
  } catch (error) {
    await claim.abandon()
    throw unusable(path, error)
  }
}

/** Whether the directory has the files of a store of that kind, of any version. */
export const holdsFiles = async (kind: StoreKind, path: string): Promise<boolean> => {
  const files = await filesIn(path)
  return kind === 'lmdb' ? files.includes(LMDB_FILE) : files.includes(LEVEL_FILE) && files.includes(MARKER)
}

export const isUnfinished = async (path: string): Promise<boolean> =>
  (await filesIn(path)).includes(UNFINISHED)

/** Takes a directory for the conversion of a store. Answers whether it takes up one that was cut off. */
export const claimConversion = async (path: string, source: string): Promise<boolean> => {
  const files = await filesIn(path)
  if (files.includes(UNFINISHED)) {
    const { converting } = await readJson(join(path, UNFINISHED))
    if (converting === resolve(source)) return true
  }
  if (files.length > 0) {
    throw new QuoinError(
      'ERR_STORE_OPTION',
      `${path} is not empty, and is not a conversion of ${source}. Delete it, or name another directory`,
      { path, files: files.slice(0, 10) }
    )
  }
  await makeDurably(path)
  await writeDurably(path, UNFINISHED, { converting: resolve(source), since: new Date().toISOString() })
  return false
}

export const releaseConversion = async (path: string): Promise<void> => {
  await rm(join(path, UNFINISHED))
  await syncFolder(path)
}

/** Everything in the directory is on the disk afterwards. */
export const syncDirectory = async (path: string): Promise<void> => {
  for (const file of await filesIn(path)) await syncFile(join(path, file))
  await syncFolder(path)
  await syncFolder(join(path, '..'))
}

export const syncFile = async (path: string): Promise<void> => {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Syncs the names in a folder. Windows does not open folders, and does not need it. */
export const syncFolder = async (path: string): Promise<void> => {
  if (process.platform === 'win32') return
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Links, which does not replace a file; file systems without links rename. */
export const placeFile = async (from: string, to: string): Promise<void> => {
  try {
    await link(from, to)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (!['EPERM', 'ENOTSUP', 'ENOSYS', 'EOPNOTSUPP'].includes(code ?? '')) throw error
    await rename(from, to)
  }
}

/** Writes a file that is there wholly or not at all. */
export const writeDurably = async (
  directory: string,
  name: string,
  content: Readonly<Record<string, unknown>>
): Promise<void> => {
  const temporary = join(directory, `${name}.tmp`)
  await writeFile(temporary, `${JSON.stringify(content, null, 2)}\n`)
  await syncFile(temporary)
  await rename(temporary, join(directory, name))
  await syncFolder(directory)
}

/** The object in a file; an empty one when the file is missing or damaged. */
export const readJson = async (path: string): Promise<Readonly<Record<string, unknown>>> => {
  try {
    const content: unknown = JSON.parse(await readFile(path, 'utf8'))
    return typeof content === 'object' && content !== null ? { ...content } : {}
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return {}
    throw error
  }
}
