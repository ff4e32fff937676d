/**
 * The parts of a node, each with its state: from its last write, header, response or delivery, not
 * from the configuration. Readiness, `/status` and the metrics are made of these.
 */
import type { AnyKeyspace } from '@quoin/keyspace'
import { type Health, reasonOf, type TaskGate, withTimeout } from '@quoin/primitives'
import { checkLayouts, type Store } from '@quoin/store'
import type { Context } from './context.ts'
import { deliveryState } from './plugin-parts.ts'

export interface PartState {
  /** `error` makes the node unready, `degraded` does not: the node answers without the part. */
  readonly status: 'ok' | 'degraded' | 'error'
  /** The reason, unless it is `ok`. */
  readonly message?: string | undefined
  /** When the state began. Times are unix milliseconds. */
  readonly since?: number | undefined
  readonly lastSuccess?: number | undefined
  readonly lastError?: string | undefined
  readonly lastErrorAt?: number | undefined
}

export interface Part {
  readonly name: string
  /** An error that it throws is the state `error`. */
  state(): Promise<PartState>
}

export interface NamedState extends PartState {
  readonly name: string
}

const PATIENCE_MS = 5000

export class Parts {
  readonly #parts: () => readonly Part[]
  #asking: Promise<NamedState[]> | undefined

  /** The parts are named at each reading: peers of topics come and go. */
  constructor(parts: () => readonly Part[]) {
    this.#parts = parts
  }

  /** The states of all parts. Concurrent callers share one reading. */
  states(): Promise<NamedState[]> {
    this.#asking ??= Promise.all(this.#parts().map(stateOf)).finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }
}

const stateOf = async (part: Part): Promise<NamedState> => {
  const { name } = part
  try {
    const onTimeout = (): PartState => ({ status: 'error', message: `no answer within ${PATIENCE_MS} ms` })
    return { name, ...(await withTimeout(part.state(), PATIENCE_MS, onTimeout)) }
  } catch (error) {
    return { name, status: 'error', message: reasonOf(error) }
  }
}

/** A source that is in trouble leaves the node ready. */
export const sourceState = ({ state, ...health }: Health): PartState => {
  if (state === 'working') return { status: 'ok', ...health }
  const message = state === 'untried' ? 'not asked yet' : `${state}: ${health.lastError}`
  return { status: 'degraded', message, ...health }
}

/** The state of a part whose tasks run in the process that has the lease. */
export const leasedState = (lease: TaskGate | undefined, state: () => PartState): PartState =>
  lease && !lease.signal ? { status: 'ok', message: 'another process has the lease' } : state()

/** Another process may have upgraded the store to layouts that this process does not know. */
export const layoutsPart = (store: Store, keyspaces: readonly AnyKeyspace[]): Part => ({
  name: 'key layouts',
  async state() {
    await checkLayouts(store, keyspaces)
    return { status: 'ok' }
  }
})

export const nodeParts = ({ engine, headers, options, closing, store }: PartsContext): Part[] => [
  {
    name: 'accepting requests',
    state: async () =>
      closing.aborted ? { status: 'error', message: 'the server is closing' } : { status: 'ok' }
  },
  {
    name: 'store',
    async state() {
      await engine.outputs.journal.last()
      return store.state()
    }
  },
  ...(headers ? [headersPart(headers)] : []),
  ...(options.sync?.sources ?? []).map(({ topic, peer, health }) => ({
    name: `peer ${topic} ${peer}`,
    state: async () => leasedState(options.leases?.peers, () => sourceState(health.current))
  })),
  ...(options.roles?.includes('sources') === false ? [] : (options.tokens?.sources ?? [])).map(
    ({ name, health }) => ({
      name: `source ${name}`,
      state: async () => leasedState(options.leases?.sources, () => sourceState(health.current))
    })
  ),
  ...Array.from(options.roles?.includes('worker') === false ? [] : engine.outbox.services, service => ({
    name: `lookup ${service}`,
    state: async () => deliveryState({ service, ...(await engine.outbox.delivery(service).state()) })
  })),
  ...(options.parts ?? [])
]

type PartsContext = Pick<Context, 'engine' | 'headers' | 'options' | 'closing' | 'store'>

const headersPart = (headers: NonNullable<Context['headers']>): Part => ({
  name: 'headers',
  async state() {
    await headers.tip()
    return { status: 'ok' }
  }
})
