/**
 * The chain's own programs: every operation from the chain's raw state gives the chain's result, or its refusal, and the
 * chain's bytes; and a program from its first operation to its last ends in the chain's bytes. `npm run test:chain` runs
 * all of them.
 */
import { describe, expect, it } from 'vitest'
import { differencesOf, expectedOf, newState, replay, rowsOf, stateOf } from './replay.testing.ts'
import { applyRows, chainPrograms, genesisOf, type RawState } from './vectors.testing.ts'

const all = chainPrograms()
const isWhole = process.env['QUOIN_CHAIN'] === 'all'
/** Programs that replay each operation from an imported state, and programs that run as a whole. */
const stepwise = isWhole ? all : all.filter((_, i) => i % 40 === 3)
const continuous = isWhole ? all : all.filter((_, i) => i % 8 === 5)

it('has the programs with all their operations', () => {
  expect(all).toHaveLength(200)
  expect(all.reduce((sum, { ops }) => sum + ops.length, 0)).toBe(10_045)
})

describe('each operation from the chain’s raw state', () => {
  it.each(stepwise)('program $seed', async ({ ops, ...program }) => {
    const state: RawState = genesisOf({ ops, ...program })
    const differences: unknown[] = []
    for (const [at, operation] of ops.entries()) {
      const { store, liquidity } = await stateOf(state)
      const found = await replay(liquidity, operation)
      const expected = expectedOf(operation)
      applyRows(state, operation)
      const rows = differencesOf(state, await rowsOf(store))
      await store.close()
      if (JSON.stringify(found) !== JSON.stringify(expected) || rows.length > 0)
        differences.push({ at, op: operation.op, expected, found, rows })
    }
    expect(differences).toEqual([])
  })
})

describe('all operations one after another', () => {
  it.each(continuous)('program $seed', async program => {
    const state: RawState = new Map()
    const { store, liquidity } = await newState(program)
    for (const [at, operation] of program.ops.entries()) {
      expect({ at, result: await replay(liquidity, operation) }).toEqual({
        at,
        result: expectedOf(operation)
      })
      applyRows(state, operation)
    }
    expect(differencesOf(state, await rowsOf(store))).toEqual([])
    for await (const difference of liquidity.verify()) expect(difference).toBeUndefined()
    await store.close()
  })
})
