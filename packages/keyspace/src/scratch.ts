/** A buffer for keys and values that are encoded to bytes of their own; it is kept, and grows with the longest. */
import { copyOfPart, hasCode } from '@quoin/primitives'

let kept: Uint8Array | undefined

/** What `write` wrote from the start of a buffer, as a copy. `write` returns the end, or throws ERR_KEY_BUFFER. */
export const written = (write: (target: Uint8Array) => number): Uint8Array => {
  // Taken while in use: a codec may itself encode a key.
  let buffer = kept ?? new Uint8Array(512)
  kept = undefined
  try {
    for (;;) {
      try {
        return copyOfPart(buffer, 0, write(buffer))
      } catch (error) {
        if (!hasCode(error, 'ERR_KEY_BUFFER')) throw error
        buffer = new Uint8Array(2 * Math.max(buffer.length, error.details['needed'] as number))
      }
    }
  } finally {
    kept = buffer
  }
}
