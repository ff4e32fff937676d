/**
 * The comparison of a topic's anchors with those of a peer (BRC-136), and the repair of what differs. Equal anchors at a
 * height prove that both nodes admitted the same transactions from all blocks up to it. Otherwise the lowest different
 * height is searched, and from there on the missing transactions of blocks with different roots are fetched.
 */
import { formatHash } from '@quoin/chain'
import { equalBytes, formatTxid, type Topic } from '@quoin/primitives'
import type { Engine } from '../engine.ts'
import type { Peer } from '../gasp/peer.ts'
import type { AnchorPair } from './comparisons.ts'
import { fetchByPrefixes, fetchProved, type ProvedTransaction } from './fetch.ts'
import { PeerAnchors } from './peer-anchors.ts'
import type { ListedAnchor } from './short.ts'
import type { TopicAnchors } from './topic-anchors.ts'
import { type TopicAnchor, ZERO_HASH } from './tree.ts'

export interface AnchorReport {
  /** The first height of the anchors. */
  readonly start: number
  /** The height that was compared: the lower one of both tips, or the last block that both chains have. */
  readonly height: number
  /** The highest height at which the anchors are known to agree; below the start if there is none. */
  readonly agreed: number
  /** Transactions that were fetched and submitted. */
  readonly fetched: number
  /** Transactions of the peer that are still not admitted here. */
  readonly missing: number
  /** Admitted transactions that the peer does not have. */
  readonly extra: number
  /** Whether more blocks differ than one run repairs: the listing of the peer is faster then. */
  readonly isPartial: boolean
}

/** Whether this node has admitted all transactions that the peer has from the blocks that were compared. */
export const isComplete = ({ start, height, missing, isPartial }: AnchorReport): boolean =>
  height >= start && missing === 0 && !isPartial

/** Whether the peer has admitted the same ones. */
export const agrees = ({ start, height, agreed }: AnchorReport): boolean =>
  height >= start && agreed === height

export interface AnchorSyncOptions {
  readonly engine: Engine
  readonly topic: Topic
  readonly peer: Peer
}

/** Submits a transaction of the peer. */
type Admit = (proved: ProvedTransaction) => Promise<void>

/** A height up to which the chains were compared, and differences repaired, with both anchors there. */
interface AnchorComparison extends AnchorPair {
  readonly height: number
}

/** Anchors of the first and of the longest request. */
const FIRST_PAGE = 16
const MAX_PAGE = 256
/** Blocks that are compared without a search for the first different one. */
const SCANNED = 16
/** Blocks that one run repairs. */
const MAX_BLOCKS = 64

export class AnchorSync {
  readonly #options: AnchorSyncOptions
  #compared: AnchorComparison | undefined
  #last: AnchorReport | undefined

  constructor(options: AnchorSyncOptions) {
    this.#options = options
  }

  /**
   * Undefined when this node or the peer has no anchors of the topic. Without `admit` the tips are compared, and the
   * report is undefined if they differ.
   */
  async run(admit: Admit | undefined, signal: AbortSignal | undefined): Promise<AnchorReport | undefined> {
    const { engine, topic, peer } = this.#options
    const { anchors } = engine
    const start = anchors?.start(topic)
    if (!anchors || start === undefined) return undefined
    const remote = new PeerAnchors(peer, topic, signal)
    const other = await remote.tip()
    if (!other) return undefined
    const tip = await anchors.tip(topic)
    if (!tip || other === 'none' || other.height < start) return { ...NOTHING, start, height: start - 1 }
    const comparison = new Comparison(this.#options, {
      anchors,
      remote,
      start,
      admit: admit ?? NOT_ADMITTED,
      signal
    })
    const height = Math.min(tip.height, other.height)
    const pair = await comparison.at(height, other.height === height ? other.tac : undefined)
    // Differences that could not be repaired stay as they are while neither chain changes.
    const known = anchors.comparisons.get(pair)
    if (!admit && !known && !isEqual(pair)) return undefined
    const report = known ?? (await comparison.repair(height, pair, this.#compared, this.#last))
    const after = known
      ? pair
      : await comparison.at(report.height, report.height === height ? pair.other : undefined)
    this.#compared = { height: report.height, ...after }
    this.#last = { ...report, fetched: 0 }
    if (!report.isPartial && report.height === height) anchors.comparisons.add(after, this.#last)
    return report
  }
}

const NOT_ADMITTED: Admit = async () => undefined

const NOTHING = { agreed: -1, fetched: 0, missing: 0, extra: 0, isPartial: false }

const isEqual = ({ own, other }: AnchorPair): boolean => equalBytes(own, other)

const isSamePair = (a: AnchorComparison, b: AnchorComparison): boolean =>
  a.height === b.height && equalBytes(a.own, b.own) && equalBytes(a.other, b.other)

/** One run. */
class Comparison {
  readonly #options: AnchorSyncOptions
  readonly #anchors: TopicAnchors
  readonly #remote: PeerAnchors
  readonly #start: number
  readonly #admit: Admit
  readonly #signal: AbortSignal | undefined
  #repaired = 0
  #fetched = 0
  #missing = 0
  #extra = 0

  constructor(
    options: AnchorSyncOptions,
    {
      anchors,
      remote,
      start,
      admit,
      signal
    }: {
      readonly anchors: TopicAnchors
      readonly remote: PeerAnchors
      readonly start: number
      readonly admit: Admit
      readonly signal: AbortSignal | undefined
    }
  ) {
    this.#admit = admit
    this.#options = options
    this.#anchors = anchors
    this.#remote = remote
    this.#start = start
    this.#signal = signal
  }

  /** The anchors of both at a height, zero before the start. */
  async at(height: number, known?: Uint8Array): Promise<AnchorPair> {
    if (height < this.#start) return { own: ZERO_HASH, other: ZERO_HASH }
    const own = await this.#anchors.at(this.#options.topic, height)
    return { own: own?.tac ?? ZERO_HASH, other: known ?? (await this.#remote.at(height)).tac }
  }

  async repair(
    height: number,
    pair: AnchorPair,
    compared: AnchorComparison | undefined,
    last: AnchorReport | undefined
  ): Promise<AnchorReport> {
    if (isEqual(pair)) return this.#report(height, height)
    let { agreed, from, before } = await this.#firstDifference(height, compared, last)
    for (let page = FIRST_PAGE; from <= height; page = Math.min(page * 2, MAX_PAGE)) {
      this.#signal?.throwIfAborted()
      if (this.#repaired >= MAX_BLOCKS) return this.#report(from - 1, agreed, true)
      const to = Math.min(from + page - 1, height)
      const own = await this.#anchors.range(this.#options.topic, from, to)
      const others = await this.#remote.range(from, to, before, own)
      // Before a repair changes the anchors here.
      agreed = others.findLast(({ tac }, i) => own[i] && equalBytes(own[i].tac, tac))?.height ?? agreed
      const { isRepaired, stopped } = await this.#repairPage(others, own)
      // The nodes are on different branches from there on, until their headers are the same.
      if (stopped !== undefined) return this.#report(stopped - 1, agreed)
      before = others.at(-1)!.tac
      from = to + 1
      if (!isRepaired || !isEqual(await this.at(to, before))) continue
      agreed = to
      const tips = await this.at(height, to === height ? before : pair.other)
      if (isEqual(tips)) return this.#report(height, height)
      agreed = await this.#lastEqual(to, height)
      from = agreed + 1
      before = (await this.at(agreed, agreed === to ? before : undefined)).other
      page = FIRST_PAGE
    }
    return this.#report(height, agreed)
  }

  /** Where roots are to be compared from: after what was compared before, or after the last equal anchors. */
  async #firstDifference(
    height: number,
    compared: AnchorComparison | undefined,
    last: AnchorReport | undefined
  ): Promise<{ agreed: number; from: number; before: Uint8Array }> {
    let [low, high] = [this.#start - 1, height]
    if (compared && compared.height >= this.#start && compared.height < height) {
      const pair = await this.at(compared.height)
      if (isEqual(pair)) low = compared.height
      else if (isSamePair(compared, { height: compared.height, ...pair })) {
        // The differences below are still there.
        this.#missing = last?.missing ?? 0
        this.#extra = last?.extra ?? 0
        return { agreed: last?.agreed ?? low, from: compared.height + 1, before: pair.other }
      } else high = compared.height
    }
    const agreed = await this.#lastEqual(low, high)
    return { agreed, from: agreed + 1, before: (await this.#ownAt(agreed)) ?? ZERO_HASH }
  }

  async #ownAt(height: number): Promise<Uint8Array | undefined> {
    return height < this.#start ? undefined : (await this.#anchors.at(this.#options.topic, height))?.tac
  }

  /** A height with equal anchors, near to the last one: they are equal at `low` and different at `high`. */
  async #lastEqual(low: number, high: number): Promise<number> {
    let [equal, different] = [low, high]
    // The roots of a few blocks are fewer bytes than the anchors of a search.
    if (different - equal <= SCANNED) return equal
    while (different - equal > 1) {
      const middle = Math.floor((equal + different) / 2)
      if (isEqual(await this.at(middle))) equal = middle
      else different = middle
    }
    return equal
  }

  /** Repairs blocks with other roots; answers the first height whose block is another one here. */
  async #repairPage(
    others: readonly ListedAnchor[],
    own: readonly TopicAnchor[]
  ): Promise<{ readonly isRepaired: boolean; readonly stopped: number | undefined }> {
    let isRepaired = false
    for (const [i, other] of others.entries()) {
      const here = own[i]
      if (!here || !equalBytes(here.blockHash, other.blockHash)) return { isRepaired, stopped: other.height }
      if (equalBytes(here.root, other.root)) continue
      await this.#repairBlock(other)
      isRepaired = true
    }
    return { isRepaired, stopped: undefined }
  }

  async #repairBlock(anchor: ListedAnchor): Promise<void> {
    const { engine, topic, peer } = this.#options
    const context = { engine, topic, peer, remote: this.#remote, signal: this.#signal }
    const known = await this.#anchors.admitted(topic, anchor.height)
    const content = await fetchByPrefixes(context, anchor, known)
    const theirs = content?.admitted ?? (await this.#remote.admitted(anchor, formatHash(anchor.blockHash)))
    const own = new Set(known.map(({ txid }) => formatTxid(txid)))
    const missing = theirs.filter(({ txid }) => !own.has(formatTxid(txid)))
    this.#extra += own.size - (theirs.length - missing.length)
    if (missing.length === 0) return
    this.#repaired++
    for await (const proved of content?.proved ?? fetchProved(context, anchor, missing)) {
      await this.#admit(proved)
      this.#fetched++
    }
    const after = await this.#anchors.admitted(topic, anchor.height)
    const admitted = new Set(after.map(({ txid }) => formatTxid(txid)))
    this.#missing += missing.filter(({ txid }) => !admitted.has(formatTxid(txid))).length
  }

  #report(height: number, agreed: number, isPartial = false): AnchorReport {
    return {
      start: this.#start,
      height,
      agreed,
      fetched: this.#fetched,
      missing: this.#missing,
      extra: this.#extra,
      isPartial
    }
  }
}
