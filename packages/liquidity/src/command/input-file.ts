/** A file to import: its content, without gzip, and the part of it that is read. */
import { type FileHandle, open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { QuoinError } from '@quoin/primitives'

export class InputFile {
  readonly #name: string
  #size = 0
  #bytesRead: () => number = () => 0

  /** `-` is standard input. */
  constructor(name: string) {
    this.#name = name
  }

  /** From 0 to 1; undefined while the size is unknown, as of standard input. */
  fraction(): number | undefined {
    return this.#size === 0 ? undefined : Math.min(1, this.#bytesRead() / this.#size)
  }

  async *content(): AsyncGenerator<Uint8Array> {
    if (this.#name === '-') {
      yield* process.stdin
      return
    }
    try {
      yield* await this.#stream(await open(this.#name))
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code === undefined) throw error
      const file = this.#name
      throw new QuoinError('ERR_USAGE', `cannot read ${file}: ${message}`, { file, cause: error })
    }
  }

  async #stream(handle: FileHandle): Promise<AsyncIterable<Uint8Array>> {
    this.#size = (await handle.stat()).size
    const read = handle.createReadStream()
    this.#bytesRead = () => read.bytesRead
    // The pipeline passes an error of the file to its last stream.
    return this.#name.endsWith('.gz') ? pipeline(read, createGunzip(), () => {}) : read
  }
}
