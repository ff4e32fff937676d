/** Keeps the headers of a node where their source is: asks now and then, and less often while that fails. */
import { type HeaderSource, type HeaderStore, syncHeaders } from '../chain/index.ts'
import type { Logger } from '../overlay/index.ts'

const EVERY_MS = 15_000
const MAX_BACKOFF_MS = 300_000

export class HeaderSync {
  readonly #headers: HeaderStore
  readonly #source: HeaderSource
  readonly #logger: Logger
  readonly #ending = new AbortController()
  #behind: string | undefined
  #failures = 0
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> = Promise.resolve()

  constructor(headers: HeaderStore, source: HeaderSource, logger: Logger) {
    this.#headers = headers
    this.#source = source
    this.#logger = logger
    this.#behind = `the headers of ${source.name} were not asked for yet`
  }

  /** Why the headers are not where the source is; undefined when they are. */
  get behind(): string | undefined {
    return this.#behind
  }

  start(): void {
    this.#working = this.once().then(() => {
      if (this.#ending.signal.aborted) return
      const wait = Math.min(EVERY_MS * 2 ** this.#failures, MAX_BACKOFF_MS)
      this.#timer = setTimeout(() => this.start(), wait).unref()
    })
  }

  /** Resolves when it was tried; `behind` says how that went. */
  async once(): Promise<void> {
    const { name } = this.#source
    try {
      const { tip, added, removed } = await syncHeaders(this.#headers, this.#source, {
        signal: this.#ending.signal,
        onProgress: ({ height, target }) => {
          if (height < target) this.#behind = `headers are at ${height} of ${target}`
        }
      })
      this.#failures = 0
      this.#behind = undefined
      if (added > 0) this.#logger.info('headers', { source: name, height: tip.height, added, removed })
    } catch (error) {
      if (this.#ending.signal.aborted) return
      this.#failures++
      const reason = error instanceof Error ? error.message : String(error)
      // What was true the last time is still the best there is: only a node that never caught up is behind.
      if (this.#behind !== undefined) this.#behind = reason
      this.#logger.warn('headers cannot be synced', { source: name, reason, failures: this.#failures })
    }
  }

  async close(): Promise<void> {
    this.#ending.abort()
    clearTimeout(this.#timer)
    await this.#working
  }
}
