/**
 * Proofs of transactions that wait for one, from a source that is asked: after each new block for all that wait, oldest
 * first. (Where miners call `/arc-ingest`, or the chain is the node's own, they come by themselves.)
 */
import { chain, formatHash, type HeaderStore, type ProofSource } from '@quoin/chain'
import { type Engine, healthLog, type Logger } from '@quoin/overlay'
import { formatTxid, QuoinError, SourceHealth, type Txid } from '@quoin/primitives'
import { type PartState, sourceState } from './parts.ts'

const PAGE = 500
/** Questions that are open at once. */
const AT_ONCE = 8
/** Milliseconds between looks for blocks that another process added. */
const EVERY_MS = 60_000
/** And after a source that could not be asked, at first. */
const BACKOFF_MS = 5000
const MAX_BACKOFF_MS = 300_000

export class ProofWatch {
  readonly #engine: Engine
  readonly #headers: HeaderStore
  readonly #source: ProofSource
  readonly #logger: Logger
  readonly #health: SourceHealth
  readonly #ending = new AbortController()
  /** The tip for which all that waited were asked for. */
  #asked: string | undefined
  #failures = 0
  #timer: NodeJS.Timeout | undefined
  #ignore: () => void = () => undefined
  #working: Promise<void> = Promise.resolve()

  constructor(engine: Engine, headers: HeaderStore, source: ProofSource, logger: Logger) {
    this.#engine = engine
    this.#headers = headers
    this.#source = source
    this.#logger = logger
    const { name } = source
    this.#health = new SourceHealth({ onChange: healthLog(logger, 'a source of proofs', { source: name }) })
  }

  get name(): string {
    return this.#source.name
  }

  state(): PartState {
    return sourceState(this.#health.current)
  }

  start(): void {
    this.#ignore = this.#headers.onTip(() => this.#lookIn(0))
    this.#lookIn(0)
  }

  #lookIn(milliseconds: number): void {
    if (this.#ending.signal.aborted) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#working = this.#working
        .then(() => this.once())
        .then(() =>
          this.#lookIn(
            this.#failures > 0 ? Math.min(BACKOFF_MS * 2 ** (this.#failures - 1), MAX_BACKOFF_MS) : EVERY_MS
          )
        )
    }, milliseconds).unref()
  }

  /** Asks for all that wait, unless that was done since the last block; answers when it was tried. */
  async once(): Promise<void> {
    const tip = formatHash((await this.#headers.tip()).header.hash)
    if (tip === this.#asked) return
    try {
      const mined = await this.#askAll()
      this.#asked = tip
      this.#failures = 0
      this.#health.succeeded()
      if (mined > 0) this.#logger.info('proofs', { source: this.#source.name, mined })
    } catch (error) {
      if (this.#ending.signal.aborted) return
      this.#failures++
      this.#health.failed(error instanceof Error ? error.message : String(error))
    }
  }

  async #askAll(): Promise<number> {
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
        for (const txid of txids) if (await this.#ask(txid)) mined++
      }
      await Promise.all(Array.from({ length: AT_ONCE }, ask))
    } while (cursor !== undefined)
    return mined
  }

  /** Whether it was mined. What the source does not know is left waiting: others may know it. */
  async #ask(txid: Txid): Promise<boolean> {
    const { signal } = this.#ending
    signal.throwIfAborted()
    const answer = await this.#health.ask(() => this.#source.proof(txid, { signal }))
    if (answer.status !== 'mined') return false
    try {
      await this.#engine.handleNewMerkleProof(txid, answer.bump)
      return true
    } catch (error) {
      // A block that the headers do not have yet, or a transaction that was taken back meanwhile.
      if (!(error instanceof QuoinError)) throw error
      if (error.code !== 'ERR_PROOF_INVALID' && error.code !== 'ERR_TX_UNKNOWN') throw error
      this.#logger.warn('proof refused', { txid: formatTxid(txid), reason: error.message })
      return false
    }
  }

  async close(): Promise<void> {
    this.#ending.abort()
    this.#ignore()
    clearTimeout(this.#timer)
    await this.#working
  }
}
