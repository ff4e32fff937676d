/** Ids of journal entries: ascending within a process, and distinct between processes. */
import { randomBytes } from 'node:crypto'
import { CHANGE_ID } from './keys.ts'

/** A random id of this process. */
const PROCESS = randomBytes(CHANGE_ID - 8)
let lastMoment = 0

/** Unix microseconds (8 bytes, greater than the last), then the id of the process (8 bytes). */
export const newId = (): Uint8Array => {
  lastMoment = Math.max(lastMoment + 1, Math.round((performance.timeOrigin + performance.now()) * 1000))
  const id = new Uint8Array(CHANGE_ID)
  const view = new DataView(id.buffer)
  view.setUint32(0, Math.floor(lastMoment / 2 ** 32))
  view.setUint32(4, lastMoment % 2 ** 32)
  id.set(PROCESS, 8)
  return id
}
