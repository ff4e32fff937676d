/**
 * Mends damaged rows in place. One flipped bit, in the key, the value or the checksum, is found by trying each: exactly
 * one of them makes the checksum fit. A row with more damage is deleted where its contents can be derived or fetched
 * again: values, small hashes, and fields of wide ones. Rows of sorted sets and the ids of structures are not: without
 * them other rows would contradict each other.
 */
import { fromHex, QuoinError } from '@quoin/primitives'
import { parseFilesUrl } from '../url.ts'
import { isSound } from './checksum.ts'
import { needStore, type StoreKind } from './directory.ts'
import type { InspectedRow } from './inspect.ts'
import { TAG } from './layout.ts'

export type RowOutcome = 'corrected' | 'deleted' | 'left' | 'changed'

interface Row {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/** To try every bit takes the square of the length. */
const MOST_BYTES = 4096
/** A tag, an id and the checksum. */
const WIDE_LENGTH = 11
const DELETABLE = new Set<number>([TAG.value, TAG.hash, TAG.field])

/** Mends one damaged row; `left` is one that is neither correctable nor deletable. A dry run only says so. */
export const repairRow = async (
  url: string,
  { row, fault }: InspectedRow,
  { dryRun = false }: { readonly dryRun?: boolean } = {}
): Promise<RowOutcome> => {
  const target = parseFilesUrl(url)
  if (!target)
    throw new QuoinError(
      'ERR_STORE_URL',
      `only rows of lmdb:PATH and level:PATH can be repaired, not of ${url}`
    )
  if (fault !== 'checksum') return 'left'
  await needStore(target.kind, target.path)
  const writable = await openWritable(target.kind, target.path)
  try {
    return await writable.replace(fromHex(row), repaired, dryRun)
  } finally {
    await writable.close()
  }
}

/** The row to write instead of a damaged one; undefined to delete it, `left` to keep it. */
const repaired = (damaged: Row): Row | undefined | 'left' => {
  const corrected = correctedRow(damaged)
  if (corrected) return corrected
  return isDeletable(damaged) ? undefined : 'left'
}

/** A hash of the length of an id may be a wide one: all its fields are lost without it. */
const isDeletable = ({ key, value }: Row): boolean =>
  DELETABLE.has(key[0]!) && !(key[0] === TAG.hash && value.length === WIDE_LENGTH)

const correctedRow = ({ key, value }: Row): Row | undefined => {
  if (key.length + value.length > MOST_BYTES) return undefined
  const [bytes, at] = [new Uint8Array(key.length + value.length), key.length]
  bytes.set(key)
  bytes.set(value, at)
  let found: Row | undefined
  for (let bit = 0; bit < 8 * bytes.length; bit++) {
    bytes[bit >> 3]! ^= 1 << (bit & 7)
    if (isSound(bytes.subarray(0, at), bytes.subarray(at))) {
      // Two that fit: it is not known which one it was.
      if (found) return undefined
      found = { key: bytes.slice(0, at), value: bytes.slice(at) }
    }
    bytes[bit >> 3]! ^= 1 << (bit & 7)
  }
  return found
}

interface Writable {
  /** Replaces a row that is still damaged, in one commit that is on the disk when it resolves. */
  replace(key: Uint8Array, by: (row: Row) => Row | undefined | 'left', dryRun: boolean): Promise<RowOutcome>
  close(): Promise<void>
}

const openWritable = (kind: StoreKind, path: string): Promise<Writable> =>
  kind === 'lmdb' ? openWritableLmdb(path) : openWritableLevel(path)

/** The outcome for a row, by its present contents. */
const decide = (
  key: Uint8Array,
  stored: Uint8Array | undefined,
  by: (row: Row) => Row | undefined | 'left'
): { readonly outcome: RowOutcome; readonly put?: Row } => {
  const value = stored && new Uint8Array(stored)
  if (!value || isSound(key, value)) return { outcome: 'changed' }
  const put = by({ key, value })
  if (put === 'left') return { outcome: 'left' }
  return put ? { outcome: 'corrected', put } : { outcome: 'deleted' }
}

const openWritableLmdb = async (path: string): Promise<Writable> => {
  const { openHandle } = await import('./lmdb-handle.ts')
  const handle = openHandle(path)
  return {
    // LMDB lets one writer in at a time, so a node may have the store open.
    replace: async (key, by, dryRun) =>
      handle.transactionSync(() => {
        const { outcome, put } = decide(key, handle.getBinary(key), by)
        if (dryRun) return outcome
        if (outcome === 'corrected' || outcome === 'deleted') handle.removeSync(key)
        if (put) handle.putSync(put.key, put.value)
        return outcome
      }),
    close: () => handle.close()
  }
}

const openWritableLevel = async (path: string): Promise<Writable> => {
  const { openHandle } = await import('./level-handle.ts')
  const handle = await openHandle(path)
  return {
    replace: async (key, by, dryRun) => {
      const { outcome, put } = decide(key, handle.getSync(key), by)
      if (dryRun || (outcome !== 'corrected' && outcome !== 'deleted')) return outcome
      await handle.batch(
        [{ type: 'del', key }, ...(put ? [{ type: 'put' as const, key: put.key, value: put.value }] : [])],
        { sync: true }
      )
      return outcome
    },
    close: () => handle.close()
  }
}
