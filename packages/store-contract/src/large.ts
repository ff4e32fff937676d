/** Large contents: a value of 100 MB, and a sorted set of a million members. */
import { deepStrictEqual as same } from 'node:assert/strict'
import type { Cases } from './index.ts'
import { batchOf, bytes, zadd, zrem } from './steps.ts'

const MILLION = 1_000_000
const memberOf = (i: number): string => `member ${String(i).padStart(7, '0')}`

export const large: Cases = {
  'a value of 100 MB': async ({ engine }) => {
    const value = new Uint8Array(100 * 1024 * 1024)
    for (let i = 0; i < value.length; i++) value[i] = (i * 31 + (i >> 8)) & 0xff
    await engine.commit(batchOf([{ name: 'set', args: [bytes('k'), value] }]))
    const found = await engine.reads.get(bytes('k'))
    same(Buffer.compare(found!, value), 0)
  },
  'a sorted set with a million members': async store => {
    for (let from = 0; from < MILLION; from += 100_000) {
      const batches = Array.from({ length: 20 }, (_, part) =>
        batchOf(
          Array.from({ length: 5000 }, (_, i) => {
            const n = from + part * 5000 + i
            return zadd('z', memberOf(n), Math.floor(n / 7))
          })
        )
      )
      await store.engine.commitMany(batches)
    }
    same(await store.zcard('z'), MILLION)
    const middle = { score: Math.floor(500_000 / 7), member: memberOf(500_000), exclusive: true }
    same(
      await store.zrows('z', { min: middle, count: 3 }),
      [500_001, 500_002, 500_003].map(i => [memberOf(i), Math.floor(i / 7)])
    )
    same(await store.zrows('z', { reverse: true, count: 1 }), [[memberOf(999_999), 142_857]])
    await store.commit(zrem('z', memberOf(0)))
    same(await store.zcard('z'), MILLION - 1)
    let sum = 0
    for (let i = 1; i < MILLION; i++) sum += Math.floor(i / 7)
    same(await store.zsum('z'), sum)
  }
}
