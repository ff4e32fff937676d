/** Throughput of a source over the last minute, and the estimated time left. */
import type { SourceStatus } from '../source/source.ts'

export interface SourceProgress extends SourceStatus {
  readonly source: string
  /** Transactions a second. */
  readonly rate: number
  /** Seconds until `end` is reached at the current speed; undefined when unknown, 0 when reached. */
  readonly left: number | undefined
}

interface Sample {
  /** Seconds. */
  readonly time: number
  readonly at: number | undefined
  readonly transactions: number
}

const WINDOW_S = 60

const MIN_INTERVAL_S = 1

export class Progress {
  readonly #now: () => number
  readonly #samples: Sample[] = []

  /** @param now Seconds. */
  constructor(now: () => number = () => performance.now() / 1000) {
    this.#now = now
  }

  note({ at, transactions }: SourceStatus): void {
    const time = this.#now()
    const last = this.#samples.at(-1)
    if (last && time - last.time < MIN_INTERVAL_S) return
    this.#samples.push({ time, at, transactions })
    while (this.#samples.length > 2 && this.#samples[0]!.time < time - WINDOW_S) this.#samples.shift()
  }

  of(source: string, status: SourceStatus): SourceProgress {
    const [first] = this.#samples
    const seconds = first ? this.#now() - first.time : 0
    const per = (amount: number): number => (seconds > 0 ? amount / seconds : 0)
    const { at, end } = status
    const speed = at !== undefined && first?.at !== undefined ? per(at - first.at) : 0
    const missing = at === undefined || end === undefined ? undefined : Math.max(0, end - at)
    return {
      source,
      ...status,
      rate: per(status.transactions - (first?.transactions ?? status.transactions)),
      left: missing === 0 ? 0 : missing !== undefined && speed > 0 ? missing / speed : undefined
    }
  }
}
