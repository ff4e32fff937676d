/**
 * A stream of server-sent events that follows the journal. The id of an event is its position in the journal: a client that
 * reconnects with the last id that it received (`Last-Event-ID`) continues there, on any process of the node.
 */

import type { RouteResponse } from '@quoin/http'
import { toJson } from '@quoin/http'
import { hasCode, QuoinError, reasonOf } from '@quoin/primitives'
import type { FollowOptions, JournalSubscription, LiveChange } from '@quoin/txo'
import { type Static, Type } from '@sinclair/typebox'
import type { Context } from './context.ts'
import { checkStreamLimit, type StreamSource, sseResponse } from './sse-response.ts'

const HEARTBEAT_MS = 15_000
/** Milliseconds after which a client reconnects. */
const RETRY_MS = 1000
const encoder = new TextEncoder()

export const Position = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** `matches` runs in the pass of the journal's reader, once for each change of the events and topics. */
interface StreamContent extends Pick<FollowOptions, 'events' | 'topics' | 'matches'> {
  /** The data of the event, the change itself unless given; undefined for no event. */
  readonly describe?: (change: LiveChange) => object | undefined | Promise<object | undefined>
}

/** Changes after a position; the kind of a change is the name of its event. */
export const streamOf = async (
  context: Context,
  requested: number | undefined,
  content: StreamContent
): Promise<RouteResponse> => {
  checkStreamLimit(context)
  const stream = new SseStream(context, await startOf(context, requested), content)
  return sseResponse(stream.source())
}

/** The position to continue after; refused when the journal no longer keeps the changes that follow it. */
const startOf = async ({ engine }: Context, after: Static<typeof Position> | undefined): Promise<number> => {
  const { journal } = engine.outputs
  const last = await journal.last()
  if (after === undefined) return last
  const oldest = await journal.first()
  if (after >= oldest - 1 && after <= last) return after
  throw new QuoinError('ERR_TXO_POSITION', `the journal has nothing that follows ${after}`, {
    after,
    oldest,
    last
  })
}

/** One client. A change is read when the client has received the event before it. */
class SseStream {
  readonly #context: Context
  readonly #describe: NonNullable<StreamContent['describe']>
  readonly #stopping = new AbortController()
  readonly #changes: JournalSubscription
  #heartbeat: NodeJS.Timeout | undefined
  /** Events sent since the last heartbeat. */
  #sent = 0
  #lastSentId: number | undefined
  #isEnded = false

  constructor(context: Context, after: number, { describe = change => change, ...filter }: StreamContent) {
    this.#context = context
    this.#describe = describe
    this.#changes = context.engine.outputs.follow({ ...filter, after, signal: this.#stopping.signal })
  }

  /** Nothing begins before the body is read: the body of an answer to HEAD is neither read nor cancelled. */
  source(): StreamSource {
    return {
      pull: async controller => {
        const bytes = this.#heartbeat ? await this.#nextEvent() : encoder.encode(this.#begin(controller))
        if (bytes !== undefined) return controller.enqueue(bytes)
        this.#end()
        controller.close()
      },
      cancel: this.#end
    }
  }

  #begin(controller: ReadableStreamDefaultController<Uint8Array>): string {
    const { closing, metrics, options } = this.#context
    closing.addEventListener('abort', this.#end)
    if (closing.aborted) this.#stopping.abort()
    metrics.streams++
    this.#heartbeat = setInterval(() => this.#beat(controller), options.heartbeat ?? HEARTBEAT_MS)
    return `retry: ${RETRY_MS}\n${this.#idLine()}\n`
  }

  readonly #end = (): void => {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#stopping.abort()
    this.#context.closing.removeEventListener('abort', this.#end)
    if (!this.#heartbeat) return
    clearInterval(this.#heartbeat)
    this.#context.metrics.streams--
  }

  /** A sign of life for a client that has received everything, with the position that it may continue from. */
  #beat(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const sent = this.#sent
    this.#sent = 0
    if (sent > 0 || this.#isEnded || controller.desiredSize! < 0) return
    const text = this.#lastSentId === this.#changes.position ? ':\n\n' : `${this.#idLine()}\n`
    controller.enqueue(encoder.encode(text))
  }

  /** The next event to send; undefined at the end of the stream. */
  async #nextEvent(): Promise<Uint8Array | undefined> {
    try {
      for (;;) {
        const { value: change } = await this.#changes.next()
        if (!change) return undefined
        const describing = this.#describe(change)
        const data = describing instanceof Promise ? await describing : describing
        if (!data) continue
        this.#sent++
        this.#lastSentId = change.position
        return data === change
          ? sharedEventOf(change)
          : eventOf(change, { ...data, position: change.position })
      }
    } catch (error) {
      return this.#failed(error)
    }
  }

  /** An id without data moves the position of the client, and is no event. */
  #idLine(): string {
    this.#lastSentId = this.#changes.position
    return `id: ${this.#lastSentId}\n`
  }

  /** The subscription has ended with the error, and the next read ends the stream. */
  #failed(error: unknown): Uint8Array | undefined {
    if (hasCode(error, 'ERR_TXO_POSITION'))
      return encoder.encode(`event: gone\ndata: ${toJson(error.details)}\n\n`)
    this.#context.logger.error('live stream failed', { reason: reasonOf(error) })
    return undefined
  }
}

const eventOf = ({ kind, position }: LiveChange, data: object): Uint8Array =>
  encoder.encode(`event: ${kind}\nid: ${position}\ndata: ${toJson(data)}\n\n`)

/** Events of whole changes, which streams share. */
const sharedEvents = new WeakMap<LiveChange, Uint8Array>()

const sharedEventOf = (change: LiveChange): Uint8Array => {
  const bytes = sharedEvents.get(change) ?? eventOf(change, change)
  sharedEvents.set(change, bytes)
  return bytes
}
