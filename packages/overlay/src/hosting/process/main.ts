/** The process of a plug-in module: loads the module, answers calls of its topics and lookups. */
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { deserialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { type Frame, FrameReader, frameHead } from '../frames.ts'
import {
  ANSWER_BYTES,
  type AnswerError,
  CONTROL_FD,
  MESSAGES_FD,
  REQUEST_BYTES,
  type WorkerRequest
} from '../protocol.ts'
import { type LoadedModule, loadModule } from './load.ts'

const WATCHDOG = import.meta.url.endsWith('.ts') ? './watchdog.source.mjs' : './watchdog.js'
/** The longest text of an error that is sent. */
const ERROR_CHARS = 3000

/** Reports the error that ends the process, before it ends: the event loop may not turn again. */
const fail = (error: unknown): never => {
  const failure = errorOf(error)
  try {
    writeSync(CONTROL_FD, `${JSON.stringify({ failure: failure.stack ?? failure.message })}\n`)
  } catch {
    // The node ended or does not read; no other process takes the reason.
  }
  process.exit(1)
}

const errorOf = (error: unknown): AnswerError => {
  if (!(error instanceof Error)) return { message: String(error).slice(0, ERROR_CHARS) }
  const stack = typeof error.stack === 'string' ? error.stack.slice(0, ERROR_CHARS) : undefined
  return { message: String(error.message || error.name).slice(0, ERROR_CHARS), ...(stack && { stack }) }
}

process.on('uncaughtException', fail)
process.on('unhandledRejection', fail)
// A terminal and a service manager signal all processes of the node; the node closes this one after its calls.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)

const watchdog = new Worker(new URL(WATCHDOG, import.meta.url), {
  workerData: { memoryMb: Number(process.argv[2]) },
  resourceLimits: { maxOldGenerationSizeMb: 32 }
})
watchdog.on('error', fail)
await once(watchdog, 'message')
watchdog.unref()

const messages = new Socket({ fd: MESSAGES_FD, readable: true, writable: true })
const reader = new FrameReader(REQUEST_BYTES)
const waiting: Frame[] = []
let started = 0
let loaded: LoadedModule | undefined

const perform = async (request: WorkerRequest): Promise<unknown> => {
  switch (request.type) {
    case 'load':
      loaded = await loadModule(request)
      return loaded.description
    case 'call':
      return loaded!.call(request.service, request.method, request.args)
    case 'history':
      return loaded!.history(request.selector, request.args)
    case 'close':
      await loaded?.close()
      return process.exit(0)
  }
}

const answer = (id: number, result: { readonly value: unknown } | { readonly error: AnswerError }): void => {
  const body = Buffer.from(JSON.stringify({ started, ...result }))
  if (body.length > ANSWER_BYTES) {
    const message = `invalid answer: ${body.length} bytes, at most ${ANSWER_BYTES} are taken`
    answer(id, { error: { message } })
    return
  }
  messages.cork()
  messages.write(frameHead(id, body.length))
  messages.write(body)
  messages.uncork()
}

const begin = ({ id, body }: Frame): void => {
  started = id
  const request = deserialize(body) as WorkerRequest
  perform(request)
    .then(value => answer(id, { value }))
    // A value that JSON does not have (a cycle, a bigint) is an error of the plug-in, too.
    .catch(error => answer(id, { error: errorOf(error) }))
}

/** Begins one call in each turn of the event loop, so that a finished call is answered before the next one begins. */
const beginNext = (): void => {
  const next = waiting.shift()
  if (!next) return
  if (waiting.length > 0) setImmediate(beginNext)
  begin(next)
}

messages.on('data', (chunk: Buffer) => {
  const isIdle = waiting.length === 0
  waiting.push(...reader.push(chunk))
  if (isIdle) beginNext()
})
// The pipe closes with the node. The watchdog ends the process as well, where this thread is busy.
messages.on('close', () => process.exit())
messages.on('error', () => process.exit())
