/** LMDB as all its users open it. */
import { open, type RootDatabase, type Transaction } from 'lmdb'
import type { KeyValue } from '../engine.ts'
import { damage, isSealed, keyDigest, valueLength } from './checksum.ts'
import type { ReadKey } from './kv.ts'
import { checkSchema, schemaRow } from './schema.ts'

/** With the options that its types leave out. */
export type Handle = Omit<
  RootDatabase<Uint8Array, Uint8Array>,
  'getBinaryFast' | 'getRange' | 'getKeys' | 'putSync'
> & {
  sync(done: (error?: Error) => void): void
  /** Ends the reads of processes that are gone; answers how many there were. */
  readerCheck(): number
  /** False when the options did not let it. */
  putSync(key: Uint8Array, value: Uint8Array, options?: { append: boolean }): boolean
  getBinaryFast(key: Uint8Array, options?: { transaction: Transaction }): Uint8Array | undefined
  getRange(options: RowRange): Iterable<KeyValue>
  getKeys(options: RowRange): Iterable<Uint8Array>
  /** How it reads the keys that it walks. */
  readKey(source: Uint8Array, start: number, end: number): Uint8Array
  /** How it reads the values, if not as bytes of their own. */
  decoder: { decode(row: Uint8Array, length: number): void } | undefined
  /** Whether the decoder may be given the memory that LMDB uses again for the next value. */
  decoderCopies: boolean
}

export interface RowRange {
  readonly start?: Uint8Array | undefined
  readonly end?: Uint8Array | undefined
  readonly reverse?: boolean
  readonly exclusiveStart?: boolean
  readonly inclusiveEnd?: boolean
  readonly limit: number
  readonly offset?: number
  readonly transaction?: Transaction
}

/** Both threads of a process must open it alike: they share the environment. */
export const openHandle = (
  path: string,
  { readOnly = false, noSync = false }: { readonly readOnly?: boolean; readonly noSync?: boolean } = {}
): Handle =>
  open<Uint8Array, Uint8Array>({
    path,
    readOnly,
    noSync,
    noSubdir: false,
    encoding: 'binary',
    keyEncoding: 'binary',
    maxDbs: 1,
    maxReaders: 1024,
    // A commit returns after LMDB has synced it.
    overlappingSync: false,
    noReadAhead: true,
    cache: false
  } as Parameters<typeof open<Uint8Array, Uint8Array>>[0]) as unknown as Handle

export const closingOnFailure = async (handle: Handle, check: () => void): Promise<void> => {
  try {
    check()
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Of a database that is new: undefined. */
export const schemaOf = (path: string, handle: Handle): number | undefined =>
  checkSchema(
    'lmdb',
    path,
    handle.getBinary(schemaRow.key),
    () => [...handle.getKeys({ limit: 1 })].length === 0
  )

/** The value of a row that LMDB lends, without its checksum. */
export const getRow = (
  handle: Handle,
  key: Uint8Array,
  options?: { transaction: Transaction }
): Uint8Array | undefined => {
  const row = handle.getBinaryFast(key, options)
  if (!row) return undefined
  // A Buffer that is larger than its length says; as a plain array it is also faster to read.
  const value = new Uint8Array(row.buffer, row.byteOffset, valueLength(row.length))
  if (!isSealed(keyDigest(key, 0, key.length), wholeOf(row), row.length)) throw damage(key)
  return value
}

let lastRow: Uint8Array | undefined
let lastWhole: Uint8Array = new Uint8Array()

/** The memory that LMDB lends row after row, as a plain array of its full size. */
const wholeOf = (row: Uint8Array): Uint8Array => {
  if (row !== lastRow) {
    lastWhole = new Uint8Array(row.buffer, row.byteOffset, row.byteLength)
    lastRow = row
  }
  return lastWhole
}

/**
 * The results of `read` on the keys in a range, straight from the memory that LMDB writes each of them to. The checksum
 * of each row is checked by the decoder of its value, which gets it without a copy.
 */
export const readKeys = <T>(handle: Handle, range: RowRange, read: ReadKey<T>): T[] => {
  const found: T[] = []
  const { readKey } = handle
  let ofKey = 0
  let damaged: Uint8Array | undefined
  let bytes: Uint8Array = EMPTY
  let [start, end] = [0, 0]
  handle.readKey = ((source, from, to) => {
    bytes = plain(source)
    start = from
    end = to
    ofKey = keyDigest(bytes, from, to)
    return read(bytes, from, to)
  }) as Handle['readKey']
  handle.decoder = {
    decode: (row, length) => {
      if (!isSealed(ofKey, row, length)) damaged ??= bytes.slice(start, end)
    }
  }
  handle.decoderCopies = true
  try {
    for (const { key } of handle.getRange(range)) found.push(key as T)
  } finally {
    handle.readKey = readKey
    handle.decoder = undefined
    handle.decoderCopies = false
  }
  // Not sooner: a walk that is left by an error keeps its transaction.
  if (damaged) throw damage(damaged)
  return found
}

const EMPTY = new Uint8Array()

let lastSource: Uint8Array | undefined
let lastPlain: Uint8Array = new Uint8Array()

/** The same memory as a plain array, which is faster than a Buffer. LMDB uses one and the same all the time. */
const plain = (source: Uint8Array): Uint8Array => {
  if (source !== lastSource) {
    lastPlain = new Uint8Array(source.buffer, source.byteOffset, source.length)
    lastSource = source
  }
  return lastPlain
}
