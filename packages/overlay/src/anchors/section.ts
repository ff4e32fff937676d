/**
 * A section of an anchor chain: up to 256 blocks of a topic, kept in memory with the stamps under which they were read. A
 * section is read again where a stamp has changed, and hashed again where a block hash or the anchor before it has.
 */
import { equalBytes, type Topic } from '@quoin/primitives'
import type { Store } from '@quoin/store'
import { readAdmitted, readBlockStamps, type Stamps, sectionOf } from './admitted.ts'
import { rootOf, type TopicAnchor, tacAfter, ZERO_HASH } from './tree.ts'

interface BlockRoot {
  readonly root: Uint8Array
  readonly count: number
}

/** The roots of blocks with admitted transactions, by height. */
type BlockRoots = ReadonlyMap<number, BlockRoot>

export interface SectionRange {
  readonly topic: Topic
  readonly from: number
  readonly to: number
  /** Of the section, undefined if no commit has changed it since stamps are written. */
  readonly stamp: string | undefined
}

export class Section {
  readonly from: number
  readonly to: number
  readonly stamp: string | undefined
  /** The anchor hash before the first block. */
  readonly before: Uint8Array
  readonly last: TopicAnchor
  readonly roots: BlockRoots
  readonly #blockStamps: Stamps

  private constructor(
    { from, to, stamp }: SectionRange,
    before: Uint8Array,
    hashes: readonly Uint8Array[],
    { roots, stamps }: ReadRoots
  ) {
    this.from = from
    this.to = to
    this.stamp = stamp
    this.before = before
    this.roots = roots
    this.#blockStamps = stamps
    let last: TopicAnchor | undefined
    for (const anchor of this.anchors(hashes)) last = anchor
    this.last = last!
  }

  /** Reads the section; `earlier` is the one that it replaces. */
  static async read(
    store: Store,
    range: SectionRange,
    before: Uint8Array,
    hashes: readonly Uint8Array[],
    earlier: Section | undefined
  ): Promise<Section> {
    const roots = earlier?.rootsOf(range) ?? (await readRoots(store, range, earlier))
    return new Section(range, before, hashes, roots)
  }

  /** The anchors of its blocks, whose hashes are given. */
  *anchors(hashes: readonly Uint8Array[]): Generator<TopicAnchor> {
    let tac = this.before
    for (const [i, blockHash] of hashes.entries()) {
      const height = this.from + i
      const { root, count } = this.roots.get(height) ?? EMPTY
      tac = tacAfter(tac, blockHash, root)
      yield { height, blockHash, root, count, tac }
    }
  }

  /** Whether it has these anchors, if the blocks are still on the chain of most work. */
  isCurrent(range: SectionRange, before: Uint8Array): boolean {
    return this.#hasRoots(range) && equalBytes(this.before, before)
  }

  #hasRoots({ from, to, stamp }: SectionRange): boolean {
    return this.from === from && this.to === to && this.stamp === stamp
  }

  /** Its roots, if a range has the same. */
  rootsOf(range: SectionRange): ReadRoots | undefined {
    return this.#hasRoots(range) ? { roots: this.roots, stamps: this.#blockStamps } : undefined
  }

  /** Heights up to `to` whose transactions may differ from the ones that were read. */
  changedSince(stamps: Stamps, to: number): number[] {
    const changed = [...stamps].filter(
      ([height, id]) => height <= this.to && this.#blockStamps.get(height) !== id
    )
    const added = Array.from({ length: Math.max(0, to - this.to) }, (_, i) => this.to + 1 + i)
    return [...changed.map(([height]) => height), ...added]
  }
}

const EMPTY: BlockRoot = { root: ZERO_HASH, count: 0 }

interface ReadRoots {
  readonly roots: BlockRoots
  readonly stamps: Stamps
}

/** Stamps are read before the rows: a commit in between leaves a stamp that is older than the rows. */
const readRoots = async (
  store: Store,
  { topic, from, to }: SectionRange,
  earlier: Section | undefined
): Promise<ReadRoots> => {
  const stamps = await readBlockStamps(store, topic, sectionOf(from))
  const roots = new Map<number, BlockRoot>()
  const add = async (first: number, last: number): Promise<void> => {
    for (const [height, admitted] of await readAdmitted(store, topic, first, last)) {
      roots.set(height, { root: rootOf(admitted.map(({ txid }) => txid)), count: admitted.length })
    }
  }
  if (!earlier || earlier.from !== from) {
    await add(from, to)
    return { roots, stamps }
  }
  const changed = new Set(earlier.changedSince(stamps, to))
  for (const [height, root] of earlier.roots)
    if (height <= to && !changed.has(height)) roots.set(height, root)
  for (const [first, last] of runsOf(changed, to)) await add(first, last)
  return { roots, stamps }
}

/** Consecutive heights as ranges. */
const runsOf = (heights: Iterable<number>, to: number): [number, number][] => {
  const runs: [number, number][] = []
  for (const height of [...heights].sort((a, b) => a - b)) {
    if (height > to) continue
    const run = runs.at(-1)
    if (run && run[1] === height - 1) run[1] = height
    else runs.push([height, height])
  }
  return runs
}
