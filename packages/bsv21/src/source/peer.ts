/**
 * Another Quoin node as a source. Its journal is followed (`GET /live`) from a saved position, so nothing is lost across
 * reconnects. Without a position, or when the journal no longer reaches back to it, all transactions of its topics are listed
 * first (`POST /requestSyncResponse`): the deployments, then each token. Transactions are fetched with their ancestry
 * (`GET /beef/:txid`).
 */
import { Beef, HttpService } from '@quoin/chain'
import { httpPeer, type Peer, readSyncResponse } from '@quoin/overlay'
import {
  Backoff,
  type BackoffOptions,
  eventsOf,
  formatTxid,
  isRemote,
  QuoinError,
  sleep,
  type Topic,
  type Txid,
  txidOf
} from '@quoin/primitives'
import type { Batch, Store, StoreReads } from '@quoin/store'
import { outputs, progressFields } from '@quoin/txo'
import { isDeployment, tokenOutputs } from '../rules.ts'
import { DISCOVERY, topicOf } from '../topic-names.ts'
import { tokenTransactionsOf } from './journal-event.ts'
import {
  type Delivery,
  type FollowOptions,
  IDLE_STATUS,
  type Source,
  type SourceStatus,
  type SourceTransaction,
  type TransactionSource
} from './source.ts'

/** Rows of a page, and concurrent fetches. */
const PAGE = 500
const BATCH_SIZE = 8
/** The limit of a BEEF. */
const MAX_BYTES = 32 * 1024 * 1024
/** The node sends a heartbeat every 15 seconds. */
const SILENCE = 60_000
const TIMEOUT = 30_000

export interface PeerOptions {
  readonly backoff?: BackoffOptions
  /** Called for each transient error. */
  readonly onWarning?: (error: QuoinError) => void
  /** Called for each change of the status. */
  readonly onStatus?: (status: SourceStatus) => void
}

const { progress } = outputs.collections
const { live, peer: peerField } = progressFields.collections

export class PeerSource implements Source, TransactionSource {
  readonly name: string
  readonly #url: string
  readonly #service: HttpService
  readonly #peer: Peer
  readonly #backoff: Backoff
  readonly #onWarning: ((error: QuoinError) => void) | undefined
  readonly #onStatus: ((status: SourceStatus) => void) | undefined
  #status = IDLE_STATUS

  constructor(url: string, options: PeerOptions = {}) {
    const { backoff = { first: 500, limit: 60_000 }, onWarning, onStatus } = options
    this.#service = new HttpService(url, { timeout: TIMEOUT, maxBytes: MAX_BYTES })
    this.#url = this.#service.name
    this.#peer = httpPeer(url, { attempts: 1 })
    this.name = `node ${this.#url}`
    this.#backoff = new Backoff(backoff)
    this.#onWarning = onWarning
    this.#onStatus = onStatus
  }

  get status(): SourceStatus {
    return this.#status
  }

  async transaction(txid: Txid, { signal }: FollowOptions = {}): Promise<Beef | undefined> {
    const bytes = await this.#beef(txid, signal)
    const beef = bytes && parseBeef(bytes)
    if (bytes && !beef) throw this.#service.failure(pathOf(txid), 'answers with a malformed BEEF')
    return beef
  }

  async #beef(txid: Txid, signal: AbortSignal | undefined): Promise<Uint8Array | undefined> {
    const { status, bytes } = await this.#service.ask(pathOf(txid), { signal }, [404])
    return status === 404 ? undefined : bytes
  }

  async saved(reads: StoreReads): Promise<number | undefined> {
    const stored = await reads.use(progress).at().get(live, this.#url)
    return stored === undefined ? undefined : Number(stored)
  }

  async *deliveries(store: Store, { signal }: FollowOptions = {}): AsyncGenerator<Delivery, void, undefined> {
    const place: Place = { position: await this.saved(store) }
    while (!signal?.aborted) {
      this.#set({ state: 'connecting' })
      try {
        if (place.position === undefined) yield* this.#catchUp(store, place, signal)
        yield* this.#follow(place, signal)
      } catch (error) {
        // An error after the abort is caused by it.
        if (signal?.aborted) break
        if (!isRemote(error)) throw error
        if (error.details['code'] === GONE) place.position = undefined
        this.#warn(error)
      }
      await sleep(this.#backoff.next(), { signal })
    }
    this.#set({ state: 'ended' })
  }

  /** The transactions that its topics list, once. Errors are thrown, transient ones too. */
  listed(store: Store, { signal }: FollowOptions = {}): AsyncGenerator<Delivery, void, undefined> {
    return this.#catchUp(store, { position: undefined }, signal)
  }

  /** Lists all transactions of its topics; later changes follow the saved journal position. */
  async *#catchUp(
    store: Store,
    place: Place,
    signal: AbortSignal | undefined
  ): AsyncGenerator<Delivery, void, undefined> {
    const position = await this.#lastPosition(signal)
    const tokens = new Set<Topic>()
    for await (const { transactions } of this.#listed(DISCOVERY, 0, signal)) {
      for (const topic of transactions.flatMap(tokensOf)) tokens.add(topic)
      yield this.#delivery(transactions, () => undefined)
    }
    for (const topic of tokens) {
      const field: [Topic, string] = [topic, `${this.#url}#source`]
      const kept = await store
        .use(progress)
        .at()
        .get(peerField, ...field)
      for await (const page of this.#listed(topic, Number(kept ? decoder.decode(kept) : 0), signal)) {
        yield this.#delivery(page.transactions, batch =>
          batch
            .use(progress)
            .at()
            .set(peerField, field, encoder.encode(`${page.last}`))
        )
      }
    }
    yield this.#delivery([], batch => this.#mark(batch, position))
    place.position = position
    this.#backoff.reset()
  }

  async *#listed(
    topic: Topic,
    from: number,
    signal: AbortSignal | undefined
  ): AsyncGenerator<
    { readonly transactions: readonly SourceTransaction[]; readonly last: number },
    void,
    undefined
  > {
    for (let applied = from; ; ) {
      const answer = await this.#list(topic, applied, signal)
      const rows = answer?.applied?.transactions ?? []
      const last = rows.at(-1)
      if (!last || last.score <= applied) return
      applied = last.score
      yield {
        transactions: await this.#fetch(
          rows.map(({ outpoint }) => txidOf(outpoint)),
          signal
        ),
        last: applied
      }
    }
  }

  /** Undefined for a topic that the node does not have: the token is not active there. */
  async #list(topic: Topic, applied: number, signal: AbortSignal | undefined) {
    try {
      const answer = await this.#peer.syncResponse(
        topic,
        { version: 1, since: 0, limit: PAGE, applied },
        signal
      )
      return readSyncResponse(answer, PAGE)
    } catch (error) {
      if (error instanceof QuoinError && error.details['status'] === UNKNOWN_TOPIC) return undefined
      throw error
    }
  }

  async *#follow(place: Place, signal: AbortSignal | undefined): AsyncGenerator<Delivery, void, undefined> {
    const headers = { 'last-event-id': `${place.position}` }
    for await (const events of eventsOf(`${this.#url}/live`, { headers, silence: SILENCE, signal })) {
      this.#set({ state: 'reading', lastError: undefined })
      this.#backoff.reset()
      const wanted = new Map<string, Txid>()
      let position = place.position!
      let isGone = false
      for (const { event, id, data } of events) {
        isGone ||= event === 'gone'
        if (/^\d{1,15}$/.test(id)) position = Number(id)
        if (data === '' || isGone) continue
        for (const txid of this.#wanted(event, data)) wanted.set(formatTxid(txid), txid)
      }
      const transactions = await this.#fetch([...wanted.values()], signal)
      if (transactions.length > 0 || position !== place.position) {
        const upTo = position
        yield this.#delivery(transactions, batch => this.#mark(batch, upTo))
        place.position = position
      }
      if (isGone) throw gone(this.name)
      this.#set({ state: 'waiting', at: position, end: position })
    }
  }

  /** An unreadable change is skipped, so that later ones are delivered. */
  #wanted(event: string, data: string): Txid[] {
    try {
      return tokenTransactionsOf(event, data)
    } catch (error) {
      if (!isRemote(error)) throw error
      this.#warn(error)
      return []
    }
  }

  #warn(error: QuoinError): void {
    this.#set({ lastError: error.message })
    this.#onWarning?.(error)
  }

  /** The last journal position; every stream begins with it. */
  async #lastPosition(signal: AbortSignal | undefined): Promise<number> {
    for await (const [first] of eventsOf(`${this.#url}/live`, { silence: TIMEOUT, signal })) {
      if (first && /^\d{1,15}$/.test(first.id)) return Number(first.id)
    }
    throw new QuoinError('ERR_SOURCE_FORMAT', `${this.name} does not say where its journal ends`)
  }

  /** Fetches BEEFs. A transaction that the node no longer has is delivered without one. */
  async #fetch(txids: readonly Txid[], signal: AbortSignal | undefined): Promise<SourceTransaction[]> {
    const staged: SourceTransaction[] = []
    for (let i = 0; i < txids.length; i += BATCH_SIZE) {
      const part = txids.slice(i, i + BATCH_SIZE)
      const beefs = await Promise.all(part.map(txid => this.#beef(txid, signal)))
      staged.push(
        ...part.map((txid, n) => ({ txid, beef: beefs[n] && parseBeef(beefs[n]), mined: undefined }))
      )
    }
    return staged
  }

  #delivery(transactions: readonly SourceTransaction[], mark: (batch: Batch) => void): Delivery {
    this.#set({ state: 'reading', transactions: this.#status.transactions + transactions.length })
    return { transactions, reorgFrom: undefined, mark }
  }

  #mark(batch: Batch, position: number): void {
    batch.use(progress).at().set(live, [this.#url], BigInt(position))
  }

  #set(change: Partial<SourceStatus>): void {
    this.#status = { ...this.#status, ...change }
    this.#onStatus?.(this.#status)
  }
}

/** A journal position; undefined until it is found. */
interface Place {
  position: number | undefined
}

/** Statuses for a position that the journal no longer has, and for an unknown topic. */
const GONE = 410
const UNKNOWN_TOPIC = 400
const encoder = new TextEncoder()
const decoder = new TextDecoder()

const gone = (name: string): QuoinError =>
  new QuoinError('ERR_SOURCE_REFUSED', `the journal of ${name} no longer goes back so far`, { code: GONE })

/** The topics of deployed tokens. */
const tokensOf = ({ txid, beef }: SourceTransaction): Topic[] => {
  const transaction = beef?.find(txid)?.transaction
  if (!transaction) return []
  return [...tokenOutputs(transaction).values()].filter(isDeployment).map(({ id }) => topicOf(id))
}

const pathOf = (txid: Txid): string => `/beef/${formatTxid(txid)}`

/** Undefined for a malformed BEEF: the pipeline fetches the transaction from another source. */
const parseBeef = (bytes: Uint8Array): Beef | undefined => {
  try {
    return Beef.parse(bytes)
  } catch (error) {
    if (error instanceof QuoinError) return undefined
    throw error
  }
}
