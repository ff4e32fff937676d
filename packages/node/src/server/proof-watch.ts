/**
 * Asks a source for the proofs of unmined transactions, oldest first, after each new block. (Miners that call
 * `/arc-ingest`, and the node's own chain, deliver proofs without being asked.)
 */
import { chain, formatHash, type HeaderStore, type ProofSource } from '@quoin/chain'
import { type Engine, healthLog, type Logger } from '@quoin/overlay'
import {
  formatTxid,
  QuoinError,
  reasonOf,
  SourceHealth,
  Task,
  type TaskGate,
  type Txid
} from '@quoin/primitives'
import { type PartState, sourceState } from './parts.ts'

const PAGE = 500
/** Concurrent requests to the source. */
const CONCURRENCY = 8
/** Interval of polls for blocks that another process added. */
const INTERVAL_MS = 60_000
const BACKOFF = { first: 5000, limit: 300_000, jitter: 0 }

export class ProofWatch {
  readonly #engine: Engine
  readonly #headers: HeaderStore
  readonly #source: ProofSource
  readonly #logger: Logger
  readonly #health: SourceHealth
  readonly #task: Task
  /** The tip at which the source was asked for all unmined transactions. */
  #askedAt: string | undefined
  #unsubscribe: () => void = () => undefined

  constructor(engine: Engine, headers: HeaderStore, source: ProofSource, logger: Logger, gate?: TaskGate) {
    this.#engine = engine
    this.#headers = headers
    this.#source = source
    this.#logger = logger
    const { name } = source
    this.#health = new SourceHealth({ onChange: healthLog(logger, 'a source of proofs', { source: name }) })
    this.#task = new Task({
      name: `proofs ${name}`,
      interval: INTERVAL_MS,
      backoff: BACKOFF,
      gate,
      work: signal => this.#askAtNewTip(signal),
      // A pass without a new block asks nothing, and says nothing about the source.
      onPass: ({ error }) => {
        const isStopped = this.#task.signal.aborted || (gate && !gate.signal)
        if (error !== undefined && !isStopped) this.#health.failed(reasonOf(error))
      }
    })
  }

  get name(): string {
    return this.#source.name
  }

  state(): PartState {
    return sourceState(this.#health.current)
  }

  start(): void {
    this.#unsubscribe = this.#headers.onTip(() => this.#task.wake())
    this.#task.start()
  }

  /** Resolves after one attempt; `state` has its result. */
  async once(): Promise<void> {
    await this.#task.runOnce()
  }

  async #askAtNewTip(signal: AbortSignal): Promise<void> {
    const tip = formatHash((await this.#headers.tip()).header.hash)
    if (tip === this.#askedAt) return
    const mined = await this.#askAll(signal)
    this.#askedAt = tip
    this.#health.succeeded()
    if (mined > 0) this.#logger.info('proofs', { source: this.#source.name, mined })
  }

  async #askAll(signal: AbortSignal): Promise<number> {
    const pending = this.#engine.outputs.store.use(chain.collections.log).at('pending')
    let mined = 0
    let cursor: string | undefined
    do {
      const page = await this.#engine.outputs.store.searchSets([pending], {
        limit: PAGE,
        ...(cursor !== undefined && { cursor })
      })
      cursor = page.cursor
      const txids = page.rows.map(({ member }) => member).values()
      const ask = async (): Promise<void> => {
        for (const txid of txids) if (await this.#ask(txid, signal)) mined++
      }
      await Promise.all(Array.from({ length: CONCURRENCY }, ask))
    } while (cursor !== undefined)
    return mined
  }

  /** Whether the transaction was mined. A transaction unknown to the source stays unmined: another source may know it. */
  async #ask(txid: Txid, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted()
    const answer = await this.#health.ask(() => this.#source.proof(txid, { signal }))
    if (answer.status !== 'mined') return false
    try {
      await this.#engine.handleNewMerkleProof(txid, answer.bump)
      return true
    } catch (error) {
      // The block's header is not here yet, or a rollback removed the transaction meanwhile.
      if (!(error instanceof QuoinError)) throw error
      if (error.code !== 'ERR_PROOF_INVALID' && error.code !== 'ERR_TX_UNKNOWN') throw error
      this.#logger.warn('proof refused', { txid: formatTxid(txid), reason: error.message })
      return false
    }
  }

  close(): Promise<void> {
    this.#unsubscribe()
    return this.#task.stop()
  }
}
