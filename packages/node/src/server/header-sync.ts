/** Keeps the headers of a node where their source is: asks now and then, and less often while that fails. */
import { type HeaderSource, type HeaderStore, syncHeaders } from '@quoin/chain'
import { healthLog, type Logger } from '@quoin/overlay'
import { SourceHealth } from '@quoin/primitives'
import { type PartState, sourceState } from './parts.ts'

const EVERY_MS = 15_000
const MAX_BACKOFF_MS = 300_000

export class HeaderSync {
  readonly name: string
  readonly #headers: HeaderStore
  readonly #source: HeaderSource
  readonly #logger: Logger
  readonly #health: SourceHealth
  readonly #ending = new AbortController()
  /** Why the headers have not been where the source is since the start. */
  #behind: string | undefined = 'not asked yet'
  #failures = 0
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> = Promise.resolve()

  constructor(headers: HeaderStore, source: HeaderSource, logger: Logger) {
    const { name } = source
    this.name = name
    this.#headers = headers
    this.#logger = logger
    const health = new SourceHealth({ onChange: healthLog(logger, 'a source of headers', { source: name }) })
    this.#health = health
    this.#source = {
      name,
      tip: options => health.ask(() => source.tip(options)),
      headers: (from, count, options) => health.ask(() => source.headers(from, count, options))
    }
  }

  /** Once the headers were where the source is, they are the best there is: only a node that never caught up is unready. */
  state(): PartState {
    const state = sourceState(this.#health.current)
    if (this.#behind === undefined) return state
    return { ...state, status: 'error', message: state.lastError ?? this.#behind }
  }

  start(): void {
    this.#working = this.once().then(() => {
      if (this.#ending.signal.aborted) return
      const wait = Math.min(EVERY_MS * 2 ** this.#failures, MAX_BACKOFF_MS)
      this.#timer = setTimeout(() => this.start(), wait).unref()
    })
  }

  /** Resolves when it was tried; `state` says how that went. */
  async once(): Promise<void> {
    const { name } = this
    try {
      const { tip, added, removed } = await syncHeaders(this.#headers, this.#source, {
        signal: this.#ending.signal,
        onProgress: ({ height, target }) => {
          if (height < target) this.#behind = `headers are at ${height} of ${target}`
        }
      })
      this.#failures = 0
      this.#behind = undefined
      this.#health.succeeded()
      if (added > 0) this.#logger.info('headers', { source: name, height: tip.height, added, removed })
    } catch (error) {
      if (this.#ending.signal.aborted) return
      this.#failures++
      this.#health.failed(error instanceof Error ? error.message : String(error))
    }
  }

  async close(): Promise<void> {
    this.#ending.abort()
    clearTimeout(this.#timer)
    await this.#working
  }
}
