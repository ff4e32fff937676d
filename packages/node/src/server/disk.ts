/** The file system of a store in files, and the newest finished backup in a directory of backups. */
import { readdir, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { QuoinError } from '@quoin/primitives'
import { type Backup, readBackup } from '@quoin/store'
import type { Part } from './parts.ts'

export interface DiskSpace {
  /** Bytes that processes without privileges may still write. */
  readonly free: number
  readonly total: number
}

/** LMDB copies pages before it frees them, and a backup or an upgrade needs the room of the store once more. */
export const MIN_FREE_BYTES = 1e9

/** Space on the file system of a path, or of the first directory above it that exists. */
export const diskSpace = async (path: string): Promise<DiskSpace> => {
  try {
    const { bavail, blocks, bsize } = await statfs(path)
    return { free: bavail * bsize, total: blocks * bsize }
  } catch (error) {
    const above = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path) throw error
    return diskSpace(above)
  }
}

/** Degraded while less than 1 GB is free; a store that cannot be written is an error of its own part. */
export const diskPart = (path: string, space: typeof diskSpace = diskSpace): Part => ({
  name: 'disk',
  async state() {
    const { free } = await space(path)
    if (free >= MIN_FREE_BYTES) return { status: 'ok' }
    const message = `${(free / 1e6).toFixed(0)} MB are free for the store, expected 1 GB: free some space, or move the store to a larger disk`
    return { status: 'degraded', message }
  }
})

export interface NamedBackup extends Backup {
  readonly name: string
}

/** The newest finished backup in a directory; undefined without one, or without the directory. */
export const newestBackup = async (directory: string): Promise<NamedBackup | undefined> => {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const folders = entries.filter(each => each.isDirectory())
  const dated = await Promise.all(
    folders.map(async ({ name }) => ({ name, at: (await stat(join(directory, name))).mtimeMs }))
  )
  for (const { name } of dated.toSorted((a, b) => b.at - a.at)) {
    try {
      return { name, ...(await readBackup(join(directory, name))) }
    } catch (error) {
      // An unfinished backup, one of another version, or no backup at all.
      if (!(error instanceof QuoinError)) throw error
    }
  }
  return undefined
}
