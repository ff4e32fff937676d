/** Progress of reading a file, as a field of `h:prog`: the offset, and a digest of the file's beginning. */
import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { fileSize, headOf } from '@quoin/chain'
import type { Batch, Store } from '@quoin/store'
import { outputs, progressFields } from './keys.ts'

/** Bytes of the beginning that identify a file. */
const HEAD = 4096

const { progress } = outputs.collections
const { file: fileField } = progressFields.collections

export class FileProgress {
  readonly #store: Store
  readonly #path: string
  readonly #name: Uint8Array

  constructor(store: Store, path: string) {
    this.#store = store
    this.#path = path
    this.#name = createHash('sha256').update(resolve(path)).digest()
  }

  /** The offset in bytes; 0 for a file with another beginning. */
  async read(): Promise<number> {
    const kept = await this.#store.use(progress).at().get(fileField, this.#name)
    if (!kept || kept.bytes > (await fileSize(this.#path))) return 0
    return kept.head === (await this.#head(kept.bytes)) ? kept.bytes : 0
  }

  /** Identifies the file; the result writes the offset in a batch. */
  async marker(bytes: number): Promise<(batch: Batch) => void> {
    const place = { bytes, head: await this.#head(bytes) }
    return batch => batch.use(progress).at().set(fileField, [this.#name], place)
  }

  async #head(upTo: number): Promise<string> {
    const head = await headOf(this.#path, Math.min(HEAD, upTo))
    return createHash('sha256').update(head).digest('hex')
  }
}
