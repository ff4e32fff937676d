/**
 * Changes of entries as they come. A host tells that something changed; what it is now is looked up and verified like
 * anything else. Each time a stream begins, what is live is compared with what was known: so nothing is missed between
 * two streams, and no position has to be kept.
 */
import { QuoinError } from '@quoin/primitives'
import { type KvEntry, type KvTuple, type Selectors, tupleText } from './entry.ts'
import { readEvents } from './events.ts'
import { hostError } from './overlay.ts'
import { isProtocolID, protocolText } from './token.ts'

export type KvChange =
  /** The entry is new, or has a new value. */
  | { readonly kind: 'set'; readonly entry: KvEntry }
  /** The entry is gone; this is what it was. */
  | { readonly kind: 'removed'; readonly entry: KvEntry }
  /** The entry has several live tokens (§3.4). */
  | { readonly kind: 'ambiguous'; readonly entries: readonly KvEntry[] }

export interface Watched {
  readonly hosts: readonly string[]
  readonly selectors: Selectors
  readonly signal: AbortSignal | undefined
  /** All that is live and matches, verified. */
  all(host: string): Promise<readonly KvEntry[]>
  /** What is live of a tuple. */
  one(host: string, tuple: KvTuple): Promise<readonly KvEntry[]>
}

/** What a host says of a change. Nothing of it is believed; it is only what is looked up. */
interface Told {
  readonly tuples: readonly KvTuple[]
  readonly gone: readonly string[]
}

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 30_000

/** What is live comes first, each as a change. Goes on until the signal ends it, or the caller. */
export async function* watchEntries(watched: Watched): AsyncGenerator<KvChange, void, undefined> {
  const { hosts, signal } = watched
  const known = new Map<string, readonly KvEntry[]>()
  let wait = FIRST_WAIT_MS
  for (let turn = 0; !signal?.aborted; turn++) {
    const host = hosts[turn % hosts.length]!
    const over = new AbortController()
    try {
      const body = await open(host, watched, AbortSignal.any([over.signal, ...(signal ? [signal] : [])]))
      yield* compare(known, byTuple(await watched.all(host)), known.keys())
      wait = FIRST_WAIT_MS
      for await (const data of readEvents(body)) {
        yield* changesOf(host, watched, known, told(host, data))
      }
    } catch (error) {
      if (signal?.aborted) return
      // A host that cannot be reached may be again; one that has no such thing will not have it.
      if (!(error instanceof QuoinError) || error.code !== 'ERR_KV_HOST') throw error
      if (error instanceof Unsupported && hosts.length === 1) throw error
    } finally {
      over.abort()
    }
    await pause(wait, signal)
    wait = Math.min(wait * 2, LONGEST_WAIT_MS)
  }
}

/** The host is no node of Quoin, or does not keep entries. */
class Unsupported extends QuoinError {
  constructor(host: string) {
    super('ERR_KV_HOST', 'the host does not tell changes', { hosts: { [host]: 'it has no /kv/live' } })
  }
}

const open = async (
  host: string,
  { selectors }: Watched,
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
    throw hostError('changes cannot be followed', { [host]: error.message })
  })
  if (response.status === 404) throw new Unsupported(host)
  if (!response.ok || !response.body) {
    throw hostError('changes cannot be followed', { [host]: `${response.status}` })
  }
  return response.body
}

/** Of what is no change, nothing is looked up. */
const told = (host: string, data: string): Told => {
  let said: { entries?: unknown; gone?: unknown } | null
  try {
    said = JSON.parse(data)
  } catch {
    throw hostError('changes cannot be followed', { [host]: 'it tells what is no change' })
  }
  const { entries, gone } = said ?? {}
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
  watched: Watched,
  known: Map<string, readonly KvEntry[]>,
  { tuples, gone }: Told
): AsyncGenerator<KvChange, void, undefined> {
  const lost = [...known.values()].flat().filter(({ outpoint }) => gone.includes(outpoint))
  const touched = new Map([...tuples, ...lost].map(each => [tupleText(each), each]))
  for (const [name, { protocolID, key, controller }] of touched) {
    const live = await watched.one(host, { protocolID, key, controller })
    yield* compare(known, new Map(live.length > 0 ? [[name, live]] : []), [name])
  }
}

/** Says what became of these, and of all that is live, and knows it then. */
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

const pause = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise(resolve => {
    const timer = setTimeout(resolve, milliseconds)
    signal?.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true }
    )
  })
