/**
 * A lookup service ends with exactly the live membership, after calls that failed, hung, or were lost in a restart.
 * `npm run test:histories` plays 1,000 histories; `QUOIN_HISTORIES` is their number and `QUOIN_SEED` the first seed.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { membershipDifference } from '../../../txo/src/membership.testing.ts'
import { History } from './histories.testing.ts'

const COUNT = Number(process.env['QUOIN_HISTORIES'] ?? 12)
const FIRST = Number(process.env['QUOIN_SEED'] ?? 1)
const STEPS = 60
const AT_A_TIME = 12

const folder = mkdtempSync(join(tmpdir(), 'quoin-histories-'))
const calls = new Map<string, number>()
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
  for (const kind of ['admitted', 'spent', 'removed', 'evicted'])
    expect(calls.get(kind), kind).toBeGreaterThan(0)
})

const play = async (seed: number): Promise<void> => {
  const history = await History.open(seed, seed % 4 === 0 ? `lmdb:${join(folder, `${seed}`)}` : 'memory:')
  try {
    await history.play(STEPS)
    await history.rest()
    const live = await history.live()
    for (const [name, service] of Object.entries(history.services)) {
      expect([seed, name, [...service.rows].sort()]).toEqual([seed, name, live])
      for (const [kind, count] of service.calls) calls.set(kind, (calls.get(kind) ?? 0) + count)
    }
    for (const topic of history.topics)
      expect(await membershipDifference(history.outputs, topic)).toBeUndefined()
  } finally {
    await history.close()
  }
}

describe('after a history of failures the services have the live outputs', { timeout: 300_000 }, () => {
  const seeds = Array.from({ length: COUNT }, (_, i) => FIRST + i)
  for (let i = 0; i < seeds.length; i += AT_A_TIME) {
    const some = seeds.slice(i, i + AT_A_TIME)
    it(`seeds ${some[0]} to ${some.at(-1)}`, () => Promise.all(some.map(play)))
  }
})
