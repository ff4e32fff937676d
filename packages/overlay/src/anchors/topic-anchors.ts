/**
 * The anchor chains of topics (BRC-136). An anchor is a function of committed rows: the transactions of a topic by block,
 * its decisions on them, and the chain of most work. A commit that changes the first or second stamps the block, so that
 * a chain is computed again from there, whichever process committed. A chain begins at the declared start of its topic.
 */
import { equalBytes, KeyedMutex, QuoinError, type Topic } from '@quoin/primitives'
import type { Store } from '@quoin/store'
import { retryStale } from '@quoin/txo'
import { readAdmitted, readSectionStamps, SECTION, type Stamps, sectionOf } from './admitted.ts'
import { Comparisons } from './comparisons.ts'
import { Section, type SectionRange } from './section.ts'
import { type AdmittedTransaction, type TopicAnchor, ZERO_HASH } from './tree.ts'

/** The chain of most work: `HeaderStore` is one. */
export interface BlockHashes {
  currentHeight(): Promise<number>
  /** Hashes of up to `count` blocks from a height upwards, without gaps; none if that height is not known. */
  hashes(from: number, count: number): Promise<readonly Uint8Array[]>
}

export interface AnchorOptions {
  /** The chain whose blocks the topics are anchored to. */
  readonly blocks: BlockHashes
  /** The first height of the anchors of topics that declare none; such topics have no anchors without it. */
  readonly start?: number | undefined
  /** Starts by topic, before the ones that topics declare. Nodes that compare anchors have the same starts. */
  readonly starts?: Readonly<Record<string, number>> | undefined
}

/** Blocks with admitted transactions that are kept in memory for all topics together. */
const MAX_KEPT = 200_000
/** Attempts at a chain while commits and headers change it. The last one is taken as it is. */
const ATTEMPTS = 3

export class TopicAnchors {
  /** Comparisons with peers. */
  readonly comparisons = new Comparisons()
  readonly #store: Store
  readonly #blocks: BlockHashes
  readonly #startOf: (topic: string) => number | undefined
  /** By topic, the least recently used first. */
  readonly #chains = new Map<Topic, readonly Section[]>()
  readonly #mutex = new KeyedMutex()

  /** @param startOf The first height of a topic's anchors; undefined for a topic without anchors. */
  constructor(store: Store, blocks: BlockHashes, startOf: (topic: string) => number | undefined) {
    this.#store = store
    this.#blocks = blocks
    this.#startOf = startOf
  }

  /** The first height of the topic's anchors. */
  start(topic: Topic): number | undefined {
    return this.#startOf(topic)
  }

  /** The anchor at the tip of the chain; undefined before the start of the topic. */
  async tip(topic: Topic): Promise<TopicAnchor | undefined> {
    return (await this.#chain(topic)).at(-1)?.last
  }

  async at(topic: Topic, height: number): Promise<TopicAnchor | undefined> {
    return (await this.range(topic, height, height))[0]
  }

  /** The anchors of heights, both included, as far as there are any. */
  range(topic: Topic, from: number, to: number): Promise<TopicAnchor[]> {
    return retryStale(() => this.#range(topic, from, to))
  }

  async #range(topic: Topic, from: number, to: number): Promise<TopicAnchor[]> {
    const anchors: TopicAnchor[] = []
    for (const section of await this.#chain(topic)) {
      if (section.to < from || section.from > to) continue
      const hashes = await this.#hashes(section.from, section.to)
      if (!hashes || !equalBytes(hashes.at(-1)!, section.last.blockHash)) throw moved()
      for (const anchor of section.anchors(hashes)) {
        if (anchor.height >= from && anchor.height <= to) anchors.push(anchor)
      }
    }
    return anchors
  }

  /** The same by height, of blocks from one height to another. */
  admittedBetween(
    topic: Topic,
    from: number,
    to: number
  ): Promise<ReadonlyMap<number, readonly AdmittedTransaction[]>> {
    return readAdmitted(this.#store, topic, from, to)
  }

  /** The transactions that the topic admitted from a block, in block order. */
  async admitted(topic: Topic, height: number): Promise<readonly AdmittedTransaction[]> {
    return (await readAdmitted(this.#store, topic, height, height)).get(height) ?? []
  }

  #chain(topic: Topic): Promise<readonly Section[]> {
    const start = this.#startOf(topic)
    if (start === undefined) return Promise.resolve([])
    return this.#mutex.run(topic, async () => {
      let sections = this.#chains.get(topic) ?? []
      for (let attempt = 1; ; attempt++) {
        const stamps = await readSectionStamps(this.#store, topic)
        const height = await this.#blocks.currentHeight()
        const next = await this.#update(topic, start, height, stamps, sections)
        if (!next) {
          if (attempt === ATTEMPTS) throw moved()
          continue
        }
        sections = next
        this.#keep(topic, sections)
        if (attempt === ATTEMPTS || (await this.#isSame(topic, height, stamps))) return sections
      }
    })
  }

  async #isSame(topic: Topic, height: number, stamps: Stamps): Promise<boolean> {
    if ((await this.#blocks.currentHeight()) !== height) return false
    const now = await readSectionStamps(this.#store, topic)
    return now.size === stamps.size && [...now].every(([section, id]) => stamps.get(section) === id)
  }

  /** The sections up to a height, with earlier ones where they are current; undefined when a reorg shortens the chain. */
  async #update(
    topic: Topic,
    start: number,
    height: number,
    stamps: Stamps,
    earlier: readonly Section[]
  ): Promise<Section[] | undefined> {
    const sections: Section[] = []
    const [first, end] = [sectionOf(start), sectionOf(height)]
    const unmoved = await this.#countUnmoved(earlier)
    for (let number = first; number <= end && start <= height; number++) {
      const from = Math.max(start, number * SECTION)
      const to = Math.min(height, number * SECTION + SECTION - 1)
      const range: SectionRange = { topic, from, to, stamp: stamps.get(number) }
      const before = sections.at(-1)?.last.tac ?? ZERO_HASH
      const known = earlier[number - first]
      if (known && number - first < unmoved && known.isCurrent(range, before)) {
        sections.push(known)
        continue
      }
      const hashes = await this.#hashes(from, to)
      if (!hashes) return undefined
      sections.push(await Section.read(this.#store, range, before, hashes, known))
    }
    return sections
  }

  /** How many sections still end with a block of the chain of most work: the blocks below it are unchanged then. */
  async #countUnmoved(sections: readonly Section[]): Promise<number> {
    for (let count = sections.length; count > 0; count--) {
      const { last } = sections[count - 1]!
      const [hash] = await this.#blocks.hashes(last.height, 1)
      if (hash && equalBytes(hash, last.blockHash)) return count
    }
    return 0
  }

  async #hashes(from: number, to: number): Promise<readonly Uint8Array[] | undefined> {
    const hashes = await this.#blocks.hashes(from, to - from + 1)
    return hashes.length === to - from + 1 ? hashes : undefined
  }

  #keep(topic: Topic, sections: readonly Section[]): void {
    this.#chains.delete(topic)
    this.#chains.set(topic, sections)
    let kept = 0
    for (const [name, each] of [...this.#chains].reverse()) {
      kept += each.reduce((sum, { roots }) => sum + roots.size, each.length)
      if (kept > MAX_KEPT && name !== topic) this.#chains.delete(name)
    }
  }
}

const moved = (): QuoinError =>
  new QuoinError('ERR_STALE_READ', 'the chain changed while its anchors were read; try again')
