/** What there is to know of a transaction, as the model keeps it, and where that comes from. */
import type { Bump, Transaction } from '@quoin/chain'
import { formatOutpoint, makeOutpoint, type Topic, type Txid, toHex } from '@quoin/primitives'
import type { Outputs } from './marks.testing.ts'

/** Where a proof puts a transaction. */
export interface Place {
  readonly height: number
  readonly index: number
  /** Of the block. */
  readonly root: string
}

/** What the index says of a transaction itself. */
interface ModelRecord {
  readonly seen: number
  /** Whether its outputs were parsed; otherwise only what it spends is known, for the sake of those who rest on it. */
  readonly isIndexed: boolean
  readonly topics: ReadonlySet<Topic>
  readonly outputs: Outputs
}

export interface Stored {
  readonly transaction: Transaction
  readonly place: Place | undefined
  readonly record: ModelRecord
}

/** What a BEEF has that is news. */
export interface Found {
  readonly fresh: readonly Transaction[]
  readonly proofs: ReadonlyMap<string, { readonly txid: Txid; readonly bump: Bump }>
}

const HEADER_LENGTH = 80
const ROOT_AT = 36

/** What a transaction spends, as texts. */
export const inputsOf = ({ inputs, isCoinbase }: Transaction): string[] =>
  isCoinbase ? [] : inputs.map(({ txid, vout }) => formatOutpoint(makeOutpoint(txid, vout)))

/** Of one that was just seen. */
export const recordOf = (seen: number): ModelRecord => ({
  seen,
  isIndexed: false,
  topics: new Set(),
  outputs: new Map()
})

/** Whether a proof leads to one of the blocks. */
export const isOf = (roots: readonly string[], txid: Txid, bump: Bump): boolean => {
  const root = bump.rootOf(txid)
  return root !== undefined && roots[bump.height] === toHex(root)
}

export const placeOf = (bump: Bump, txid: Txid): Place => ({
  height: bump.height,
  index: bump.offsetOf(txid)!,
  root: toHex(bump.root)
})

/** The merkle roots of headers, by height. */
export const rootsOf = (headers: Uint8Array): string[] =>
  Array.from({ length: headers.length / HEADER_LENGTH }, (_, height) => {
    const at = height * HEADER_LENGTH + ROOT_AT
    return toHex(headers.subarray(at, at + 32))
  })
