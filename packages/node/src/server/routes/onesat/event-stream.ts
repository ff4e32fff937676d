/**
 * Answers that come one by one, as server-sent events, until they are all there. The client of the 1Sat API reads them by
 * hand, so they are written the one way that it reads: one line of data, a space behind each colon.
 */

import type { RouteResponse } from '@quoin/http'
import { toJson } from '@quoin/http'
import { reasonOf } from '@quoin/primitives'
import type { Context } from '../../context.ts'
import { checkStreamLimit, sseResponse } from '../../sse-response.ts'

export interface StreamEvent {
  /** The name; without one it is a plain message to the client. */
  readonly event?: string
  readonly id?: string | number
  readonly data: unknown
}

const encoder = new TextEncoder()
/** Events that are sent together at most. */
const BATCH = 100

/** Takes events as fast as the client reads; ends with `done`, or with `error`. */
export const eventStream = (
  context: Context,
  events: AsyncGenerator<StreamEvent, void, undefined>
): RouteResponse => {
  const { metrics, closing } = context
  checkStreamLimit(context)
  let isCounted = false
  const end = (): void => {
    if (isCounted) metrics.streams--
    isCounted = false
  }
  const more = async (): Promise<{ readonly text: string; readonly isLast: boolean }> => {
    let text = ''
    try {
      for (let i = 0; i < BATCH; i++) {
        const { value, done } = await events.next()
        if (done) return { text: text + eventText({ event: 'done', data: {} }), isLast: true }
        text += eventText(value)
        if (closing.aborted) return { text, isLast: true }
      }
      return { text, isLast: false }
    } catch (error) {
      const reason = reasonOf(error)
      context.logger.error('stream failed', { reason })
      return { text: text + eventText({ event: 'error', data: 'the node cannot go on' }), isLast: true }
    }
  }
  return sseResponse({
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
  })
}

const eventText = ({ event, id, data }: StreamEvent): string => {
  const text = typeof data === 'string' ? data : toJson(data)
  return `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}data: ${text}\n\n`
}
