/**
 * A stream of server-sent events: changes as they are committed, as a route tells them. The id of an event is its position
 * in the journal: a client that comes back with the last one it got (`Last-Event-ID`) goes on exactly there, on whichever
 * process of the node.
 */

import { QuoinError } from '@quoin/primitives'
import type { LiveChange } from '@quoin/txo'
import { type Static, Type } from '@sinclair/typebox'
import type { Context } from './context.ts'
import { toJson } from './json.ts'
import type { Answer } from './route.ts'

const HEARTBEAT_MS = 15_000
/** Milliseconds after which a client tries again. */
const RETRY_MS = 1000
const encoder = new TextEncoder()

export const Position = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** What a client is told of a change; nothing of one that is not for it. */
type Tell = (change: LiveChange) => object | undefined | Promise<object | undefined>

/** Changes from a position on; the kind of a change is the name of its event. */
export const streamOf = async (context: Context, asked: number | undefined, tell: Tell): Promise<Answer> => {
  const { limits, metrics } = context
  if (metrics.streams >= limits.streams) {
    throw new QuoinError('ERR_UNAVAILABLE', `there are ${limits.streams} streams already`, { seconds: 10 })
  }
  const follow = new Following(context, await startOf(context, asked), tell)
  return {
    type: 'text/event-stream',
    headers: { 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
    body: follow.stream()
  }
}

/** Where to begin; refused when the journal does not go on from there. */
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

/** One client. It is asked for more only as fast as that reads. */
class Following {
  readonly #context: Context
  readonly #tell: Tell
  readonly #ending = new AbortController()
  readonly #changes: AsyncGenerator<LiveChange, void, undefined>
  #next: Promise<IteratorResult<LiveChange, void>> | undefined
  /** What was looked at, sent or not, and what the client knows of that. */
  #position: number
  #told: number | undefined
  #isOver = false

  constructor(context: Context, after: number, tell: Tell) {
    this.#context = context
    this.#tell = tell
    this.#position = after
    this.#changes = context.engine.outputs.follow({ after, signal: this.#ending.signal })
  }

  /** Nothing begins before somebody reads: of an answer to HEAD nobody does, nor cancels it. */
  stream(): ReadableStream<Uint8Array> {
    let begun = false
    return new ReadableStream<Uint8Array>(
      {
        pull: async controller => {
          const text = begun ? await this.#more() : this.#begin()
          begun = true
          if (text === undefined) {
            this.#end()
            controller.close()
          } else controller.enqueue(encoder.encode(text))
        },
        cancel: () => {
          if (begun) this.#end()
        }
      },
      { highWaterMark: 0 }
    )
  }

  #begin(): string {
    const { closing, metrics } = this.#context
    closing.addEventListener('abort', this.#end)
    if (closing.aborted) this.#ending.abort()
    metrics.streams++
    return `retry: ${RETRY_MS}\n${this.#place()}\n`
  }

  readonly #end = (): void => {
    if (this.#isOver) return
    this.#isOver = true
    this.#ending.abort()
    this.#context.closing.removeEventListener('abort', this.#end)
    this.#context.metrics.streams--
  }

  /** The next text to send; undefined when it is over. */
  async #more(): Promise<string | undefined> {
    for (;;) {
      this.#next ??= this.#changes.next()
      let result: IteratorResult<LiveChange, void> | undefined
      let told: object | undefined
      try {
        result = await soon(this.#next, this.#context.options.heartbeat ?? HEARTBEAT_MS)
        if (result && !result.done) told = await this.#tell(result.value)
      } catch (error) {
        return this.#failed(error)
      }
      if (!result) return this.#told === this.#position ? ':\n\n' : `${this.#place()}\n`
      this.#next = undefined
      if (result.done) return undefined
      const { position, kind } = result.value
      this.#position = position
      if (told) return `event: ${kind}\n${this.#place()}data: ${toJson({ ...told, position })}\n\n`
    }
  }

  /** An id without data moves the client on and is no event to it. */
  #place(): string {
    this.#told = this.#position
    return `id: ${this.#position}\n`
  }

  /** After an error there is nothing more: the generator has ended, and the next read says so. */
  #failed(error: unknown): string | undefined {
    this.#next = undefined
    if (error instanceof QuoinError && error.code === 'ERR_TXO_POSITION') {
      return `event: gone\ndata: ${toJson(error.details)}\n\n`
    }
    const reason = error instanceof Error ? error.message : String(error)
    this.#context.logger.error('live stream failed', { reason })
    return undefined
  }
}

/** What a promise resolves to if it does so in time. */
const soon = async <T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> => {
  let timer: NodeJS.Timeout | undefined
  try {
    return await Promise.race([
      promise,
      new Promise<undefined>(resolve => {
        timer = setTimeout(() => resolve(undefined), milliseconds)
      })
    ])
  } finally {
    clearTimeout(timer)
  }
}
