/** Batches: all or nothing, once, and only if what they depend on holds. */
import { describe, expect, it } from 'vitest'
import { bytes } from '../../store-contract/src/steps.ts'
import { Batch } from './batch.ts'
import type { OperationResult } from './engine.ts'
import { describeStores, EVERY_ENGINE, latin1, newKey } from './stores.testing.ts'

const OPTION = { name: 'QuoinError', code: 'ERR_STORE_OPTION' }
const PRECONDITION = { name: 'QuoinError', code: 'ERR_STORE_PRECONDITION' }

/** A batch, and what was committed of it. */
const recorded = (answers: OperationResult[] = []) => {
  const commits: Uint8Array[] = []
  const batch = new Batch(async program => {
    commits.push(program)
    return answers
  })
  return { batch, commits }
}

describe('a batch', () => {
  it('commits once: neither a second commit nor a late write is lost without a word', async () => {
    const { batch, commits } = recorded()
    batch.set(bytes('a'), bytes('1'))
    await batch.commit()
    await expect(batch.commit()).rejects.toMatchObject(OPTION)
    await expect(batch.answers()).rejects.toMatchObject(OPTION)
    expect(() => batch.take()).toThrow(expect.objectContaining(OPTION))
    expect(() => batch.set(bytes('b'), bytes('2'))).toThrow(expect.objectContaining(OPTION))
    expect(() => batch.ifValue(bytes('b'), undefined)).toThrow(expect.objectContaining(OPTION))
    expect(commits).toHaveLength(1)
  })

  it('is not committed without an argument that was refused', async () => {
    const { batch, commits } = recorded()
    batch.set(bytes('a'), bytes('1'))
    expect(() => batch.set(bytes('b'), 'text' as unknown as Uint8Array)).toThrow('a value is bytes')
    batch.set(bytes('c'), bytes('3'))
    await expect(batch.commit()).rejects.toMatchObject(OPTION)
    expect(commits).toHaveLength(0)
  })

  it('commits once even if that fails', async () => {
    const failure = new Error('of the engine')
    const batch = new Batch(() => Promise.reject(failure)).del(bytes('a'))
    await expect(batch.commit()).rejects.toBe(failure)
    await expect(batch.commit()).rejects.toMatchObject(OPTION)
  })

  it('with nothing in it needs no commit', async () => {
    const { batch, commits } = recorded()
    batch.hmset(bytes('h'), []).hdel(bytes('h')).sadd(bytes('s')).zadd(bytes('z'))
    expect(await batch.answers()).toStrictEqual([])
    expect(commits).toStrictEqual([])
  })

  it('with nothing but conditions is committed', async () => {
    const { batch, commits } = recorded()
    await batch.ifValue(bytes('a'), undefined).commit()
    expect(commits).toHaveLength(1)
  })

  it('gives what the engine answers', async () => {
    const { batch } = recorded([3, 4])
    expect(await batch.zincrby(bytes('z'), bytes('m'), 1).answers()).toStrictEqual([3, 4])
  })

  it('does the same with many arguments as with one after the other', async () => {
    const [many, single] = [recorded(), recorded()]
    const [k, a, b, c] = ['k', 'a', 'b', 'c'].map(bytes) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array]
    many.batch
      .hmset(k, [
        [a, b],
        [b, c]
      ])
      .hdel(k, a, b)
      .sadd(k, a, b)
      .srem(k, a, b)
      .zadd(k, { member: a, score: 1 }, { member: b, score: 2 })
      .zrem(k, a, b)
    single.batch.hset(k, a, b).hset(k, b, c).hdel(k, a).hdel(k, b).sadd(k, a).sadd(k, b).srem(k, a).srem(k, b)
    single.batch.zadd(k, { member: a, score: 1 }).zadd(k, { member: b, score: 2 }).zrem(k, a).zrem(k, b)
    await many.batch.commit()
    await single.batch.commit()
    expect(many.commits).toStrictEqual(single.commits)
  })

  it('holds what its arguments were when they were given', async () => {
    const value = bytes('before')
    const [kept, plain] = [recorded(), recorded()]
    kept.batch.set(bytes('k'), value)
    value.fill(0)
    plain.batch.set(bytes('k'), bytes('before'))
    await kept.batch.commit()
    await plain.batch.commit()
    expect(kept.commits).toStrictEqual(plain.commits)
  })
})

describeStores(EVERY_ENGINE, opened => {
  it('a batch writes any mix to any keys, in order, and is there when it is committed', async () => {
    const { store } = opened
    const [value, gone, hash, set, sorted] = [newKey(), newKey(), newKey(), newKey(), newKey()]
    await store.set(gone, bytes('there'))
    const batch = store
      .batch()
      .set(value, bytes('first'))
      .set(value, bytes('last'))
      .del(gone)
      .hset(hash, bytes('f'), bytes('v'))
      .sadd(set, bytes('m'))
      .zadd(sorted, { member: bytes('m'), score: 1 })
      .zincrby(sorted, bytes('m'), 2)
    expect(await store.get(value)).toBeUndefined()
    await batch.commit()
    expect(latin1((await store.get(value))!)).toBe('last')
    expect(await store.get(gone)).toBeUndefined()
    expect(latin1((await store.hget(hash, bytes('f')))!)).toBe('v')
    expect(await store.sismember(set, bytes('m'))).toBe(true)
    expect(await store.zscore(sorted, bytes('m'))).toBe(3)
  })

  /** Each condition, as it holds and as it does not, on a key where all structures hold something. */
  const CONDITIONS: [string, string, (batch: Batch, key: Uint8Array) => Batch, boolean][] = [
    ['the value is this', 'valueIs', (batch, key) => batch.ifValue(key, bytes('v')), true],
    ['the value is another', 'valueIs', (batch, key) => batch.ifValue(key, bytes('w')), false],
    ['the value is empty', 'valueIs', (batch, key) => batch.ifValue(key, bytes('')), false],
    ['there is no value', 'valueAbsent', (batch, key) => batch.ifValue(key, undefined), false],
    ['the field is this', 'fieldIs', (batch, key) => batch.ifField(key, bytes('f'), bytes('v')), true],
    ['the field is another', 'fieldIs', (batch, key) => batch.ifField(key, bytes('f'), bytes('')), false],
    ['there is no field', 'fieldAbsent', (batch, key) => batch.ifField(key, bytes('g'), undefined), true],
    [
      'there is no such field',
      'fieldAbsent',
      (batch, key) => batch.ifField(key, bytes('f'), undefined),
      false
    ],
    ['the score is this', 'scoreIs', (batch, key) => batch.ifScore(key, bytes('m'), 0), true],
    ['the score is another', 'scoreIs', (batch, key) => batch.ifScore(key, bytes('m'), 1), false],
    ['there is no score', 'scoreAbsent', (batch, key) => batch.ifScore(key, bytes('n'), undefined), true],
    [
      'there is no such score',
      'scoreAbsent',
      (batch, key) => batch.ifScore(key, bytes('m'), undefined),
      false
    ],
    ['it is a member', 'memberPresent', (batch, key) => batch.ifMember(key, bytes('m'), true), true],
    ['another is a member', 'memberPresent', (batch, key) => batch.ifMember(key, bytes('n'), true), false],
    ['another is no member', 'memberAbsent', (batch, key) => batch.ifMember(key, bytes('n'), false), true],
    ['it is no member', 'memberAbsent', (batch, key) => batch.ifMember(key, bytes('m'), false), false]
  ]
  it.each(CONDITIONS)('on condition that %s (%s)', async (_, needs, condition, holds) => {
    const { store } = opened
    const [key, written] = [newKey(), newKey()]
    await store
      .batch()
      .set(key, bytes('v'))
      .hset(key, bytes('f'), bytes('v'))
      .sadd(key, bytes('m'))
      .zadd(key, { member: bytes('m'), score: 0 })
      .commit()
    const batch = condition(store.batch().set(written, bytes('yes')).del(key), key)
    if (holds) await batch.commit()
    else await expect(batch.commit()).rejects.toMatchObject({ ...PRECONDITION, details: { needs, check: 0 } })
    expect((await store.get(written)) !== undefined).toBe(holds)
    expect((await store.get(key)) === undefined).toBe(holds)
  })

  it('conditions are of the state before the batch, and the first that fails is named', async () => {
    const { store } = opened
    const key = newKey()
    await store.batch().set(key, bytes('1')).ifValue(key, undefined).commit()
    const batch = store.batch().ifValue(key, bytes('1')).set(key, bytes('2')).ifValue(key, bytes('2'))
    await expect(batch.ifValue(key, undefined).commit()).rejects.toMatchObject({
      ...PRECONDITION,
      details: { needs: 'valueIs', check: 1 }
    })
    expect(latin1((await store.get(key))!)).toBe('1')
  })

  it('of 50 batches at once that depend on the same state one wins', async () => {
    const { store } = opened
    const [lock, winners] = [newKey(), newKey()]
    for (const expected of [undefined, 'round 1', 'round 2']) {
      const round = `round ${Number(expected?.slice(6) ?? 0) + 1}`
      const outcomes = await Promise.allSettled(
        Array.from({ length: 50 }, (_, i) =>
          store
            .batch()
            .ifValue(lock, expected === undefined ? undefined : bytes(expected))
            .set(lock, bytes(round))
            .zadd(winners, { member: bytes(`${round} ${i}`), score: 1 })
            .commit()
        )
      )
      const lost = outcomes.flatMap(outcome => (outcome.status === 'rejected' ? [outcome.reason] : []))
      expect(lost).toHaveLength(49)
      for (const reason of lost) expect(reason).toMatchObject(PRECONDITION)
    }
    expect(await store.zcard(winners)).toBe(3)
    expect(latin1((await store.get(lock))!)).toBe('round 3')
  })

  it('conditions on several keys hold together', async () => {
    const { store } = opened
    const [a, b, written] = [newKey(), newKey(), newKey()]
    await store.set(a, bytes('1'))
    const batch = store.batch().set(written, bytes('')).ifValue(a, bytes('1')).ifValue(b, bytes('1'))
    await expect(batch.commit()).rejects.toMatchObject(PRECONDITION)
    expect(await store.get(written)).toBeUndefined()
  })
})
