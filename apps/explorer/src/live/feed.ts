/**
 * The changes that the node commits, live. One stream for the page, open while a view needs it; only the changes on
 * display are kept, so that an open page does not grow.
 */
import { signal } from '@preact/signals'
import { at } from '../base.ts'

export interface LiveOutput {
  readonly outpoint: string
  readonly kind: string
  readonly score: number
  readonly events: readonly string[]
  readonly topics: readonly string[]
  /** The position of the change in the journal. */
  readonly position: number
}

interface Change {
  readonly position: number
  readonly kind: string
  readonly txid: string
  readonly score: number
  readonly outputs: readonly {
    readonly vout: number
    readonly events: readonly string[]
    readonly topics: readonly string[]
  }[]
}

const KEPT = 40
export const latest = signal<readonly LiveOutput[]>([])
type FeedState = 'off' | 'connecting' | 'open' | 'lost'
export const feed = signal<FeedState>('off')

let source: EventSource | undefined
let watchers = 0
let pending: LiveOutput[] = []
let isDue = false

const flush = (): void => {
  isDue = false
  const byOutpoint = new Map<string, LiveOutput>()
  for (const each of [...pending.reverse(), ...latest.value]) {
    if (!byOutpoint.has(each.outpoint)) byOutpoint.set(each.outpoint, each)
    if (byOutpoint.size === KEPT) break
  }
  pending = []
  latest.value = [...byOutpoint.values()].filter(({ kind }) => kind !== 'removed')
}

const take = (data: string): void => {
  const { position, kind, txid, score, outputs } = JSON.parse(data) as Change
  // Changes of one frame are shown together: a burst costs one rendering.
  for (const { vout, events, topics } of outputs.slice(0, KEPT)) {
    pending.push({ outpoint: `${txid}.${vout}`, kind, score, events, topics, position })
  }
  if (pending.length > KEPT) pending = pending.slice(-KEPT)
  if (!isDue) requestAnimationFrame(flush)
  isDue = true
}

const connect = (after: number | undefined): void => {
  feed.value = 'connecting'
  source = new EventSource(at(after === undefined ? '/live' : `/live?after=${after}`))
  source.onopen = () => {
    feed.value = 'open'
  }
  source.onerror = () => {
    feed.value = 'lost'
    // Refused: the journal no longer has the position. Without a position the stream begins at the end.
    if (source?.readyState === EventSource.CLOSED) retry = setTimeout(() => connect(undefined), 2000)
  }
  for (const kind of ['saved', 'moved', 'removed']) {
    source.addEventListener(kind, event => take((event as MessageEvent<string>).data))
  }
}
let retry: ReturnType<typeof setTimeout> | undefined

/** Follows from a little before `position`; returns the function that ends it. */
export const watch = (position: number): (() => void) => {
  if (watchers++ === 0) {
    latest.value = []
    connect(Math.max(0, position - KEPT))
  }
  return () => {
    if (--watchers > 0) return
    clearTimeout(retry)
    source?.close()
    source = undefined
    feed.value = 'off'
  }
}
