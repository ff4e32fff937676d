/**
 * A process that runs one job at a time, within limits of time and memory. A thread would not do: V8 cannot be
 * interrupted within some builtins, and aborts the whole program when a thread runs out of memory.
 *
 * The first job, or `start`, starts the process, which does not keep the program alive. Its module sends `'ready'`,
 * then one answer per message. It runs at low priority, so that the event loop of its parent goes first.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { QuoinError } from '@quoin/primitives'
import { JobTimer, lowerPriority } from './process-usage.ts'

export interface ProcessOptions {
  readonly memoryMb: number
  /** Busy milliseconds after which a fresh process takes over, for modules that leak memory. */
  readonly renewAfterMs?: number
}

export interface JobOptions {
  /**
   * Called when the process has got the job, and again if the process was killed by others and the job is repeated.
   * `interrupt` kills the process and breaks off the job.
   */
  readonly onBegin?: (interrupt: () => void) => void
}

type Result<Answer> =
  | { readonly answer: Answer }
  | { readonly broken: 'took too long' | 'took too much memory' | 'interrupted' }

export type Outcome<Answer> = Result<Answer> & {
  /** Processor time where the system reports it, else elapsed time; without the jobs before and the start of the process. */
  readonly milliseconds: number
}

/** A job on a machine too busy to run it is broken off after its limit in processor time times this. */
const STARVATION = 4

export class SandboxedProcess<Job, Answer> {
  readonly #entry: string
  readonly #options: ProcessOptions
  #process: ChildProcess | undefined
  #isReady = false
  #queue: Promise<unknown> = Promise.resolve()
  #busyMs = 0

  constructor(entry: URL, options: ProcessOptions) {
    this.#entry = fileURLToPath(entry)
    this.#options = options
  }

  /** Whether a job would begin without waiting for the start of a process. */
  get isReady(): boolean {
    return this.#isReady && this.#process?.connected === true
  }

  /** Runs a job after earlier jobs have ended, for no more milliseconds of processor time than the limit. */
  run(job: Job, limitMs: number, options: JobOptions = {}): Promise<Outcome<Answer>> {
    return this.#enqueue(() => this.#runNow(job, limitMs, options))
  }

  /** Starts the process unless one runs. Rejects when it cannot be started. */
  start(): Promise<void> {
    return this.#enqueue(async () => {
      await this.#start()
    })
  }

  /** Ends the process after the jobs that it was given. A later job starts another process. */
  async close(): Promise<void> {
    await this.#queue
    this.#end()
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work)
    // The caller gets the error; the next job begins all the same.
    this.#queue = done.catch(() => {})
    return done
  }

  async #runNow(job: Job, limitMs: number, options: JobOptions): Promise<Outcome<Answer>> {
    // A process can be killed by others than its job; a job that kills it does so again.
    let outcome: Outcome<Answer> | undefined
    let milliseconds = 0
    for (let attempt = 0; attempt < 2 && !outcome; attempt++) {
      const worker = await this.#start()
      const attempted = await this.#attempt(worker, job, limitMs, options)
      milliseconds += attempted.milliseconds
      if ('answer' in attempted || attempted.broken !== 'took too much memory') outcome = attempted
    }
    this.#busyMs += milliseconds
    if (this.#busyMs > (this.#options.renewAfterMs ?? Number.POSITIVE_INFINITY)) this.#end()
    return { ...(outcome ?? { broken: 'took too much memory' }), milliseconds }
  }

  #attempt(
    worker: ChildProcess,
    job: Job,
    limitMs: number,
    { onBegin }: JobOptions
  ): Promise<Outcome<Answer>> {
    return new Promise(resolve => {
      const timer = new JobTimer(worker.pid!)
      let isSettled = false
      const settle = (result: Result<Answer>): void => {
        if (isSettled) return
        isSettled = true
        clearTimeout(limit)
        worker.removeAllListeners('message').removeAllListeners('exit')
        worker.channel?.unref()
        const milliseconds = timer.used
        timer.stop()
        if ('broken' in result) this.#end()
        resolve({ ...result, milliseconds })
      }
      const checkLimit = (): void => {
        const left = limitMs - timer.used
        if (left <= 0 || timer.elapsed >= STARVATION * limitMs) settle({ broken: 'took too long' })
        else limit = setTimeout(checkLimit, left)
      }
      let limit = setTimeout(checkLimit, limitMs)
      worker.once('message', message => settle({ answer: message as Answer }))
      worker.once('exit', () => settle({ broken: 'took too much memory' }))
      worker.channel?.ref()
      worker.send(job as object, () => {
        // Sending to a process that has ended fails; `exit` reports that too.
      })
      onBegin?.(() => settle({ broken: 'interrupted' }))
    })
  }

  async #start(): Promise<ChildProcess> {
    if (this.isReady) return this.#process!
    this.#end()
    const started = fork(this.#entry, {
      execArgv: [`--max-old-space-size=${this.#options.memoryMb}`],
      serialization: 'advanced',
      // V8 prints pages when a process runs out of memory: strangers could fill the log.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc']
    })
    this.#process = started
    addChild(started)
    let complaint = ''
    started.stderr!.setEncoding('utf8').on('data', (text: string) => {
      if (complaint.length < 1000) complaint += text
    })
    await new Promise<void>((resolve, reject) => {
      const fail = (reason: string): void => {
        if (this.#process === started) this.#end()
        reject(new QuoinError('ERR_INTERPRETER', `the interpreter does not start: ${reason}`))
      }
      started.once('message', () => resolve())
      started.once('error', error => fail(error.message))
      started.once('exit', code => fail(complaint.trim() || `exit ${code}`))
    })
    this.#isReady = true
    lowerPriority(started.pid!)
    started.removeAllListeners('exit')
    started.unref()
    started.channel?.unref()
    ;(started.stderr as unknown as { unref(): void }).unref()
    return started
  }

  #end(): void {
    if (this.#process) killChild(this.#process)
    this.#process = undefined
    this.#isReady = false
    this.#busyMs = 0
  }
}

/** Processes that end with this one. */
const children = new Set<ChildProcess>()

const killAll = (): void => {
  for (const child of children) child.kill('SIGKILL')
}

const addChild = (child: ChildProcess): void => {
  if (children.size === 0) process.once('exit', killAll)
  children.add(child)
}

const killChild = (child: ChildProcess): void => {
  child.kill('SIGKILL')
  children.delete(child)
  if (children.size === 0) process.off('exit', killAll)
}
