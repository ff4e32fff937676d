/**
 * A circuit breaker for one lookup service: after some failures in a row, calls pause for a time that doubles with each
 * failure, and one entry at a time is tried until one succeeds.
 */
const THRESHOLD = 5
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 60_000

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
    const pause = FIRST_PAUSE_MS * 2 ** Math.min(this.#failures - THRESHOLD, 10)
    this.#retryAt = Date.now() + Math.min(pause, LONGEST_PAUSE_MS)
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
