/** Two engines on one store, as two processes have them: their transactions meet in the database only. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import {
  append,
  enqueue,
  fieldAbsent,
  hset,
  lease,
  scoreAbsent,
  scoreIs,
  set,
  valueAbsent,
  wait,
  wake,
  zadd,
  zincrby,
  zrem
} from '../../../store-contract/src/steps.ts'
import { failureOf, Subject } from '../../../store-contract/src/subject.ts'
import { openPostgres } from './postgres.ts'
import { sharedPostgres } from './server.testing.ts'

let one: Subject
let other: Subject
beforeAll(async () => {
  const { url } = await sharedPostgres()
  const schema = `two_${process.pid}`
  // At the same time: one of them makes the tables.
  const engines = await Promise.all([1, 2].map(() => openPostgres(`${url}?schema=${schema}`)))
  ;[one, other] = engines.map(engine => new Subject(engine)) as [Subject, Subject]
})
afterAll(() => Promise.all([one, other].map(store => store?.engine.close())))

let key = ''
beforeEach(() => {
  key = randomBytes(6).toString('hex')
})

const ROUNDS = 40
const rounds = async (run: (round: string) => Promise<void>): Promise<void> => {
  for (let i = 0; i < ROUNDS; i++) await run(`${key}${i}`)
}
const outcomes = async (...commits: Promise<unknown>[]): Promise<string[]> =>
  (await Promise.all(commits.map(commit => failureOf(() => commit)))).map(failure =>
    failure === undefined ? 'done' : (failure as { code: string }).code
  )

it('of two batches that each need to be absent what the other writes, one wins', async () => {
  await rounds(async round => {
    const codes = await outcomes(
      one.commit(
        valueAbsent(`${round}a`),
        fieldAbsent('h', round),
        set(`${round}b`, '1'),
        zadd('z', round, 1)
      ),
      other.commit(
        valueAbsent(`${round}b`),
        scoreAbsent('z', round),
        set(`${round}a`, '1'),
        hset('h', round, '')
      )
    )
    expect(codes.toSorted()).toEqual(['ERR_STORE_PRECONDITION', 'done'])
  })
})

it('an item that waits for what another batch brings is woken, or does not begin to wait', async () => {
  await rounds(async round => {
    await one.commit(enqueue(key, round, 1, 1), lease(key, 'tokentok', 1, 100, 9, 1))
    await outcomes(
      one.commit(fieldAbsent('found', round), wait(key, round, 'c', 'r', round, 200)),
      other.commit(hset('found', round, ''), wake(key, round))
    )
    expect(await one.qlist(key, 'waiting')).toEqual([])
  })
})

it('batches whose locks cross are all committed', async () => {
  await one.commit(zadd(key, 'a', 0), zadd(key, 'b', 0))
  await rounds(async round => {
    expect(
      await outcomes(
        one.commit(zincrby(key, 'b', 1), zadd(key, 'a', 1), hset(round, 'f', '')),
        other.commit(zincrby(key, 'a', 1), zadd(key, 'b', 1), hset(round, 'f', ''))
      )
    ).toEqual(['done', 'done'])
  })
})

it('what is moved is never seen twice or not at all', async () => {
  await one.commit(zadd(key, 'a', 500), zadd(key, 'b', 500))
  const move = async (store: Subject, from: string, to: string) => {
    for (let i = 0; i < ROUNDS; i++) await store.commit(zincrby(key, from, -1), zincrby(key, to, 1))
  }
  const look = async () => {
    for (let i = 0; i < ROUNDS; i++) {
      const [a, b] = await one.snapshot(async reads => [
        await reads.zscore(key, 'a'),
        await reads.zscore(key, 'b')
      ])
      expect(a! + b!).toBe(1000)
    }
  }
  await Promise.all([move(one, 'a', 'b'), move(other, 'b', 'a'), move(other, 'a', 'b'), look()])
  expect(await one.zrows(key)).toEqual([
    ['a', 500 - ROUNDS],
    ['b', 500 + ROUNDS]
  ])
})

it('a log that both append to has every position once, and positions become visible in their order', async () => {
  const found: string[] = []
  let isDone = false
  const appending = Promise.all(
    [one, other].map(async (store, writer) => {
      for (let i = 0; i < 5 * ROUNDS; i++) await store.commit(append(key, `${writer} ${i}`))
    })
  ).finally(() => {
    isDone = true
  })
  for (let isLast = false; !isLast; ) {
    isLast = isDone
    const rows = await one.zrows(key, { min: { score: found.length, exclusive: true } })
    const entries = rows.filter(([entry]) => entry !== '')
    expect(entries.map(([, position]) => position)).toEqual(entries.map((_, i) => found.length + 1 + i))
    found.push(...entries.map(([entry]) => entry))
  }
  await appending
  expect(new Set(found).size).toBe(10 * ROUNDS)
})

it('an entry that two append at once is in the log once, and moves nothing else', async () => {
  await rounds(async round => {
    expect(
      await outcomes(
        one.commit(append(round, 'both'), append(round, 'one'), hset(round, 'f', '')),
        other.commit(append(round, 'other'), append(round, 'both'), hset(round, 'f', ''))
      )
    ).toEqual(['done', 'done'])
    const rows = await one.zrows(round)
    expect(rows.filter(([entry]) => entry !== '').map(([, position]) => position)).toEqual([1, 2, 3])
    expect(rows.map(([entry]) => entry).toSorted()).toEqual(['', 'both', 'one', 'other'])
    expect(await one.zscore(round, '')).toBe(3)
  })
})

it('a log that a batch also changes like a sorted set has the same positions', async () => {
  await one.commit(append(key, 'a'), append(key, 'b'), append(key, 'c'))
  await Promise.all([
    one.commit(scoreIs(key, 'c', 3), zrem(key, 'a'), append(key, 'd'), append(key, 'a')),
    one.commit(append(key, 'b'), append(key, 'e'))
  ])
  expect(await one.zrows(key)).toEqual([
    ['b', 2],
    ['c', 3],
    ['d', 4],
    ['a', 5],
    ['', 6],
    ['e', 6]
  ])
})

it('two leases at once each get items, and none both', async () => {
  const items = Array.from({ length: 100 }, (_, i) => `${i}`.padStart(3, '0'))
  await one.commit(...items.map(item => enqueue(key, item, 1, 1)))
  const leased = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      (i % 2 ? one : other).leased(lease(key, `token${i}`.padEnd(8), 5, 100, 9, 1))
    )
  )
  expect(leased.map(({ length }) => length)).toEqual(leased.map(() => 5))
  expect(
    leased
      .flat()
      .map(({ item }) => item)
      .toSorted()
  ).toEqual(items)
})
