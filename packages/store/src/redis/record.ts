/**
 * The record of a queue's item, as `scripts/batch.ts` packs it, little-endian without gaps: state u8 ‖ score f64 ‖
 * enqueued f64 ‖ attempts u32 ‖ class ‖ reason ‖ token or dependency, the last three each after a u32 length ‖ when the
 * lease, the wait or the delay before a retry began, f64, unless it stands at its score.
 */
import type { QueueItem } from '../engine.ts'

const text = new TextDecoder('utf-8', { ignoreBOM: true })

export const queueItem = (item: Uint8Array, record: Uint8Array): QueueItem => {
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength)
  const classEnd = 25 + view.getUint32(21, true)
  const reasonEnd = classEnd + 4 + view.getUint32(classEnd, true)
  return {
    item,
    score: view.getFloat64(1, true),
    enqueued: view.getFloat64(9, true),
    attempts: view.getUint32(17, true),
    errorClass: text.decode(record.subarray(25, classEnd)),
    reason: text.decode(record.subarray(classEnd + 4, reasonEnd))
  }
}
