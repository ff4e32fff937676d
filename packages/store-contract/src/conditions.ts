/** Conditions: a batch is done if all of them hold in the state before it, and is not done at all otherwise. */
import { deepStrictEqual as same } from 'node:assert/strict'
import { CONDITIONS, OPERATIONS } from '@quoin/store/engine'
import { contents } from './contents.ts'
import type { Cases } from './index.ts'
import {
  append,
  appendDeferred,
  type BatchStep,
  bury,
  del,
  enqueue,
  fieldAbsent,
  fieldIs,
  hdel,
  hset,
  lease,
  leaseHeld,
  memberAbsent,
  memberPresent,
  remove,
  renew,
  retry,
  revive,
  sadd,
  scoreAbsent,
  scoreIs,
  set,
  srem,
  valueAbsent,
  valueIs,
  wait,
  wake,
  zadd,
  zcounter,
  zincrby,
  zrem
} from './steps.ts'
import { failureOf, refused, type Subject } from './subject.ts'

/** The state that the conditions below are evaluated against. */
const SOMETHING = [
  set('k', 'value'),
  set('empty', ''),
  hset('k', 'f', 'value'),
  hset('k', 'empty', ''),
  sadd('k', 'm'),
  zadd('k', 'm', 1.5),
  zadd('k', 'zero', 0),
  zadd('k', 'top', Infinity),
  enqueue('k', 'leased', 1, 1),
  lease('k', 'tokenAAA', 1, 10, 5, 1),
  enqueue('k', 'due', 1, 1)
]
const HOLD = [
  valueIs('k', 'value'),
  valueIs('empty', ''),
  valueAbsent('none'),
  fieldIs('k', 'f', 'value'),
  fieldIs('k', 'empty', ''),
  fieldAbsent('k', 'none'),
  fieldAbsent('none', 'f'),
  memberPresent('k', 'm'),
  memberAbsent('k', 'none'),
  memberAbsent('none', 'm'),
  scoreIs('k', 'm', 1.5),
  scoreIs('k', 'zero', -0),
  scoreIs('k', 'top', Infinity),
  scoreAbsent('k', 'none'),
  scoreAbsent('none', 'm'),
  leaseHeld('k', 'leased', 'tokenAAA')
]
const FAIL = [
  valueIs('k', 'valu'),
  valueIs('k', 'value2'),
  valueIs('k', 'valuE'),
  valueIs('k', ''),
  valueIs('none', ''),
  valueIs('none', 'value'),
  valueAbsent('k'),
  valueAbsent('empty'),
  fieldIs('k', 'f', 'other'),
  fieldIs('k', 'f', ''),
  fieldIs('k', 'none', ''),
  fieldIs('none', 'f', 'value'),
  fieldAbsent('k', 'f'),
  fieldAbsent('k', 'empty'),
  memberPresent('k', 'none'),
  memberPresent('none', 'm'),
  memberAbsent('k', 'm'),
  scoreIs('k', 'm', 1.5 + Number.EPSILON * 2),
  scoreIs('k', 'm', 0),
  scoreIs('k', 'top', -Infinity),
  scoreIs('k', 'none', 0),
  scoreIs('none', 'm', 1.5),
  scoreAbsent('k', 'm'),
  scoreAbsent('k', 'zero')
]
const LOST = [
  leaseHeld('k', 'leased', 'tokenBBB'),
  leaseHeld('k', 'due', 'tokenAAA'),
  leaseHeld('k', 'due', '\0'.repeat(8)),
  leaseHeld('k', 'none', 'tokenAAA'),
  leaseHeld('none', 'leased', 'tokenAAA')
]
/** Each operation would change `SOMETHING`, or an item that is not there. */
const CHANGES = [
  set('k', 'x'),
  set('new', 'x'),
  del('empty'),
  hset('k', 'f', 'x'),
  hset('new', 'f', 'x'),
  hdel('k', 'f'),
  sadd('k', 'new'),
  srem('k', 'm'),
  zadd('k', 'm', 7),
  zadd('new', 'm', 7),
  zrem('k', 'm'),
  zincrby('k', 'zero', 7),
  zcounter('k', 'm', 7),
  zcounter('k', 'new', 7),
  append('k', 'new'),
  appendDeferred('k', 'newer'),
  enqueue('k', 'new', 1, 1),
  enqueue('k', 'due', 2, 2),
  lease('k', 'tokenCCC', 5, 100, 5, 50),
  renew('k', 'leased', 77),
  retry('k', 'leased', 'c', 'r', 5),
  bury('k', 'leased', 'c', 'r', 5),
  wait('k', 'leased', 'c', 'r', 'd', 5),
  wake('k', 'd'),
  revive('k', 'due'),
  remove('k', 'due')
]
const shown = ({ name, args }: BatchStep): string =>
  `${name} ${args.map(arg => (typeof arg === 'number' ? arg : Buffer.from(arg).toString('latin1'))).join(' ')}`

const all = (store: Subject) => contents(store, { sets: ['k'], queues: ['k'] })

export const conditions: Cases = {
  'each condition and operation has an example here': async () => {
    const named = (steps: readonly BatchStep[]) => [...new Set(steps.map(({ name }) => name))].sort()
    same(named(HOLD), Object.keys(CONDITIONS).sort())
    same(named([...FAIL, ...LOST]), Object.keys(CONDITIONS).sort())
    same(named(CHANGES), Object.keys(OPERATIONS).sort())
  },
  'each condition that holds lets the batch through': async store => {
    await store.commit(...SOMETHING)
    for (const [i, condition] of HOLD.entries()) {
      same(await failureOf(() => store.commit(condition, set('done', `${i}`))), undefined, shown(condition))
      same(await store.get('done'), `${i}`)
    }
  },
  'each condition that fails refuses the batch with ERR_STORE_PRECONDITION': async store => {
    await store.commit(...SOMETHING)
    for (const condition of FAIL) {
      await refused(() => store.commit(condition, set('done', shown(condition))), 'ERR_STORE_PRECONDITION', 0)
      same(await store.get('done'), undefined, shown(condition))
    }
  },
  'a lease that is not held refuses the batch with ERR_STORE_LEASE_LOST': async store => {
    await store.commit(...SOMETHING)
    for (const condition of LOST) {
      await refused(() => store.commit(condition, set('done', shown(condition))), 'ERR_STORE_LEASE_LOST', 0)
      same(await store.get('done'), undefined, shown(condition))
    }
  },
  'a condition is of one structure': async store => {
    await store.commit(
      set('v', ''),
      hset('h', 'm', ''),
      sadd('s', 'm'),
      zadd('z', 'm', 0),
      enqueue('q', 'm', 1, 1)
    )
    const absent = (key: string) => [
      ...(key === 'v' ? [] : [valueAbsent(key)]),
      ...(key === 'h' ? [] : [fieldAbsent(key, 'm')]),
      ...(key === 's' ? [] : [memberAbsent(key, 'm')]),
      ...(key === 'z' ? [] : [scoreAbsent(key, 'm')])
    ]
    for (const key of ['v', 'h', 's', 'z', 'q']) same(await store.commit(...absent(key)), [])
  },
  'all conditions have to hold; the first that fails is named': async store => {
    await store.commit(...SOMETHING)
    const holds = scoreIs('k', 'm', 1.5)
    const commit = (...steps: BatchStep[]) => store.commit(...steps, set('done', ''))
    await refused(() => commit(holds, holds, scoreAbsent('k', 'm'), holds), 'ERR_STORE_PRECONDITION', 2)
    await refused(() => commit(scoreAbsent('k', 'm'), valueAbsent('k')), 'ERR_STORE_PRECONDITION', 0)
    await refused(
      () => commit(fieldIs('k', 'f', 'value'), leaseHeld('k', 'due', 'tokenAAA'), valueAbsent('k')),
      'ERR_STORE_LEASE_LOST',
      1
    )
    await refused(
      () => commit(valueAbsent('k'), leaseHeld('k', 'due', 'tokenAAA')),
      'ERR_STORE_PRECONDITION',
      0
    )
    same(await store.get('done'), undefined)
    await commit(holds, valueIs('k', 'value'), leaseHeld('k', 'leased', 'tokenAAA'), memberPresent('k', 'm'))
    same(await store.get('done'), '')
  },
  'conditions may be of several keys': async store => {
    const keys = Array.from({ length: 20 }, (_, i) => `key ${i}`)
    const steps = keys.flatMap(key => [valueAbsent(key), set(key, 'mine')])
    await store.commit(...steps)
    await refused(() => store.commit(...steps.slice(2), valueIs('key 0', 'x')), 'ERR_STORE_PRECONDITION', 0)
    await refused(
      () => store.commit(valueIs('key 0', 'mine'), valueIs('key 9', 'x'), del('key 0')),
      'ERR_STORE_PRECONDITION',
      1
    )
    for (const key of keys) same(await store.get(key), 'mine')
  },
  'conditions see the state before the batch, wherever they are written': async store => {
    await store.commit(set('a', '1'))
    await store.commit(set('a', '2'), valueIs('a', '1'))
    same(await store.get('a'), '2')
    await refused(() => store.commit(set('a', '3'), valueIs('a', '3')), 'ERR_STORE_PRECONDITION', 0)
    await refused(() => store.commit(del('a'), valueAbsent('a')), 'ERR_STORE_PRECONDITION', 0)
    await store.commit(zincrby('z', 'm', 1), scoreAbsent('z', 'm'))
    await refused(
      () =>
        store.commit(
          enqueue('q', 'a', 1, 1),
          lease('q', 'tokenAAA', 1, 9, 3, 1),
          leaseHeld('q', 'a', 'tokenAAA')
        ),
      'ERR_STORE_LEASE_LOST'
    )
    same((await store.qcounts('q')).leased, 0)
  },
  'a refused batch changes nothing, by any operation': async store => {
    await store.commit(...SOMETHING)
    const before = await all(store)
    await refused(() => store.commit(valueAbsent('k'), ...CHANGES), 'ERR_STORE_PRECONDITION', 0)
    same(await all(store), before)
    for (const operation of CHANGES) {
      await refused(() => store.commit(valueAbsent('k'), operation), 'ERR_STORE_PRECONDITION', 0)
      same(await all(store), before, shown(operation))
    }
  }
}
