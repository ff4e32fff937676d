/**
 * Topic anchors (BRC-136). The root of a block is the merkle root over the txids that a topic admitted from it, in block
 * order. The anchor of a height hashes the anchor before it, the block hash and the root: nodes with the same anchor have
 * admitted the same transactions from all blocks since the start of the topic.
 */
import { sha256d } from '@quoin/chain'
import type { Txid } from '@quoin/primitives'

const HASH = 32

/** The root of a block without admitted transactions, and the anchor before the first height. */
export const ZERO_HASH: Uint8Array = new Uint8Array(HASH)

/** The anchor of a topic at one height. Hashes are in internal order. */
export interface TopicAnchor {
  readonly height: number
  readonly blockHash: Uint8Array
  readonly root: Uint8Array
  readonly count: number
  /** The hash that stands for this height and all below. */
  readonly tac: Uint8Array
}

/** A transaction that a topic admitted from a block. */
export interface AdmittedTransaction {
  readonly txid: Txid
  /** Its index in the block. */
  readonly index: number
}

/** The merkle root over txids in block order, where an odd node is paired with itself. */
export const rootOf = (txids: readonly Uint8Array[]): Uint8Array => {
  let level = txids
  while (level.length > 1) {
    const above: Uint8Array[] = []
    for (let i = 0; i < level.length; i += 2) above.push(hashOf(level[i]!, level[i + 1] ?? level[i]!))
    level = above
  }
  return level[0] ?? ZERO_HASH
}

/** The anchor hash after `before`. */
export const tacAfter = (before: Uint8Array, blockHash: Uint8Array, root: Uint8Array): Uint8Array =>
  hashOf(before, blockHash, root)

/** Buffers for the input of a hash, by its length. */
const inputs = [new Uint8Array(2 * HASH), new Uint8Array(3 * HASH)] as const

const hashOf = (...parts: readonly Uint8Array[]): Uint8Array => {
  const input = inputs[parts.length === 2 ? 0 : 1]
  for (const [i, part] of parts.entries()) input.set(part, i * HASH)
  return sha256d(input)
}
