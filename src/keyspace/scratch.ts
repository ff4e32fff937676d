/** One buffer for all keys and values that are encoded to bytes of their own; it grows with the longest. */
import { QuoinError } from '../error.ts'

let scratch = new Uint8Array(512)

/** What `write` wrote from the start of a buffer, as a copy. `write` returns the end, or throws ERR_KEY_BUFFER. */
export const written = (write: (target: Uint8Array) => number): Uint8Array => {
  for (;;) {
    try {
      return scratch.slice(0, write(scratch))
    } catch (error) {
      if (!(error instanceof QuoinError) || error.code !== 'ERR_KEY_BUFFER') throw error
      scratch = new Uint8Array(2 * Math.max(scratch.length, error.details['needed'] as number))
    }
  }
}
