/**
 * Changes of broadcast statuses as server-sent events. The id of an event is its position in their log, so that a client
 * continues with `Last-Event-ID` where it was, on any process of the node.
 */
import { type RouteResponse, toJson } from '@quoin/http'
import type { BroadcastEvent, Broadcaster } from '@quoin/overlay'
import { parseTxid } from '@quoin/primitives'
import type { LogEntry } from '@quoin/store'
import type { Context } from '../../context.ts'
import { checkStreamLimit, type StreamSource, sseResponse } from '../../sse-response.ts'
import { networkState } from '../../transaction-status.ts'

export interface StatusStreamOptions {
  /** The last position that the client has; the end of the log unless given. */
  readonly after: number | undefined
  /** SHA-256 of the callback token of the submissions; all submissions without it. */
  readonly token: string | undefined
  /** The name of events; a plain message unless given. */
  readonly event: string | undefined
}

const HEARTBEAT_MS = 15_000
/** Milliseconds between looks for events of other processes. */
const POLL_MS = 1000
const PAGE = 100
const encoder = new TextEncoder()

export const statusStream = async (
  context: Context,
  { after, ...options }: StatusStreamOptions
): Promise<RouteResponse> => {
  checkStreamLimit(context)
  const last = await context.options.broadcaster!.records.lastEvent()
  return sseResponse(new StatusStream(context, after, last, options).source())
}

class StatusStream {
  readonly #context: Context
  readonly #broadcaster: Broadcaster
  readonly #options: Omit<StatusStreamOptions, 'after'>
  #position: number
  /** The position that the client knows. */
  #sent: number
  /** A position after the end is of another log: what the client missed is unknown. */
  readonly #isForeign: boolean
  #isBegun = false
  #isEnded = false
  #wake: () => void = () => undefined
  #unsubscribe: () => void = () => undefined

  constructor(
    context: Context,
    after: number | undefined,
    last: number,
    options: Omit<StatusStreamOptions, 'after'>
  ) {
    this.#context = context
    this.#broadcaster = context.options.broadcaster!
    this.#position = Math.min(after ?? last, last)
    this.#sent = this.#position
    this.#isForeign = after !== undefined && after > last
    this.#options = options
  }

  source(): StreamSource {
    return {
      pull: async controller => {
        const text = this.#isBegun ? await this.#next() : this.#begin()
        if (!this.#isEnded) controller.enqueue(encoder.encode(text))
        else if (this.#context.closing.aborted) controller.close()
      },
      cancel: this.#end
    }
  }

  #begin(): string {
    this.#isBegun = true
    const { closing, metrics } = this.#context
    this.#unsubscribe = this.#broadcaster.records.onChange(() => this.#wake())
    closing.addEventListener('abort', this.#end)
    if (closing.aborted) this.#end()
    else metrics.streams++
    const gap = this.#isForeign ? gapText('replay_unavailable', this.#position, 0) : ''
    return `retry: 1000\nid: ${this.#position}\n\n${gap}`
  }

  readonly #end = (): void => {
    if (this.#isEnded || !this.#isBegun) return
    this.#isEnded = true
    this.#unsubscribe()
    this.#context.closing.removeEventListener('abort', this.#end)
    this.#context.metrics.streams--
    this.#wake()
  }

  /** Events, or a sign of life. */
  async #next(): Promise<string> {
    const heartbeat = this.#context.options.heartbeat ?? HEARTBEAT_MS
    const end = performance.now() + heartbeat
    while (!this.#isEnded) {
      const woken = this.#woken(Math.min(POLL_MS, Math.max(0, end - performance.now())))
      const text = await this.#read()
      if (text !== undefined && text !== '') {
        this.#sent = this.#position
        return text
      }
      if (performance.now() >= end) return this.#beat()
      if (text === undefined) await woken
    }
    return ''
  }

  /** A sign of life, with the position that the client continues after. */
  #beat(): string {
    if (this.#sent === this.#position) return ': keepalive\n\n'
    this.#sent = this.#position
    return `: keepalive\nid: ${this.#position}\n\n`
  }

  /** Begun before a read, so that no change between the read and the wait is missed. */
  #woken(milliseconds: number): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, milliseconds)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Undefined at the end of the log. */
  async #read(): Promise<string | undefined> {
    const after = this.#position
    const entries = await this.#broadcaster.records.eventsAfter(after, PAGE)
    const [first] = entries
    if (!first) return undefined
    this.#position = entries.at(-1)!.position
    const lost = first.position - after - 1
    const texts = [lost > 0 ? gapText('catchup_truncated', after, lost) : '']
    for (const entry of await this.#ofToken(entries)) texts.push(await this.#textOf(entry))
    return texts.join('')
  }

  async #ofToken(entries: readonly LogEntry<BroadcastEvent>[]): Promise<readonly LogEntry<BroadcastEvent>[]> {
    const { token } = this.#options
    if (token === undefined) return entries
    const records = await this.#broadcaster.records.getMany(entries.map(({ entry }) => parseTxid(entry.txid)))
    return entries.filter((_, i) => records[i]?.tokens?.includes(token))
  }

  async #textOf({ position, entry }: LogEntry<BroadcastEvent>): Promise<string> {
    const { txid, txStatus, at, reason, competing, height } = entry
    const block =
      height === undefined ? undefined : (await networkState(this.#context, parseTxid(txid))).block
    const data = {
      txid,
      txStatus,
      timestamp: new Date(at * 1000).toISOString(),
      ...(height !== undefined && { blockHeight: height }),
      ...(block?.height === height && block?.hash && { blockHash: block.hash, merklePath: block.merklePath }),
      ...(reason !== undefined && { extraInfo: reason }),
      ...(competing && { competingTxs: competing })
    }
    const { event } = this.#options
    return `${event === undefined ? '' : `event: ${event}\n`}id: ${position}\ndata: ${toJson(data)}\n\n`
  }
}

/** The client asks for the statuses of its transactions again. */
const gapText = (reason: string, from: number, count: number): string =>
  `event: gap\ndata: ${toJson({ reason, from, count, action: 'reconcile' })}\n\n`
