/**
 * One process that runs the code of a plug-in module: started with a memory limit and a low priority, spoken to in
 * frames, and ended by SIGKILL. A thread would not do: V8 aborts the whole process when a script makes an array that is
 * too large, and typed arrays are outside of the heap limits of a thread (README.md has the measurements).
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { serialize } from 'node:v8'
import type { Logger } from '../logger.ts'
import { parseAnswer } from './answer-parsers.ts'
import { FrameReader, FrameTooLong, frameHead } from './frames.ts'
import { LineBuffer, OutputLog } from './output-log.ts'
import { RESOLVE_FLAG } from './packages.ts'
import {
  ANSWER_BYTES,
  CONTROL_FD,
  CONTROL_LINE,
  MESSAGES_FD,
  type WorkerRequest,
  type WorkerResponse
} from './protocol.ts'

/** A process does not inherit the loader that runs this module when it is not compiled, so it starts one itself. */
const ENTRY = import.meta.url.endsWith('.ts') ? './process/main.source.mjs' : './process/main.js'
/** The part of the memory limit for the heap of V8; the rest is for code, stacks and typed arrays. */
const HEAP_SHARE = 0.75
/** Milliseconds that the pipes of an ended process are read. */
const LAST_OUTPUT_MS = 500

export interface ProcessOptions {
  readonly logger: Logger
  readonly memoryMb: number
  readonly onAnswer: (id: number, answer: WorkerResponse) => void
  /** Called once. `call` is the call that ended the process, if known. */
  readonly onEnd: (reason: string, call: number | undefined) => void
}

export class PluginProcess {
  readonly #child: ChildProcess
  readonly #messages: Socket
  readonly #output: OutputLog
  readonly #options: ProcessOptions
  /** The reason of the end of the process. */
  #reason: string | undefined
  #faultyCall: number | undefined
  #isEnded = false
  /** Resident bytes, as the process reports them. */
  memory: number | undefined

  constructor(options: ProcessOptions) {
    this.#options = options
    const { memoryMb, logger } = options
    this.#child = spawn(
      process.execPath,
      [
        `--max-old-space-size=${Math.ceil(memoryMb * HEAP_SHARE)}`,
        RESOLVE_FLAG,
        fileURLToPath(new URL(ENTRY, import.meta.url)),
        String(memoryMb)
      ],
      { env: environment(), stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'] }
    )
    lowerPriority(this.#child.pid)
    process.on('exit', this.#kill)
    this.#output = new OutputLog(logger)
    this.#output.read(this.#child.stdout!, 'info')
    this.#output.read(this.#child.stderr!, 'warn')
    this.#messages = this.#child.stdio[MESSAGES_FD] as Socket
    this.#readMessages()
    this.#readControl(this.#child.stdio[CONTROL_FD] as Socket)
    this.#child.once('error', error => {
      this.#reason ??= `cannot start ${process.execPath}: ${error.message}`
      if (this.#child.pid === undefined) this.#ended()
    })
    this.#child.once('exit', (code, signal) => {
      const ended = (): void => {
        clearTimeout(timer)
        this.#reason ??=
          this.#output.lastFatal ?? (signal ? `ended by ${signal}` : `exited with code ${code}`)
        this.#ended()
      }
      // The last printed lines may have the reason. A process that the plug-in started may hold the pipes for longer.
      const timer = setTimeout(ended, LAST_OUTPUT_MS)
      this.#child.once('close', ended)
    })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  send(id: number, request: WorkerRequest): void {
    const body = serialize(request)
    this.#messages.cork()
    this.#messages.write(frameHead(id, body.length))
    this.#messages.write(body)
    this.#messages.uncork()
  }

  /** Kills the process. `call` is the call that is the reason. */
  end(reason: string, call?: number): void {
    this.#reason ??= reason
    this.#faultyCall ??= call
    this.#kill()
  }

  /** Lets the process close its databases; kills it after a time-out. */
  async close(timeoutMs: number): Promise<void> {
    this.#reason ??= 'closed'
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const closed = once(this.#child, 'exit')
    this.send(0, { type: 'close' })
    const timer = setTimeout(this.#kill, timeoutMs)
    await closed
    clearTimeout(timer)
  }

  #readMessages(): void {
    const reader = new FrameReader(ANSWER_BYTES)
    this.#messages.on('data', (chunk: Buffer) => {
      let id: number | undefined
      try {
        for (const frame of reader.push(chunk)) {
          id = frame.id
          this.#options.onAnswer(id, parseAnswer(frame.body))
        }
      } catch (error) {
        this.#messages.removeAllListeners('data').resume()
        this.end((error as Error).message, error instanceof FrameTooLong ? error.id : id)
      }
    })
    // Writing to a process that has ended fails; its exit is reported by its own event.
    this.#messages.on('error', () => this.#messages.destroy())
  }

  #readControl(control: Socket): void {
    const line = new LineBuffer(CONTROL_LINE)
    control.on('data', (chunk: Buffer) => {
      for (const { text } of line.push(chunk)) this.#control(text)
    })
    control.on('error', () => control.destroy())
  }

  #control(line: string): void {
    let report: { memory?: unknown; failure?: unknown } | null
    try {
      report = JSON.parse(line) as typeof report
    } catch {
      this.end('invalid control line: expected JSON')
      return
    }
    if (typeof report?.memory === 'number') this.memory = report.memory
    if (typeof report?.failure === 'string') this.#reason ??= report.failure.slice(0, 4000)
  }

  readonly #kill = (): void => {
    this.#child.kill('SIGKILL')
  }

  #ended(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    process.off('exit', this.#kill)
    for (const stream of this.#child.stdio) stream?.destroy()
    this.#output.flush()
    this.#options.onEnd(this.#reason ?? 'ended', this.#faultyCall)
  }
}

/** Leaves out settings of the node, which may be secrets, and options of Node, which would start a second debugger. */
const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('QUOIN_') && name !== 'NODE_OPTIONS')
  )

/** Gives submissions to other topics the processor first. Threads of the process inherit the priority. */
const lowerPriority = (pid: number | undefined): void => {
  if (pid === undefined) return
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    // The process ended already, which its exit reports, or the system has no priorities.
  }
}
