/**
 * Large sorted sets that overlap, in our store on LMDB and in Redis, and their intersections: `sparse` has a hundred
 * members in common with `large`, `quarter` is a quarter of it, `hundredth` a hundredth.
 */
import { equalBytes } from '@quoin/primitives'
import type { FoundRow, ScoredMember } from '@quoin/store'
import { openStore, type Store } from '@quoin/store'
import { TAG } from '../../packages/store/src/ordered/layout.ts'
import { openHandle, readKeys } from '../../packages/store/src/ordered/lmdb-handle.ts'
import { folder, type Resources } from './files.ts'
import { assertSame, PAGE, rowsFrom } from './reads.ts'
import { RedisClient, serverFor } from './redis.ts'
import { mix, outpointOf, scoreOf } from './workload.ts'

export const COMMON = 100

const name = (text: string): Uint8Array => new TextEncoder().encode(text)
const LARGE = name('z:large')
const SPARSE = name('z:sparse')
const QUARTER = name('z:quarter')
const HUNDREDTH = name('z:hundredth')
const RESULT = name('z:result')

export type SetName = 'large' | 'sparse' | 'quarter' | 'hundredth'
const KEYS: Readonly<Record<SetName, Uint8Array>> = {
  large: LARGE,
  sparse: SPARSE,
  quarter: QUARTER,
  hundredth: HUNDREDTH
}

export interface Sets {
  readonly store: Store
  readonly size: number
  /** Pages of our store. */
  page(set: SetName): Promise<unknown>
  zcard(set: SetName): Promise<number>
  /** Microseconds per row when LMDB walks all rows of a set and nothing else is done. */
  walk(): Promise<number>
  ours: Intersections
  redis: Intersections
}

export interface Intersections {
  page(first: SetName, second: SetName): Promise<readonly ScoredMember[]>
  all(first: SetName, second: SetName): Promise<readonly ScoredMember[]>
}

/** The sets that contain row i of a number of rows. */
const setsWith = (i: number, size: number): Uint8Array[] => {
  const sets = [LARGE]
  if (i % (size / COMMON) === 0) sets.push(SPARSE)
  if (i % 4 === 0) sets.push(QUARTER)
  if (i % 100 === 0) sets.push(HUNDREDTH)
  return sets
}

/** Every row with its sets, including the rows of `sparse` that no other set has. */
const rows = function* (size: number): Generator<ScoredMember & { readonly sets: Uint8Array[] }> {
  for (let i = 0; i < size; i++) {
    const score = scoreOf(i)
    const sets = setsWith(i, size)
    yield { member: outpointOf(i, 0), score, sets }
    if (!sets.includes(SPARSE)) yield { member: outpointOf(size + i, 0), score, sets: [SPARSE] }
  }
}

export const loadSets = async (
  size: number,
  resources: Resources,
  progress: (text: string) => void
): Promise<Sets> => {
  progress(`loading sets of ${size.toLocaleString('en-US')} members into LMDB`)
  const path = folder(resources)
  const store = await openStore(`lmdb:${path}`)
  resources.add(() => store.close())
  await loadStore(store, size)
  progress(`loading sets of ${size.toLocaleString('en-US')} members into Redis`)
  const client = await RedisClient.open(await serverFor('everysec', resources), resources)
  await loadRedis(client, size)

  const starts = Array.from({ length: 1024 }, (_, i) => scoreOf(mix(0x50000000 + i) % Math.ceil(size * 0.99)))
  let next = 0
  const sets: Sets = {
    store,
    size,
    page: set => store.zrange(KEYS[set], { min: starts[next++ % starts.length]!, count: PAGE }),
    zcard: set => store.zcard(KEYS[set]),
    walk: () => walkRows(path),
    ours: storeIntersections(store),
    redis: redisIntersections(client)
  }
  for (const other of ['sparse', 'quarter'] as const) {
    assertSame(await sets.ours.page('large', other), await sets.redis.page('large', other))
  }
  return sets
}

const ROWS_OF_BATCH = 500
const ROWS_OF_CHECKPOINT = 200_000

const loadStore = async (store: Store, size: number): Promise<void> => {
  const bulk = store.bulk()
  let batch = bulk.batch()
  let count = 0
  for (const { member, score, sets } of rows(size)) {
    for (const set of sets) batch.zadd(set, { member, score })
    if (++count % ROWS_OF_BATCH > 0) continue
    await bulk.write(batch)
    batch = bulk.batch()
    if (count % ROWS_OF_CHECKPOINT === 0) await bulk.checkpoint()
  }
  await bulk.write(batch)
  await bulk.checkpoint()
}

const loadRedis = async (client: RedisClient, size: number): Promise<void> => {
  const pending = new Map<Uint8Array, (Uint8Array | string)[]>()
  const send = (set: Uint8Array, pairs: readonly (Uint8Array | string)[]): Promise<unknown> =>
    client.ask(['ZADD', set, ...pairs])
  let sent = Promise.resolve<unknown>(undefined)
  for (const { member, score, sets } of rows(size)) {
    for (const set of sets) {
      const pairs = pending.get(set) ?? []
      pending.set(set, pairs)
      pairs.push(String(score), member)
      if (pairs.length < 2 * ROWS_OF_BATCH) continue
      // One command ahead of the awaited one.
      const before = sent
      sent = send(set, pairs)
      pending.delete(set)
      await before
    }
  }
  await sent
  for (const [set, pairs] of pending) await send(set, pairs)
}

const walkRows = async (path: string): Promise<number> => {
  const handle = openHandle(path, { readOnly: true })
  const [start, end] = [Uint8Array.of(TAG.row), Uint8Array.of(TAG.row + 1)]
  const begin = performance.now()
  const { length } = readKeys(handle, { start, end, limit: NO_LIMIT }, () => undefined)
  const time = performance.now() - begin
  await handle.close()
  return (time * 1000) / length
}

const withoutPlace = ({ member, score }: FoundRow): ScoredMember => ({ member, score })
const LARGEST_PAGE = 10_000
const NO_LIMIT = 2 ** 40

const storeIntersections = (store: Store): Intersections => {
  const search = { join: 'intersect', effort: NO_LIMIT } as const
  return {
    page: async (first, second) => {
      const keys = [KEYS[first], KEYS[second]]
      return (await store.search({ ...search, keys, limit: PAGE })).rows.map(withoutPlace)
    },
    all: async (first, second) => {
      const keys = [KEYS[first], KEYS[second]]
      const found: ScoredMember[] = []
      let cursor: string | undefined
      do {
        const at = cursor === undefined ? {} : { cursor }
        const page = await store.search({ ...search, keys, limit: LARGEST_PAGE, ...at })
        for (const row of page.rows) found.push(withoutPlace(row))
        cursor = page.cursor
      } while (cursor !== undefined)
      return found
    }
  }
}

/**
 * Redis has to intersect the whole sets for a page. It stores the result and returns its first rows, which is less
 * work than to send everything.
 */
const redisIntersections = (client: RedisClient): Intersections => {
  /** With the scores of the first set, as in our store. */
  const of = (first: SetName, second: SetName) => ['2', KEYS[first], KEYS[second], 'WEIGHTS', '1', '0']
  return {
    page: async (first, second) => {
      const [, found] = await Promise.all([
        client.ask(['ZINTERSTORE', RESULT, ...of(first, second)]),
        client.ask(['ZRANGE', RESULT, '0', String(PAGE - 1), 'WITHSCORES'])
      ])
      return rowsFrom(found)
    },
    all: async (first, second) => rowsFrom(await client.ask(['ZINTER', ...of(first, second), 'WITHSCORES']))
  }
}

export interface MergeResult {
  readonly found: number
  /** The share of the rows of both sets; below 1 when the merge was stopped. */
  readonly share: number
  readonly milliseconds: number
}

/**
 * The intersection as the reference finds it: a cursor for each set, pages of 100 that are found again from the
 * beginning each time, and only the least head moves. Stops early at the time limit.
 */
export const headMerge = async ({ store, size }: Sets, milliseconds: number): Promise<MergeResult> => {
  const begin = performance.now()
  const cursors = [LARGE, SPARSE].map(key => ({
    key,
    rows: [] as ScoredMember[],
    at: 0,
    fetched: 0,
    done: false
  }))
  const [a, b] = cursors as [(typeof cursors)[0], (typeof cursors)[0]]
  let found = 0
  const elapsed = (): number => performance.now() - begin
  const result = (): MergeResult => ({
    found,
    share: (a.fetched + b.fetched) / (2 * size),
    milliseconds: elapsed()
  })
  for (;;) {
    for (const cursor of cursors) {
      if (cursor.at < cursor.rows.length || cursor.done) continue
      if (elapsed() > milliseconds) return result()
      cursor.rows = await store.zrange(cursor.key, { offset: cursor.fetched, count: PAGE })
      cursor.at = 0
      cursor.fetched += cursor.rows.length
      cursor.done = cursor.rows.length < PAGE
    }
    const [left, right] = cursors.map(({ rows, at }) => rows[at])
    // The reference goes on to the end of the other set when one has ended.
    if (!left && !right) return result()
    if (left && right && equalBytes(left.member, right.member)) {
      found++
      a.at++
      b.at++
    } else if (left && (!right || left.score <= right.score)) a.at++
    else b.at++
  }
}
