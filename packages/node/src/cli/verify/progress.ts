/** How far long work is, and the time left, on a terminal. */
import { count } from '@quoin/primitives/command'

const EVERY_MS = 100

export interface Progress {
  report(doing: string, done: number, total?: number): void
  clear(): void
}

export const progressOn = (isShown: boolean): Progress => {
  let shown = 0
  let stage = ''
  let began = 0
  return {
    report(doing, done, total) {
      if (!isShown) return
      const now = performance.now()
      if (doing !== stage) [stage, began] = [doing, now]
      if (now - shown < EVERY_MS) return
      shown = now
      const of = total === undefined ? '' : ` of ${count(total)}`
      process.stderr.write(`\r\u001b[K${doing}: ${count(done)}${of}${timeLeft(now - began, done, total)}`)
    },
    clear() {
      if (shown > 0) process.stderr.write('\r\u001b[K')
      shown = 0
    }
  }
}

const timeLeft = (elapsed: number, done: number, total: number | undefined): string => {
  if (total === undefined || done === 0 || done >= total || elapsed < 1000) return ''
  const seconds = Math.ceil(((elapsed / done) * (total - done)) / 1000)
  return seconds < 90 ? `, ${seconds} s left` : `, ${Math.ceil(seconds / 60)} min left`
}
