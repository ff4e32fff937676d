import { type BackoffOptions, backoffDelay } from '@quoin/primitives'

/** Milliseconds. Without jitter: modules do not share a server that restarts could overload. */
const RESTART: BackoffOptions = { first: 100, limit: 60_000, jitter: 0 }
/** Milliseconds of a run after which the delays begin again. */
const HEALTHY_MS = 60_000

/** Delays between the starts of a plug-in process. */
export class RestartBackoff {
  #failures = 0
  #until = 0

  /** Records an end and returns the delay; `ranMs` is undefined for a process that never ran. */
  next(ranMs: number | undefined): number {
    if (ranMs !== undefined && ranMs > HEALTHY_MS) this.#failures = 0
    const delay = backoffDelay(++this.#failures, RESTART)
    this.#until = Date.now() + delay
    return delay
  }

  /** Records a change of the module. */
  reset(): void {
    this.#failures = 0
    this.#until = 0
  }

  /** Seconds until the next start, at least one. */
  get seconds(): number {
    return Math.max(1, Math.ceil((this.#until - Date.now()) / 1000))
  }
}
