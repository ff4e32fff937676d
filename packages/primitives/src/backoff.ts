/** Exponential backoff with a limit and jitter, so that clients that failed together do not retry together. */
export interface BackoffOptions {
  /** The delay after the first failure, in the unit of `limit`; each further failure doubles it. */
  readonly first: number
  readonly limit: number
  /** The part of a delay that is random, 0.5 unless given: delays are between half and all of the full one. */
  readonly jitter?: number | undefined
}

/** The delay after so many failures in a row, counted from 1. */
export const backoffDelay = (failures: number, { first, limit, jitter = 0.5 }: BackoffOptions): number => {
  // 2 ** 1024 is infinite, and 0 * Infinity is NaN.
  const full = Math.min(limit, first * 2 ** Math.min(Math.max(failures, 1) - 1, 1023))
  return full * (1 - jitter * Math.random())
}

/** Counts failures in a row. */
export class Backoff {
  readonly #options: BackoffOptions
  #failures = 0

  constructor(options: BackoffOptions) {
    this.#options = options
  }

  get failures(): number {
    return this.#failures
  }

  /** Records a failure and returns the delay before the next attempt. */
  next(): number {
    return backoffDelay(++this.#failures, this.#options)
  }

  /** Records a success. */
  reset(): void {
    this.#failures = 0
  }
}
