/** Server-sent events that follow the headers of the node: the tip as it moves, and reorgs. */
import { type ChainHeader, formatHash, type HeaderStore } from '@quoin/chain'
import { type RouteResponse, toJson } from '@quoin/http'
import { equalBytes } from '@quoin/primitives'
import type { Context } from '../../context.ts'
import { checkStreamLimit, sseResponse } from '../../sse-response.ts'

/** Milliseconds between signs of life; the headers of other processes are looked for as often. */
const HEARTBEAT_MS = 15_000
const encoder = new TextEncoder()

export type DescribeHeader = (header: ChainHeader) => unknown

/** The tip at once, and each header that becomes it. */
export const tipStream = (context: Context, headers: HeaderStore, describe: DescribeHeader): RouteResponse =>
  headerStream(context, headers, (tip, last) => (last && isSame(tip, last) ? undefined : describe(tip)))

/** Each reorg after the beginning of the stream, in the form of go-chaintracks. */
export const reorgStream = (
  context: Context,
  headers: HeaderStore,
  describe: DescribeHeader
): RouteResponse =>
  headerStream(context, headers, async (tip, last) => {
    if (!last || isSame(tip, last)) return undefined
    const { fork, removed } = await headers.removedSince(last)
    if (removed.length === 0) return undefined
    return {
      orphanedHashes: removed.map(({ header }) => formatHash(header.hash)),
      commonAncestor: fork ? describe(fork) : null,
      newTip: describe(tip),
      depth: removed.length
    }
  })

/** The event for a tip, `last` being the tip of the event before; undefined for none. */
type NextEvent = (tip: ChainHeader, last: ChainHeader | undefined) => unknown

const headerStream = (context: Context, headers: HeaderStore, next: NextEvent): RouteResponse => {
  const { metrics, closing, options } = context
  checkStreamLimit(context)
  const heartbeat = options.heartbeat ?? HEARTBEAT_MS
  let wake: () => void = () => undefined
  let last: ChainHeader | undefined
  let isEnded = false
  /** Whether the tip moved after the last event. */
  let isMoved = false
  let end: (() => void) | undefined
  const begin = (): (() => void) => {
    const tipMoved = headers.onTip(() => {
      isMoved = true
      wake()
    })
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
      if (closing.aborted || isEnded || isMoved) resolve()
    })
    clearTimeout(timer)
  }
  return sseResponse({
    pull: async controller => {
      end ??= begin()
      if (last) await nextTip()
      if (isEnded) return
      if (closing.aborted) {
        end()
        controller.close()
        return
      }
      isMoved = false
      const tip = await headers.tip()
      const event = await next(tip, last)
      last = tip
      controller.enqueue(
        encoder.encode(event === undefined ? ': keepalive\n\n' : `data: ${toJson(event)}\n\n`)
      )
    },
    cancel: () => end?.()
  })
}

const isSame = (a: ChainHeader, b: ChainHeader): boolean => equalBytes(a.header.hash, b.header.hash)
