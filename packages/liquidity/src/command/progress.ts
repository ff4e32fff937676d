/** The progress of an import as text: the phase, the rows, their rate, and the part of the file that is read. */
import { count } from '@quoin/primitives/command'
import type { LoadProgress } from '../index.ts'

/** Milliseconds between two lines in a log. */
const LOG_INTERVAL = 5_000
/** Milliseconds between two states of the line on a terminal. */
const TERMINAL_INTERVAL = 100

export interface ProgressOptions {
  readonly write: (text: string) => void
  /** Whether one line is rewritten. */
  readonly isTerminal: boolean
  /** The part of the input that is read, from 0 to 1, if its size is known. */
  readonly fraction: () => number | undefined
  /** Milliseconds. */
  readonly clock?: () => number
}

export class ProgressPrinter {
  readonly #options: ProgressOptions
  readonly #clock: () => number
  #phase: LoadProgress['doing'] | undefined
  #begun = 0
  #written = 0

  constructor(options: ProgressOptions) {
    this.#options = options
    this.#clock = options.clock ?? (() => performance.now())
  }

  update({ doing, done }: LoadProgress): void {
    const now = this.#clock()
    const isNewPhase = doing !== this.#phase
    if (isNewPhase) {
      this.#phase = doing
      this.#begun = now
    }
    const { isTerminal, write } = this.#options
    if (!isNewPhase && now - this.#written < (isTerminal ? TERMINAL_INTERVAL : LOG_INTERVAL)) return
    this.#written = now
    const line = this.#line(doing, done, now)
    write(isTerminal ? `\r\u001b[K${line}` : `${line}\n`)
  }

  /** Removes the line from a terminal. */
  end(): void {
    if (this.#options.isTerminal && this.#phase) this.#options.write('\r\u001b[K')
  }

  #line(doing: LoadProgress['doing'], done: number, now: number): string {
    const seconds = (now - this.#begun) / 1000
    const fraction = doing === 'reading' ? this.#options.fraction() : undefined
    return [
      `${doing}: ${count(done)} ${doing === 'indexing' ? 'positions' : 'rows'}`,
      ...(seconds >= 1 ? [`${count(Math.round(done / seconds))} a second`] : []),
      ...(fraction === undefined ? [] : [`${Math.floor(fraction * 100)} % of the file`])
    ].join(', ')
  }
}
