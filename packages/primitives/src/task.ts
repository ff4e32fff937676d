/**
 * Background tasks: a loop that works until there is nothing to do, then sleeps until it is woken or its interval is
 * over. Two passes of a task never overlap. A pass that fails is reported through the health of the task and repeated
 * after a backoff. Stopping aborts the signal of the pass and waits for its end.
 */

import { Backoff, type BackoffOptions } from './backoff.ts'
import { reasonOf } from './error.ts'
import { type Health, SourceHealth } from './source-health.ts'
import { unref, withTimeout } from './timeout.ts'
import { traced } from './trace.ts'

/** A condition for the passes of tasks: the lease of a process, for example. */
export interface TaskGate {
  /** Aborts when the gate closes; undefined while it is closed. */
  readonly signal: AbortSignal | undefined
  /** Calls the listener each time the gate opens; the result unsubscribes it. */
  onOpen(listener: () => void): () => void
}

export interface TaskOptions {
  readonly name: string
  /** One step. A result above zero says that there may be more to do: the next step follows at once. */
  readonly work: (signal: AbortSignal) => Promise<unknown>
  /**
   * Milliseconds between the end of a pass and the next, unless `wake` is called. Without an interval the task ends after
   * a pass that succeeds.
   */
  readonly interval?: number
  /** Begins with a pause of the interval instead of a pass. */
  readonly isDelayed?: boolean
  /** The part of the interval that varies in both directions, so that nodes do not act in step; 0 unless given. */
  readonly jitter?: number
  /** Steps at a time while there is something to do, 1 unless given. */
  readonly concurrency?: number
  /** The pause after a pass that failed; the interval, or a second without one, unless given. */
  readonly backoff?: BackoffOptions
  /** Milliseconds after which the signal of a pass is aborted. The pass still has to end by itself. */
  readonly deadline?: number
  /** Passes begin while it is open, and their signal is aborted when it closes. `runOnce` does not wait for it. */
  readonly gate?: TaskGate | undefined
  /** Unless given, passes that succeed and fail are recorded in a health of the task's own. */
  readonly health?: SourceHealth
  readonly onHealthChange?: (health: Health) => void
  /** Called after each pass, for metrics. */
  readonly onPass?: (pass: TaskPass) => void
}

export interface TaskPass {
  readonly name: string
  readonly milliseconds: number
  readonly error: unknown
}

export interface TaskState extends Health {
  readonly name: string
  readonly isRunning: boolean
  readonly passes: number
  readonly failures: number
  /** Milliseconds of all passes. */
  readonly milliseconds: number
}

const RETRY_MS = 1000
const started = new Set<Task>()

/** The tasks of this process between their start and their end, for metrics. */
export const startedTasks: ReadonlySet<Task> = started

export class Task {
  readonly name: string
  readonly health: SourceHealth
  readonly #options: TaskOptions
  readonly #backoff: Backoff
  readonly #stopping = new AbortController()
  readonly #totals = { passes: 0, failures: 0, milliseconds: 0 }
  #loop: Promise<void> | undefined
  #current: Promise<boolean> | undefined
  #next: Promise<boolean> | undefined
  #isWoken = false
  #resume = (): void => undefined

  constructor(options: TaskOptions) {
    this.name = options.name
    this.#options = options
    this.health =
      options.health ??
      new SourceHealth(options.onHealthChange ? { onChange: options.onHealthChange } : undefined)
    const { interval = RETRY_MS, backoff = { first: interval, limit: interval, jitter: 0 } } = options
    this.#backoff = new Backoff(backoff)
  }

  get isRunning(): boolean {
    return this.#current !== undefined
  }

  get state(): TaskState {
    return {
      name: this.name,
      isRunning: this.isRunning,
      ...this.#totals,
      ...this.health.current
    }
  }

  /** Aborts when the task is stopped. */
  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  start(): this {
    if (this.#loop) return this
    started.add(this)
    this.#loop = this.#repeat().finally(() => started.delete(this))
    return this
  }

  /** Ends the pause; during a pass, another pass follows without a pause. */
  wake(): void {
    this.#isWoken = true
    this.#resume()
  }

  /** A step within a pass succeeded: a later failure is the first one again. */
  stepSucceeded(): void {
    this.#backoff.reset()
    this.health.succeeded()
  }

  /**
   * Resolves when a pass that began after this call has ended, to whether it succeeded; calls during a pass share the
   * next one. For callers that need the result of the work, and for tasks that are not started.
   */
  runOnce(): Promise<boolean> {
    if (this.#next) return this.#next
    if (!this.#current) return this.#begin()
    this.#next = this.#current.then(() => {
      this.#next = undefined
      return this.#begin()
    })
    return this.#next
  }

  /** Resolves when the pass in progress has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#resume()
    await this.#loop
    await this.#next
    await this.#current
  }

  async #repeat(): Promise<void> {
    const { interval, jitter = 0, isDelayed, gate } = this.#options
    if (isDelayed) await this.#pause(interval ?? 0)
    while (!this.signal.aborted) {
      const open = gate?.signal
      if (gate && !open) {
        await this.#untilOpen(gate)
        continue
      }
      this.#isWoken = false
      const isDone = await this.runOnce()
      // The pass was cut short.
      if (open?.aborted) continue
      if (isDone && interval === undefined) return
      await this.#pause(isDone ? interval! * (1 + jitter * (2 * Math.random() - 1)) : this.#backoff.next())
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    if (this.#isWoken || this.signal.aborted) return
    let timer: ReturnType<typeof setTimeout> | undefined
    await new Promise<void>(resolve => {
      this.#resume = resolve
      timer = setTimeout(resolve, milliseconds)
      unref(timer)
    })
    clearTimeout(timer)
  }

  /** Resolves when the gate opens, and when the task is woken or stopped. */
  async #untilOpen(gate: TaskGate): Promise<void> {
    let unsubscribe: () => void = () => undefined
    await new Promise<void>(resolve => {
      this.#resume = resolve
      unsubscribe = gate.onOpen(resolve)
    })
    unsubscribe()
  }

  #begin(): Promise<boolean> {
    const current = this.#pass().finally(() => {
      this.#current = undefined
    })
    this.#current = current
    return current
  }

  async #pass(): Promise<boolean> {
    if (this.signal.aborted) return false
    const { deadline, concurrency, work, gate } = this.#options
    const since = performance.now()
    const open = gate?.signal
    const limits = [...(open ? [open] : []), ...(deadline ? [AbortSignal.timeout(deadline)] : [])]
    const signal = limits.length > 0 ? AbortSignal.any([this.signal, ...limits]) : this.signal
    let error: unknown
    try {
      const pass = () => drain(() => work(signal), { concurrency, signal })
      await traced(`task ${this.name}`, () => ({}), pass)
      this.#backoff.reset()
      this.health.succeeded()
    } catch (caught) {
      error = caught ?? new Error('the work of the task was rejected without a reason')
      // An error of a pass that was stopped is the effect of stopping it.
      if (!this.signal.aborted && !open?.aborted) this.health.failed(reasonOf(error))
    }
    const milliseconds = performance.now() - since
    this.#totals.passes++
    this.#totals.milliseconds += milliseconds
    if (error !== undefined) this.#totals.failures++
    this.#options.onPass?.({ name: this.name, milliseconds, error })
    return error === undefined
  }
}

/** Tasks that start and stop together. */
export class Tasks {
  readonly #tasks: Task[] = []

  add(task: Task | TaskOptions): Task {
    const added = task instanceof Task ? task : new Task(task)
    this.#tasks.push(added)
    return added
  }

  start(): void {
    for (const task of this.#tasks) task.start()
  }

  /** Stops all tasks; answers the names of the tasks that are still running after `within` milliseconds. */
  async stop(within?: number): Promise<string[]> {
    const stopped = Promise.all(this.#tasks.map(task => task.stop()))
    if (within === undefined) await stopped
    else await withTimeout(stopped, within, () => undefined)
    return this.states.filter(({ isRunning }) => isRunning).map(({ name }) => name)
  }

  get states(): TaskState[] {
    return this.#tasks.map(task => task.state)
  }
}

export interface DrainOptions {
  /** Steps at a time, 1 unless given. */
  readonly concurrency?: number | undefined
  /** No step begins after it aborts. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Repeats a step until it results in zero, with several steps at a time while there is something to do; answers the sum
 * of the results. After a failure no step begins; it is thrown when the steps in progress have ended.
 */
export const drain = async (
  step: () => Promise<unknown>,
  { concurrency = 1, signal }: DrainOptions = {}
): Promise<number> => {
  let sum = 0
  const failures: unknown[] = []
  const workers = new Set<Promise<void>>()
  const repeat = async (): Promise<void> => {
    while (!signal?.aborted && failures.length === 0) {
      const count = await step()
      if (typeof count !== 'number' || count <= 0) return
      sum += count
      // A worker that found nothing has ended; by now there may be more.
      if (workers.size < concurrency) add()
    }
  }
  const add = (): void => {
    const worker = repeat()
      .catch(error => void failures.push(error))
      .finally(() => workers.delete(worker))
    workers.add(worker)
  }
  for (let i = 0; i < concurrency; i++) add()
  while (workers.size > 0) await Promise.all(workers)
  if (failures.length > 0) throw failures[0]
  return sum
}

/** Repeats `beat` during the work: the renewal of a lease, or a sign of life. `beat` handles its own errors. */
export const withHeartbeat = async <T>(
  milliseconds: number,
  beat: () => void,
  work: () => Promise<T>
): Promise<T> => {
  const timer = setInterval(beat, milliseconds)
  unref(timer)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}
