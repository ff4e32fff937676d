/**
 * Merkle paths on the wire (BRC-74, BUMP): txids of one block, and the sibling nodes of their paths to the root. One
 * bump proves any number of txids, at a cost linear in its size.
 */

import {
  equalBytes,
  formatTxid,
  QuoinError,
  Reader,
  type Txid,
  varintLength,
  Writer
} from '@quoin/primitives'
import { COPY, MerkleBranch, WANTED } from './merkle-branch.ts'
import { type Level, levelsAbove, MerkleNode, MerkleTree, treeError } from './merkle-tree.ts'

const MAX_DEPTH = 64
const MAX_HEIGHT = 0xffffffff

export class Bump {
  /** Block height. */
  readonly height: number
  /** Bytes of a bump with one leaf, parsed on first use. */
  readonly #alone: Alone | undefined
  #read: MerkleTree | undefined
  #txids: readonly Txid[] | undefined

  private constructor(height: number, source: readonly Level[] | Alone) {
    this.height = height
    if ('bytes' in source) this.#alone = source
    else this.#read = new MerkleTree(source)
  }

  static parse(bytes: Uint8Array): Bump {
    const reader = new Reader(bytes, 'ERR_BEEF_FORMAT')
    const bump = Bump.read(reader)
    reader.end()
    return bump
  }

  /** Hashes are views of the bytes. More than `limit` nodes are refused before allocation. */
  static read(reader: Reader, limit = Number.POSITIVE_INFINITY): Bump {
    const start = reader.offset
    const height = readHeight(reader)
    const way = MerkleBranch.at(reader.source, reader.offset)
    if (!way || reader.offset !== start + varintLength(height) || way.depth + 1 > limit) {
      return new Bump(height, readLevels(reader, limit))
    }
    reader.skip(way.end - reader.offset)
    return new Bump(height, { bytes: reader.since(start), txid: way.txid as Txid, way })
  }

  /** A bump that `trimmedTo(txid).toBytes()` wrote. It was checked then and is parsed on first use. */
  static written(bytes: Uint8Array, txid: Txid): Bump {
    return new Bump(readHeight(new Reader(bytes, 'ERR_BEEF_FORMAT')), { bytes, txid, way: undefined })
  }

  get #tree(): MerkleTree {
    this.#read ??= treeOf(this.#alone!.bytes)
    return this.#read
  }

  /** Undefined for several leaves, or for a block of one transaction. */
  get #way(): MerkleBranch | undefined {
    if (this.#alone) this.#alone.way ??= MerkleBranch.at(this.#alone.bytes, varintLength(this.height))
    return this.#alone?.way
  }

  #isOf(txid: Txid): boolean {
    return this.#alone !== undefined && equalBytes(txid, this.#alone.txid)
  }

  /** One bump for all leaves of several bumps of one block. */
  static merge(bumps: readonly Bump[]): Bump {
    const [first, ...others] = bumps
    if (first === undefined) throw treeError('no bumps to merge')
    if (others.length === 0) return first
    const { depth } = first
    if (others.some(other => other.height !== first.height || other.depth !== depth)) {
      throw differentBlocks()
    }
    // Two paths in one tree share a node, or a sibling: if all these agree, so do the roots.
    const parts = bumps.map(bump => bump.#tree.select(bump.#wanted()))
    const all = new MerkleTree(
      Array.from({ length: depth }, (_, i) => unionOf(parts.map(levels => levels[i]!)))
    )
    return new Bump(first.height, all.select(all.levels[0]!.filter(({ wanted }) => wanted)))
  }

  /** A bump for some or all txids of a block, made from all its txids in order. */
  static ofBlock(height: number, txids: readonly Txid[], which?: readonly Txid[]): Bump {
    if (txids.length === 0) throw treeError('no txids: expected those of a block')
    const block = new Bump(
      height,
      levelsAbove(txids.map((txid, offset) => new MerkleNode(offset, txid, true)))
    )
    return which ? block.provingOnly(which) : block
  }

  /**
   * A bump for one leaf, from its sibling on each level. An undefined sibling is a copy of the node on its left, at the
   * right end of a level.
   */
  static ofBranch(
    height: number,
    offset: number,
    txid: Txid,
    siblings: readonly (Uint8Array | undefined)[]
  ): Bump {
    if (siblings.length === 0) return Bump.ofBlock(height, [txid])
    const levels = siblings.map((hash, level) => {
      const at = Math.floor(offset / 2 ** level)
      const isLeft = at % 2 === 0
      if (!hash && !isLeft)
        throw treeError('duplicate flag within a level of a merkle tree', { offset: at - 1 })
      const sibling = new MerkleNode(isLeft ? at + 1 : at - 1, hash, false, hash === undefined)
      if (level > 0) return [sibling]
      const leaf = new MerkleNode(at, txid, true)
      return isLeft ? [leaf, sibling] : [sibling, leaf]
    })
    return new Bump(height, levels)
  }

  /**
   * Merkle root of the block. Hashing may find an error that parsing cannot: a path through a duplicated node, to an
   * offset that the block does not have. That is ERR_BEEF_FORMAT.
   */
  get root(): Uint8Array {
    return this.#way?.root ?? this.#tree.root
  }

  /** Txids that are marked as leaves to prove. */
  get txids(): readonly Txid[] {
    this.#txids ??= this.#alone ? [this.#alone.txid] : this.#wanted().map(({ hash }) => hash as Txid)
    return this.#txids
  }

  /** Hashes of the lowest level: the marked txids and their siblings. */
  get leaves(): readonly Txid[] {
    return this.#tree.levels[0]!.flatMap(({ hash }) => (hash ? [hash as Txid] : []))
  }

  /** Root from this txid, if its path is complete, whether it is marked or a sibling. */
  rootOf(txid: Txid): Uint8Array | undefined {
    return this.proves(txid) ? this.root : undefined
  }

  /** Whether `rootOf` has an answer; hashes nothing. */
  proves(txid: Txid): boolean {
    return this.#isOf(txid) || (this.#tree.find(txid)?.proven ?? false)
  }

  /** Index of a transaction in its block. */
  offsetOf(txid: Txid): number | undefined {
    return ((this.#isOf(txid) && this.#way) || this.#tree.find(txid))?.offset
  }

  /** The smallest bump that proves this txid. */
  trimmedTo(txid: Txid): Bump {
    return this.provingOnly([txid])
  }

  /** The smallest bump that proves these txids. */
  provingOnly(txids: readonly Txid[]): Bump {
    if (txids.length === 1 && this.#isOf(txids[0]!)) return this
    const leaves = txids.map(txid => {
      const leaf = this.#tree.find(txid)
      if (!leaf?.proven) throw treeError('the bump does not prove the txid', { txid: formatTxid(txid) })
      return leaf
    })
    return new Bump(this.height, this.#tree.select(leaves))
  }

  toBytes(): Uint8Array {
    if (this.#alone) return this.#alone.bytes.slice()
    const writer = new Writer()
    this.write(writer)
    return writer.finish()
  }

  write(writer: Writer): void {
    if (this.#alone) {
      writer.bytes(this.#alone.bytes)
      return
    }
    const { levels } = this.#tree
    writer.varint(this.height)
    writer.u8(levels.length)
    for (const level of levels) {
      writer.varint(level.length)
      for (const { offset, hash, wanted, copy } of level) {
        writer.varint(offset)
        writer.u8(copy ? COPY : wanted ? WANTED : 0)
        if (!copy) writer.bytes(hash!)
      }
    }
  }

  /** Levels below the root. */
  get depth(): number {
    return this.#way?.depth ?? this.#tree.levels.length
  }

  /** Number of nodes. */
  get size(): number {
    return this.#way ? this.#way.depth + 1 : this.#tree.levels.reduce((size, level) => size + level.length, 0)
  }

  #wanted(): MerkleNode[] {
    return this.#tree.levels[0]!.filter(({ wanted }) => wanted)
  }
}

/** Bytes of a single-leaf bump in canonical form. */
interface Alone {
  readonly bytes: Uint8Array
  readonly txid: Txid
  /** Parsed branch. */
  way: MerkleBranch | undefined
}

const treeOf = (bytes: Uint8Array): MerkleTree => {
  const reader = new Reader(bytes, 'ERR_BEEF_FORMAT')
  readHeight(reader)
  const tree = new MerkleTree(readLevels(reader, Number.POSITIVE_INFINITY))
  reader.end()
  return tree
}

const readHeight = (reader: Reader): number => {
  const height = reader.varint()
  if (height > MAX_HEIGHT) throw reader.error('invalid block height', { height })
  return height
}

const readLevels = (reader: Reader, limit: number): readonly Level[] => {
  const depth = reader.u8()
  if (depth < 1 || depth > MAX_DEPTH)
    throw reader.error('invalid depth of a merkle tree: expected 1 to 64 levels', { depth })
  const levels: Level[] = []
  let room = limit
  for (let i = 0; i < depth; i++) {
    const level = readLevel(reader, room)
    room -= level.length
    levels.push(level)
  }
  // Depth 1 with more than two leaves is a whole block: the levels above follow from its leaves.
  if (depth === 1 && levels[0]!.length > 2) return levelsAbove(levels[0]!)
  for (const [i, level] of levels.entries()) {
    if (level.length > 0 && level.at(-1)!.offset >= 2 ** (depth - i)) {
      throw reader.error('merkle node outside of its tree', { level: i, offset: level.at(-1)!.offset })
    }
  }
  return levels
}

/** Nodes may come in any order, but one per offset. */
const readLevel = (reader: Reader, room: number): Level => {
  const count = reader.count(2, 'merkle nodes')
  if (count > room) throw new QuoinError('ERR_BEEF_LIMIT', 'too many merkle nodes', { count })
  const level: MerkleNode[] = []
  let copy: MerkleNode | undefined
  for (let i = 0; i < count; i++) {
    const offset = reader.varint()
    const flags = reader.u8()
    if (flags > WANTED) throw reader.error('unknown flags of a merkle node', { flags })
    const node =
      flags === COPY
        ? new MerkleNode(offset, undefined, false, true)
        : new MerkleNode(offset, reader.bytes(32), flags === WANTED)
    if (node.copy) {
      if (copy || offset % 2 === 0)
        throw reader.error('duplicate flag within a level of a merkle tree', { offset })
      copy = node
    }
    level.push(node)
  }
  level.sort((a, b) => a.offset - b.offset)
  for (let i = 1; i < level.length; i++) {
    if (level[i]!.offset === level[i - 1]!.offset) {
      throw reader.error('two merkle nodes at one offset', { offset: level[i]!.offset })
    }
  }
  if (copy && copy !== level.at(-1)) {
    throw reader.error('duplicate flag within a level of a merkle tree', { offset: copy.offset })
  }
  return level
}

/** Nodes of one level of several bumps. A duplicate may be marked in one and have its hash in another. */
const unionOf = (levels: readonly Level[]): Level => {
  const nodes = new Map<number, MerkleNode>()
  for (const node of levels.flat()) {
    const other = nodes.get(node.offset)
    if (other?.hash && node.hash && !equalBytes(other.hash, node.hash)) throw differentBlocks()
    if (other === undefined || other.copy || node.wanted) nodes.set(node.offset, node)
  }
  return [...nodes.values()].sort((a, b) => a.offset - b.offset)
}

const differentBlocks = (): QuoinError => treeError('merkle paths of different blocks')
