/**
 * Log lines from the output of a plug-in process, at a bounded rate and length. Lines beyond the rate are counted and
 * dropped. A stream that exceeds its bytes a second is paused, which slows the process and not the node.
 */
import type { Readable } from 'node:stream'
import type { Logger } from '../logger.ts'

const LINE_BYTES = 1000
/** Lines in a row, and lines a second after that. */
const BURST = 100
const LINES_PER_SECOND = 20
const BYTES_PER_WINDOW = 4 * 1024 * 1024
const WINDOW_MS = 100
/** How often dropped lines are reported. */
const REPORT_MS = 5000
/** Text of V8 and of Node about the end of a process. */
const FATAL = /FATAL ERROR|Fatal JavaScript|# Fatal error|out of memory/i

export class OutputLog {
  readonly #logger: Logger
  #tokens = BURST
  #refilledAt = performance.now()
  #dropped = 0
  #reportTimer: NodeJS.Timeout | undefined
  /** The last line of V8 or of Node with the reason of the end. */
  lastFatal: string | undefined

  constructor(logger: Logger) {
    this.#logger = logger
  }

  read(stream: Readable, level: 'info' | 'warn'): void {
    const line = new LineBuffer()
    let bytes = 0
    let window = performance.now()
    stream.on('data', (chunk: Buffer) => {
      for (const each of line.push(chunk)) this.#line(each, level)
      const now = performance.now()
      if (now - window > WINDOW_MS) {
        bytes = 0
        window = now
      }
      bytes += chunk.length
      if (bytes < BYTES_PER_WINDOW) return
      stream.pause()
      setTimeout(() => stream.resume(), WINDOW_MS - (now - window)).unref()
    })
    stream.on('end', () => {
      const rest = line.end()
      if (rest !== undefined) this.#line(rest, level)
    })
    // The pipe of a killed process may fail; its exit is reported by its own event.
    stream.on('error', () => stream.destroy())
  }

  /** Reports dropped lines, at the end of the process. */
  flush = (): void => {
    clearTimeout(this.#reportTimer)
    this.#reportTimer = undefined
    if (this.#dropped > 0) this.#logger.warn('lines of a plug-in dropped', { lines: this.#dropped })
    this.#dropped = 0
  }

  #line(line: PrintedLine, level: 'info' | 'warn'): void {
    if (level === 'warn' && FATAL.test(line.text)) this.lastFatal = line.text.slice(0, 200)
    if (!this.#take()) {
      this.#dropped++
      this.#reportTimer ??= setTimeout(this.flush, REPORT_MS).unref()
      return
    }
    this.#logger[level](line.text, line.omitted > 0 ? { omittedBytes: line.omitted } : {})
  }

  #take(): boolean {
    if (this.#tokens < 1) {
      const now = performance.now()
      this.#tokens = Math.min(BURST, ((now - this.#refilledAt) / 1000) * LINES_PER_SECOND)
      if (this.#tokens < 1) return false
      this.#refilledAt = now
    }
    this.#tokens--
    return true
  }
}

export interface PrintedLine {
  readonly text: string
  /** Bytes beyond the longest line. */
  readonly omitted: number
}

const NEWLINE = 10

/** Splits bytes into lines and keeps no more of a line than is logged. */
export class LineBuffer {
  readonly #bytes: Buffer
  #length = 0
  #omitted = 0

  constructor(most = LINE_BYTES) {
    this.#bytes = Buffer.allocUnsafe(most)
  }

  *push(chunk: Buffer): Generator<PrintedLine, void, undefined> {
    let start = 0
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start)
      this.#keep(chunk, start, end === -1 ? chunk.length : end)
      if (end === -1) return
      yield this.#finish()
      start = end + 1
    }
  }

  /** The last line, where no newline ends it. */
  end(): PrintedLine | undefined {
    return this.#length > 0 ? this.#finish() : undefined
  }

  #keep(chunk: Buffer, start: number, end: number): void {
    const room = Math.min(end - start, this.#bytes.length - this.#length)
    chunk.copy(this.#bytes, this.#length, start, start + room)
    this.#length += room
    this.#omitted += end - start - room
  }

  #finish(): PrintedLine {
    const line = { text: this.#bytes.toString('utf8', 0, this.#length).trimEnd(), omitted: this.#omitted }
    this.#length = 0
    this.#omitted = 0
    return line
  }
}
