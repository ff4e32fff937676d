/** Syncs the headers of a node with their source, less often while the source fails. */
import { type HeaderSource, type HeaderStore, syncHeaders } from '@quoin/chain'
import { healthLog, type Logger } from '@quoin/overlay'
import { SourceHealth, Task, type TaskGate } from '@quoin/primitives'
import { type PartState, sourceState } from './parts.ts'

const INTERVAL_MS = 15_000
const BACKOFF = { first: 2 * INTERVAL_MS, limit: 300_000, jitter: 0 }

export class HeaderSync {
  readonly name: string
  readonly #headers: HeaderStore
  readonly #source: HeaderSource
  readonly #logger: Logger
  readonly #health: SourceHealth
  readonly #task: Task
  /** Why the headers have not reached the tip of the source since the start. */
  #behind: string | undefined = 'not asked yet'

  constructor(headers: HeaderStore, source: HeaderSource, logger: Logger, gate?: TaskGate) {
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
    this.#task = new Task({
      name: `headers ${name}`,
      interval: INTERVAL_MS,
      backoff: BACKOFF,
      gate,
      health,
      work: signal => this.#sync(signal)
    })
  }

  /** Only a node that never reached the tip of its source is unready: later, the headers that it has are the best known. */
  state(): PartState {
    const state = sourceState(this.#health.current)
    if (this.#behind === undefined) return state
    return { ...state, status: 'error', message: state.lastError ?? this.#behind }
  }

  start(): void {
    this.#task.start()
  }

  /** Resolves after one attempt; `state` has its result. */
  async once(): Promise<void> {
    await this.#task.runOnce()
  }

  async #sync(signal: AbortSignal): Promise<void> {
    const { tip, added, removed } = await syncHeaders(this.#headers, this.#source, {
      signal,
      onProgress: ({ height, target }) => {
        if (height < target) this.#behind = `headers are at ${height} of ${target}`
      }
    })
    this.#behind = undefined
    if (added > 0) this.#logger.info('headers', { source: this.name, height: tip.height, added, removed })
  }

  close(): Promise<void> {
    return this.#task.stop()
  }
}
