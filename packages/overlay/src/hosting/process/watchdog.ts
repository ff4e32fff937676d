/**
 * The thread beside a plug-in. The plug-in may loop without end, so this thread watches the memory of the process, and
 * ends the process with the node: descriptor 4 is closed then, however the node ended.
 */
import { Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { CONTROL_FD } from '../protocol.ts'

const POLL_MS = 100
/** A change of the memory that is reported. */
const REPORTED_BYTES = 4 * 1024 * 1024
/** How long the last report may take to be written. */
const LAST_REPORT_MS = 1000

const limit = (workerData as { readonly memoryMb: number }).memoryMb * 1024 * 1024
const control = new Socket({ fd: CONTROL_FD, readable: true, writable: true })
let reported = 0

const end = (): void => {
  process.kill(process.pid, 'SIGKILL')
}

const watch = (): void => {
  const memory = process.memoryUsage.rss()
  if (Math.abs(memory - reported) > REPORTED_BYTES) {
    reported = memory
    control.write(`${JSON.stringify({ memory })}\n`)
  }
  if (memory <= limit) return
  clearInterval(timer)
  const [used, most] = [memory, limit].map(bytes => Math.round(bytes / 1024 / 1024))
  const failure = `memory of ${used} MB passed the limit of ${most} MB`
  control.write(`${JSON.stringify({ failure })}\n`, end)
  setTimeout(end, LAST_REPORT_MS)
}

control.on('close', end).on('end', end).on('error', end).resume()
const timer = setInterval(watch, POLL_MS)
watch()
parentPort!.postMessage('ready')
