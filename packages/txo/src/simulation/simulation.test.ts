/**
 * Seeded histories: whatever happens on the way, the index is in the end what it would be if it had been told of the
 * chain alone. `npm run sim` plays a thousand; these are always the same.
 */
import { afterAll, describe, expect, it } from 'vitest'
import { simulate, type Variant } from './simulation.testing.ts'

const counts = new Map<string, number>()
const play = async (seed: number, variant: Variant, steps = 100): Promise<void> => {
  for (const [name, times] of await simulate(seed, { variant, steps })) {
    counts.set(name, (counts.get(name) ?? 0) + times)
  }
}

describe('a history leaves what the chain alone would', () => {
  it.each(Array.from({ length: 14 }, (_, i) => i + 1))('seed %i, in memory', seed => play(seed, 'memory'))
  it.each([15, 16])('seed %i, on LMDB', seed => play(seed, 'lmdb'))
  it('seed 17, on LevelDB', () => play(17, 'level'))
  it('seed 18, on Redis', () => play(18, 'redis'))
  it('seed 19, on LMDB in a process that is killed', () => play(19, 'crash', 40))
})

/** A simulation in which something does not happen says nothing about it. */
afterAll(() => {
  for (const what of EVERYTHING) expect(counts.get(what) ?? 0, what).toBeGreaterThan(0)
})

const EVERYTHING = [
  'index done',
  'index ERR_TXO_CONFLICT',
  'index ERR_TX_INVALID',
  'index ERR_TX_UNKNOWN',
  'prove done',
  'prove ERR_PROOF_INVALID',
  'prove ERR_TX_UNKNOWN',
  'plugin done',
  'plugin ERR_STALE_READ',
  'reconcile done',
  'rollback done',
  'rollbackTo done',
  'an unmined one gave way',
  'a reorg moved one',
  'a reorg removed one',
  'a reorg unmined one',
  'several at once',
  'everything is taken back',
  'a follower lost the connection',
  'restart',
  'crash'
]
