/** A shared scratch buffer for encoding keys and values of unknown length. It grows with the longest. */
import { copyOfPart, hasCode } from '@quoin/primitives'

let kept: Uint8Array | undefined

/**
 * Copies the bytes that `write` wrote from the start of a buffer. `write` returns the end, or throws ERR_KEY_BUFFER.
 */
export const copyWritten = (write: (target: Uint8Array) => number): Uint8Array => {
  // Removed while in use: a codec may encode a key itself.
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
