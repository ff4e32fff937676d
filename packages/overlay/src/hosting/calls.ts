/** Calls of a module: queued, in its process, and answered. */
import type { CallRequest, HistoryRequest, WorkerResponse } from './protocol.ts'

/** Limits of the queue: calls, and bytes of their requests. */
const QUEUED_CALLS = 1000
const QUEUED_BYTES = 128 * 1024 * 1024
/** The bytes of a request without arrays. */
const REQUEST_BYTES = 1000
/** Evaluations of topics that are settled together: their number, and the milliseconds that the first one waits. */
const GROUP = 16
const GROUP_MS = 5

export interface Call {
  readonly request: CallRequest | HistoryRequest
  readonly size: number
  /** The deadline, in milliseconds. */
  readonly timeout: number
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
  /** The start of its deadline: when it came, was sent, or was last known to wait in the process. */
  since: number
  attempts: number
}

export const makeCall = (
  request: CallRequest | HistoryRequest,
  timeout: number,
  resolve: (value: unknown) => void,
  reject: (error: Error) => void
): Call => ({
  request,
  size: sizeOf(request),
  timeout,
  resolve,
  reject,
  since: performance.now(),
  attempts: 0
})

const isLate = ({ since, timeout }: Call, now: number): boolean => now - since > timeout

const sizeOf = ({ args }: CallRequest | HistoryRequest): number => {
  let size = REQUEST_BYTES
  for (const arg of args) {
    const values =
      typeof arg === 'object' && arg !== null && !(arg instanceof Uint8Array) ? Object.values(arg) : [arg]
    for (const value of values) if (value instanceof Uint8Array) size += value.length
  }
  return size
}

/** Calls in the order in which they came, bounded by their number and their bytes. */
export class CallQueue {
  readonly #calls: Call[] = []
  #bytes = 0

  get size(): number {
    return this.#calls.length
  }

  get isFull(): boolean {
    return this.#calls.length >= QUEUED_CALLS || this.#bytes >= QUEUED_BYTES
  }

  push(call: Call): void {
    this.#calls.push(call)
    this.#bytes += call.size
  }

  /** Puts calls of an ended process before the queued calls. */
  putBack(calls: readonly Call[]): void {
    this.#calls.unshift(...calls)
    for (const { size } of calls) this.#bytes += size
  }

  shift(): Call | undefined {
    const call = this.#calls.shift()
    if (call) this.#bytes -= call.size
    return call
  }

  /** Removes calls that have waited beyond their deadline. */
  takeLate(now: number): Call[] {
    const late = this.#calls.filter(call => isLate(call, now))
    if (late.length === 0) return late
    const kept = this.#calls.filter(call => !isLate(call, now))
    this.takeAll()
    for (const call of kept) this.push(call)
    return late
  }

  takeAll(): Call[] {
    this.#bytes = 0
    return this.#calls.splice(0)
  }
}

/** Calls in a process, which begins them in the order of their numbers. */
export class OpenCalls {
  readonly #calls = new Map<number, Call>()
  #lastId = 0
  /** The last call that the process is known to have begun, and when its last answer came. */
  #started = 0
  #answeredAt = 0

  get size(): number {
    return this.#calls.size
  }

  /** The number of a call that is to be sent. */
  add(call: Call): number {
    call.attempts++
    call.since = performance.now()
    this.#calls.set(++this.#lastId, call)
    return this.#lastId
  }

  get(id: number | undefined): Call | undefined {
    return id === undefined ? undefined : this.#calls.get(id)
  }

  /** Removes a call that is answered. Deadlines of calls behind it count from when they can have begun. */
  take(id: number, started: number): Call | undefined {
    const call = this.#calls.get(id)
    if (!call) return undefined
    this.#calls.delete(id)
    const now = performance.now()
    for (const [waiting, each] of this.#calls) {
      if (waiting > started) each.since = now
      else if (waiting > this.#started) each.since = Math.max(each.since, this.#answeredAt)
    }
    this.#started = Math.max(this.#started, started)
    this.#answeredAt = now
    return call
  }

  /** The first call beyond its deadline. */
  firstLate(now: number): readonly [id: number, call: Call] | undefined {
    for (const open of this.#calls) if (isLate(open[1], now)) return open
    return undefined
  }

  takeAll(): Call[] {
    const calls = [...this.#calls.values()]
    this.#calls.clear()
    return calls
  }
}

/** An error that a plug-in threw, with its message. */
export class PluginFailure extends Error {}

/**
 * Settles calls. Evaluations of topics are settled in groups, so that their submissions share a group commit: a commit
 * for each costs more than the call. The last answer of a process settles the group.
 */
export class GroupedAnswers {
  readonly #group: (() => void)[] = []
  #timer: NodeJS.Timeout | undefined

  add(call: Call, answer: WorkerResponse, isLast: boolean): void {
    const settle = (): void =>
      'error' in answer ? call.reject(new PluginFailure(answer.error.message)) : call.resolve(answer.value)
    const { request } = call
    if (request.type !== 'call' || request.method !== 'identifyAdmissibleOutputs') {
      settle()
      return
    }
    this.#group.push(settle)
    if (isLast || this.#group.length >= GROUP) this.#settle()
    else this.#timer ??= setTimeout(this.#settle, GROUP_MS)
  }

  readonly #settle = (): void => {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const settle of this.#group.splice(0)) settle()
  }
}
