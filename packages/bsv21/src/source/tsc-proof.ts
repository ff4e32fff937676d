/**
 * Merkle proofs in the binary format of the Technical Standards Committee (BRC-10), which JungleBus sends, as BUMPs
 * (BRC-74), which everything here understands. Of the many forms of that format JungleBus has one, and only that is
 * read: a txid, a target, and the branch. By its flags the target is the hash of a block, and in truth it is the merkle
 * root; it is passed over, since proofs are checked against headers.
 */
import { Bump } from '@quoin/chain'
import { equalBytes, Reader, type Txid } from '@quoin/primitives'

/** No flag is set. */
const FORM = 0
const COPY = 1
const TARGET_LENGTH = 32
const MAX_DEPTH = 32

/** Throws ERR_SOURCE_FORMAT for what is no proof of this transaction. That it leads to a block is not checked. */
export const bumpOfTsc = (proof: Uint8Array, txid: Txid, height: number): Bump => {
  const reader = new Reader(proof, 'ERR_SOURCE_FORMAT')
  const flags = reader.u8()
  if (flags !== FORM) throw reader.error('a proof of another form', { flags })
  const index = reader.varint()
  if (!equalBytes(reader.bytes(32), txid)) throw reader.error('a proof of another transaction')
  reader.skip(TARGET_LENGTH)
  const depth = reader.count(1, 'nodes')
  if (depth > MAX_DEPTH || index >= 2 ** depth) {
    throw reader.error('a place outside of the tree', { index, depth })
  }
  const nodes: (Uint8Array | undefined)[] = []
  for (let i = 0; i < depth; i++) {
    const type = reader.u8()
    if (type > COPY) throw reader.error('an unknown type of node', { type })
    nodes.push(type === COPY ? undefined : reader.bytes(32))
  }
  reader.end()
  try {
    return Bump.ofBranch(height, index, txid, nodes)
  } catch (cause) {
    throw reader.error('nodes that are not a merkle branch', { cause })
  }
}
