/**
 * Merkle path of a single leaf, as nearly all are: the leaf and its sibling, then one node per level. Read in place,
 * without building a tree.
 */
import { equalBytes, varintLength } from '@quoin/primitives'
import { sha256d } from '../hash.ts'
import { treeError } from './merkle-tree.ts'

/** Flags of a node on the wire (BRC-74): duplicate of its left sibling, or leaf to prove. */
export const COPY = 1
export const WANTED = 2

/** Levels within 32-bit offsets. */
const MAX_LEVELS = 32
const HASH = 32

export class MerkleBranch {
  /** Offset of the leaf in the block. */
  readonly offset: number
  readonly txid: Uint8Array
  /** Levels below the root. */
  readonly depth: number
  /** End offset in the source. */
  readonly end: number
  readonly #source: Uint8Array
  /** Offset of the sibling's hash on each level; 0 for a duplicate. */
  readonly #beside: readonly number[]
  #root: Uint8Array | undefined

  private constructor(
    source: Uint8Array,
    at: { offset: number; leaf: number; end: number; beside: readonly number[] }
  ) {
    this.#source = source
    this.offset = at.offset
    this.txid = source.subarray(at.leaf, at.leaf + HASH)
    this.depth = at.beside.length
    this.end = at.end
    this.#beside = at.beside
  }

  /**
   * Parses a single-leaf BUMP in canonical form; undefined for any other shape, which `Bump.read` parses or refuses.
   */
  static at(source: Uint8Array, start: number): MerkleBranch | undefined {
    const depth = source[start]
    if (!depth || depth > MAX_LEVELS || source[start + 1] !== 2) return undefined
    const first = nodeAt(source, start + 2)
    const second = first && nodeAt(source, first.end)
    if (!second || first.offset % 2 || second.offset !== first.offset + 1 || first.flags === COPY)
      return undefined
    const [leaf, other] = first.flags === WANTED ? [first, second] : [second, first]
    if (leaf.flags !== WANTED || other.flags === WANTED) return undefined
    const { offset } = leaf
    if (depth < MAX_LEVELS && offset >>> depth) return undefined
    const neighbour = other.flags === COPY ? 0 : other.hash
    // The txid may stand at two offsets.
    if (neighbour && equalBytes(hashAt(source, leaf.hash), hashAt(source, neighbour))) return undefined
    const beside = [neighbour]
    let { end } = second
    for (let level = 1; level < depth; level++) {
      const node = source[end] === 1 ? nodeAt(source, end + 1) : undefined
      if (node?.offset !== ((offset >>> level) ^ 1) >>> 0 || node.flags === WANTED) return undefined
      if (node.flags === COPY && node.offset % 2 === 0) return undefined
      beside.push(node.flags === COPY ? 0 : node.hash)
      end = node.end
    }
    return new MerkleBranch(source, { offset, leaf: leaf.hash, end, beside })
  }

  /** Throws when the path leads through a duplicated node, which only hashing finds. */
  get root(): Uint8Array {
    this.#root ??= this.#climb()
    return this.#root
  }

  #climb(): Uint8Array {
    let hash = this.txid
    for (const [level, at] of this.#beside.entries()) {
      const offset = this.offset >>> level
      const beside = at ? hashAt(this.#source, at) : hash
      const isRight = offset % 2 === 1
      if (isRight && level > 0 && equalBytes(beside, hash)) {
        throw treeError('merkle path through a duplicated node', { offset })
      }
      pair.set(hash, isRight ? HASH : 0)
      pair.set(beside, isRight ? 0 : HASH)
      hash = sha256d(pair)
    }
    return hash
  }
}

/** Scratch buffer for two hashes. */
const pair = new Uint8Array(2 * HASH)

const hashAt = (source: Uint8Array, at: number): Uint8Array => source.subarray(at, at + HASH)

interface NodeAt {
  readonly offset: number
  readonly flags: number
  /** Offset of the hash; 0 for a duplicate. */
  readonly hash: number
  readonly end: number
}

/** A complete node whose offset is in its shortest form. */
const nodeAt = (source: Uint8Array, at: number): NodeAt | undefined => {
  const first = source[at]!
  const size = first < 0xfd ? 1 : first === 0xfd ? 3 : 5
  let offset = size === 1 ? first : 0
  for (let i = 1; i < size; i++) offset += source[at + i]! * 2 ** (8 * (i - 1))
  const flags = source[at + size]!
  const hash = at + size + 1
  const end = flags === COPY ? hash : hash + HASH
  const isWhole = first < 0xff && varintLength(offset) === size && flags <= WANTED && end <= source.length
  return isWhole ? { offset, flags, hash, end } : undefined
}
