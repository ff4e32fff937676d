/**
 * Merkle proofs in the binary format of the Technical Standards Committee (BRC-10), as JungleBus sends them, converted to
 * BUMPs (BRC-74). Of the forms of the format, the one of JungleBus is read: a txid, a target, and the branch. Its flags
 * declare the target a block hash, but it is the merkle root; it is skipped, since proofs are checked against headers.
 */
import { Bump } from '@quoin/chain'
import { equalBytes, Reader, type Txid } from '@quoin/primitives'

/** No flags. */
const FORM = 0
const COPY = 1
const TARGET_LENGTH = 32
const MAX_DEPTH = 32

/** Throws ERR_SOURCE_FORMAT for a malformed proof or one of another transaction. The root is not checked. */
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
