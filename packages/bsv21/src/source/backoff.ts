/** Waiting longer after each failure, and never in step with others. */
import { setTimeout as sleep } from 'node:timers/promises'

export interface BackoffOptions {
  /** Milliseconds before the second attempt, about; each further one waits twice as long. */
  readonly first: number
  readonly limit: number
}

export class Backoff {
  readonly #first: number
  readonly #limit: number
  #failures = 0

  constructor({ first, limit }: BackoffOptions) {
    this.#first = first
    this.#limit = limit
  }

  /** Something went right. */
  reset(): void {
    this.#failures = 0
  }

  /** Something went wrong: resolves when it is time to try again, or the signal aborts. */
  async wait(signal?: AbortSignal): Promise<void> {
    const most = Math.min(this.#first * 2 ** this.#failures++, this.#limit)
    const milliseconds = most * (0.5 + Math.random() / 2)
    try {
      await sleep(milliseconds, undefined, signal && { signal })
    } catch (error) {
      if (!signal?.aborted) throw error
    }
  }
}
