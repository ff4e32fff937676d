/**
 * The parts of a node, each with its state: from what it really did last (a write, a header, an answer, a delivery), not
 * from the configuration. Readiness, `/status` and the metrics are made of these.
 */
import type { Health } from '../source-health.ts'
import type { Context } from './context.ts'
import type { NodeQueue } from './queues.ts'

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
/** Seconds that a transaction may wait for a lookup service. */
const DELIVERY_SECONDS = 30

export class Parts {
  readonly #parts: readonly Part[]
  #asking: Promise<NamedState[]> | undefined

  constructor(parts: readonly Part[]) {
    this.#parts = parts
  }

  /** Of each part. Several who ask at once get one answer. */
  states(): Promise<NamedState[]> {
    this.#asking ??= Promise.all(this.#parts.map(stateOf)).finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }
}

const stateOf = async (part: Part): Promise<NamedState> => {
  const { name } = part
  let timer: NodeJS.Timeout | undefined
  try {
    const late = new Promise<PartState>(resolve => {
      const message = `no answer within ${PATIENCE_MS} ms`
      timer = setTimeout(() => resolve({ status: 'error', message }), PATIENCE_MS)
    })
    return { name, ...(await Promise.race([part.state(), late])) }
  } catch (error) {
    return { name, status: 'error', message: error instanceof Error ? error.message : String(error) }
  } finally {
    clearTimeout(timer)
  }
}

/** A source that is in trouble leaves the node ready. */
export const sourceState = ({ state, ...health }: Health): PartState => {
  if (state === 'working') return { status: 'ok', ...health }
  const message = state === 'untried' ? 'not asked yet' : `${state}: ${health.lastError}`
  return { status: 'degraded', message, ...health }
}

export const nodeParts = ({ engine, headers, options, queues, closing, store }: PartsContext): Part[] => [
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
    state: async () => sourceState(health.current)
  })),
  ...(options.tokens?.sources ?? []).map(({ name, health }) => ({
    name: `source ${name}`,
    state: async () => sourceState(health.current)
  })),
  ...[...queues].flatMap(([name, queue]) =>
    name.startsWith('notify:') ? [lookupPart(name.slice('notify:'.length), queue)] : []
  ),
  ...(options.parts ?? [])
]

type PartsContext = Pick<Context, 'engine' | 'headers' | 'options' | 'queues' | 'closing' | 'store'>

const headersPart = (headers: NonNullable<Context['headers']>): Part => ({
  name: 'headers',
  async state() {
    await headers.tip()
    return { status: 'ok' }
  }
})

const lookupPart = (service: string, queue: NodeQueue): Part => ({
  name: `lookup ${service}`,
  async state() {
    const { dead, age = 0 } = await queue.stats()
    const message =
      dead > 0
        ? `${dead} transactions were given up; the dead letters of the queue notify:${service} have the reasons`
        : age > DELIVERY_SECONDS
          ? `transactions wait to be delivered, the first for ${Math.round(age)} s`
          : undefined
    return { status: message === undefined ? 'ok' : 'degraded', message }
  }
})
