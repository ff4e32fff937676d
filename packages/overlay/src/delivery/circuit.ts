/**
 * A circuit breaker for one lookup service: after some failures in a row, calls pause for a time that doubles with each
 * failure, and one entry at a time is tried until one succeeds.
 */
import { type BackoffOptions, backoffDelay } from '@quoin/primitives'

const THRESHOLD = 5
const PAUSE: BackoffOptions = { first: 500, limit: 60_000, jitter: 0 }

export class Circuit {
  #failures = 0
  #retryAt = 0

  succeeded(): void {
    this.#failures = 0
    this.#retryAt = 0
  }

  failed(): void {
    this.#failures++
    if (!this.isTripped) return
    this.#retryAt = Date.now() + backoffDelay(this.#failures - THRESHOLD + 1, PAUSE)
  }

  /** No success since the last failures: calls are trials. */
  get isTripped(): boolean {
    return this.#failures >= THRESHOLD
  }

  /** Milliseconds until the next trial; 0 when calls may be made. */
  get pause(): number {
    return Math.max(0, this.#retryAt - Date.now())
  }
}
