/**
 * The executable specification of an engine: what `engine.ts` and `operations.ts` say in words, done in the plainest
 * way on maps whose keys are bytes as latin-1 text, which compares as the bytes do. Every read sorts what it needs.
 * Nothing here is fast, so that everything here can be checked by reading it.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import type { KeyRange } from '@quoin/keyspace'
import { equalBytes, QuoinError } from '@quoin/primitives'
import { BatchDecoder } from './batch-decoder.ts'
import {
  type Engine,
  type ListedItem,
  type Place,
  promisedReads,
  type QueueItem,
  type QueueState,
  type Rows,
  type SyncReads
} from './engine.ts'
import {
  CLOCK_REPAIRS,
  type Conditions,
  EXPIRE_LIMIT,
  EXPIRED_CLASS,
  EXPIRED_REASON,
  type Operations
} from './operations.ts'

interface Entry {
  state: QueueState
  /** See `ListedItem`. */
  at: number
  score: number
  enqueued: number
  attempts: number
  errorClass: string
  reason: string
  /** When its lease, its wait or the delay before a retry began; undefined when it stands at its score. */
  since: number | undefined
  /** Of the lease, while it is leased. */
  token: string
  /** What it waits for, while it waits. */
  dependency: string
}

interface State {
  readonly values: Map<string, Uint8Array>
  readonly hashes: Map<string, Map<string, Uint8Array>>
  readonly sets: Map<string, Map<string, true>>
  readonly sortedSets: Map<string, Map<string, number>>
  readonly queues: Map<string, Map<string, Entry>>
}

export interface ModelOptions {
  readonly now?: () => number
  /** A directory that `backup` wrote. */
  readonly backup?: string
}

export const openModel = ({ now = () => Date.now() / 1000, backup }: ModelOptions = {}): Engine => {
  const state: State = backup ? deserialize(readFileSync(join(backup, 'model'))) : emptyState()
  let isClosed = false
  const open = (): State => {
    if (isClosed) throw new QuoinError('ERR_STORE_CLOSED', 'the store is closed')
    return state
  }
  const commit = async (batch: Uint8Array) => {
    const program = new BatchDecoder(batch)
    const failing = program.firstFailing(checksOf(open()))
    if (failing >= 0) throw program.refusal(failing)
    return program.run(operationsOf(open()))
  }
  return {
    name: 'model',
    manifest: {
      syncReads: false,
      snapshots: 'held',
      filters: false,
      leaseClock: false,
      backups: true,
      replication: false,
      deferral: false
    },
    reads: promisedReads(readsOf(open)),
    syncReads: undefined,
    now: async () => now(),
    commit,
    commitMany: async batches => {
      for (const batch of batches) await commit(batch)
    },
    lastWrite: undefined,
    probe: async () => {
      open()
    },
    snapshot: async read => {
      const copy = structuredClone(open())
      return read(promisedReads(readsOf(() => copy)))
    },
    backup: async directory => writeFileSync(join(directory, 'model'), serialize(open())),
    stats: async () => ({ engine: 'model', bytes: serialize(open()).length, details: {} }),
    close: async () => {
      isClosed = true
    }
  }
}

const emptyState = (): State => ({
  values: new Map(),
  hashes: new Map(),
  sets: new Map(),
  sortedSets: new Map(),
  queues: new Map()
})

const readsOf = (open: () => State): Omit<SyncReads, 'zaligned' | 'zfilter'> => ({
  get: key => copy(open().values.get(text(key))),
  mget: keys => keys.map(key => copy(open().values.get(text(key)))),
  range: (range, limit) =>
    keysIn(open().values, range, limit).map(key => ({
      key: bytes(key),
      value: copy(open().values.get(key))!
    })),

  hget: (key, field) => copy(open().hashes.get(text(key))?.get(text(field))),
  hmget: (key, fields) => fields.map(field => copy(open().hashes.get(text(key))?.get(text(field)))),
  hgetall: key => fieldsOf(open(), text(key)),
  hscan: (key, cursor, count) => {
    const fields = fieldsOf(open(), text(key))
      .filter(({ field }) => !cursor || text(field) > text(cursor))
      .slice(0, count)
    return { fields, cursor: fields.length < count ? undefined : fields.at(-1)!.field }
  },
  mhgetall: keys => keys.map(key => fieldsOf(open(), text(key))),
  mhexists: keys => keys.map(key => fieldsOf(open(), text(key)).length > 0),
  hrange: (range, limit) =>
    keysIn(open().hashes, range, limit).map(key => ({ key: bytes(key), fields: fieldsOf(open(), key) })),

  sismember: (key, member) => open().sets.get(text(key))?.has(text(member)) ?? false,
  smembers: key => sorted(open().sets.get(text(key)) ?? []).map(([member]) => bytes(member)),

  zscore: (key, member) => open().sortedSets.get(text(key))?.get(text(member)),
  zscores: (keys, members) =>
    members.map(member => keys.map(key => open().sortedSets.get(text(key))?.get(text(member)))),
  zcard: key => open().sortedSets.get(text(key))?.size ?? 0,
  zrows: (key, rows) =>
    pick(open().sortedSets.get(text(key)) ?? [], rows).map(([member, score]) => ({
      member: bytes(member),
      score
    })),
  zsum: key => pick(open().sortedSets.get(text(key)) ?? [], {}).reduce((sum, [, score]) => sum + score, 0),
  zkeys: (range, limit) => keysIn(open().sortedSets, range, limit).map(key => bytes(key)),

  qcounts: key => {
    const queue = open().queues.get(text(key)) ?? new Map<string, Entry>()
    const count = (state: QueueState): number => inState(queue, state).length
    const [head] = pick(inState(queue, 'due'), {})
    return {
      due: count('due'),
      leased: count('leased'),
      waiting: count('waiting'),
      dead: count('dead'),
      headEnqueued: head && queue.get(head[0])!.enqueued
    }
  },
  qlist: (key, state, rows) => {
    const queue = open().queues.get(text(key)) ?? new Map<string, Entry>()
    return pick(inState(queue, state), rows).map(
      ([item, at]): ListedItem => ({ ...itemOf(item, queue.get(item)!), at })
    )
  }
})

const checksOf = (state: State): Conditions => ({
  valueIs: (key, expected) => isSame(state.values.get(text(key)), expected),
  valueAbsent: key => !state.values.has(text(key)),
  fieldIs: (key, field, expected) => isSame(state.hashes.get(text(key))?.get(text(field)), expected),
  fieldAbsent: (key, field) => !state.hashes.get(text(key))?.has(text(field)),
  scoreIs: (key, member, score) => state.sortedSets.get(text(key))?.get(text(member)) === score,
  scoreAbsent: (key, member) => !state.sortedSets.get(text(key))?.has(text(member)),
  memberPresent: (key, member) => state.sets.get(text(key))?.has(text(member)) ?? false,
  memberAbsent: (key, member) => !state.sets.get(text(key))?.has(text(member)),
  leaseHeld: (key, item, token) => {
    const entry = state.queues.get(text(key))?.get(text(item))
    return entry?.state === 'leased' && entry.token === text(token)
  }
})

const operationsOf = (state: State): Operations<QueueItem[]> => ({
  set: (key, value) => void state.values.set(text(key), copy(value)!),
  del: key => void state.values.delete(text(key)),
  hset: (key, field, value) => put(state.hashes, text(key), text(field), copy(value)!),
  hdel: (key, field) => drop(state.hashes, text(key), text(field)),
  sadd: (key, member) => put(state.sets, text(key), text(member), true),
  srem: (key, member) => drop(state.sets, text(key), text(member)),
  zadd: (key, member, score) => put(state.sortedSets, text(key), text(member), score),
  zrem: (key, member) => drop(state.sortedSets, text(key), text(member)),
  zincrby: (key, member, increment) => {
    const score = (state.sortedSets.get(text(key))?.get(text(member)) ?? 0) + increment
    put(state.sortedSets, text(key), text(member), score)
    return score
  },
  zcounter: (key, member, increment) => {
    const score = (state.sortedSets.get(text(key))?.get(text(member)) ?? 0) + increment
    if (score === 0) drop(state.sortedSets, text(key), text(member))
    else put(state.sortedSets, text(key), text(member), score)
  },
  append: (key, entry) => appendTo(state, key, entry),
  appendDeferred: (key, entry) => appendTo(state, key, entry),

  enqueue: (key, item, score, now) => {
    const entry = state.queues.get(text(key))?.get(text(item))
    if (entry === undefined) {
      put(state.queues, text(key), text(item), {
        state: 'due',
        at: score,
        score,
        enqueued: now,
        attempts: 0,
        errorClass: '',
        reason: '',
        since: undefined,
        token: '',
        dependency: ''
      })
    } else if (entry.state === 'due' && entry.attempts === 0) {
      entry.score = score
      entry.at = score
    }
  },
  lease: (key, token, count, until, allowed, now, clock) => {
    const queue = state.queues.get(text(key)) ?? new Map<string, Entry>()
    const over = (of: QueueState, time: number, limit: number): Entry[] =>
      pick(inState(queue, of), { max: { score: time }, count: limit }).map(([item]) => queue.get(item)!)
    const later = (of: QueueState, time: number): Entry[] =>
      pick(inState(queue, of), {
        min: { score: time, exclusive: true },
        max: { score: Infinity, exclusive: true },
        reverse: true,
        count: CLOCK_REPAIRS
      }).map(([item]) => queue.get(item)!)
    mend(later('leased', clock), clock)
    mend(later('waiting', now), now)
    for (const entry of over('leased', clock, EXPIRE_LIMIT)) {
      if (entry.attempts < allowed) becomeDue(entry)
      else become(entry, 'dead', now, EXPIRED_CLASS, EXPIRED_REASON)
    }
    for (const entry of over('waiting', now, EXPIRE_LIMIT)) becomeDue(entry)
    mend(later('due', now), now)
    return pick(inState(queue, 'due'), { max: { score: now }, count }).map(([item]) => {
      const entry = queue.get(item)!
      become(entry, 'leased', until)
      entry.since = clock
      entry.token = text(token)
      entry.attempts++
      return itemOf(item, entry)
    })
  },
  renew: (key, item, until, clock) => {
    const entry = leased(state, key, item)
    if (!entry) return
    entry.at = until
    entry.since = clock
  },
  remove: (key, item) => drop(state.queues, text(key), text(item)),
  retry: (key, item, errorClass, reason, at, now) => {
    const entry = leased(state, key, item)
    if (!entry) return
    become(entry, 'due', at, decode(errorClass), decode(reason))
    entry.since = now
  },
  bury: (key, item, errorClass, reason, now) => {
    const entry = leased(state, key, item)
    if (entry) become(entry, 'dead', now, decode(errorClass), decode(reason))
  },
  wait: (key, item, errorClass, reason, dependency, until, now) => {
    const entry = leased(state, key, item)
    if (!entry) return
    become(entry, 'waiting', until, decode(errorClass), decode(reason))
    entry.since = now
    entry.dependency = text(dependency)
    entry.attempts--
  },
  wake: (key, dependency) => {
    for (const entry of state.queues.get(text(key))?.values() ?? []) {
      if (entry.state === 'waiting' && entry.dependency === text(dependency)) becomeDue(entry)
    }
  },
  revive: (key, item) => {
    const entry = state.queues.get(text(key))?.get(text(item))
    if (entry?.state !== 'dead') return
    becomeDue(entry)
    entry.attempts = 0
  }
})

const become = (
  entry: Entry,
  state: QueueState,
  at: number,
  errorClass = entry.errorClass,
  reason = entry.reason
): void => {
  entry.state = state
  entry.at = at
  entry.since = undefined
  entry.errorClass = errorClass
  entry.reason = reason
}

/** Of items of one state, from the latest down: moves those to now whose times a clock that was ahead has written. */
const mend = (entries: readonly Entry[], now: number): void => {
  for (const entry of entries) {
    if (entry.since !== undefined) {
      if (entry.since <= now) return
      entry.at = now + (entry.at - entry.since)
      entry.since = now
    } else if (entry.state === 'due' && entry.enqueued > now && entry.score <= entry.enqueued) {
      entry.score = now + (entry.score - entry.enqueued)
      entry.at = entry.score
      entry.enqueued = now
    }
  }
}

const becomeDue = (entry: Entry): void => become(entry, 'due', entry.score)

const leased = (state: State, key: Uint8Array, item: Uint8Array): Entry | undefined => {
  const entry = state.queues.get(text(key))?.get(text(item))
  return entry?.state === 'leased' ? entry : undefined
}

const itemOf = (item: string, { score, enqueued, attempts, errorClass, reason }: Entry): QueueItem => ({
  item: bytes(item),
  score,
  enqueued,
  attempts,
  errorClass,
  reason
})

/** The items in a state, each with its `at`. */
const inState = (queue: Map<string, Entry>, state: QueueState): [string, number][] =>
  [...queue].filter(([, entry]) => entry.state === state).map(([item, entry]) => [item, entry.at])

const fieldsOf = (state: State, key: string) =>
  sorted(state.hashes.get(key) ?? []).map(([field, value]) => ({ field: bytes(field), value: copy(value)! }))

const put = <T>(structures: Map<string, Map<string, T>>, key: string, name: string, value: T): void => {
  const structure = structures.get(key) ?? new Map<string, T>()
  structure.set(name, value)
  structures.set(key, structure)
}

const appendTo = (state: State, key: Uint8Array, entry: Uint8Array): void => {
  const log = state.sortedSets.get(text(key))
  if (log?.has(text(entry))) return
  const position = (log?.get('') ?? 0) + 1
  put(state.sortedSets, text(key), '', position)
  put(state.sortedSets, text(key), text(entry), position)
}

/** A structure without contents does not exist. */
const drop = <T>(structures: Map<string, Map<string, T>>, key: string, name: string): void => {
  structures.get(key)?.delete(name)
  if (structures.get(key)?.size === 0) structures.delete(key)
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const sorted = <T>(entries: Iterable<readonly [string, T]>): (readonly [string, T])[] =>
  [...entries].sort(([a], [b]) => compareText(a, b))

const keysIn = (map: Map<string, unknown>, { start, end, reverse }: KeyRange, limit?: number): string[] => {
  const keys = sorted(map)
    .map(([key]) => key)
    .filter(key => key >= text(start) && (end === null || key < text(end)))
  return (reverse ? keys.reverse() : keys).slice(0, limit)
}

type Row = readonly [member: string, score: number]

/** The rows of a sorted set that are asked for, in the order they are asked for. */
const pick = (entries: Iterable<Row>, { min, max, reverse, offset = 0, count }: Rows): Row[] => {
  const rows = [...entries]
    .sort(([a, scoreOfA], [b, scoreOfB]) =>
      scoreOfA < scoreOfB ? -1 : scoreOfA > scoreOfB ? 1 : compareText(a, b)
    )
    .filter(row => min === undefined || !isOutside(compareToPlace(row, min), -1, min))
    .filter(row => max === undefined || !isOutside(compareToPlace(row, max), 1, max))
  return (reverse ? rows.reverse() : rows).slice(offset).slice(0, count)
}

/** -1 below the place, 0 at it, 1 above it. */
const compareToPlace = ([member, score]: Row, place: Place): number => {
  if (score < place.score) return -1
  if (score > place.score) return 1
  return place.member === undefined ? 0 : compareText(member, text(place.member))
}

const isOutside = (order: number, outside: number, { exclusive = false }: Place): boolean =>
  order === outside || (order === 0 && exclusive)

const isSame = (value: Uint8Array | undefined, expected: Uint8Array): boolean =>
  value !== undefined && equalBytes(value, expected)

const copy = (value: Uint8Array | undefined): Uint8Array | undefined => value && new Uint8Array(value)

const text = (key: Uint8Array): string => Buffer.from(key).toString('latin1')

const bytes = (key: string): Uint8Array => new Uint8Array(Buffer.from(key, 'latin1'))

/** All of the text, be its first character a byte order mark. */
const decode = (message: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(message)
