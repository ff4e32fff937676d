/**
 * A part of the merkle tree of a block: leaves, and the nodes beside the ways from them to the root. What follows from
 * it is found without hashing anything; a node is hashed when its hash is asked for, once, however many ways lead
 * through it.
 */
import { bytesKey, equalBytes, QuoinError } from '@quoin/primitives'
import { sha256d } from '../hash.ts'

/** A node that is given, with its hash or as a copy of the one on its left; or one that follows from the two below. */
export class MerkleNode {
  readonly offset: number
  /** A leaf that the tree is there to prove. */
  readonly wanted: boolean
  /** Whether it stands for the missing right end of its level, and so for a copy of its left neighbour. */
  readonly copy: boolean
  hash: Uint8Array | undefined
  left: MerkleNode | undefined = undefined
  right: MerkleNode | undefined = undefined
  parent: MerkleNode | undefined = undefined
  /** Whether the root follows from it and the nodes beside its way up. */
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
  /** The given nodes, the leaves first. */
  readonly levels: readonly Level[]
  readonly #leaves: ReadonlyMap<string, MerkleNode>
  readonly #top: MerkleNode

  /** Takes the nodes over, so they must be in no other tree. Refuses what has no root, or more than one. */
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
    if (top === undefined) throw treeError('a merkle path that leads to no root')
    this.#top = top
    top.proven = true
    for (const row of rows.reverse()) {
      for (const node of row) if (node.parent?.proven) node.proven = true
    }
    if (!levels[0]!.some(({ proven }) => proven)) throw treeError('a merkle path from no leaf')
    for (const { wanted, proven, offset } of levels[0]!) {
      if (wanted && !proven) throw treeError('a merkle path that is not complete', { offset })
    }
    // All ways meet in one root, unless a node is given that also follows from others and is not the same.
    for (const [computed, given] of doubles) {
      if (given.copy || !equalBytes(hashOf(computed), given.hash!)) {
        throw treeError('merkle paths that contradict one another', { offset: given.offset })
      }
    }
  }

  get root(): Uint8Array {
    return hashOf(this.#top)
  }

  find(txid: Uint8Array): MerkleNode | undefined {
    return this.#leaves.get(bytesKey(txid))
  }

  /** The least that proves these leaves: they, and what is beside their ways and does not follow from them. */
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

/** The levels of a tree all of whose leaves are given: above them, only the copies at the right end are. */
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

/** The leaves by their hash. One that stands at two places proves nothing about where its transaction is. */
const leavesOf = (level: Level): Map<string, MerkleNode> => {
  const leaves = new Map<string, MerkleNode>()
  for (const node of level) {
    if (node.hash === undefined) continue
    const key = bytesKey(node.hash)
    const twin = leaves.get(key)
    if (twin === undefined) leaves.set(key, node)
    else if (node.wanted || !isWrittenCopy(twin, node)) {
      throw treeError('a txid at two places of a block', { offset: node.offset })
    }
  }
  return leaves
}

/** Whether the copy at the right end of a level may have been written out instead of being marked as one. */
const isWrittenCopy = (left: MerkleNode, right: MerkleNode): boolean =>
  right.left === undefined && left.offset % 2 === 0 && right.offset === left.offset + 1

/** The nodes that follow from a level. */
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

/** Both in order. Where a node is given and computed, the computed one is part of the tree. */
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

/** A node as it is given to another tree. */
const given = (node: MerkleNode, wanted: boolean): MerkleNode =>
  new MerkleNode(node.offset, node.copy ? undefined : hashOf(node), wanted, node.copy)

/** Recurses no deeper than the tree is high. */
const hashOf = (node: MerkleNode): Uint8Array => {
  if (node.hash !== undefined) return node.hash
  const { left, right } = node
  const first = hashOf(left!)
  const second = right!.copy ? first : hashOf(right!)
  // A way through the right end's copy would prove a transaction at a place that the block does not have.
  if (!right!.copy && right!.left !== undefined && equalBytes(first, second)) {
    throw treeError('a merkle path through a copy', { offset: right!.offset })
  }
  const pair = new Uint8Array(64)
  pair.set(first)
  pair.set(second, 32)
  node.hash = sha256d(pair)
  return node.hash
}
