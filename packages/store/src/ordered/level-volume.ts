/** A LevelDB database for copying: rows in the order of their keys, out of it or into it. */
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CHUNK_BYTES, CHUNK_ROWS, type Chunks, type Volume, type VolumeMode } from './copy.ts'
import { LEVEL_FILE, MAKING, markLevel, placeFile, syncFile, syncFolder } from './directory.ts'
import { type Handle, openHandle } from './level-handle.ts'
import { schemaRow } from './schema.ts'

/** All rows of one state, which the iterator holds on to until it is closed. */
export async function* levelChunks(handle: Handle, from: Uint8Array = new Uint8Array()): Chunks {
  const iterator = handle.iterator({ gte: from, highWaterMarkBytes: CHUNK_BYTES, fillCache: false })
  try {
    for (;;) {
      const chunk = await iterator.nextv(CHUNK_ROWS)
      if (chunk.length === 0) return
      yield chunk.map(([key, value]) => ({ key, value }))
    }
  } finally {
    await iterator.close()
  }
}

/**
 * Makes a store under another name and moves it into place when it is on the disk, CURRENT last: LevelDB does not sync
 * its first MANIFEST, and a power loss would leave a CURRENT that names an empty one. Of two processes that make a store,
 * the first wins; their files are the same.
 */
export const makeLevel = async (path: string): Promise<void> => {
  const making = await mkdtemp(join(path, MAKING))
  try {
    const handle = await openHandle(making)
    try {
      await handle.put(schemaRow.key, schemaRow.value, { sync: true })
    } finally {
      await handle.close()
    }
    const files = (await readdir(making)).filter(file => /^MANIFEST-|\.log$/.test(file))
    for (const file of [...files, LEVEL_FILE]) await syncFile(join(making, file))
    for (const file of files) await rename(join(making, file), join(path, file))
    await syncFolder(path)
    await placeFile(join(making, LEVEL_FILE), join(path, LEVEL_FILE))
  } finally {
    await rm(making, { recursive: true, force: true })
  }
  await syncFolder(path)
}

/** LevelDB cannot be told to read only: reading it may move its files, not its rows. */
export const openLevelVolume = async (path: string, mode: VolumeMode): Promise<Volume> => {
  if (mode !== 'read') await markLevel(path)
  const handle = await openHandle(path)
  return {
    chunks: from => levelChunks(handle, from),
    count: () => countKeys(handle),
    lastKey: async () => (await handle.keys({ reverse: true, limit: 1 }).all())[0],
    get: key => handle.getSync(key),
    append: (rows, sync) =>
      handle.batch(
        rows.map(({ key, value }) => ({ type: 'put', key, value })),
        { sync }
      ),
    put: ({ key, value }) => handle.put(key, value),
    close: () => handle.close()
  }
}

const countKeys = async (handle: Handle): Promise<number> => {
  const keys = handle.keys({ highWaterMarkBytes: CHUNK_BYTES, fillCache: false })
  try {
    for (let count = 0; ; ) {
      const chunk = await keys.nextv(CHUNK_ROWS)
      if (chunk.length === 0) return count
      count += chunk.length
    }
  } finally {
    await keys.close()
  }
}
