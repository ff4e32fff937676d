/**
 * Part of a block's merkle tree: leaves, and the siblings of their paths to the root. Structure is derived without
 * hashing; a node is hashed on demand, once, for any number of paths through it.
 */
import { bytesKey, equalBytes, QuoinError } from '@quoin/primitives'
import { sha256d } from '../hash.ts'

/** A node given with its hash, given as a duplicate of its left sibling, or computed from its two children. */
export class MerkleNode {
  readonly offset: number
  /** A leaf to prove. */
  readonly wanted: boolean
  /** Whether it is a duplicate of its left sibling, at the right end of its level. */
  readonly copy: boolean
  hash: Uint8Array | undefined
  left: MerkleNode | undefined = undefined
  right: MerkleNode | undefined = undefined
  parent: MerkleNode | undefined = undefined
  /** Whether the root follows from it and the siblings on its path. */
  proven = false

  constructor(offset: number, hash: Uint8Array | undefined, wanted = false, copy = false) {
    this.offset = offset
    this.hash = hash
    this.wanted = wanted
    this.copy = copy
  }
}

/** Nodes of one level, by ascending offset. */
export type Level = readonly MerkleNode[]

export class MerkleTree {
  /** Given nodes, leaves first. */
  readonly levels: readonly Level[]
  readonly #leaves: ReadonlyMap<string, MerkleNode>
  readonly #top: MerkleNode

  /** Owns the nodes, which must belong to no other tree. Refuses nodes with no root, or with several. */
  constructor(levels: readonly Level[]) {
    this.levels = levels
    this.#leaves = leavesOf(levels[0]!)
    const rows: Level[] = []
    const doubles: [computed: MerkleNode, given: MerkleNode][] = []
    let above: Level = []
    for (const level of levels) {
      const row = united(level, above, doubles)
      rows.push(row)
      above = parentsOf(row)
    }
    const top = levels.length === 1 && levels[0]!.length === 1 ? levels[0]![0] : above[0]
    if (top === undefined) throw treeError('merkle path without a root')
    this.#top = top
    top.proven = true
    for (const row of rows.reverse()) {
      for (const node of row) if (node.parent?.proven) node.proven = true
    }
    if (!levels[0]!.some(({ proven }) => proven)) throw treeError('merkle path without a leaf')
    for (const { wanted, proven, offset } of levels[0]!) {
      if (wanted && !proven) throw treeError('incomplete merkle path', { offset })
    }
    // All paths meet in one root, unless a given node differs from the computed one at its offset.
    for (const [computed, given] of doubles) {
      if (given.copy || !equalBytes(hashOf(computed), given.hash!)) {
        throw treeError('contradictory merkle paths', { offset: given.offset })
      }
    }
  }

  get root(): Uint8Array {
    return hashOf(this.#top)
  }

  find(txid: Uint8Array): MerkleNode | undefined {
    return this.#leaves.get(bytesKey(txid))
  }

  /**
   * Smallest set of nodes that proves these leaves: they, and the siblings on their paths that do not follow from them.
   */
  select(leaves: Iterable<MerkleNode>): Level[] {
    const wanted = new Set(leaves)
    if (this.#top.left === undefined) return [[given(this.#top, true)]]
    let row: Iterable<MerkleNode> = [...wanted].sort((a, b) => a.offset - b.offset)
    return this.levels.map((_, height) => {
      const onTheWay = new Set(row)
      const parents = new Set<MerkleNode>()
      for (const { parent } of onTheWay) parents.add(parent!)
      const level: MerkleNode[] = []
      for (const { left, right } of parents) {
        for (const node of [left!, right!]) {
          if (height === 0) level.push(given(node, wanted.has(node)))
          else if (!onTheWay.has(node)) level.push(given(node, false))
        }
      }
      row = parents
      return level
    })
  }
}

/** Levels of a tree whose leaves are all given: above them, only the duplicates at the right end. */
export const levelsAbove = (leaves: Level): Level[] => {
  const levels: Level[] = []
  let last = leaves.at(-1)!.offset
  do {
    const row = levels.length === 0 ? leaves : []
    levels.push(last % 2 || last === 0 ? row : [...row, new MerkleNode(last + 1, undefined, false, true)])
    last = Math.floor(last / 2)
  } while (last > 0)
  return levels
}

export const treeError = (message: string, details: Record<string, unknown> = {}): QuoinError =>
  new QuoinError('ERR_BEEF_FORMAT', message, details)

/** Leaves by hash. A txid at two offsets proves nothing about its position. */
const leavesOf = (level: Level): Map<string, MerkleNode> => {
  const leaves = new Map<string, MerkleNode>()
  for (const node of level) {
    if (node.hash === undefined) continue
    const key = bytesKey(node.hash)
    const twin = leaves.get(key)
    if (twin === undefined) leaves.set(key, node)
    else if (node.wanted || !isWrittenCopy(twin, node)) {
      throw treeError('txid at two offsets of a block', { offset: node.offset })
    }
  }
  return leaves
}

/** Whether the duplicate at the right end of a level may be written with its hash instead of its flag. */
const isWrittenCopy = (left: MerkleNode, right: MerkleNode): boolean =>
  right.left === undefined && left.offset % 2 === 0 && right.offset === left.offset + 1

/** Nodes computed from a level. */
const parentsOf = (row: Level): MerkleNode[] => {
  const parents: MerkleNode[] = []
  for (let i = 1; i < row.length; i++) {
    const left = row[i - 1]!
    const right = row[i]!
    if (left.offset % 2 || right.offset !== left.offset + 1) continue
    const parent = new MerkleNode(left.offset / 2, undefined)
    parent.left = left
    parent.right = right
    left.parent = parent
    right.parent = parent
    parents.push(parent)
  }
  return parents
}

/** Merges two levels by offset. A computed node replaces the given one. */
const united = (given: Level, computed: Level, doubles: [MerkleNode, MerkleNode][]): Level => {
  if (computed.length === 0) return given
  const row: MerkleNode[] = []
  let i = 0
  for (const node of computed) {
    while (i < given.length && given[i]!.offset < node.offset) row.push(given[i++]!)
    if (i < given.length && given[i]!.offset === node.offset) doubles.push([node, given[i++]!])
    row.push(node)
  }
  while (i < given.length) row.push(given[i++]!)
  return row
}

/** Copy of a node for another tree. */
const given = (node: MerkleNode, wanted: boolean): MerkleNode =>
  new MerkleNode(node.offset, node.copy ? undefined : hashOf(node), wanted, node.copy)

/** Recursion is bounded by the height of the tree. */
const hashOf = (node: MerkleNode): Uint8Array => {
  if (node.hash !== undefined) return node.hash
  const { left, right } = node
  const first = hashOf(left!)
  const second = right!.copy ? first : hashOf(right!)
  // A path through the right end's duplicate would prove an offset that the block does not have.
  if (!right!.copy && right!.left !== undefined && equalBytes(first, second)) {
    throw treeError('merkle path through a duplicated node', { offset: right!.offset })
  }
  const pair = new Uint8Array(64)
  pair.set(first)
  pair.set(second, 32)
  node.hash = sha256d(pair)
  return node.hash
}
