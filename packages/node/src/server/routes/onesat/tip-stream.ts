/** The last block as a stream of server-sent events: as it is, and whenever there is another. */
import type { ChainHeader, HeaderStore } from '@quoin/chain'
import { type RouteResponse, toJson } from '@quoin/http'
import type { Context } from '../../context.ts'
import { checkStreamLimit, sseResponse } from '../../sse-response.ts'

/** Milliseconds between signs of life; the headers of other processes are looked for as often. */
const HEARTBEAT_MS = 15_000
const encoder = new TextEncoder()

export const tipStream = (
  context: Context,
  headers: HeaderStore,
  describe: (tip: ChainHeader) => unknown
): RouteResponse => {
  const { metrics, closing, options } = context
  checkStreamLimit(context)
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
  const nextTip = async (): Promise<void> => {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>(resolve => {
      wake = resolve
      timer = setTimeout(resolve, heartbeat)
      if (closing.aborted || isEnded) resolve()
    })
    clearTimeout(timer)
  }
  return sseResponse({
    pull: async controller => {
      end ??= begin()
      if (last !== '') await nextTip()
      if (isEnded) return
      if (closing.aborted) {
        end()
        controller.close()
        return
      }
      const text = `data: ${toJson(describe(await headers.tip()))}\n\n`
      controller.enqueue(encoder.encode(text === last ? ':\n\n' : text))
      last = text
    },
    cancel: () => end?.()
  })
}
