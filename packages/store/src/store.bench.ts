/**
 * The store against Redis on the same machine: transactions taken in, reads, intersections; and what both cost as
 * they grow. The work is that of an indexer (`bench/store/workload.ts`).
 *
 *     npm run bench -- store                   100,000 transactions, sets of 1,000,000 members
 *     npm run bench -- store --full            1,000,000 transactions, 10,000,000 rows
 *     npm run bench -- store --only ingest     or read, sets, intersect, growth, processes
 */
import { availableParallelism } from 'node:os'
import { type Scale, suite } from '../../../bench/harness.ts'
import { median } from '../../../bench/stats.ts'
import { aloneSheet } from '../../../bench/store/alone.ts'
import {
  type Contestant,
  embedded,
  IN_FLIGHT,
  type Mode,
  plainRedis,
  storeOnRedis
} from '../../../bench/store/contestant.ts'
import { isInMemory, Resources } from '../../../bench/store/files.ts'
import { growthSheet } from '../../../bench/store/growth.ts'
import { Course, courseSheet } from '../../../bench/store/ingest.ts'
import { type ReaderSizes, readersSheet, type WriteLoad } from '../../../bench/store/readers.ts'
import { HMGET, type LoadedStores, load, PAGE, type Reader } from '../../../bench/store/reads.ts'
import { CONNECTIONS, redisVersion } from '../../../bench/store/redis.ts'
import {
  COMMON,
  headMerge,
  type Intersections,
  loadSets,
  type MergeResult,
  type SetName,
  type Sets
} from '../../../bench/store/sets.ts'

const ALL_WRITING: readonly WriteLoad[] = ['nothing', 'paced', 'all it can']

interface Sizes {
  /** The most for one comparison. */
  readonly seconds: number
  /** That are taken in, and in how many turns. */
  readonly transactions: number
  readonly slices: Readonly<Record<Mode, number>>
  /** Transactions in the stores that are read. */
  readonly read: number
  /** Of the large sets. */
  readonly members: number
  /** Sizes of the growing store. */
  readonly rows: readonly number[]
  readonly readers: ReaderSizes
  /** How many times our time the merging of heads gets. */
  readonly headMerge: number
}

const sizes: Readonly<Record<Scale, Sizes>> = {
  quick: {
    seconds: 0.7,
    transactions: 4000,
    slices: { durable: 2, bulk: 1 },
    read: 4000,
    members: 20_000,
    rows: [1e4, 1e5],
    readers: { transactions: 2000, milliseconds: 300, readers: [1, 2], writing: ['all it can'] },
    headMerge: 25
  },
  normal: {
    seconds: 3,
    transactions: 100_000,
    slices: { durable: 5, bulk: 2 },
    read: 100_000,
    members: 1_000_000,
    rows: [1e4, 1e5, 1e6],
    readers: { transactions: 50_000, milliseconds: 2000, readers: [1, 2], writing: ALL_WRITING },
    headMerge: 25
  },
  full: {
    seconds: 10,
    transactions: 1_000_000,
    slices: { durable: 50, bulk: 20 },
    read: 1_000_000,
    members: 1_000_000,
    rows: [1e4, 1e5, 1e6, 1e7],
    readers: {
      transactions: 200_000,
      milliseconds: 5000,
      writing: ALL_WRITING,
      readers: [1, 2, 4, 8].filter(count => count <= Math.max(2, availableParallelism()))
    },
    headMerge: 100
  }
}

/** Of the reference, at 200,000 transactions on LMDB: storage-engines.md §1, one row per member. */
const PACKED_BYTES = 3300
const PACKED_AT = 200_000

const text = (count: number): string => count.toLocaleString('en-US')

export default suite(({ compare, race, figure, sheet, note, progress, after, scale }) => {
  const size = sizes[scale]
  const { transactions, members } = size
  const group = (): Resources => {
    const resources = new Resources()
    after(resources.close)
    return resources
  }
  note(
    `Redis ${redisVersion()} on loopback, its log not rewritten meanwhile, asked through our own RESP client. Ingest:\n` +
      `${text(IN_FLIGHT)} transactions in flight on every side; plain Redis gets MULTI/EXEC over ${CONNECTIONS} connections.`
  )
  if (isInMemory()) note('The temporary folder is in memory, so nothing here is durable: set TMPDIR.')

  const ingest = (engine: 'lmdb' | 'level', mode: Mode): void => {
    const fsync = mode === 'durable' ? 'always' : 'everysec'
    const slices = size.slices[mode]
    const ops = transactions / slices
    const resources = group()
    const courses = new Map<string, Course>()
    const side = (name: string, open: () => Promise<Contestant>) => async () => {
      const course = new Course(await open(), ops, transactions)
      courses.set(name, course)
      return async () => progress(`${name} ${text(await course.next())} of ${text(transactions)}`)
    }
    const what = `ingest ${mode}, ${engine}`
    const ours = (): Course => {
      const course = courses.get(engine)
      if (!course?.marks.length) throw new Error(`it belongs to "${what}, ${text(transactions)} tx"`)
      return course
    }
    race(`${what}, ${text(transactions)} tx`, {
      unit: 'ops/s',
      ops,
      slices,
      ours: side(engine, () => embedded(engine, mode, resources)),
      peers: {
        [`Redis ${fsync}`]: side(`Redis ${fsync}`, () => plainRedis(fsync, resources)),
        // The smaller runs tell which of the two is faster; the largest is long enough without this one.
        ...(scale !== 'full' &&
          engine === 'lmdb' && {
            [`our store on Redis ${fsync}`]: side('on Redis', () => storeOnRedis(fsync, mode, resources))
          })
      },
      after: resources.close
    })
    figure(`${what}, rate at ${text(transactions)} tx`, {
      unit: 'ops/s',
      ours: () => ours().rateAt(transactions),
      peers: { [`ours at ${text(transactions / 10)} tx`]: () => ours().rateAt(transactions / 10) }
    })
    const sized = Math.min(transactions, PACKED_AT)
    figure(`${what}, disk at ${text(sized)} tx`, {
      unit: 'B/op',
      ours: () => ours().bytesAt(sized),
      peers: engine === 'lmdb' ? { 'packed layout of the reference': () => PACKED_BYTES } : {}
    })
    figure(`${what}, most memory, second half`, {
      unit: 'MB',
      ours: () => ours().memoryIn('second'),
      peers: { 'ours, first half': () => ours().memoryIn('first') }
    })
    sheet(`${what}: course`, async () => {
      ours()
      return courseSheet(courses)
    })
  }
  ingest('lmdb', 'durable')
  ingest('lmdb', 'bulk')
  ingest('level', 'durable')

  const alone = group()
  const groups = [500, 1000, 20_000].filter(count => count <= transactions)
  sheet('ingest: the rows alone, in the database itself', () =>
    aloneSheet(
      [
        ...groups.map(count => ['lmdb', count] as const),
        ...groups.map(count => ['lmdb, not synced', count] as const),
        ['level', 500],
        ['level', 1000]
      ],
      transactions,
      alone,
      progress
    )
  )

  const reading = group()
  let loading: Promise<LoadedStores> | undefined
  let loaded: LoadedStores
  const read = (
    name: string,
    ops: number,
    work: (reader: Reader, loaded: LoadedStores) => Promise<unknown>
  ) =>
    compare(`read ${name}, ${text(size.read)} tx`, {
      unit: 'us/op',
      ops,
      seconds: size.seconds,
      prepare: async () => {
        loading ??= load(size.read, reading, progress)
        loaded = await loading
      },
      ours: () => work(loaded.ours, loaded),
      peers: { 'Redis over loopback': () => work(loaded.redis, loaded) }
    })
  read('point, one at a time', PAGE, async ({ point }, { keys }) => {
    let last: unknown
    for (let i = 0; i < PAGE; i++) last = await point(keys())
    return last
  })
  read(`point, ${PAGE} in flight`, PAGE, ({ point }, { keys }) =>
    Promise.all(Array.from({ length: PAGE }, () => point(keys())))
  )
  read(`page of ${PAGE}`, 1, ({ page }, { scores }) => page(scores()))
  read(`hmget ${text(HMGET)} fields`, 1, ({ hmget }, { fields }) => hmget(fields()))
  read('zcard', 1, ({ zcard }) => zcard())

  const intersecting = group()
  let setsLoading: Promise<Sets> | undefined
  let sets: Sets
  const loadOnce = async (): Promise<Sets> => {
    // The data of the reads is done with.
    await reading.close()
    setsLoading ??= loadSets(members, intersecting, progress)
    sets = await setsLoading
    return sets
  }
  const bySize = (name: string, work: (set: SetName) => Promise<unknown>): void =>
    compare(`sets ${name}, ${text(members)} members`, {
      unit: 'us/op',
      seconds: size.seconds,
      prepare: loadOnce,
      ours: () => work('large'),
      peers: { [`ours, ${text(members / 100)} members`]: () => work('hundredth') }
    })
  bySize(`page of ${PAGE}`, set => sets.page(set))
  bySize('zcard', set => sets.zcard(set))

  const intersect = (name: string, work: (side: Intersections) => Promise<unknown>): void =>
    compare(`intersect ${name}`, {
      unit: 'ms/op',
      seconds: size.seconds,
      prepare: loadOnce,
      ours: () => work(sets.ours),
      peers: { 'Redis over loopback': () => work(sets.redis) }
    })
  const [n, quarter] = [text(members), text(members / 4)]
  intersect(`${n} × ${quarter}, page of ${PAGE}`, ({ page }) => page('large', 'quarter'))
  intersect(`${n} × ${quarter}, all ${quarter}`, ({ all }) => all('large', 'quarter'))
  intersect(`${quarter} × ${n}, all ${quarter}`, ({ all }) => all('quarter', 'large'))
  intersect(`${n} × ${n}, all ${COMMON}`, ({ all }) => all('large', 'sparse'))

  sheet('intersect: LMDB passing over rows, with nothing done to them', async () => {
    await loadOnce()
    const each = median(await inTurn(5, () => sets.walk()))
    const columns = ['us/row', `ms for ${n} + ${quarter}`, `ms for ${n} + ${n}`]
    return { columns, rows: [[each, (each * members * 1.25) / 1000, (each * members * 2) / 1000]] }
  })

  const merging = { ours: 0, limit: 0 }
  let merged: MergeResult | undefined
  figure(`intersect ${n} × ${n}, all ${COMMON}, once`, {
    unit: 'ms/op',
    ours: async () => {
      await loadOnce()
      await sets.ours.all('large', 'sparse')
      const begin = performance.now()
      await sets.ours.all('large', 'sparse')
      merging.ours = performance.now() - begin
      return merging.ours
    },
    peers: {
      // It would take minutes; that it has not finished after many times our time is enough to know.
      'heads merged, at least': async () => {
        progress('merging heads')
        merged = await headMerge(sets, merging.ours * size.headMerge)
        return merged.milliseconds
      }
    }
  })
  sheet('intersect: heads merged as in the reference', async () => {
    if (!merged) throw new Error('it belongs to the case before it')
    await intersecting.close()
    const { share, found, milliseconds } = merged
    const columns = ['members of each', 'ours ms', 'heads merged ms', 'share of rows passed', 'found']
    return { columns, rows: [[members, merging.ours, milliseconds, share, found]] }
  })

  const growing = group()
  sheet('growth of one store', () => growthSheet(['lmdb', 'level'], size.rows, growing, progress))
  const readers = group()
  sheet('processes on one store, lmdb', () => readersSheet(size.readers, readers, progress))
})

const inTurn = async <T>(times: number, work: () => Promise<T>): Promise<T[]> => {
  const all: T[] = []
  while (all.length < times) all.push(await work())
  return all
}
