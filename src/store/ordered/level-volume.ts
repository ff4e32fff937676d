/** A LevelDB database for copying: rows in the order of their keys, out of it or into it. */
import { CHUNK_BYTES, CHUNK_ROWS, type Chunks, type Volume } from './copy.ts'
import { markLevel } from './directory.ts'
import { type Handle, openHandle } from './level-handle.ts'

/** All rows of one state, which the iterator holds on to until it is closed. */
export async function* levelChunks(handle: Handle): Chunks {
  const iterator = handle.iterator({ highWaterMarkBytes: CHUNK_BYTES, fillCache: false })
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
export const openLevelVolume = async (path: string, mode: 'read' | 'write'): Promise<Volume> => {
  if (mode === 'write') await markLevel(path)
  const handle = await openHandle(path)
  return {
    chunks: () => levelChunks(handle),
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
