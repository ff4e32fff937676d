/** Snapshots: reads that all see one state, while others commit. */
import { deepStrictEqual as same } from 'node:assert/strict'
import { contents } from './contents.ts'
import type { Cases } from './index.ts'
import { del, enqueue, hset, lease, sadd, set, zadd, zrem } from './steps.ts'
import { EVERYTHING, failureOf, type TextReads } from './subject.ts'

const SOME = [
  set('a', 'old'),
  set('b', 'old'),
  hset('h', 'f', 'old'),
  sadd('s', 'old'),
  zadd('z', 'old', 1),
  enqueue('q', 'old', 1, 1)
]
const CHANGES = [
  set('a', 'new'),
  del('b'),
  set('c', 'new'),
  hset('h', 'f', 'new'),
  hset('h', 'g', 'new'),
  hset('i', 'f', 'new'),
  sadd('s', 'new'),
  zrem('z', 'old'),
  zadd('z', 'new', 2),
  zadd('y', 'new', 2),
  lease('q', 'tokentok', 1, 100, 3, 10),
  enqueue('q', 'new', 1, 1)
]
const readAll = (reads: TextReads) => contents(reads, { sets: ['s'], queues: ['q'] })

export const snapshots: Cases = {
  'a snapshot gives what `read` gives, and fails as it fails': async store => {
    await store.commit(...SOME)
    same(await store.snapshot(async () => 42), 42)
    same(await store.snapshot(reads => reads.get('a')), 'old')
    const failure = new Error('of the reader')
    same(await failureOf(() => store.snapshot(() => Promise.reject(failure))), failure)
  },
  'a snapshot has every read, with the answers of the engine': async store => {
    await store.commit(...SOME, ...CHANGES)
    const questions: ((reads: TextReads) => Promise<unknown>)[] = [
      reads => reads.get('a'),
      reads => reads.mget(['c', 'b', 'a']),
      reads => reads.range(EVERYTHING, 1),
      reads => reads.hget('h', 'f'),
      reads => reads.hmget('h', ['g', 'x', 'f']),
      reads => reads.hgetall('h'),
      reads => reads.mhgetall(['h', 'x', 'i']),
      reads => reads.mhexists(['h', 'x', 'i']),
      reads => reads.hrange(EVERYTHING, 1),
      reads => reads.sismember('s', 'new'),
      reads => reads.smembers('s'),
      reads => reads.zscore('z', 'new'),
      reads => reads.zscores(['z', 'y'], ['new', 'old']),
      reads => reads.zcard('z'),
      reads => reads.zrows('z', { reverse: true, count: 1 }),
      reads => reads.zsum('z'),
      reads => reads.zkeys(''),
      reads => reads.zkeys(EVERYTHING, 1),
      reads => reads.qcounts('q'),
      reads => reads.qlist('q', 'leased', { count: 1 })
    ]
    for (const question of questions) same(await store.snapshot(question), await question(store))
  },
  'all reads of a snapshot see the state before a batch, or all see that after it': async store => {
    await store.commit(...SOME)
    const before = await readAll(store)
    let runs = 0
    const seen = await store.snapshot(async reads => {
      const first = await reads.get('a')
      if (runs++ === 0) await store.commit(...CHANGES)
      return { first, all: await readAll(reads) }
    })
    const after = await readAll(store)
    same(seen, runs === 1 ? { first: 'old', all: before } : { first: 'new', all: after })
  },
  'a snapshot does not see a key that appears in a range it has read': async store => {
    await store.commit(...SOME)
    let runs = 0
    const { first, second } = await store.snapshot(async reads => {
      const first = { values: await reads.range(EVERYTHING), keys: await reads.zkeys('') }
      if (runs++ === 0) await store.commit(set('between', 'new'), zadd('another', 'm', 1))
      return { first, second: { values: await reads.range(EVERYTHING), keys: await reads.zkeys('') } }
    })
    same(first, second)
  },
  'a commit after a snapshot began is seen by the engine at once': async store => {
    await store.commit(set('a', '1'))
    let runs = 0
    await store.snapshot(async reads => {
      await reads.get('a')
      if (runs++ === 0) await store.commit(set('a', '2'))
      same(await store.get('a'), '2')
    })
  },
  'what is moved between two keys is never seen at both or at none': async store => {
    // With a long beginning in common: an engine of several machines keeps such keys together.
    const [a, b] = ['a', 'b'].map(each => 'key'.repeat(20) + each) as [string, string]
    await store.commit(set(a, 'token'))
    const move = async () => {
      for (let i = 0; i < 50; i++) {
        const [from, to] = i % 2 ? [b, a] : [a, b]
        await store.commit(del(from), set(to, 'token'))
      }
    }
    const look = async () => {
      const seen: (string | undefined)[][] = []
      for (let i = 0; i < 50; i++) {
        const found = store.snapshot(async reads => [await reads.get(a), await reads.get(b)])
        seen.push(
          await found.catch(error => {
            // An engine that runs `read` again may give up while everything moves; it says so.
            same(error.code, 'ERR_STORE_BUSY')
            return ['token']
          })
        )
      }
      return seen
    }
    const [seen] = await Promise.all([look(), move()])
    for (const values of seen) {
      same(
        values.filter(value => value !== undefined),
        ['token']
      )
    }
  },
  'many snapshots can be open at once, each of its own time': async store => {
    const open: Promise<(string | undefined)[]>[] = []
    const gates: (() => void)[] = []
    for (let i = 0; i < 5; i++) {
      await store.commit(set('a', `${i}`), set('b', `${i}`))
      await new Promise<void>(began => {
        const gate = new Promise<void>(resolve => gates.push(resolve))
        open.push(
          store.snapshot(async reads => {
            const first = await reads.get('a')
            began()
            await gate
            return [first, await reads.get('b')]
          })
        )
      })
    }
    for (const pass of gates) pass()
    for (const [i, seen] of (await Promise.all(open)).entries()) {
      const [first, second] = seen
      same(first, second)
      same([`${i}`, '4'].includes(first!), true)
    }
  }
}
