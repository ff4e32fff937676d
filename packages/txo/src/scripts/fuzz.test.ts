/**
 * Hostile scripts. A failure names its seed: QUOIN_SEED makes that script again, first. QUOIN_FUZZ is how many
 * scripts there are to be.
 */
import { expect, it } from 'vitest'
import { tryScript } from './fuzz.testing.ts'
import { PARSERS } from './parse.ts'

const RUNS = Number(process.env['QUOIN_FUZZ'] ?? 20_000)
const SEED = Number(process.env['QUOIN_SEED'])

it(`parses ${RUNS} hostile scripts, whatever they are`, { timeout: 86_400_000 }, () => {
  const found = new Map<string, number>()
  let bytes = 0
  for (let seed = SEED; seed < SEED + RUNS; seed++) {
    try {
      const { tags, length } = tryScript(seed)
      bytes += length
      for (const tag of tags) found.set(tag, (found.get(tag) ?? 0) + 1)
    } catch (error) {
      throw new Error(`QUOIN_SEED=${seed}`, { cause: error })
    }
  }
  expect(bytes).toBeGreaterThan(RUNS)
  // Scripts that nobody knows would prove nothing.
  if (RUNS >= 10_000) expect([...PARSERS.keys()].filter(tag => !found.has(tag))).toEqual([])
})
