/** The janitor as a task: rounds of health checks in one process of those on a store. */
import { checkHosts, DOWN_AFTER, type JanitorReport, publicFetch } from '@quoin/discovery'
import type { Engine, Logger } from '@quoin/overlay'
import { Task, type TaskGate } from '@quoin/primitives'
import { leasedState, type PartState, sourceState } from '../parts.ts'

export interface JanitorTaskOptions {
  readonly engine: Engine
  /** Seconds between rounds; 0 for rounds on request alone. */
  readonly interval: number
  readonly allowPrivate: boolean
  /** The address of this node. */
  readonly own: string | undefined
  readonly logger: Logger
  readonly gate: TaskGate
  /** Instead of requests to public addresses. */
  readonly fetch?: typeof fetch | undefined
}

/** Seconds between checks of a host in rounds on request. */
const ON_REQUEST = 1

export class JanitorTask {
  readonly isPeriodic: boolean
  readonly #options: JanitorTaskOptions
  readonly #fetch: typeof fetch
  readonly #task: Task
  #last: JanitorReport | undefined

  constructor(options: JanitorTaskOptions) {
    this.#options = options
    const { interval, gate, allowPrivate } = options
    this.isPeriodic = interval > 0
    this.#fetch = options.fetch ?? publicFetch({ allowPrivate })
    this.#task = new Task({
      name: 'janitor',
      interval: Math.max(interval, ON_REQUEST) * 1000,
      jitter: 0.1,
      gate,
      work: async signal => {
        this.#last = await this.#check(interval, signal)
      }
    })
  }

  start(): void {
    if (this.isPeriodic) this.#task.start()
  }

  close(): Promise<void> {
    return this.#task.stop()
  }

  /** A round for the operator: all hosts that were not asked within the last second. */
  check(signal: AbortSignal): Promise<JanitorReport> {
    return this.#check(ON_REQUEST, signal)
  }

  state(): PartState {
    return leasedState(this.#options.gate, () => {
      const state = sourceState(this.#task.health.current)
      return this.#last?.isOffline
        ? { ...state, status: 'degraded', message: 'no advertised host answered in the last round' }
        : state
    })
  }

  #check(interval: number, signal: AbortSignal): Promise<JanitorReport> {
    const { engine, own, logger } = this.#options
    return checkHosts(
      engine.outputs,
      {
        interval,
        own,
        fetch: this.#fetch,
        onChange: ({ site, failures, reason }) => {
          if (failures >= DOWN_AFTER) logger.warn('advertised host down', { host: site, failures, reason })
          else logger.info('advertised host up', { host: site })
        }
      },
      signal
    )
  }
}
