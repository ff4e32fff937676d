/** Seeded histories through the whole pipeline. `npm run sim` plays a thousand; these are always the same. */
import { afterAll, describe, expect, it } from 'vitest'
import { type SimulationEngine, simulate } from './simulation.testing.ts'

const counts = new Map<string, number>()
const play = async (seed: number, engine?: SimulationEngine): Promise<void> => {
  for (const [name, times] of await simulate(seed, engine ? { engine } : {}))
    counts.set(name, (counts.get(name) ?? 0) + times)
}

describe('a history ends in the state of the specification', () => {
  it.each(Array.from({ length: 16 }, (_, i) => i + 1))('seed %i, in memory', seed => play(seed))
  it.each([17, 18])('seed %i, on LMDB', seed => play(seed, 'lmdb'))
  it('seed 19, on LevelDB', () => play(19, 'level'))
})

/** A simulation in which something does not happen says nothing about it. */
afterAll(() => {
  for (const what of EVERYTHING) expect(counts.get(what) ?? 0, what).toBeGreaterThan(0)
})

const EVERYTHING = [
  'deploy+auth',
  'deploy+mint',
  'all of it',
  'some of it',
  'more than there is',
  'nothing',
  'two halves that wrap',
  'mint',
  'mint without auth',
  'p2pkh',
  'cosign',
  'list',
  'burn',
  'nonsense',
  'binary deployment',
  'binary value',
  'binary mint',
  'mined',
  'unmined',
  'repeat',
  'reorg',
  'reorg that loses'
]
