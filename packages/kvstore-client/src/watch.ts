/**
 * Live changes of entries. A host only announces which tuples changed; their entries are looked up and verified. Each new
 * stream begins with a comparison of the live entries with the known ones, so that no change between two streams is
 * missed, and no position has to be stored.
 */
import { Backoff, hasCode, QuoinError, sleep } from '@quoin/primitives'
import type { KvEntry, Selectors } from './entry.ts'
import { readEvents } from './events.ts'
import { hostError } from './overlay.ts'
import { isProtocolID, type KvTuple, protocolText, tupleText } from './tuple.ts'

export type KvChange =
  /** The entry is new, or has a new value. */
  | { readonly kind: 'set'; readonly entry: KvEntry }
  /** The entry was deleted; this is its last state. */
  | { readonly kind: 'removed'; readonly entry: KvEntry }
  /** The entry has several live tokens (§3.4). */
  | { readonly kind: 'ambiguous'; readonly entries: readonly KvEntry[] }

export interface WatchContext {
  readonly hosts: readonly string[]
  readonly selectors: Selectors
  readonly signal: AbortSignal | undefined
  /** All live and matching entries, verified. */
  all(host: string): Promise<readonly KvEntry[]>
  /** The live entries of a tuple, verified. */
  one(host: string, tuple: KvTuple): Promise<readonly KvEntry[]>
}

/** A host's announcement of a change. It is not trusted: it only names the tuples to look up. */
interface ChangeNotice {
  readonly tuples: readonly KvTuple[]
  readonly gone: readonly string[]
}

const RECONNECT_MS = { first: 500, limit: 30_000 }

/** Yields live entries first, each as a change. Ends when the signal aborts or the consumer returns. */
export async function* watchEntries(context: WatchContext): AsyncGenerator<KvChange, void, undefined> {
  const { hosts, signal } = context
  const known = new Map<string, readonly KvEntry[]>()
  const backoff = new Backoff(RECONNECT_MS)
  for (let turn = 0; !signal?.aborted; turn++) {
    const host = hosts[turn % hosts.length]!
    const connection = new AbortController()
    try {
      const body = await open(
        host,
        context,
        AbortSignal.any([connection.signal, ...(signal ? [signal] : [])])
      )
      yield* compare(known, byTuple(await context.all(host)), known.keys())
      backoff.reset()
      for await (const data of readEvents(body)) {
        yield* changesOf(host, context, known, parseNotice(host, data))
      }
    } catch (error) {
      if (signal?.aborted) return
      // An unreachable host is retried; one without the route is not, when it is the only one.
      if (!hasCode(error, 'ERR_KV_HOST')) throw error
      if (error instanceof UnsupportedHostError && hosts.length === 1) throw error
    } finally {
      connection.abort()
    }
    await sleep(backoff.next(), { signal })
  }
}

/** The host is not a Quoin node, or has the key-value store turned off. */
class UnsupportedHostError extends QuoinError {
  constructor(host: string) {
    super('ERR_KV_HOST', 'the host does not stream changes', { hosts: { [host]: 'no route /kv/live' } })
  }
}

const open = async (
  host: string,
  { selectors }: WatchContext,
  signal: AbortSignal
): Promise<ReadableStream<Uint8Array>> => {
  const { key, controller, protocolID, tags = [], tagQueryMode } = selectors
  const query = new URLSearchParams()
  if (key !== undefined) query.set('key', key)
  if (controller !== undefined) query.set('controller', controller)
  if (protocolID) query.set('protocolID', protocolText(protocolID))
  for (const tag of tags) query.append('tag', tag)
  if (tagQueryMode) query.set('mode', tagQueryMode)
  const response = await fetch(`${host}/kv/live?${query}`, {
    headers: { accept: 'text/event-stream' },
    signal
  }).catch((error: Error) => {
    throw streamError(host, error.message, error)
  })
  if (response.status === 404) throw new UnsupportedHostError(host)
  if (!response.ok || !response.body) throw streamError(host, `${response.status}`)
  return response.body
}

const streamError = (host: string, reason: string, cause?: unknown): QuoinError =>
  hostError('the stream of changes failed', { [host]: reason }, { cause })

const parseNotice = (host: string, data: string): ChangeNotice => {
  let notice: { entries?: unknown; gone?: unknown } | null
  try {
    notice = JSON.parse(data)
  } catch (cause) {
    throw streamError(host, 'an event is not JSON', cause)
  }
  const { entries, gone } = notice ?? {}
  return {
    tuples: Array.isArray(entries) ? entries.filter(isTuple) : [],
    gone: Array.isArray(gone) ? gone.map(String) : []
  }
}

const isTuple = (value: unknown): value is KvTuple => {
  const { protocolID, key, controller } = Object(value) as Record<keyof KvTuple, unknown>
  return isProtocolID(protocolID) && typeof key === 'string' && typeof controller === 'string'
}

async function* changesOf(
  host: string,
  context: WatchContext,
  known: Map<string, readonly KvEntry[]>,
  { tuples, gone }: ChangeNotice
): AsyncGenerator<KvChange, void, undefined> {
  const lost = [...known.values()].flat().filter(({ outpoint }) => gone.includes(outpoint))
  const touched = new Map([...tuples, ...lost].map(each => [tupleText(each), each]))
  for (const [name, { protocolID, key, controller }] of touched) {
    const live = await context.one(host, { protocolID, key, controller })
    yield* compare(known, new Map(live.length > 0 ? [[name, live]] : []), [name])
  }
}

/** Yields the differences between `known` and `live` for these tuples and all live ones, and updates `known`. */
function* compare(
  known: Map<string, readonly KvEntry[]>,
  live: ReadonlyMap<string, readonly KvEntry[]>,
  names: Iterable<string>
): Generator<KvChange, void, undefined> {
  for (const name of new Set([...names, ...live.keys()])) {
    const [before = [], after = []] = [known.get(name), live.get(name)]
    if (after.length > 0) known.set(name, after)
    else known.delete(name)
    if (outpointsOf(before) === outpointsOf(after)) continue
    if (after.length > 1) yield { kind: 'ambiguous', entries: after }
    else if (after.length === 1) yield { kind: 'set', entry: after[0]! }
    else yield { kind: 'removed', entry: before[0]! }
  }
}

const outpointsOf = (entries: readonly KvEntry[]): string =>
  entries
    .map(({ outpoint }) => outpoint)
    .sort()
    .join()

const byTuple = (entries: readonly KvEntry[]): Map<string, readonly KvEntry[]> => {
  const tuples = new Map<string, readonly KvEntry[]>()
  for (const each of entries) {
    tuples.set(tupleText(each), [...(tuples.get(tupleText(each)) ?? []), each])
  }
  return tuples
}
