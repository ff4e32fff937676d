/**
 * Changes as they are committed, as server-sent events. The id of an event is its position in the journal: a client
 * that comes back with the last one it got (`Last-Event-ID`) goes on exactly there, on whichever process of the node.
 */
import { type Static, Type } from '@sinclair/typebox'
import { QuoinError } from '../../keyspace/index.ts'
import type { LiveChange } from '../../txo/index.ts'
import type { Context } from '../context.ts'
import { toJson } from '../json.ts'
import { type Route, route } from '../route.ts'
import { TopicName } from '../schemas.ts'

const HEARTBEAT_MS = 15_000
/** Milliseconds after which a client tries again. */
const RETRY_MS = 1000
const encoder = new TextEncoder()

const Position = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

export const liveRoutes = (context: Context): Route[] => {
  const { limits, metrics } = context
  const query = {
    events: Type.Optional(
      Type.Array(Type.String({ maxLength: 1024 }), {
        maxItems: limits.events,
        description: 'Only changes that touch one of these, repeated.'
      })
    ),
    topics: Type.Optional(
      Type.Array(TopicName, {
        maxItems: limits.topics,
        description: 'Or outputs of one of these, admitted or spent, repeated.'
      })
    ),
    after: Type.Optional(Position)
  }
  return [
    route({
      method: 'get',
      path: '/live',
      name: 'live',
      about:
        'Changes as they are committed: `saved`, `moved` and `removed`. When the journal no longer has what follows a position, 410, or on an open stream an event `gone`.',
      family: 'live',
      query,
      headers: { 'last-event-id': Type.Optional(Position) },
      answers: {
        200: { about: 'A stream of events.', content: { 'text/event-stream': Type.String() } },
        410: { about: 'The position is no longer there.' }
      },
      async handle({ query: { events, topics, after: asked }, headers }) {
        if (metrics.streams >= limits.streams) {
          throw new QuoinError('ERR_UNAVAILABLE', `there are ${limits.streams} streams already`, {
            seconds: 10
          })
        }
        const after = await startOf(context, headers['last-event-id'] ?? asked)
        const follow = new Following(context, after, wantedBy(events, topics))
        return {
          type: 'text/event-stream',
          headers: { 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
          body: follow.stream()
        }
      }
    })
  ]
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

type Wanted = (change: LiveChange) => boolean

const wantedBy = (events: readonly string[] | undefined, topics: readonly string[] | undefined): Wanted => {
  if (!events && !topics) return () => true
  const ofEvents = new Set(events)
  const ofTopics = new Set(topics)
  return ({ outputs, spends }) =>
    [...outputs, ...spends].some(
      ({ events, topics }) => events.some(has(ofEvents)) || topics.some(has(ofTopics))
    ) || outputs.some(({ left }) => left?.some(has(ofTopics)))
}
const has =
  (set: ReadonlySet<string>) =>
  (text: string): boolean =>
    set.has(text)

/** One client. It is asked for more only as fast as that reads. */
class Following {
  readonly #context: Context
  readonly #wanted: Wanted
  readonly #ending = new AbortController()
  readonly #changes: AsyncGenerator<LiveChange, void, undefined>
  #next: Promise<IteratorResult<LiveChange, void>> | undefined
  /** What was looked at, sent or not, and what the client knows of that. */
  #position: number
  #told: number | undefined
  #isOver = false

  constructor(context: Context, after: number, wanted: Wanted) {
    this.#context = context
    this.#wanted = wanted
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
      try {
        result = await soon(this.#next, this.#context.options.heartbeat ?? HEARTBEAT_MS)
      } catch (error) {
        return this.#failed(error)
      }
      if (!result) return this.#told === this.#position ? ':\n\n' : `${this.#place()}\n`
      this.#next = undefined
      if (result.done) return undefined
      const { position, ...change } = result.value
      this.#position = position
      if (this.#wanted(result.value)) {
        return `event: ${change.kind}\n${this.#place()}data: ${toJson({ position, ...change })}\n\n`
      }
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
