/** From opening to closing: the clock, the statistics, durability, backups and the end. */
import assert, { deepStrictEqual as same } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { contents } from './contents.ts'
import type { Cases } from './index.ts'
import {
  append,
  batchOf,
  bury,
  bytes,
  enqueue,
  hset,
  lease,
  leaseHeld,
  sadd,
  set,
  wait,
  wake,
  zadd,
  zrem
} from './steps.ts'
import { EVERYTHING, failureOf, refused, Subject } from './subject.ts'

const A_BIT_OF_ALL = [
  set('', ''),
  set('a', 'value'),
  hset('h', 'f', '1'),
  hset('h', '', '2'),
  sadd('s', 'm'),
  sadd('s', '\xff'),
  zadd('z', 'm', 1.5),
  zadd('z', 'n', -Infinity),
  zadd('z', 'o', 5e-324),
  append('l', 'trimmed'),
  append('l', 'kept'),
  zrem('l', 'trimmed'),
  ...['leased', 'waiting', 'dead'].map(item => enqueue('q', item, 5, 1)),
  lease('q', 'tokentok', 3, 100, 9, 50),
  enqueue('q', 'due', Infinity, 1),
  wait('q', 'waiting', 'c', 'r', 'dep', 200),
  bury('q', 'dead', 'c', 'r', 60)
]
const KNOWN = { sets: ['s'], queues: ['q'] }

export const lifetime: Cases = {
  'the clocks are in unix seconds, and that of leases does not go backwards': async ({ engine }) => {
    const leaseNow = async (): Promise<number> => engine.leaseNow?.() ?? engine.now()
    let before = await leaseNow()
    for (const now of [before, await engine.now()]) {
      assert.ok(now > 1_500_000_000 && now < 10_000_000_000, `${now} is not a time in seconds`)
    }
    for (let i = 0; i < 100; i++) {
      const now = await leaseNow()
      assert.ok(now >= before)
      before = now
    }
  },
  'an engine says what it is and how large': async store => {
    await store.commit(set('a', 'x'.repeat(100_000)))
    const { engine, bytes, details } = await store.engine.stats()
    same(engine, store.engine.name)
    assert.ok(engine.length > 0)
    assert.ok(bytes > 0 && Number.isFinite(bytes))
    same(typeof details, 'object')
  },
  'what was committed is there after opening again': async (store, { reopen }) => {
    if (!reopen) return
    await store.commit(...A_BIT_OF_ALL)
    await store.engine.commitMany([batchOf([set('many', '1')]), batchOf([set('many', '2')])])
    const before = await contents(store, KNOWN)
    const again = new Subject(await reopen(store.engine))
    try {
      same(await contents(again, KNOWN), before)
      same(await again.zcard('z'), 3)
      await again.commit(leaseHeld('q', 'leased', 'tokentok'), wake('q', 'dep'), hset('h', 'g', '3'))
      same((await again.qcounts('q')).due, 2)
      same((await again.hgetall('h')).length, 3)
      await again.commit(append('l', 'next'))
      same(await again.zscore('l', 'next'), 3)
    } finally {
      await again.engine.close()
    }
  },
  'a backup holds one state, and is a store of its own': async (store, { openBackup }) => {
    if (!openBackup) return
    const directory = await mkdtemp(join(tmpdir(), 'quoin-backup-'))
    try {
      await store.commit(...A_BIT_OF_ALL)
      const before = await contents(store, KNOWN)
      await store.engine.backup(directory)
      await store.commit(set('later', '1'))
      const copy = new Subject(await openBackup(directory))
      try {
        same(await contents(copy, KNOWN), before)
        await copy.commit(set('only in the copy', ''), leaseHeld('q', 'leased', 'tokentok'))
        same(await store.get('only in the copy'), undefined)
      } finally {
        await copy.engine.close()
      }
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  },
  'commits that were called for before closing are done or refused, never half': async (
    store,
    { reopen }
  ) => {
    const commits = Array.from({ length: 20 }, (_, i) =>
      failureOf(() => store.commit(set(`a${i}`, ''), hset(`h${i}`, 'f', '')))
    )
    if (!reopen) {
      await store.engine.close()
      await Promise.all(commits)
      return
    }
    const again = new Subject(await reopen(store.engine))
    try {
      const failures = await Promise.all(commits)
      for (const [i, failure] of failures.entries()) {
        const found = [await again.get(`a${i}`), await again.hget(`h${i}`, 'f')]
        if (failure === undefined) same(found, ['', ''])
        same(found[0], found[1])
      }
    } finally {
      await again.engine.close()
    }
  },
  'a closed engine refuses with ERR_STORE_CLOSED, but may be closed again': async ({ engine }) => {
    await engine.close()
    const key = bytes('a')
    const uses: (() => unknown)[] = [
      () => engine.reads.get(key),
      () => engine.reads.range(EVERYTHING),
      () => engine.reads.hgetall(key),
      () => engine.reads.mget([key]),
      () => engine.reads.mhgetall([key]),
      () => engine.reads.mhexists([key]),
      () => engine.reads.smembers(key),
      () => engine.reads.zrows(key, {}),
      () => engine.reads.zkeys(EVERYTHING),
      () => engine.reads.qcounts(key),
      () => engine.commit(batchOf([set('a', '1')])),
      () => engine.commitMany([batchOf([set('a', '1')])]),
      () => engine.probe(),
      () => engine.snapshot(async reads => reads.get(key))
    ]
    for (const use of uses) await refused(use, 'ERR_STORE_CLOSED')
    await engine.close()
  }
}
