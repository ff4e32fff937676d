/** Contestants of the ingest race: our store on an engine, durable or in bulk, and Redis. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Batch } from '@quoin/store'
import { openStore, type Store } from '@quoin/store'
import { folder, type Resources } from './files.ts'
import { CONNECTIONS, type Fsync, RedisClient, serverFor } from './redis.ts'
import { LOG, writeTransaction } from './workload.ts'

/** The number of transactions in flight, for every contestant. */
export const IN_FLIGHT = 1000

export type Mode = 'durable' | 'bulk'

export interface Contestant {
  /** Resolves when the transactions are as durable as the contestant makes them. */
  take(from: number, count: number): Promise<void>
  /** The number of its transactions. */
  transactions(): Promise<number>
  /** Bytes on the disk. */
  bytes(): Promise<number>
}

export const fill = (batch: Batch, n: number): Batch => {
  writeTransaction(n, {
    zadd: (key, member, score) => batch.zadd(key, { member, score }),
    hset: (key, fields) => {
      for (let i = 0; i < fields.length; i += 2) batch.hset(key, fields[i]!, fields[i + 1]!)
    }
  })
  return batch
}

const commitEach = async (
  from: number,
  count: number,
  commit: (n: number) => Promise<unknown>
): Promise<void> => {
  let next = from
  const end = from + count
  const lane = async (): Promise<void> => {
    while (next < end) await commit(next++)
  }
  await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, count) }, lane))
}

/** Commits transactions, each durable when its commit resolves. */
export const takeDurably = (store: Store, from: number, count: number): Promise<void> =>
  commitEach(from, count, n => fill(store.batch(), n).commit())

/** Writes transactions, durable at the end. */
export const takeInBulk = async (store: Store, from: number, count: number): Promise<void> => {
  const bulk = store.bulk()
  for (let n = from; n < from + count; n++) await bulk.write(fill(bulk.batch(), n))
  await bulk.checkpoint()
}

const storeContestant = (store: Store, mode: Mode, bytes: () => Promise<number>): Contestant => ({
  take: (from, count) => (mode === 'bulk' ? takeInBulk : takeDurably)(store, from, count),
  transactions: () => store.zcard(LOG),
  bytes
})

export const embedded = async (
  engine: 'lmdb' | 'level',
  mode: Mode,
  resources: Resources
): Promise<Contestant & { store: Store; path: string }> => {
  const path = folder(resources)
  const store = await openStore(`${engine}:${path}`)
  resources.add(() => store.close())
  const bytes = async (): Promise<number> => (await store.stats()).bytes
  return { ...storeContestant(store, mode, bytes), store, path }
}

/** Redis with nothing of ours but the protocol. */
export const plainRedis = async (
  fsync: Fsync,
  resources: Resources
): Promise<Contestant & { client: RedisClient }> => {
  const server = await serverFor(fsync, resources)
  const client = await RedisClient.open(server, resources, CONNECTIONS)
  return {
    client,
    take: (from, count) => commitEach(from, count, n => client.transaction(to => writeTransaction(n, to))),
    transactions: async () => (await client.ask(['ZCARD', LOG])) as number,
    bytes: async () => sizeOf(server.dir)
  }
}

/** Our store on Redis, whose batches are scripts. */
export const storeOnRedis = async (fsync: Fsync, mode: Mode, resources: Resources): Promise<Contestant> => {
  const server = await serverFor(fsync, resources)
  const store = await openStore(server.url)
  resources.add(() => store.close())
  return storeContestant(store, mode, async () => sizeOf(server.dir))
}

const sizeOf = (directory: string): number =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map(file => statSync(join(directory, file)))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0)
