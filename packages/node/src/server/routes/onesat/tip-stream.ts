/** The last block as a stream of server-sent events: as it is, and whenever there is another. */
import type { ChainHeader, HeaderStore } from '@quoin/chain'
import type { RouteResponse } from '@quoin/http'
import { toJson } from '@quoin/http'
import { QuoinError } from '@quoin/primitives'
import type { Context } from '../../context.ts'

/** Milliseconds between signs of life; the headers of other processes are looked for as often. */
const HEARTBEAT_MS = 15_000
const encoder = new TextEncoder()

export const tipStream = (
  context: Context,
  headers: HeaderStore,
  shown: (tip: ChainHeader) => unknown
): RouteResponse => {
  const { limits, metrics, closing, options } = context
  if (metrics.streams >= limits.streams) {
    throw new QuoinError('ERR_UNAVAILABLE', `there are ${limits.streams} streams already`, { seconds: 10 })
  }
  const heartbeat = options.heartbeat ?? HEARTBEAT_MS
  let wake: () => void = () => undefined
  let [last, isEnded] = ['', false]
  let end: (() => void) | undefined
  const begin = (): (() => void) => {
    const tipMoved = headers.onTip(() => wake())
    const closed = (): void => wake()
    closing.addEventListener('abort', closed)
    metrics.streams++
    return () => {
      tipMoved()
      closing.removeEventListener('abort', closed)
      metrics.streams--
      isEnded = true
      wake()
    }
  }
  const news = async (): Promise<void> => {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>(resolve => {
      wake = resolve
      timer = setTimeout(resolve, heartbeat)
      if (closing.aborted || isEnded) resolve()
    })
    clearTimeout(timer)
  }
  return {
    type: 'text/event-stream',
    headers: { 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
    body: new ReadableStream<Uint8Array>(
      {
        pull: async controller => {
          end ??= begin()
          if (last !== '') await news()
          if (isEnded) return
          if (closing.aborted) {
            end()
            controller.close()
            return
          }
          const text = `data: ${toJson(shown(await headers.tip()))}\n\n`
          controller.enqueue(encoder.encode(text === last ? ':\n\n' : text))
          last = text
        },
        cancel: () => end?.()
      },
      { highWaterMark: 0 }
    )
  }
}
