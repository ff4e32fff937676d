/**
 * Ends the process at a time limit even when one operation never returns. Only another thread can do that:
 * a timer of the main thread waits for the operation.
 */

import { Worker } from 'node:worker_threads'

// Plain JavaScript in a string, because a worker does not inherit the TypeScript loader. The message is
// written to the descriptor, since a worker's process.stderr passes through the blocked main thread.
const program = `
  const { workerData } = require('node:worker_threads')
  setTimeout(() => {
    require('node:fs').writeSync(2, workerData.message)
    process.kill(process.pid, 'SIGKILL')
  }, workerData.milliseconds)
`

export function endAfter(milliseconds: number, message: string): void {
  new Worker(program, { eval: true, execArgv: [], workerData: { milliseconds, message } }).unref()
}
