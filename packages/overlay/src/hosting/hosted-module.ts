/**
 * A plug-in module and its process: calls are queued in order, a bounded number is in the process, and a call beyond its
 * deadline ends the process. The process is restarted after a backoff; calls are refused in the meantime.
 *
 * A call that was in an ended process is made once more in the next one, alone: the call that ended the process is not
 * known, and fails alone then.
 */
import { QuoinError, type SpanAttributes, traced } from '@quoin/primitives'
import type { Logger } from '../logger.ts'
import { InvalidAnswer, parseDescription } from './answer-parsers.ts'
import { type Call, CallQueue, GroupedAnswers, makeCall, OpenCalls } from './calls.ts'
import type { HostOptions, ModuleSpec } from './module-spec.ts'
import { PluginProcess } from './plugin-process.ts'
import type { CallRequest, HistoryRequest, SpecDescription, WorkerResponse } from './protocol.ts'
import { RestartBackoff } from './restart-backoff.ts'

/** Calls in the process at a time. */
const IN_FLIGHT = 32
/** Milliseconds to load a module. Its process has the lowest priority, and a busy machine gives it little of the processor. */
const LOAD_MS = 120_000
/** Calls are queued for a restart within so many milliseconds, and refused before a later one. */
const NEAR_MS = 1000
/** Failures to load in a row after which a module counts as broken. */
const BROKEN_AFTER = 3
const CLOSING_MS = 2000
const LOAD_CALL = 0xffffffff

export type ModuleStatus = 'starting' | 'running' | 'backing-off' | 'broken'

export interface HostedModuleState {
  readonly module: string
  /** The names of its topics and lookups. */
  readonly names: readonly string[]
  readonly pid: number | undefined
  readonly state: ModuleStatus
  readonly restarts: number
  readonly lastError: string | undefined
  /** When the module entered its state, in unix milliseconds. */
  readonly since: number
  /** Resident bytes of the process, as it reported them last. */
  readonly memory: number | undefined
}

export class HostedModule {
  readonly specs: readonly ModuleSpec[]
  readonly #options: HostOptions
  readonly #logger: Logger
  readonly #backoff = new RestartBackoff()
  #process: PluginProcess | undefined
  /** Processes that load the module. */
  readonly #loading = new Set<PluginProcess>()
  #description: readonly SpecDescription[] = []
  #status: ModuleStatus = 'starting'
  #since = Date.now()
  #restarts = 0
  #failedLoads = 0
  #lastError: string | undefined
  #runningSince = 0
  /** Calls that are in the process, and queued calls. */
  #open = new OpenCalls()
  readonly #queue = new CallQueue()
  /** Calls of a process that ended for an unknown reason; each is repeated alone. */
  readonly #repeated: Call[] = []
  /** The repeated call that is in the process. */
  #exclusive: Call | undefined
  readonly #answers = new GroupedAnswers()
  #deadlines: NodeJS.Timeout | undefined
  #restart: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(specs: readonly ModuleSpec[], options: HostOptions) {
    this.specs = specs
    this.#options = options
    this.#logger = options.logger
  }

  get module(): string {
    return this.specs[0]!.module
  }

  /** The services of each spec, in the order of the specs. */
  get description(): readonly SpecDescription[] {
    return this.#description
  }

  get state(): HostedModuleState {
    return {
      module: this.module,
      names: this.#description.flatMap(({ services }) => services.map(({ name }) => name)),
      pid: this.#process?.pid,
      state: this.#status,
      restarts: this.#restarts,
      lastError: this.#lastError,
      since: this.#since,
      memory: this.#process?.memory
    }
  }

  /** Starts the process for the first time. A module that does not load is refused with the reason. */
  async start(): Promise<void> {
    const { process: started, description } = await this.#load()
    this.#run(started, description)
  }

  call(request: CallRequest | HistoryRequest): Promise<unknown> {
    return traced(
      'plug-in call',
      () => callAttributes(request),
      () => this.#enqueue(request)
    )
  }

  #enqueue(request: CallRequest | HistoryRequest): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const refusal = this.#refusal()
      if (refusal) {
        reject(refusal)
        return
      }
      this.#queue.push(makeCall(request, this.#timeoutOf(request), resolve, reject))
      this.#pump()
    })
  }

  /** Loads the changed module beside the running process, and replaces that if the module loads and passes a check. */
  async reload(check: (description: readonly SpecDescription[]) => void): Promise<void> {
    const { process: started, description } = await this.#load()
    try {
      check(description)
    } catch (error) {
      started.end('refused')
      throw error
    }
    const replaced = this.#process
    this.#queue.putBack(this.#open.takeAll())
    this.#process = undefined
    clearTimeout(this.#restart)
    this.#backoff.reset()
    this.#run(started, description)
    await replaced?.close(CLOSING_MS)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#restart)
    this.#rejectAll(
      () => new QuoinError('ERR_PLUGIN_UNAVAILABLE', `${this.module} is closed`, { seconds: 1 })
    )
    for (const each of this.#loading) each.end('closed')
    const ending = this.#process
    this.#process = undefined
    await ending?.close(CLOSING_MS)
  }

  #timeoutOf(request: CallRequest | HistoryRequest): number {
    const { topicTimeout, lookupTimeout } = this.#options
    return request.type === 'call' && request.service.startsWith('topic ') ? topicTimeout : lookupTimeout
  }

  #refusal(): QuoinError | undefined {
    if (this.#isClosed) return this.#unavailable('is closed')
    if (this.#status === 'backing-off' || this.#status === 'broken') {
      return this.#unavailable(`restarts after: ${firstLine(this.#lastError)}`)
    }
    return this.#queue.isFull ? this.#unavailable(`has ${this.#queue.size} calls waiting`) : undefined
  }

  #unavailable(reason: string): QuoinError {
    return new QuoinError('ERR_PLUGIN_UNAVAILABLE', `${this.module} ${reason}; try again later`, {
      module: this.module,
      seconds: this.#backoff.seconds
    })
  }

  #ended(reason: string): QuoinError {
    return new QuoinError('ERR_PLUGIN_ENDED', `the process of ${this.module} ended: ${firstLine(reason)}`, {
      module: this.module,
      reason
    })
  }

  /** Starts a process and loads the module in it. */
  #load(): Promise<{ process: PluginProcess; description: readonly SpecDescription[] }> {
    const { mongo, knex, memoryMb, loadTimeout = LOAD_MS } = this.#options
    return new Promise((resolve, reject) => {
      let isLoaded = false
      const fail = (reason: string): void => {
        const problem = reason.startsWith(this.module) ? reason : `${this.module} cannot be loaded: ${reason}`
        reject(new QuoinError('ERR_PLUGIN', problem, { module: this.module, reason }))
      }
      const timer = setTimeout(() => child.end(`the module took more than ${loadTimeout} ms`), loadTimeout)
      const child = new PluginProcess({
        logger: this.#logger,
        memoryMb,
        onAnswer: (id, answer) => {
          if (isLoaded) {
            if (this.#process === child) this.#answer(id, answer)
            return
          }
          clearTimeout(timer)
          this.#loading.delete(child)
          try {
            if ('error' in answer) throw new InvalidAnswer(answer.error.message)
            const description = parseDescription(answer.value, this.specs.length)
            isLoaded = true
            resolve({ process: child, description })
          } catch (error) {
            const { message } = error as Error
            child.end(message)
            fail(message)
          }
        },
        onEnd: (reason, faultyCall) => {
          clearTimeout(timer)
          this.#loading.delete(child)
          if (!isLoaded) fail(firstLine(reason))
          else if (this.#process === child) this.#processEnded(reason, faultyCall)
        }
      })
      this.#loading.add(child)
      if (this.#isClosed) child.end('closed')
      const specs = this.specs.map(plain)
      child.send(LOAD_CALL, { type: 'load', specs, mongo, knex })
    })
  }

  #run(started: PluginProcess, description: readonly SpecDescription[]): void {
    if (this.#isClosed) {
      started.end('closed')
      return
    }
    this.#process = started
    this.#description = description
    this.#open = new OpenCalls()
    this.#failedLoads = 0
    this.#runningSince = performance.now()
    this.#become('running')
    for (const warning of description.flatMap(({ warnings }) => warnings)) this.#logger.warn(warning)
    this.#pump()
  }

  #become(status: ModuleStatus): void {
    this.#status = status
    this.#since = Date.now()
  }

  /** Sends calls to the process, up to its limit. */
  #pump(): void {
    if (this.#status === 'running') {
      if (this.#open.size === 0) {
        this.#exclusive = this.#repeated.shift()
        if (this.#exclusive) this.#send(this.#exclusive)
      }
      while (!this.#exclusive && this.#open.size < IN_FLIGHT) {
        const call = this.#queue.shift()
        if (!call) break
        this.#send(call)
      }
    }
    const isIdle = this.#open.size + this.#queue.size + this.#repeated.length === 0
    if (isIdle) {
      clearInterval(this.#deadlines)
      this.#deadlines = undefined
    } else if (!this.#deadlines) {
      const { topicTimeout, lookupTimeout } = this.#options
      const period = Math.max(10, Math.min(1000, Math.min(topicTimeout, lookupTimeout) / 20))
      this.#deadlines = setInterval(() => this.#checkDeadlines(), period)
    }
  }

  #send(call: Call): void {
    this.#process!.send(this.#open.add(call), call.request)
  }

  #answer(id: number, answer: WorkerResponse): void {
    const call = this.#open.take(id, answer.started)
    if (!call) {
      this.#process!.end(`invalid answer: no call ${id} is open`)
      return
    }
    this.#answers.add(call, answer, this.#open.size === 0)
    this.#pump()
  }

  #checkDeadlines(): void {
    const now = performance.now()
    const late = this.#open.firstLate(now)
    if (late) {
      const [id, { timeout }] = late
      this.#process!.end(`a call passed its deadline of ${timeout} ms`, id)
      return
    }
    for (const { reject } of this.#queue.takeLate(now)) {
      reject(this.#unavailable('is starting, or busy with other calls'))
    }
    this.#pump()
  }

  #processEnded(reason: string, faultyCall: number | undefined): void {
    this.#process = undefined
    this.#lastError = reason
    const pause = this.#backoff.next(performance.now() - this.#runningSince)
    this.#become('backing-off')
    const error = this.#ended(reason)
    const faulty = this.#open.get(faultyCall)
    const again: Call[] = []
    for (const call of this.#open.takeAll()) {
      if (call === faulty || call.attempts > 1 || pause > NEAR_MS) call.reject(error)
      else again.push(call)
    }
    if (faulty) this.#queue.putBack(again)
    else this.#repeated.push(...again)
    this.#startAfter(pause)
  }

  #startAfter(pause: number): void {
    this.#logger.warn('plug-in process ended', {
      reason: this.#lastError,
      restartSeconds: pause / 1000
    })
    if (pause > NEAR_MS)
      this.#rejectAll(() => this.#unavailable(`restarts after: ${firstLine(this.#lastError)}`))
    this.#restart = setTimeout(() => void this.#startAgain(), pause)
    this.#pump()
  }

  async #startAgain(): Promise<void> {
    this.#restarts++
    // A broken module is broken until it loads.
    if (this.#status !== 'broken') this.#become('starting')
    try {
      const { process: started, description } = await this.#load()
      this.#run(started, description)
    } catch (error) {
      if (this.#isClosed) return
      this.#lastError = (error as Error).message
      this.#failedLoads++
      if (this.#failedLoads >= BROKEN_AFTER) {
        if (this.#status !== 'broken') this.#become('broken')
      } else this.#become('backing-off')
      this.#startAfter(this.#backoff.next(undefined))
    }
  }

  #rejectAll(error: () => Error): void {
    const calls = [...this.#open.takeAll(), ...this.#repeated.splice(0), ...this.#queue.takeAll()]
    for (const { reject } of calls) reject(error())
    this.#pump()
  }
}

/** Drops properties that cannot be sent: a program may have functions in its configuration. */
const plain = (spec: ModuleSpec): ModuleSpec => JSON.parse(JSON.stringify(spec)) as ModuleSpec

const firstLine = (text: string | undefined): string => (text ?? 'unknown').split('\n', 1)[0]!.slice(0, 500)

const callAttributes = (request: CallRequest | HistoryRequest): SpanAttributes =>
  request.type === 'call' ? { service: request.service, method: request.method } : { method: request.type }
