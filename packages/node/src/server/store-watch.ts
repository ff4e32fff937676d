/**
 * Whether the store can be written, from the last commit and from a probe that writes nothing, and whether its server may
 * lose commits; in a reader, whether it is the store of its path still. The log has it once when that changes, so a store
 * that failed is known before the next submission.
 */

import type { Logger } from '@quoin/overlay'
import { hasCode, QuoinError, Task } from '@quoin/primitives'
import type { Store } from '@quoin/store'
import type { PartState } from './parts.ts'

const INTERVAL_MS = 5000
/** A commit that was refused counts for so long: a quota, unlike a full disk, shows in no probe. */
const REFUSAL_MS = 30_000
/** The answer of the probe is the better one. */
const PROBED: ReadonlySet<string> = new Set(['ERR_STORE_CONNECTION', 'ERR_STORE_BUSY'])

export class StoreWatch {
  readonly #store: Store
  readonly #logger: Logger
  readonly #isReadOnly: boolean
  readonly #task = new Task({ name: 'store', interval: INTERVAL_MS, work: () => this.state() })
  #failure: QuoinError | undefined
  #since = Date.now()
  #lastSuccess: number | undefined
  #failedAt: number | undefined
  #warning: string | undefined

  constructor(store: Store, logger: Logger, isReadOnly: boolean) {
    this.#store = store
    this.#isReadOnly = isReadOnly
    this.#logger = logger
  }

  start(): void {
    this.#task.start()
  }

  /** A probe in progress, which may wait for a lost connection, is not awaited. */
  stop(): void {
    void this.#task.stop()
  }

  async state(): Promise<PartState> {
    const failure = await this.#probe()
    if (failure?.code !== this.#failure?.code) this.#changed(failure)
    this.#failure = failure
    const { lastWrite } = this.#store
    if (lastWrite && !lastWrite.error) this.#lastSuccess = lastWrite.at
    const times = { since: this.#since, lastSuccess: this.#lastSuccess, lastErrorAt: this.#failedAt }
    if (!failure && this.#isReadOnly) return { status: 'ok', message: 'read-only: submissions are refused' }
    if (!failure) {
      return { status: 'ok', ...(this.#warning ? { message: this.#warning } : {}), ...times }
    }
    const { code, message } = failure
    return { status: 'error', message: `${code}: ${message}`, lastError: message, ...times }
  }

  /** The warning of a server, of which there are others after a failover. */
  async #warn(): Promise<void> {
    if (!this.#store.isShared) return
    const { warning } = (await this.#store.stats()).details
    if (warning === this.#warning) return
    this.#warning = warning as string | undefined
    if (warning === undefined) this.#logger.info('the server of the store keeps commits as it should')
    else this.#logger.warn('the server of the store may lose commits', { reason: warning })
  }

  async #probe(): Promise<QuoinError | undefined> {
    try {
      await this.#store.probe()
      await this.#warn()
    } catch (error) {
      if (this.#isReadOnly && hasCode(error, 'ERR_STORE_READ_ONLY')) return undefined
      if (error instanceof QuoinError) return error
      return new QuoinError('ERR_STORE_ENGINE', `the store cannot be probed: ${String(error)}`, {
        cause: error
      })
    }
    const { at, error } = this.#store.lastWrite ?? {}
    return error && !PROBED.has(error.code) && Date.now() - at! < REFUSAL_MS ? error : undefined
  }

  #changed(failure: QuoinError | undefined): void {
    this.#since = Date.now()
    if (!failure) {
      this.#logger.info(this.#isReadOnly ? 'the store is current again' : 'the store can be written again')
      return
    }
    this.#failedAt = this.#since
    const { code, message } = failure
    // A server that closes has closed it.
    if (code !== 'ERR_STORE_CLOSED')
      this.#logger.error(this.#isReadOnly ? 'the store is not current' : 'the store cannot be written', {
        code,
        reason: message
      })
  }
}
