/**
 * Fair pool of limited processes. Every job begins in the short lane. A job that exceeds its slice becomes a long job:
 * it keeps its process unless long jobs have all theirs, else it is killed and restarted later, in the long lane, with
 * its whole limit. One process is reserved for short jobs, and one for long jobs.
 */
import { QuoinError } from '@quoin/primitives'
import { FairQueue, type QueueLimits, RecentUsage } from './fair-queue.ts'
import { type Outcome, type ProcessOptions, SandboxedProcess } from './sandboxed-process.ts'

export interface PoolOptions extends ProcessOptions {
  /** At least 2. */
  readonly processes: number
  /** Milliseconds after which a job is a long one, 100 unless given. */
  readonly sliceMs?: number
  readonly queue?: Partial<QueueLimits>
  /** Long jobs of one client that may wait, 4 unless given. */
  readonly longPerClient?: number
}

export interface PoolJob<Job> {
  readonly job: Job
  readonly limitMs: number
  readonly client: string
  /** Memory that the job takes up in the queue. */
  readonly bytes: number
}

export interface PoolState {
  readonly processes: number
  readonly busy: number
  /** Jobs that wait. */
  readonly short: number
  readonly long: number
  /** Jobs that were refused with `ERR_INTERPRETER_BUSY` since the pool was made. */
  readonly refused: number
}

/** A share is a quarter, so that four addresses fill the queue and a fifth client displaces their last jobs. */
const QUEUE: QueueLimits = { items: 1000, bytes: 256 * 1024 * 1024, share: 0.25 }
const MAX_RETRY_SECONDS = 60

interface Task<Job, Answer> extends PoolJob<Job> {
  readonly resolve: (outcome: Outcome<Answer>) => void
  readonly reject: (error: unknown) => void
}

interface Work {
  readonly client: string
  /** Breaks off the job, once the process has got it. */
  interrupt: (() => void) | undefined
  isLong: boolean
  /** Milliseconds charged to the client before the job has ended. */
  charged: number
}

interface Worker<Job, Answer> {
  readonly process: SandboxedProcess<Job, Answer>
  work: Work | undefined
  isStarting: boolean
}

export class ProcessPool<Job, Answer> {
  readonly #workers: readonly Worker<Job, Answer>[]
  readonly #usage = new RecentUsage()
  readonly #short: FairQueue<Task<Job, Answer>>
  readonly #long: FairQueue<Task<Job, Answer>>
  readonly #sliceMs: number
  readonly #longPerClient: number
  /** While the pool is closing, jobs that are broken off do not wait for another turn. */
  #isClosing = false
  #refused = 0

  constructor(entry: URL, options: PoolOptions) {
    const { processes, sliceMs = 100, longPerClient = 4, queue } = options
    if (!Number.isSafeInteger(processes) || processes < 2) {
      throw new QuoinError(
        'ERR_INTERPRETER',
        `invalid number of interpreter processes: ${processes}; expected a whole number from 2`,
        { processes }
      )
    }
    this.#workers = Array.from({ length: processes }, () => ({
      process: new SandboxedProcess(entry, options),
      work: undefined,
      isStarting: false
    }))
    this.#sliceMs = sliceMs
    this.#longPerClient = longPerClient
    const limits = { ...QUEUE, ...queue }
    this.#short = new FairQueue(limits, this.#usage)
    this.#long = new FairQueue(limits, this.#usage)
  }

  get state(): PoolState {
    return {
      processes: this.#workers.length,
      busy: this.#workers.filter(({ work }) => work).length,
      short: this.#short.length,
      long: this.#long.length,
      refused: this.#refused
    }
  }

  /**
   * Runs a job in its turn. Refused with `ERR_INTERPRETER_BUSY` when the queue, or the client's share of it, is full, or
   * as many long jobs of the client wait as may.
   */
  run(job: PoolJob<Job>): Promise<Outcome<Answer>> {
    return new Promise((resolve, reject) => {
      const task = { ...job, resolve, reject }
      // The slices of its jobs, and a restart after each, would keep a process from the jobs of others.
      if (this.#hasMostLong(job.client)) this.#refuse(task)
      else this.#enqueue(this.#short, task)
      this.#dispatch()
    })
  }

  /** Refuses queued and running jobs, and ends all processes. A later job starts them again. */
  async close(): Promise<void> {
    this.#isClosing = true
    for (const task of [...this.#short.clear(), ...this.#long.clear()]) this.#refuse(task)
    for (const { work } of this.#workers) work?.interrupt?.()
    await Promise.all(this.#workers.map(({ process }) => process.close()))
    this.#isClosing = false
  }

  #enqueue(queue: FairQueue<Task<Job, Answer>>, task: Task<Job, Answer>): void {
    for (const refused of queue.add(task.client, task, task.bytes)) this.#refuse(refused)
  }

  #refuse(task: Task<Job, Answer>): void {
    this.#refused++
    const workMs = this.#short.length * this.#sliceMs + this.#long.length * task.limitMs
    const seconds = Math.ceil(workMs / this.#workers.length / 1000)
    task.reject(
      new QuoinError('ERR_INTERPRETER_BUSY', 'the script queue is full for this client; try again later', {
        seconds: Math.min(MAX_RETRY_SECONDS, Math.max(1, seconds))
      })
    )
  }

  /** Gives jobs to the processes that are ready, and starts processes for the rest. */
  #dispatch(): void {
    for (const worker of this.#workers) {
      if (worker.work || !worker.process.isReady) continue
      const next = this.#next(worker)
      if (!next) break
      void this.#work(worker, next.task, next.isLong)
    }
    let missing = this.#short.length + this.#long.length
    for (const worker of this.#workers) if (worker.isStarting) missing--
    for (const worker of this.#workers) {
      if (missing <= 0) return
      if (worker.work || worker.isStarting || worker.process.isReady) continue
      missing--
      void this.#start(worker)
    }
  }

  #next(
    worker: Worker<Job, Answer>
  ): { readonly task: Task<Job, Answer>; readonly isLong: boolean } | undefined {
    const takeLong = () =>
      this.#hasShort(worker) ? this.#long.take(client => this.#mayHoldLong(client)) : undefined
    const hasLong = this.#workers.some(({ work }) => work?.isLong)
    const first = hasLong ? undefined : takeLong()
    if (first) return { task: first, isLong: true }
    const short = this.#short.take()
    if (short) return { task: short, isLong: false }
    const long = takeLong()
    return long && { task: long, isLong: true }
  }

  /** Whether another process than this runs and has no long job: a short job would not wait for the start of one. */
  #hasShort(worker: Worker<Job, Answer>): boolean {
    return this.#workers.some(
      other => other !== worker && (other.work ? !other.work.isLong : other.process.isReady)
    )
  }

  /** Short jobs have a process for themselves; with three or more processes, long jobs of other clients have another. */
  #mayHoldLong(client: string): boolean {
    const long = this.#workers.flatMap(({ work }) => (work?.isLong ? work.client : []))
    const own = long.filter(each => each === client).length
    return long.length < this.#workers.length - 1 && own < Math.max(1, this.#workers.length - 2)
  }

  async #work(worker: Worker<Job, Answer>, task: Task<Job, Answer>, isLong: boolean): Promise<void> {
    const { job, client, limitMs } = task
    const work: Work = { client, isLong, interrupt: undefined, charged: 0 }
    worker.work = work
    this.#chargeUpTo(work, isLong ? limitMs : Math.min(this.#sliceMs, limitMs))
    let slice: NodeJS.Timeout | undefined
    const onBegin = (interrupt: () => void): void => {
      clearTimeout(slice)
      work.interrupt = interrupt
      if (this.#isClosing) interrupt()
      else if (!work.isLong) slice = setTimeout(() => this.#endSlice(worker, work, limitMs), this.#sliceMs)
    }
    try {
      const outcome = await worker.process.run(job, limitMs, { onBegin })
      this.#chargeUpTo(work, outcome.milliseconds)
      if ('broken' in outcome && outcome.broken === 'interrupted') this.#runAgain(task)
      else task.resolve(outcome)
    } catch (error) {
      task.reject(error)
    } finally {
      clearTimeout(slice)
      worker.work = undefined
    }
    if (!this.#isClosing && !worker.process.isReady) void this.#start(worker)
    this.#dispatch()
  }

  #endSlice(worker: Worker<Job, Answer>, work: Work, limitMs: number): void {
    if (!this.#mayHoldLong(work.client)) {
      work.interrupt?.()
      return
    }
    work.isLong = true
    this.#chargeUpTo(work, limitMs)
    const spare = this.#workers.find(each => !each.work && !each.process.isReady && !each.isStarting)
    if (spare && !this.#hasShort(worker)) void this.#start(spare)
  }

  #chargeUpTo(work: Work, ms: number): void {
    this.#usage.charge(work.client, ms - work.charged)
    work.charged = ms
  }

  /** Queues a job that was broken off among the long ones. */
  #runAgain(task: Task<Job, Answer>): void {
    if (this.#isClosing || this.#hasMostLong(task.client)) this.#refuse(task)
    else this.#enqueue(this.#long, task)
  }

  /** Whether as many long jobs of a client wait as may. */
  #hasMostLong(client: string): boolean {
    return this.#long.lengthOf(client) >= this.#longPerClient
  }

  async #start(worker: Worker<Job, Answer>): Promise<void> {
    worker.isStarting = true
    try {
      await worker.process.start()
    } catch (error) {
      // The next job, or the end of a running one, starts it again. Jobs that nothing would start again are refused.
      if (!this.#workers.some(each => each !== worker && (each.work || each.isStarting))) {
        for (const task of [...this.#short.clear(), ...this.#long.clear()]) task.reject(error)
      }
      return
    } finally {
      worker.isStarting = false
    }
    if (!this.#isClosing) this.#dispatch()
  }
}
