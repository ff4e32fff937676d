/** Bulk writing: in large transactions, durable at checkpoints, and never further by its progress than by its work. */
import { describe, expect, it } from 'vitest'
import { bytes } from '../../store-contract/src/steps.ts'
import type { Batch } from './batch.ts'
import { BatchDecoder } from './batch-decoder.ts'
import { Bulk } from './bulk.ts'
import type { Engine } from './engine.ts'
import { ENGINES } from './engines.testing.ts'
import { openEngine } from './open.ts'
import { openStore, Store } from './store.ts'
import { describeStores, latin1, newKey } from './stores.testing.ts'

const OPTION = { name: 'QuoinError', code: 'ERR_STORE_OPTION' }
const ENOUGH = 20_000

/** An engine that says what it was given, and does it when it is told to. */
const controlled = () => {
  const events: string[] = []
  const waiting: { resolve(): void; reject(error: Error): void }[] = []
  const keysOf = (program: Uint8Array): string => {
    const keys: string[] = []
    const note = (key: Uint8Array) => keys.push(latin1(key))
    const reader = new BatchDecoder(program)
    reader.run({ set: note } as never)
    return keys.join()
  }
  const held = (event: string): Promise<void> => {
    events.push(event)
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
  }
  const engine = {
    commit: async (program: Uint8Array) => {
      await held(`commit ${keysOf(program)}`)
      return []
    },
    commitMany: (batches: readonly Uint8Array[]) =>
      held(`many ${batches.length > 3 ? batches.length : batches.map(keysOf)}`)
  } as unknown as Engine
  const turn = () => new Promise<void>(resolve => setImmediate(resolve))
  return {
    engine,
    events,
    turn,
    finish: async () => {
      waiting.shift()!.resolve()
      await turn()
    },
    fail: async (message: string) => {
      waiting.shift()!.reject(new Error(message))
      await turn()
    }
  }
}

const put = (bulk: Bulk, key: string): Batch => bulk.batch().set(bytes(key), bytes(''))
const fill = async (bulk: Bulk, count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await bulk.write(put(bulk, 'k'))
}
/** Whether a promise has resolved or rejected by now. */
const settles = async (promise: Promise<unknown>): Promise<boolean> => {
  let settled = false
  const note = () => {
    settled = true
  }
  promise.then(note, note)
  await new Promise(resolve => setImmediate(resolve))
  return settled
}

describe('what is on its way', () => {
  it('goes to the engine by the thousand, or at a checkpoint', async () => {
    const { engine, events, finish } = controlled()
    const bulk = new Bulk(engine)
    await fill(bulk, ENOUGH - 1)
    expect(events).toStrictEqual([])
    await fill(bulk, 1)
    await fill(bulk, 2)
    expect(events).toStrictEqual([`many ${ENOUGH}`])
    await finish()
    const checkpoint = bulk.checkpoint()
    expect(events).toStrictEqual([`many ${ENOUGH}`, 'many k,k'])
    await finish()
    await checkpoint
  })

  it('goes to the engine when it is many bytes', async () => {
    const { engine, events, finish } = controlled()
    const bulk = new Bulk(engine)
    const large = new Uint8Array(33 * 1024 * 1024)
    await bulk.write(bulk.batch().set(bytes('a'), large))
    expect(events).toStrictEqual([])
    await bulk.write(bulk.batch().set(bytes('b'), large))
    await bulk.write(put(bulk, 'c'))
    expect(events).toStrictEqual(['many a,b'])
    await finish()
  })

  it('is not waited for until there is too much of it', async () => {
    const { engine, events, finish } = controlled()
    const bulk = new Bulk(engine)
    await fill(bulk, 2 * ENOUGH)
    expect(events).toHaveLength(2)
    const more = fill(bulk, ENOUGH)
    expect(await settles(more)).toBe(false)
    await finish()
    expect(await settles(more)).toBe(true)
    expect(events).toHaveLength(3)
  })

  it('is over when a checkpoint is, though some of it is waited for elsewhere', async () => {
    const { engine, finish } = controlled()
    const bulk = new Bulk(engine)
    const writes = fill(bulk, 3 * ENOUGH)
    expect(await settles(writes)).toBe(false)
    const checkpoint = bulk.checkpoint()
    for (let unfinished = 3; unfinished > 0; unfinished--) {
      expect(await settles(checkpoint)).toBe(false)
      await finish()
    }
    expect(await settles(checkpoint)).toBe(true)
    await writes
  })
})

describe('a checkpoint', () => {
  it('records progress when all before it is durable, in one commit', async () => {
    const { engine, events, finish } = controlled()
    const bulk = new Bulk(engine)
    await fill(bulk, ENOUGH)
    await bulk.write(put(bulk, 'last'))
    const checkpoint = bulk.checkpoint(put(bulk, 'progress').set(bytes('more of it'), bytes('')))
    await finish()
    expect(events).toStrictEqual([`many ${ENOUGH}`, 'many last'])
    await finish()
    expect(events.at(-1)).toBe('commit progress,more of it')
    expect(await settles(checkpoint)).toBe(false)
    await finish()
    await checkpoint
  })

  it('records no progress when anything before it fails', async () => {
    for (const failing of [0, 1]) {
      const { engine, events, finish, fail } = controlled()
      const bulk = new Bulk(engine)
      await fill(bulk, ENOUGH)
      await bulk.write(put(bulk, 'last'))
      const checkpoint = bulk.checkpoint(put(bulk, 'progress'))
      const refused = expect(checkpoint).rejects.toThrow('disk full')
      for (const i of [0, 1]) await (i === failing ? fail('disk full') : finish())
      await refused
      expect(events).toStrictEqual([`many ${ENOUGH}`, 'many last'])
    }
  })

  it('with nothing to write, and with nothing to say, does nothing', async () => {
    const { engine, events } = controlled()
    const bulk = new Bulk(engine)
    await bulk.checkpoint()
    await bulk.write(bulk.batch())
    await bulk.checkpoint(bulk.batch())
    expect(events).toStrictEqual([])
  })

  it('fails when its progress cannot be recorded', async () => {
    const { engine, fail } = controlled()
    const bulk = new Bulk(engine)
    const checkpoint = bulk.checkpoint(put(bulk, 'progress'))
    const refused = expect(checkpoint).rejects.toThrow('disk full')
    await bulk.checkpoint()
    await fail('disk full')
    await refused
  })
})

describe('a failure in between', () => {
  it('is thrown by the next call and by every one after it, and nothing more is written', async () => {
    const { engine, events, fail } = controlled()
    const bulk = new Bulk(engine)
    await fill(bulk, ENOUGH)
    await bulk.write(put(bulk, 'after'))
    await fail('disk full')
    await expect(bulk.write(put(bulk, 'more'))).rejects.toThrow('disk full')
    await expect(bulk.checkpoint()).rejects.toThrow('disk full')
    await expect(bulk.checkpoint(put(bulk, 'progress'))).rejects.toThrow('disk full')
    await expect(bulk.write(put(bulk, 'more'))).rejects.toThrow('disk full')
    expect(events).toStrictEqual([`many ${ENOUGH}`])
  })

  it('is the first of several', async () => {
    const { engine, fail } = controlled()
    const bulk = new Bulk(engine)
    await fill(bulk, 2 * ENOUGH)
    await fail('the cause')
    await fail('the consequence')
    await expect(bulk.checkpoint()).rejects.toThrow('the cause')
  })

  it('is that of a store that was closed', async () => {
    const store = await openStore('memory:')
    const bulk = store.bulk()
    await bulk.write(put(bulk, 'a'))
    await store.close()
    await expect(bulk.checkpoint()).rejects.toMatchObject({ code: 'ERR_STORE_CLOSED' })
  })
})

describe('a batch in bulk', () => {
  it('is not committed by itself', async () => {
    const bulk = new Bulk(await openEngine('memory:'))
    await expect(put(bulk, 'a').commit()).rejects.toMatchObject(OPTION)
  })

  it('is taken once', async () => {
    const bulk = new Bulk(await openEngine('memory:'))
    const batch = put(bulk, 'a')
    await bulk.write(batch)
    await expect(bulk.write(batch)).rejects.toMatchObject(OPTION)
    await expect(bulk.checkpoint(batch)).rejects.toMatchObject(OPTION)
  })

  it('has no conditions; that of a checkpoint may have some', async () => {
    const store = await openStore('memory:')
    const bulk = store.bulk()
    await expect(bulk.write(put(bulk, 'a').ifValue(bytes('a'), undefined))).rejects.toMatchObject(OPTION)
    await bulk.write(put(bulk, 'b'))
    const progress = put(bulk, 'progress').ifValue(bytes('a'), bytes('something'))
    await expect(bulk.checkpoint(progress)).rejects.toMatchObject({ code: 'ERR_STORE_PRECONDITION' })
    expect(await store.get(bytes('a'))).toBeUndefined()
    expect(await store.get(bytes('b'))).toBeDefined()
    expect(await store.get(bytes('progress'))).toBeUndefined()
  })
})

describeStores(Object.keys(ENGINES), opened => {
  it('writes everything in order, and what it says of its progress', async () => {
    const { store } = opened
    const [sorted, last, progress] = [newKey(), newKey(), newKey()]
    const bulk = store.bulk()
    const COUNT = 3000
    for (let i = 0; i < COUNT; i++) {
      const batch = bulk.batch().zadd(sorted, { member: bytes(`${i % 1000}`), score: i })
      await bulk.write(batch.set(last, bytes(`${i}`)).hset(last, bytes(`${i % 7}`), bytes(`${i}`)))
      if (i % 1000 === 999) {
        await bulk.checkpoint(bulk.batch().set(progress, bytes(`${i}`)))
        expect(latin1((await store.get(progress))!)).toBe(`${i}`)
        expect(latin1((await store.get(last))!)).toBe(`${i}`)
      }
    }
    expect(await store.zcard(sorted)).toBe(1000)
    expect(await store.zsum(sorted)).toBe(1000 * 2000 + (1000 * 999) / 2)
    expect(await store.hgetall(last)).toHaveLength(7)
  })
})

describe.each(['lmdb', 'level', 'redis', 'postgres'])('%s', name => {
  it('an import that was cut off goes on from its checkpoint, and loses nothing', async () => {
    const harness = ENGINES[name]!
    const [items, progress] = [bytes('items'), bytes('progress')]
    const TOTAL = 500
    await harness.start?.()
    let engine = await harness.open()
    try {
      /** Imports from where the last one stopped, with a checkpoint after every hundred. */
      const run = async (upTo: number): Promise<number> => {
        const store = new Store(engine)
        const begin = Number(latin1((await store.get(progress)) ?? bytes('0')))
        const bulk = store.bulk()
        for (let i = begin; i < upTo; i++) {
          await bulk.write(bulk.batch().zadd(items, { member: bytes(`item ${i}`), score: i }))
          if ((i + 1) % 100 === 0) await bulk.checkpoint(bulk.batch().set(progress, bytes(`${i + 1}`)))
        }
        return begin
      }
      expect(await run(250)).toBe(0)
      // Cut off: what came after the last checkpoint may be there or not.
      engine = await harness.reopen!(engine)
      const store = new Store(engine)
      expect(latin1((await store.get(progress))!)).toBe('200')
      const found = (await store.zrange(items)).map(({ score }) => score)
      expect(found.slice(0, 200)).toStrictEqual(Array.from({ length: 200 }, (_, i) => i))
      expect(found.length).toBeLessThanOrEqual(250)
      expect(await run(TOTAL)).toBe(200)
      engine = await harness.reopen!(engine)
      const whole = await new Store(engine).zrange(items)
      expect(whole.map(({ score }) => score)).toStrictEqual(Array.from({ length: TOTAL }, (_, i) => i))
    } finally {
      await engine.close()
      await harness.stop?.()
    }
  })
})
