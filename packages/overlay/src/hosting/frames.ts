/**
 * Frames between the node and the process of a plug-in: the length of the body, the number of the call, the body. Both
 * numbers are 32-bit little-endian. A reader refuses a length beyond its limit before any of the body is kept.
 */
const HEAD = 8

export interface Frame {
  readonly id: number
  readonly body: Buffer
}

/** The head of a frame. Its body follows in a write of its own, so that a large BEEF is not copied. */
export const frameHead = (id: number, length: number): Buffer => {
  const head = Buffer.allocUnsafe(HEAD)
  head.writeUInt32LE(length, 0)
  head.writeUInt32LE(id, 4)
  return head
}

/** A frame longer than the limit; the bytes after its head cannot be read. */
export class FrameTooLong extends Error {
  readonly id: number
  readonly length: number

  constructor(id: number, length: number, limit: number) {
    super(`invalid frame: ${length} bytes, at most ${limit} are read`)
    this.id = id
    this.length = length
  }
}

export class FrameReader {
  readonly #limit: number
  readonly #chunks: Buffer[] = []
  #size = 0
  /** The bytes that the next step needs: a head, or a head and its body. */
  #needed = HEAD

  constructor(limit: number) {
    this.#limit = limit
  }

  /** The frames that a chunk completes. Bodies are views of the chunks. */
  *push(chunk: Buffer): Generator<Frame, void, undefined> {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    while (this.#size >= this.#needed) {
      const bytes = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#size)
      let offset = 0
      for (;;) {
        const left = bytes.length - offset
        if (left < HEAD) {
          this.#keep(bytes.subarray(offset), HEAD)
          break
        }
        const length = bytes.readUInt32LE(offset)
        const id = bytes.readUInt32LE(offset + 4)
        if (length > this.#limit) throw new FrameTooLong(id, length, this.#limit)
        if (left < HEAD + length) {
          this.#keep(bytes.subarray(offset), HEAD + length)
          break
        }
        offset += HEAD + length
        yield { id, body: bytes.subarray(offset - length, offset) }
      }
    }
  }

  #keep(rest: Buffer, needed: number): void {
    this.#chunks.length = 0
    if (rest.length > 0) this.#chunks.push(rest)
    this.#size = rest.length
    this.#needed = needed
  }
}
