/** The manifest of an engine names exactly the features that the engine has. */
import { deepStrictEqual as same } from 'node:assert/strict'
import type { Reads, SyncReads } from '@quoin/store/engine'
import type { Cases } from './index.ts'
import { append, bytes, enqueue, hset, sadd, set, zadd } from './steps.ts'
import { EVERYTHING, refused } from './subject.ts'

const KEY = bytes('k')

/** One call of each read that every engine has. */
const CALLS: Readonly<Record<string, (reads: Reads | SyncReads) => unknown>> = {
  get: reads => reads.get(KEY),
  mget: reads => reads.mget([KEY, bytes('none')]),
  range: reads => reads.range(EVERYTHING),
  hget: reads => reads.hget(KEY, bytes('f1')),
  hmget: reads => reads.hmget(KEY, [bytes('f2'), bytes('none')]),
  hgetall: reads => reads.hgetall(KEY),
  hscan: reads => reads.hscan(KEY, undefined, 10),
  mhgetall: reads => reads.mhgetall([KEY, bytes('none')]),
  mhexists: reads => reads.mhexists([KEY, bytes('none')]),
  hrange: reads => reads.hrange(EVERYTHING),
  sismember: reads => reads.sismember(KEY, bytes('m')),
  smembers: reads => reads.smembers(KEY),
  zscore: reads => reads.zscore(KEY, bytes('m')),
  zscores: reads => reads.zscores([KEY, bytes('l')], [bytes('m')]),
  zcard: reads => reads.zcard(KEY),
  zrows: reads => reads.zrows(KEY, {}),
  zsum: reads => reads.zsum(KEY),
  zkeys: reads => reads.zkeys(EVERYTHING),
  qcounts: reads => reads.qcounts(KEY),
  qlist: reads => reads.qlist(KEY, 'due', {})
}

export const manifest: Cases = {
  'an engine has the members that its manifest names': async ({ engine }) => {
    const { syncReads, filters, leaseClock, replication, deferral } = engine.manifest
    same(engine.syncReads !== undefined, syncReads)
    same(engine.reads.zfilter !== undefined, filters)
    same(engine.reads.zaligned !== undefined, filters)
    same(engine.leaseNow !== undefined, leaseClock)
    same(engine.replicated !== undefined, replication)
    same(engine.deferred !== undefined, deferral)
  },
  'synchronous reads answer as the others do': async store => {
    const { reads, syncReads } = store.engine
    if (!syncReads) return
    await store.commit(
      set('k', 'v'),
      ...Array.from({ length: 300 }, (_, i) => hset('k', `f${i}`, 'a value that makes the hash wide')),
      sadd('k', 'm'),
      zadd('k', 'm', 1),
      append('l', 'm'),
      enqueue('k', 'i', 1, 1)
    )
    for (const [name, call] of Object.entries(CALLS)) same(call(syncReads), await call(reads), name)
  },
  'a snapshot is held, or read again after a change': async store => {
    await store.commit(set('a', '1'), set('b', '1'))
    let runs = 0
    const read = await store.snapshot(async reads => {
      const a = await reads.get('a')
      if (runs++ === 0) await store.commit(set('a', '2'), set('b', '2'))
      return [a, await reads.get('b')]
    })
    const isHeld = store.engine.manifest.snapshots === 'held'
    same(read, isHeld ? ['1', '1'] : ['2', '2'])
    same(runs === 1, isHeld)
  },
  'an engine without backups refuses them': async ({ engine }) => {
    if (!engine.manifest.backups) await refused(() => engine.backup('/nowhere'), 'ERR_STORE_OPTION')
  }
}
