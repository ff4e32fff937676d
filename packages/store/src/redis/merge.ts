/** Many batches as one, so that many share the cost of a script. */
import { HAS_SCAN } from '../operations.ts'

/** Batches without checks can be done as one: the result is that of doing them one by one. */
export const mergeBatches = function* (batches: Iterable<Uint8Array>, limit: number): Generator<Uint8Array> {
  let gathered: Uint8Array[] = []
  let length = 0
  const flush = function* (): Generator<Uint8Array> {
    if (gathered.length === 1) yield gathered[0]!
    else if (gathered.length > 1) yield concatenated(gathered, length)
    gathered = []
    length = 0
  }
  for (const batch of batches) {
    const isMergeable = !hasChecks(batch)
    if (!isMergeable || length + batch.length > limit) yield* flush()
    if (isMergeable) {
      gathered.push(batch)
      length += batch.length - 4
    } else yield batch
  }
  yield* flush()
}

/** The length of the checks comes first; its top bit is not of it. */
const hasChecks = (batch: Uint8Array): boolean =>
  new DataView(batch.buffer, batch.byteOffset, batch.byteLength).getUint32(0, true) % HAS_SCAN > 0

const concatenated = (batches: readonly Uint8Array[], length: number): Uint8Array => {
  const whole = new Uint8Array(4 + length)
  let at = 4
  for (const batch of batches) {
    whole.set(batch.subarray(4), at)
    at += batch.length - 4
  }
  return whole
}
