/**
 * Block headers on a store, and the chain of most work among them. Additions are checked by the rules of the network
 * and committed in one batch that depends on the tip, so any number of processes may add at once. Valid headers are
 * kept for ever, since they may be on the chain of most work again.
 */
import { hasCode, QuoinError } from '@quoin/primitives'
import type { Store } from '@quoin/store'
import { chain, type Origin } from '../keys.ts'
import type { Branch } from './branch.ts'
import { commitHeaders } from './commit.ts'
import { contextOf } from './difficulty.ts'
import { type ChainHeader, formatHash, type Header, parseHeader, readHeaders } from './header.ts'
import { HeaderAddition, type Reorg } from './header-addition.ts'
import { HeaderReads, type RemovedBlocks } from './header-reads.ts'
import { loadHeaders } from './load.ts'
import { NETWORKS, type NetworkName, type NetworkRules } from './networks.ts'
import { workOf } from './target.ts'

const { header: headers, active, tip: tips, origin: origins } = chain.collections

/** Attempts of a commit that other processes precede. */
const MAX_ATTEMPTS = 100

/** A trusted header to begin at instead of genesis. Earlier headers are not needed. */
export interface Checkpoint {
  readonly height: number
  readonly header: Uint8Array | Header
  /** Cumulative work, if known. Only differences matter. */
  readonly work?: bigint
}

export interface HeaderStoreOptions {
  readonly network: NetworkName
  readonly checkpoint?: Checkpoint
  /** Unix seconds. */
  readonly clock?: () => number
}

/** Result of an addition. */
export interface HeaderChange {
  readonly tip: ChainHeader
  /** Headers that the store did not have, of any branch. */
  readonly added: readonly ChainHeader[]
  /** Present when blocks left the chain of most work. */
  readonly reorg: Reorg | undefined
}

export class HeaderStore {
  readonly #store: Store
  readonly #reads: HeaderReads
  readonly #rules: NetworkRules
  readonly #origin: Origin
  readonly #clock: () => number
  readonly #listeners = new Set<(change: HeaderChange) => void>()
  #branch: Branch | undefined
  #busy: Promise<unknown> = Promise.resolve()

  private constructor(
    store: Store,
    reads: HeaderReads,
    rules: NetworkRules,
    origin: Origin,
    clock: () => number
  ) {
    this.#store = store
    this.#reads = reads
    this.#rules = rules
    this.#origin = origin
    this.#clock = clock
  }

  /**
   * Opens the headers of a store; an empty store begins with the genesis header or the checkpoint. Headers of another
   * network are refused, as is another header at the checkpoint's height.
   */
  static async open(
    store: Store,
    { network, checkpoint, clock = () => Math.floor(Date.now() / 1000) }: HeaderStoreOptions
  ): Promise<HeaderStore> {
    const rules = NETWORKS[network]
    const start = checkpoint && checkpointed(checkpoint)
    const first = start ?? firstHeader(rules)
    const reads = new HeaderReads(store)
    const origin = (await store.use(origins).get()) ?? (await begin(store, first, network))
    if (origin.network !== network) {
      throw new QuoinError(
        'ERR_HEADER_INVALID',
        `the store has headers of ${origin.network}, not of ${network}`,
        {
          network,
          stored: origin.network
        }
      )
    }
    if (!start) return new HeaderStore(store, reads, rules, origin, clock)
    const hash = formatHash(start.header.hash)
    const there = await reads.byHeight(start.height)
    if (start.height >= origin.height && there && formatHash(there.header.hash) !== hash) {
      throw new QuoinError(
        'ERR_HEADER_INVALID',
        `the store has another header at the checkpoint ${start.height}`,
        {
          height: start.height,
          checkpoint: hash,
          stored: formatHash(there.header.hash)
        }
      )
    }
    const checkpoints = new Map([...rules.checkpoints, [start.height, hash]])
    return new HeaderStore(store, reads, { ...rules, checkpoints }, origin, clock)
  }

  get network(): NetworkName {
    return this.#rules.name
  }

  /** Height of the first known header. */
  get start(): number {
    return this.#origin.height
  }

  /** Tip of the chain of most work. */
  async tip(): Promise<ChainHeader> {
    return (await this.#reads.tip())!
  }

  /** Header at a height of the chain of most work. */
  async header(height: number): Promise<ChainHeader | undefined> {
    return isHeight(height) ? this.#reads.byHeight(height) : undefined
  }

  /** Header with this hash, of any branch. */
  async headerOf(hash: Uint8Array): Promise<ChainHeader | undefined> {
    return this.#reads.byHash(hash)
  }

  /** Up to `count` headers of the chain of most work, from a height upwards. */
  async range(from: number, count: number): Promise<ChainHeader[]> {
    return isHeight(from) && count > 0
      ? this.#reads.activeLine(from, Math.min(0xffffffff, from + count - 1))
      : []
  }

  /** Blocks that left the chain of most work since its tip was `before`, replaced by any process on the store. */
  removedSince(before: ChainHeader): Promise<RemovedBlocks> {
    return this.#reads.removedSince(before)
  }

  /** Hashes of up to `count` blocks of the chain of most work, from a height upwards; none if that height is not known. */
  async hashes(from: number, count: number): Promise<Uint8Array[]> {
    if (!isHeight(from) || from < this.start || count <= 0) return []
    return this.#reads.activeHashes(from, Math.min(0xffffffff, from + count - 1))
  }

  /** Whether the chain of most work has a block with this merkle root at this height (`ChainTracker` of the SDK). */
  async isValidRootForHeight(root: string, height: number): Promise<boolean> {
    const found = await this.header(height)
    return found !== undefined && formatHash(found.header.merkleRoot) === root.toLowerCase()
  }

  async currentHeight(): Promise<number> {
    return (await this.tip()).height
  }

  /** Calls back after each addition that moved the tip. Returns a function that unsubscribes. */
  onTip(listener: (change: HeaderChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Calls back after each addition that removed blocks from the chain of most work. Returns a function that
   * unsubscribes.
   */
  onReorg(listener: (reorg: Reorg, tip: ChainHeader) => void): () => void {
    return this.onTip(({ reorg, tip }) => {
      if (reorg) listener(reorg, tip)
    })
  }

  /**
   * Adds headers, parents first: all that are new, or none if one breaks a rule (`ERR_HEADER_INVALID`), has an unknown
   * parent (`ERR_HEADER_UNKNOWN`) or does not parse (`ERR_HEADER_FORMAT`).
   */
  add(given: Uint8Array | readonly Header[]): Promise<HeaderChange> {
    const list = given instanceof Uint8Array ? readHeaders(given.slice()) : given
    return this.#oneAtATime(() => this.#add(list))
  }

  /**
   * Adds parts like `add`, for large imports: a part that continues the chain of most work is checked while its
   * predecessor is committed. Calls back for each part with its number of headers.
   */
  load(
    parts: AsyncIterable<readonly Header[]>,
    onPart: (change: HeaderChange, part: number) => void = () => {}
  ): Promise<void> {
    const loading = {
      store: this.#store,
      rules: this.#rules,
      now: this.#clock,
      line: async () => {
        const tip = await this.tip()
        return this.#reads.branchTo(tip, contextOf(this.#rules, tip.height + 1), () => undefined)
      },
      add: (part: readonly Header[]) => this.#add(part),
      committed: (change: HeaderChange) => this.#tell(change)
    }
    return this.#oneAtATime(() => loadHeaders(loading, parts, onPart))
  }

  #oneAtATime<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#busy.then(work)
    this.#busy = done.catch(() => {
      // A failure rejects its own caller alone; the next addition runs.
    })
    return done
  }

  async #add(list: readonly Header[]): Promise<HeaderChange> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { moved, change } = await this.#tryToAdd(list)
        if (moved) this.#tell(change)
        return change
      } catch (error) {
        const late = hasCode(error, 'ERR_STORE_PRECONDITION')
        if (!late || attempt === MAX_ATTEMPTS) throw error
      }
    }
  }

  async #tryToAdd(list: readonly Header[]): Promise<{ moved: boolean; change: HeaderChange }> {
    const tip = await this.tip()
    const addition = new HeaderAddition(this.#reads, this.#rules, {
      tip,
      branch: this.#branch,
      now: this.#clock()
    })
    // Clear the cached branch while it grows: a failed addition would leave it with headers that are not stored.
    this.#branch = undefined
    for (const header of list) await addition.take(header)
    const { fresh, best } = addition
    if (fresh.length > 0) {
      const moved = best !== tip
      const reorg = moved ? await addition.reorg(tip) : { fork: tip.height, removed: [], added: [] }
      addition.checkDepth(reorg.added)
      await commitHeaders(this.#store, { tip, fresh, best, activated: reorg.added })
      this.#branch = addition.branch!
      this.#branch = this.#branch.last(contextOf(this.#rules, this.#branch.tip.height + 1))
      const change = { tip: best, added: fresh, reorg: reorg.removed.length > 0 ? reorg : undefined }
      return { moved, change }
    }
    return { moved: false, change: { tip, added: [], reorg: undefined } }
  }

  /** Errors of listeners are thrown to the caller of `add`, after all listeners were called. */
  #tell(change: HeaderChange): void {
    const failures: unknown[] = []
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}

const isHeight = (height: number): boolean => Number.isInteger(height) && height >= 0 && height <= 0xffffffff

const firstHeader = ({ genesis }: NetworkRules): ChainHeader => {
  const header = parseHeader(genesis)
  return { header, height: 0, work: workOf(header.bits) }
}

const checkpointed = ({ header: given, height, work }: Checkpoint): ChainHeader => {
  const header = given instanceof Uint8Array ? parseHeader(given) : given
  if (!isHeight(height) || !header.hasProofOfWork) {
    throw new QuoinError(
      'ERR_HEADER_INVALID',
      'invalid checkpoint: expected a header with proof of work, and its height',
      {
        height,
        hash: formatHash(header.hash)
      }
    )
  }
  return { header, height, work: work ?? workOf(header.bits) }
}

/** Writes the first header, unless another process did. */
const begin = async (store: Store, first: ChainHeader, network: NetworkName): Promise<Origin> => {
  const origin = { network, height: first.height }
  const batch = store.batch()
  batch.use(tips).at().expect(undefined)
  batch.use(tips).at().set(first.header.hash)
  batch.use(headers).at(first.header.hash).set(first)
  batch.use(active).at(first.height).set(first.header.hash)
  batch.use(origins).at().set(origin)
  try {
    await batch.commit()
  } catch (error) {
    const other = await store.use(origins).get()
    if (other) return other
    throw error
  }
  return origin
}
