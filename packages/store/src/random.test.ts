/**
 * Random programs on every engine, step by step beside the model. A failure prints its seed and the shortest program
 * found. QUOIN_RANDOM_RUNS is the number of programs; without it, as many as there is time for.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINES } from './engines.testing.ts'
import { openModel } from './model.testing.ts'
import { actions, compareEngines, sizeOf } from './random-program.testing.ts'

const RUNS = Number(process.env['QUOIN_RANDOM_RUNS'] ?? 0)
const SECONDS = 1
/** A seed for every few programs, so that the time is looked at between them and not while a failure is shortened. */
const RUNS_OF_A_SEED = 5
const SEED = Number(process.env['QUOIN_SEED'])

describe.each(Object.entries(ENGINES).filter(([name]) => name !== 'model'))('%s', (_, harness) => {
  beforeAll(() => harness.start?.())
  afterAll(() => harness.stop?.())

  it('does what the model does', { timeout: RUNS ? 86_400_000 : 600_000 }, async () => {
    let size = 0
    const property = fc.asyncProperty(actions(), async program => {
      const engine = await harness.open()
      try {
        await compareEngines(program, engine, openModel())
        size += sizeOf(program)
      } finally {
        await engine.close()
      }
    })
    const end = Date.now() + SECONDS * 1000
    for (let runs = 0; RUNS ? runs < RUNS : runs === 0 || Date.now() < end; runs += RUNS_OF_A_SEED) {
      await fc.assert(property, { numRuns: RUNS_OF_A_SEED, seed: SEED + runs })
    }
    expect(size).toBeGreaterThan(1000)
  })
})
