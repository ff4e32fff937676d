/**
 * A process that does one job at a time, for a limited time and in limited memory. A thread would not do: what it runs
 * may be within V8 where nothing can interrupt it, and when it runs out of memory V8 aborts everything. A process can
 * be killed, and takes nobody with it.
 *
 * It is started when it is first needed and does not keep the program from ending. Its module sends `'ready'` and
 * then an answer to every message.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { QuoinError } from '../../error.ts'

export interface ProcessOptions {
  readonly memoryMb: number
  /** A new process takes over when one has worked for so long, if what it runs forgets nothing. */
  readonly renewAfterMs?: number
}

type Result<Answer> =
  | { readonly answer: Answer }
  | { readonly broken: 'took too long' | 'took too much memory' }

export type Outcome<Answer> = Result<Answer> & {
  /** How long it took, not counting the jobs before it, nor the start of the process. */
  readonly milliseconds: number
}

export class LimitedProcess<Job, Answer> {
  readonly #entry: string
  readonly #options: ProcessOptions
  #process: ChildProcess | undefined
  #queue: Promise<unknown> = Promise.resolve()
  #busyMs = 0

  constructor(entry: URL, options: ProcessOptions) {
    this.#entry = fileURLToPath(entry)
    this.#options = options
  }

  run(job: Job, limitMs: number): Promise<Outcome<Answer>> {
    const outcome = this.#queue.then(() => this.#runNow(job, limitMs))
    // Whoever asked for the job is told; the next one begins all the same.
    this.#queue = outcome.catch(() => {})
    return outcome
  }

  /** Ends the process when it has done what it was given. Used again, it starts a new one. */
  async close(): Promise<void> {
    await this.#queue
    this.#end()
  }

  async #runNow(job: Job, limitMs: number): Promise<Outcome<Answer>> {
    // Others than the job can end a process; a job that does will do it again.
    let result: Result<Answer> | undefined
    let milliseconds = 0
    for (let attempt = 0; attempt < 2 && !result; attempt++) {
      const worker = await this.#start()
      const begin = performance.now()
      result = await this.#attempt(worker, job, limitMs)
      milliseconds += performance.now() - begin
    }
    this.#busyMs += milliseconds
    if (this.#busyMs > (this.#options.renewAfterMs ?? Number.POSITIVE_INFINITY)) this.#end()
    return { ...(result ?? { broken: 'took too much memory' }), milliseconds }
  }

  /** What became of the job; undefined when the process ended. */
  #attempt(worker: ChildProcess, job: Job, limitMs: number): Promise<Result<Answer> | undefined> {
    return new Promise(resolve => {
      const settle = (result?: Result<Answer>): void => {
        clearTimeout(timer)
        worker.removeAllListeners('message').removeAllListeners('exit')
        worker.channel?.unref()
        resolve(result)
      }
      const timer = setTimeout(() => {
        this.#end()
        settle({ broken: 'took too long' })
      }, limitMs)
      worker.once('message', message => settle({ answer: message as Answer }))
      worker.once('exit', () => {
        this.#end()
        settle()
      })
      worker.channel?.ref()
      worker.send(job as object, () => {
        // A process that has ended cannot be written to; its `exit` says so too.
      })
    })
  }

  /** The process, when it is ready. */
  async #start(): Promise<ChildProcess> {
    if (this.#process?.connected) return this.#process
    this.#end()
    const started = fork(this.#entry, {
      execArgv: [`--max-old-space-size=${this.#options.memoryMb}`],
      serialization: 'advanced',
      // Of a process that runs out of memory V8 prints pages, which strangers could fill our log with.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc']
    })
    this.#process = started
    process.once('exit', this.#end)
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
    started.removeAllListeners('exit')
    started.unref()
    started.channel?.unref()
    ;(started.stderr as unknown as { unref(): void }).unref()
    return started
  }

  readonly #end = (): void => {
    process.off('exit', this.#end)
    this.#process?.kill('SIGKILL')
    this.#process = undefined
    this.#busyMs = 0
  }
}
