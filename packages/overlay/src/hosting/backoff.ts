/** Delays between the starts of a process: each is twice the one before, until the process has run for a minute. */
const FIRST_MS = 100
const LONGEST_MS = 60_000
/** The run after which the delays begin again. */
const HEALTHY_MS = 60_000

export class Backoff {
  #failures = 0
  #until = 0

  /** The pause after an end; `ranMs` is undefined for a process that did not get to run. */
  next(ranMs: number | undefined): number {
    if (ranMs !== undefined && ranMs > HEALTHY_MS) this.#failures = 0
    const pause = Math.min(FIRST_MS * 2 ** Math.min(this.#failures, 16), LONGEST_MS)
    this.#failures++
    this.#until = Date.now() + pause
    return pause
  }

  /** After a change of the module. */
  reset(): void {
    this.#failures = 0
    this.#until = 0
  }

  /** Seconds until the next start, at least one. */
  get seconds(): number {
    return Math.max(1, Math.ceil((this.#until - Date.now()) / 1000))
  }
}
