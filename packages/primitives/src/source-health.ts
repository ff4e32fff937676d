/**
 * The health of a source on the network, from its last answers and never from the configuration. A change of state is
 * reported once; the attempts after it are not.
 */

import { unref } from './timeout.ts'

/** `stalled`: it accepts questions and does not answer them. */
export type HealthState = 'untried' | 'working' | 'failing' | 'stalled'

export interface Health {
  readonly state: HealthState
  /** When the state began. Times are unix milliseconds. */
  readonly since: number
  readonly lastSuccess: number | undefined
  /** Of the last failure; undefined while the source works. */
  readonly lastError: string | undefined
  readonly lastErrorAt: number | undefined
}

export interface SourceHealthOptions {
  /** Told of each change of state but the first to `working`. */
  readonly onChange?: (health: Health) => void
  /** Milliseconds that a question may be open before the source is stalled, 10,000 unless given. */
  readonly patience?: number
}

const PATIENCE_MS = 10_000

export class SourceHealth {
  readonly #onChange: (health: Health) => void
  readonly #patience: number
  #health: Health
  /** Whether the last question was open for longer than the patience. */
  #isLate = false

  constructor({ onChange = () => undefined, patience = PATIENCE_MS }: SourceHealthOptions = {}) {
    this.#onChange = onChange
    this.#patience = patience
    const [lastSuccess, lastError, lastErrorAt] = [undefined, undefined, undefined]
    this.#health = { state: 'untried', since: Date.now(), lastSuccess, lastError, lastErrorAt }
  }

  get current(): Health {
    return this.#health
  }

  /** A question is open from now until the result is called. */
  asked(): () => void {
    const since = Date.now()
    this.#isLate = false
    const timer = setTimeout(() => {
      this.#isLate = true
      const { state } = this.#health
      if (state === 'failing' || state === 'stalled') return
      const lastError = `no answer for ${this.#patience / 1000} s`
      this.#set({ state: 'stalled', since, lastError, lastErrorAt: Date.now() })
    }, this.#patience)
    unref(timer)
    return () => clearTimeout(timer)
  }

  /** Asks, and takes an answer for a sign of life; a refusal is for the caller to judge. */
  async ask<T>(question: () => Promise<T>): Promise<T> {
    const end = this.asked()
    try {
      const answer = await question()
      const { state } = this.#health
      if (state === 'untried' || state === 'stalled') this.succeeded()
      return answer
    } finally {
      end()
    }
  }

  succeeded(): void {
    this.#isLate = false
    this.#set({ state: 'working', lastSuccess: Date.now(), lastError: undefined })
  }

  failed(reason: string): void {
    this.#set({
      state: this.#isLate ? 'stalled' : 'failing',
      lastError: reason,
      lastErrorAt: Date.now()
    })
  }

  #set(change: Partial<Health> & { readonly state: HealthState }): void {
    const { state } = this.#health
    const isChange = change.state !== state
    this.#health = { ...this.#health, ...(isChange && { since: Date.now() }), ...change }
    if (isChange && !(state === 'untried' && change.state === 'working')) this.#onChange(this.#health)
  }
}
