/** Long work on a store: how far it is, on a terminal, and an end to it by Ctrl-C that leaves nothing half done. */

import { bytes, count } from '@quoin/primitives/command'
import type { Backup, BackupOptions } from '@quoin/store'

/** Loaded when a command needs it: `quoin --help` does not wait for databases. */
export const store = () => import('@quoin/store')

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const EVERY_MS = 100

/** Does the work; a signal ends it, and this process once that is cleaned up. A second one ends it at once. */
export const watched = async <T>(work: (options: BackupOptions) => Promise<T>): Promise<T> => {
  const controller = new AbortController()
  let received: NodeJS.Signals | undefined
  const onSignal = (signal: NodeJS.Signals): void => {
    received = signal
    controller.abort(new Error('interrupted'))
  }
  for (const signal of SIGNALS) process.once(signal, onSignal)
  const progress = process.stderr.isTTY ? progressLine() : undefined
  try {
    return await work({ signal: controller.signal, onProgress: progress?.report })
  } catch (error) {
    progress?.clear()
    if (received) {
      process.stderr.write('quoin: interrupted; what was written so far is deleted\n')
      process.off(received, onSignal)
      process.kill(process.pid, received)
    }
    throw error
  } finally {
    progress?.clear()
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}

const progressLine = () => {
  let shown = 0
  return {
    report: (rows: number, doing: string): void => {
      if (performance.now() - shown < EVERY_MS) return
      shown = performance.now()
      process.stderr.write(`\r\u001b[K${doing}: ${count(rows)} rows`)
    },
    clear: (): void => {
      if (shown > 0) process.stderr.write('\r\u001b[K')
      shown = 0
    }
  }
}

export const summary = ({ engine, rows, bytes: size, sha256, time }: Backup): string =>
  `${count(rows)} rows, ${bytes(size)}, of ${engine}, ${time}\n  sha256 ${sha256}`
