/** The response of server-sent events, and the limit on how many are open. */
import type { RouteResponse } from '@quoin/http'
import { QuoinError } from '@quoin/primitives'
import type { Context } from './context.ts'

/** Refuses one stream more than the limit. A stream counts in `metrics.streams` while somebody reads it. */
export const checkStreamLimit = ({ limits, metrics }: Context): void => {
  if (metrics.streams < limits.streams) return
  throw new QuoinError('ERR_UNAVAILABLE', `all ${limits.streams} streams are in use; try again later`, {
    seconds: 10
  })
}

export interface StreamSource {
  pull(controller: ReadableStreamDefaultController<Uint8Array>): void | Promise<void>
  cancel(): void | Promise<void>
}

/** Each event is made when the client has taken the one before it. */
export const sseResponse = (source: StreamSource): RouteResponse => ({
  type: 'text/event-stream',
  headers: { 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  body: new ReadableStream<Uint8Array>(source, { highWaterMark: 0 })
})
