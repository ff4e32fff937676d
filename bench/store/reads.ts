/** The same reads of the same data, from our store on LMDB and from Redis over loopback. */
import type { ScoredMember, Store } from '@quoin/store'
import type { Command, Reply } from '../../packages/store/src/redis/resp.ts'
import { scoreFrom } from '../../packages/store/src/redis/rows.ts'
import { embedded, plainRedis, takeInBulk } from './contestant.ts'
import type { Resources } from './files.ts'
import type { RedisClient } from './redis.ts'
import { FIELD, mix, outpointOf, outputKey, SATOSHIS, scoreOf, TOPICS } from './workload.ts'

/** Rows of one page, and of one call of point reads. */
export const PAGE = 100
export const HMGET = 1000
/** Different reads, taken in turn. */
const PICKS = 4096

export interface Reader {
  point(key: Uint8Array): Promise<unknown>
  page(min: number): Promise<unknown>
  hmget(fields: readonly Uint8Array[]): Promise<unknown>
  zcard(): Promise<unknown>
}

export interface LoadedStores {
  readonly ours: Reader
  readonly redis: Reader
  /** The keys of the next reads. */
  readonly keys: () => Uint8Array
  readonly scores: () => number
  readonly fields: () => readonly Uint8Array[]
}

/** Loads both with a number of transactions. */
export const load = async (
  transactions: number,
  resources: Resources,
  progress: (text: string) => void
): Promise<LoadedStores> => {
  progress(`loading ${transactions.toLocaleString('en-US')} transactions into LMDB`)
  const { store } = await embedded('lmdb', 'bulk', resources)
  await takeInBulk(store, 0, transactions)
  progress(`loading ${transactions.toLocaleString('en-US')} transactions into Redis`)
  const { client, take } = await plainRedis('everysec', resources)
  await take(0, transactions)

  const pick = (i: number): number => mix(0x50000000 + i) % transactions
  const picks = Array.from({ length: PICKS }, (_, i) => pick(i))
  const outpoints = picks.map(n => outpointOf(n, n & 1))
  // Only few start so late that their page is short.
  const scores = picks.map(n => scoreOf(Math.floor(n * 0.999)))
  const fields = Array.from({ length: 16 }, (_, list) =>
    Array.from({ length: HMGET }, (_, i) => outpointOf(pick(PICKS + list * HMGET + i), 0))
  )
  const loaded = {
    ours: storeReader(store),
    redis: redisReader(client),
    keys: inTurn(outpoints.map(outputKey)),
    scores: inTurn(scores),
    fields: inTurn(fields)
  }
  await verify(loaded)
  return loaded
}

const inTurn = <T>(values: readonly T[]): (() => T) => {
  let next = 0
  return () => values[next++ % values.length]!
}

const [topic] = TOPICS as [Uint8Array]

const storeReader = (store: Store): Reader => ({
  point: key => store.hget(key, FIELD.events),
  page: min => store.zrange(topic, { min, count: PAGE }),
  hmget: fields => store.hmget(SATOSHIS, fields),
  zcard: () => store.zcard(topic)
})

const redisReader = (client: RedisClient): Reader => ({
  point: key => client.ask(['HGET', key, FIELD.events]),
  page: async min => rowsFrom(await client.ask(pageCommand(topic, min))),
  hmget: fields => client.ask(['HMGET', SATOSHIS, ...fields]),
  zcard: () => client.ask(['ZCARD', topic])
})

const pageCommand = (key: Uint8Array, min: number): Command => [
  'ZRANGE',
  key,
  String(min),
  '+inf',
  'BYSCORE',
  'LIMIT',
  '0',
  String(PAGE),
  'WITHSCORES'
]

/** Members and scores in the form of our store. */
export const rowsFrom = (reply: Reply): ScoredMember[] => {
  const flat = reply as Uint8Array[]
  const rows: ScoredMember[] = []
  for (let i = 0; i < flat.length; i += 2) rows.push({ member: flat[i]!, score: scoreFrom(flat[i + 1]!) })
  return rows
}

/** The comparison requires equal results of both sides. */
const verify = async ({ ours, redis, keys, scores, fields }: LoadedStores): Promise<void> => {
  const [key, score, list] = [keys(), scores(), fields()]
  const all = (reader: Reader): Promise<unknown[]> =>
    Promise.all([reader.point(key), reader.page(score), reader.hmget(list), reader.zcard()])
  assertSame(await all(ours), await all(redis))
}

export const assertSame = (ours: unknown, theirs: unknown): void => {
  if (inHex(ours) !== inHex(theirs)) throw new Error('the store and Redis give different results')
}

const inHex = (value: unknown): string => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (Array.isArray(value)) return `[${value.map(inHex).join()}]`
  if (typeof value !== 'object' || value === null) return String(value)
  return inHex(Object.entries(value).sort())
}
