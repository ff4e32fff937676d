/** A LevelDB database for copying: rows in the order of their keys, out of it or into it. */
import { CHUNK_BYTES, CHUNK_ROWS, type Chunks, type Volume, type VolumeMode } from './copy.ts'
import { markLevel } from './directory.ts'
import { type Handle, openHandle } from './level-handle.ts'

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
