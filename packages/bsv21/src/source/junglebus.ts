/**
 * JungleBus as a source: the transactions of a subscription, block by block, and unmined ones on request. It reconnects
 * while deliveries are requested, each time from the first incomplete block. The progress is a field of `h:prog`, some
 * blocks behind: blocks that a reorg may replace are delivered again after a restart.
 */
import {
  Backoff,
  type BackoffOptions,
  fromHex,
  hasCode,
  isRemote,
  QuoinError,
  sleep
} from '@quoin/primitives'
import type { Batch, Store, StoreReads } from '@quoin/store'
import { outputs, progressFields } from '@quoin/txo'
import type { BlockTracker } from './block-tracker.ts'
import type { Publication } from './centrifuge.ts'
import { CentrifugeConnection } from './centrifuge-connection.ts'
import {
  CONTROL,
  type Control,
  readControl,
  readSentTransaction,
  type SentTransaction
} from './junglebus-messages.ts'
import { JungleBusRest } from './junglebus-rest.ts'
import { toSourceTransaction } from './junglebus-transaction.ts'
import {
  type Delivery,
  type FollowOptions,
  IDLE_STATUS,
  type Source,
  type SourceStatus,
  type SourceTransaction
} from './source.ts'
import { REPEATS, SubscriptionProgress } from './subscription-progress.ts'

export interface JungleBusOptions {
  /** The URL, such as `https://junglebus.gorillapool.io`. */
  readonly url: string
  /** The id of the subscription, 64 hexadecimal digits. */
  readonly subscription: string
  /** The first block, for a store without progress. */
  readonly fromBlock: number
  /** Whether unmined transactions are delivered. */
  readonly mempool?: boolean
  /** The deepest expected reorg, in blocks; 6 unless given. */
  readonly reorgDepth?: number
  /** The operator's token; without it, the token of the subscription. */
  readonly token?: string
  /** Milliseconds for connecting, and for each answer. */
  readonly timeout?: number
  /** Milliseconds after which missing transactions of a block are requested again. */
  readonly patience?: number
  readonly backoff?: BackoffOptions
  /** Called for each transient error. */
  readonly onWarning?: (error: QuoinError) => void
  /** Called for each change of the status. */
  readonly onStatus?: (status: SourceStatus) => void
}

/** Transactions of one delivery. */
const PART = 1000
/** Patience intervals without a block after which the source asks for the chain height. */
const IDLE_INTERVALS = 12

const { progress } = outputs.collections
const { subscription: subscriptionField } = progressFields.collections

export class JungleBus implements Source {
  readonly name: string
  /** The same service over HTTP. */
  readonly rest: JungleBusRest
  readonly #url: string
  readonly #options: JungleBusOptions
  readonly #id: Uint8Array
  readonly #backoff: Backoff
  readonly #patience: number
  readonly #depth: number
  #status = IDLE_STATUS

  constructor(options: JungleBusOptions) {
    const { subscription, fromBlock, reorgDepth = 6, patience = 5000, timeout } = options
    if (!/^[0-9a-f]{64}$/.test(subscription))
      throw wrong('a subscription is 64 hexadecimal digits', subscription)
    if (!isCount(fromBlock)) throw wrong('a block is a whole number', fromBlock)
    if (!isCount(reorgDepth)) throw wrong('the depth of a reorg is a whole number', reorgDepth)
    this.rest = new JungleBusRest(options.url, timeout === undefined ? {} : { timeout })
    this.rest.token = options.token ?? ''
    this.name = `junglebus ${this.rest.name}`
    this.#url = `${this.rest.name.replace(/^http/, 'ws')}/connection/websocket?format=protobuf`
    this.#options = options
    this.#id = fromHex(subscription)
    this.#backoff = new Backoff(options.backoff ?? { first: 500, limit: 60_000 })
    this.#patience = patience
    this.#depth = reorgDepth
  }

  get status(): SourceStatus {
    return this.#status
  }

  saved(reads: StoreReads): Promise<number | undefined> {
    return reads.use(progress).at().get(subscriptionField, this.#id)
  }

  async *deliveries(store: Store, { signal }: FollowOptions = {}): AsyncGenerator<Delivery, void, undefined> {
    const run = new SubscriptionProgress((await this.saved(store)) ?? this.#options.fromBlock)
    while (!signal?.aborted) {
      let connection: CentrifugeConnection | undefined
      try {
        connection = await this.#connect(run.blocks.next, signal)
        this.#set({ state: 'reading', lastError: undefined, end: await this.#tip(signal) })
        yield* this.#follow(connection, run, signal)
      } catch (error) {
        // An error after the abort is caused by it.
        if (signal?.aborted) break
        if (!isRemote(error)) throw error
        this.#warn(error)
      } finally {
        connection?.close()
      }
      run.blocks.again()
      this.#set({ state: 'connecting' })
      await sleep(this.#backoff.next(), { signal })
    }
    this.#set({ state: 'ended' })
  }

  async #connect(next: number, signal: AbortSignal | undefined): Promise<CentrifugeConnection> {
    const { subscription, mempool = false, timeout = 30_000, token } = this.#options
    this.#set({ state: 'connecting', at: next })
    if (this.rest.token === '') this.rest.token = await this.rest.subscriptionToken(subscription, { signal })
    const channel = `query:${subscription}`
    try {
      return await CentrifugeConnection.open(this.#url, {
        token: this.rest.token,
        // The control channel is subscribed before the blocks, so that no end of a block is missed.
        channels: [`${channel}:control`, `${channel}:${next}:0`, ...(mempool ? [`${channel}:mempool`] : [])],
        timeout,
        signal,
        renew: async () => {
          this.rest.token = await this.rest.refreshedToken()
          return this.rest.token
        }
      })
    } catch (error) {
      // The token may have expired.
      if (hasCode(error, 'ERR_SOURCE_REFUSED')) this.rest.token = token ?? ''
      throw error
    }
  }

  /** The chain height, for the status only. */
  async #tip(signal: AbortSignal | undefined): Promise<number | undefined> {
    try {
      return await this.rest.tip({ signal })
    } catch (error) {
      if (!isRemote(error)) throw error
      return this.#status.end
    }
  }

  /** Delivers until the connection is lost, or has to resume at another block. */
  async *#follow(
    connection: CentrifugeConnection,
    run: SubscriptionProgress,
    signal: AbortSignal | undefined
  ): AsyncGenerator<Delivery, void, undefined> {
    const { fromBlock } = this.#options
    for (;;) {
      const publications = await connection.next(PART, this.#waitFor(run))
      const { transactions, reorg, failed } = this.#read(publications, run.blocks)
      if (reorg !== undefined) run.reorg(Math.max(reorg - this.#depth, fromBlock))
      const { next } = run.blocks
      if (next > run.given) {
        run.lookedAt = performance.now()
        this.#backoff.reset()
        this.#set({ lastError: undefined, end: Math.max(this.#status.end ?? 0, run.blocks.lastDone) })
      }
      if (transactions.length > 0 || next !== run.given || reorg !== undefined) {
        const place = Math.max(run.place, next - this.#depth)
        this.#set({ at: next, transactions: this.#status.transactions + transactions.length })
        yield {
          transactions,
          reorgFrom: reorg === undefined ? undefined : next,
          mark: batch => this.#mark(batch, place)
        }
        run.place = place
        run.given = next
      }
      if (failed) throw failed
      if (signal?.aborted || reorg !== undefined || this.#isSomethingLost(run)) return
      if (await this.#isBehind(run, signal)) return
    }
  }

  /** Milliseconds until a check is due without publications. */
  #waitFor({ blocks, given }: SubscriptionProgress): number {
    if (blocks.next !== given) return 0
    return blocks.incomplete(Number.POSITIVE_INFINITY) ? this.#patience : this.#patience * IDLE_INTERVALS
  }

  /**
   * Reads publications up to the first error or reorg; transactions before it are delivered. After a reorg the rest is sent
   * again.
   */
  #read(publications: readonly Publication[], blocks: BlockTracker): Part {
    this.#set({ state: publications.length > 0 ? 'reading' : 'waiting' })
    const part: Part = { transactions: [], reorg: undefined, failed: undefined }
    try {
      for (const publication of publications) {
        this.#readOne(publication, blocks, part)
        if (part.reorg !== undefined) break
      }
    } catch (error) {
      if (!isRemote(error)) throw error
      part.failed = error
    }
    return part
  }

  #readOne({ channel, data }: Publication, blocks: BlockTracker, part: Part): void {
    if (!channel.endsWith(':control')) {
      const isMined = !channel.endsWith(':mempool')
      const sent = this.#readTransaction(data)
      if (sent && isMined) blocks.saw(sent.height, sent.id)
      if (sent) part.transactions.push(toSourceTransaction(sent, isMined))
      return
    }
    const control = readControl(data)
    const { code, block, transactions } = control
    if (code === CONTROL.blockDone) blocks.done(block, transactions, performance.now())
    else if (code === CONTROL.reorg) part.reorg = Math.min(block || blocks.next, blocks.next)
    else if (code === CONTROL.error || code === CONTROL.failure) throw failure(this, control)
  }

  /** An unreadable transaction counts as missing in its block, and is requested again with it. */
  #readTransaction(data: Uint8Array): SentTransaction | undefined {
    try {
      return readSentTransaction(data)
    } catch (error) {
      if (!isRemote(error)) throw error
      this.#warn(error)
      return undefined
    }
  }

  /** Whether to resubscribe to recover missing transactions. Gives up after `REPEATS` attempts. */
  #isSomethingLost(run: SubscriptionProgress): boolean {
    const missing = run.blocks.incomplete(performance.now() - this.#patience)
    if (!missing) return false
    const { height, seen } = missing
    const isSettled = run.isRepeated(height, seen)
    this.#warn(
      new QuoinError(
        'ERR_SOURCE_FORMAT',
        `of block ${height} ${this.name} said that it sent more than the ${seen} that came${isSettled ? `, ${REPEATS} times` : ''}`,
        { source: this.name, height, seen }
      )
    )
    if (isSettled) run.blocks.accept(height)
    return !isSettled
  }

  /**
   * Whether blocks were lost whole. A later block would reveal that; without one, the chain height is asked for once in a
   * while.
   */
  async #isBehind(run: SubscriptionProgress, signal: AbortSignal | undefined): Promise<boolean> {
    if (performance.now() - run.lookedAt < this.#patience * IDLE_INTERVALS) return false
    run.lookedAt = performance.now()
    const tip = await this.#tip(signal)
    return tip !== undefined && run.isBehind(tip)
  }

  #mark(batch: Batch, place: number): void {
    batch.use(progress).at().set(subscriptionField, [this.#id], place)
  }

  #warn(error: QuoinError): void {
    this.#set({ lastError: error.message })
    this.#options.onWarning?.(error)
  }

  #set(change: Partial<SourceStatus>): void {
    this.#status = { ...this.#status, ...change }
    this.#options.onStatus?.(this.#status)
  }
}

/** The content of publications that arrived together. */
interface Part {
  readonly transactions: SourceTransaction[]
  /** The first block that a reorg replaced. */
  reorg: number | undefined
  failed: QuoinError | undefined
}

const failure = ({ name }: Source, { code, message }: Control): QuoinError =>
  new QuoinError('ERR_SOURCE_REFUSED', `${name} says: ${message || code}`, { source: name, code })

const isCount = (value: number): boolean => Number.isInteger(value) && value >= 0 && value <= 0xffffffff

const wrong = (message: string, given: unknown): QuoinError =>
  new QuoinError('ERR_SOURCE_OPTION', message, { given })
