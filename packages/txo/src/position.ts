/**
 * Block positions and scores (D3): `height + index/1e9` of a mined transaction, unix seconds of an unmined one. Seconds
 * are greater than all heights: unmined transactions sort last.
 */

import { u32, u64, value } from '@quoin/keyspace'
import { QuoinError } from '@quoin/primitives'

/** The height of the block, and the transaction's index in it. */
export interface BlockPosition {
  readonly height: number
  readonly index: bigint
}

const HEIGHT = u32('height').codec
const INDEX = u64('index').codec
const LENGTH = 12

export const blockPosition = value<BlockPosition>({
  name: 'height (4 bytes) and index (8 bytes)',
  encode({ height, index }) {
    const bytes = new Uint8Array(LENGTH)
    INDEX.write(index, bytes, HEIGHT.write(height, bytes, 0))
    return bytes
  },
  decode(bytes) {
    if (bytes.length !== LENGTH) {
      throw new QuoinError('ERR_VALUE_DECODE', `a block position has ${LENGTH} bytes, not ${bytes.length}`)
    }
    return { height: HEIGHT.read(bytes, 0, 4), index: INDEX.read(bytes, 4, LENGTH) }
  }
})

/** A greater index would give scores of the next height. */
const INDEX_LIMIT = 1e9

export const heightScore = ({ height, index }: BlockPosition): number => {
  if (index >= INDEX_LIMIT) {
    throw new QuoinError(
      'ERR_KEY_VALUE',
      `block index out of range: ${index}, expected less than ${INDEX_LIMIT}`,
      { index }
    )
  }
  return height + Number(index) / INDEX_LIMIT
}

/** The score of a transaction, by its block position or the time it was first seen. */
export const scoreOf = (at: {
  readonly seen: number
  readonly position?: BlockPosition | undefined
}): number => (at.position ? heightScore(at.position) : at.seen)
