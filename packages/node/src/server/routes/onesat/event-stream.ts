/**
 * Answers that come one by one, as server-sent events, until they are all there. The client of the 1Sat API reads them by
 * hand, so they are written the one way that it reads: one line of data, a space behind each colon.
 */

import type { RouteResponse } from '@quoin/http'
import { toJson } from '@quoin/http'
import { QuoinError, reasonOf } from '@quoin/primitives'
import type { Context } from '../../context.ts'

export interface Told {
  /** None for what the client takes for a plain message. */
  readonly event?: string
  readonly id?: string | number
  readonly data: unknown
}

const encoder = new TextEncoder()
/** Events that are sent together at most. */
const TOGETHER = 100

/** RouteRequest for more only as fast as the client reads; ends with `done`, or with `error`. */
export const eventStream = (
  context: Context,
  events: AsyncGenerator<Told, void, undefined>
): RouteResponse => {
  const { limits, metrics, closing } = context
  if (metrics.streams >= limits.streams) {
    throw new QuoinError('ERR_UNAVAILABLE', `there are ${limits.streams} streams already`, { seconds: 10 })
  }
  let isCounted = false
  const end = (): void => {
    if (isCounted) metrics.streams--
    isCounted = false
  }
  const more = async (): Promise<{ readonly text: string; readonly isLast: boolean }> => {
    let text = ''
    try {
      for (let i = 0; i < TOGETHER; i++) {
        const { value, done } = await events.next()
        if (done) return { text: text + written({ event: 'done', data: {} }), isLast: true }
        text += written(value)
        if (closing.aborted) return { text, isLast: true }
      }
      return { text, isLast: false }
    } catch (error) {
      const reason = reasonOf(error)
      context.logger.error('stream failed', { reason })
      return { text: text + written({ event: 'error', data: 'the node cannot go on' }), isLast: true }
    }
  }
  return {
    type: 'text/event-stream',
    headers: { 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
    body: new ReadableStream<Uint8Array>(
      {
        pull: async controller => {
          if (!isCounted) metrics.streams++
          isCounted = true
          const { text, isLast } = await more()
          controller.enqueue(encoder.encode(text))
          if (!isLast) return
          end()
          controller.close()
        },
        cancel: async () => {
          end()
          await events.return()
        }
      },
      { highWaterMark: 0 }
    )
  }
}

const written = ({ event, id, data }: Told): string => {
  const text = typeof data === 'string' ? data : toJson(data)
  return `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}data: ${text}\n\n`
}
