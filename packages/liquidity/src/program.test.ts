/** Random changes of the state, grouped and ordered at random: what is derived always follows, and nothing is left. */

import { openStore } from '@quoin/store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BIG_DEC, DEC } from './decimal.ts'
import { layoutOf, type Profile } from './profile.ts'
import { sqrtPriceAt } from './reserves.ts'
import { Liquidity } from './state.ts'
import type { UnitOfWork } from './unit-of-work.ts'
import { address, poolOf, positionOf, tickOf } from './values.testing.ts'

const POOLS = [1n, 10n]
const TICKS = [-108000000n, -9000000n, -100n, -1n, 0n, 1n, 100n, 9000000n, 342000000n]

type Step =
  | {
      readonly do: 'set'
      readonly id: number
      readonly pool: number
      readonly ticks: readonly [number, number]
      readonly owner: number
      readonly liquidity: number
    }
  | { readonly do: 'remove'; readonly id: number }
  | { readonly do: 'move'; readonly pool: number; readonly tick: number }
  | { readonly do: 'lock'; readonly id: number; readonly lock: number }
  | { readonly do: 'ask' }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('set' as const),
    id: fc.integer({ min: 1, max: 12 }),
    pool: fc.nat(1),
    ticks: fc.tuple(fc.nat(TICKS.length - 2), fc.nat(TICKS.length - 2)),
    owner: fc.nat(2),
    liquidity: fc.integer({ min: 1, max: 1_000_000 })
  }),
  fc.record({ do: fc.constant('remove' as const), id: fc.integer({ min: 1, max: 12 }) }),
  fc.record({ do: fc.constant('move' as const), pool: fc.nat(1), tick: fc.nat(TICKS.length - 2) }),
  fc.record({
    do: fc.constant('lock' as const),
    id: fc.integer({ min: 1, max: 12 }),
    lock: fc.integer({ min: 1, max: 3 })
  }),
  fc.constant({ do: 'ask' as const })
)

/** What the machine keeps by itself: ticks, and the liquidity at the current one. */
const count = async (unit: UnitOfWork, id: bigint, sign: bigint): Promise<void> => {
  const position = await unit.position(id)
  if (!position) return
  const { pool, lowerTick, upperTick, liquidity } = position
  for (const [index, net] of [
    [lowerTick, liquidity],
    [upperTick, -liquidity]
  ] as const) {
    const { liquidityGross, liquidityNet } = (await unit.tick(pool, index)) ?? tickOf(0n, 0n)
    const gross = liquidityGross + sign * liquidity
    if (gross === 0n) unit.removeTick(pool, index)
    else unit.setTick(pool, index, tickOf(gross, liquidityNet + sign * net))
  }
  const state = (await unit.pool(pool))!
  if (lowerTick <= state.tick && state.tick < upperTick)
    unit.setPool({ ...state, liquidity: state.liquidity + sign * liquidity })
}

const perform = async (unit: UnitOfWork, each: Step): Promise<void> => {
  switch (each.do) {
    case 'set': {
      const [a, b] = each.ticks
      const [lower, upper] = a < b ? [a, b] : [b, a + 1]
      await count(unit, BigInt(each.id), -1n)
      await unit.setPosition(
        positionOf(BigInt(each.id), {
          pool: POOLS[each.pool]!,
          lowerTick: TICKS[lower]!,
          upperTick: TICKS[upper]!,
          owner: address(each.owner),
          liquidity: (BigInt(each.liquidity) * DEC) / 7n
        })
      )
      await count(unit, BigInt(each.id), 1n)
      return
    }
    case 'remove':
      if (!(await unit.position(BigInt(each.id)))) return
      await count(unit, BigInt(each.id), -1n)
      return unit.removePosition(BigInt(each.id))
    case 'move': {
      const pool = (await unit.pool(POOLS[each.pool]!))!
      const tick = TICKS[each.tick]!
      let liquidity = 0n
      for await (const { index, info } of unit.ticks(pool.id)) {
        if (index > tick) break
        liquidity += info.liquidityNet
      }
      unit.setPool({ ...pool, tick, sqrtPrice: sqrtPriceAt(pool, tick), liquidity })
      return
    }
    case 'lock': {
      if (!(await unit.position(BigInt(each.id)))) return
      const other = await unit.positionOfLock(BigInt(each.lock))
      if (other !== undefined) await unit.removeLock(other)
      return unit.setLock(BigInt(each.id), BigInt(each.lock))
    }
    case 'ask':
      await unit.reserves(POOLS[0]!)
  }
}

describe.each<Profile>(['chain', 'seed'])('random changes under the profile %s', profile => {
  it('leave every index and sum as the positions make it, and nothing when the last is gone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { maxLength: 6 }), { maxLength: 8 }), async changes => {
        const store = await openStore('memory:')
        const liquidity = await Liquidity.open(store, { profile })
        await liquidity.change(async unit => {
          for (const id of POOLS) unit.setPool(poolOf(id, { sqrtPrice: BIG_DEC }))
        })
        const empty = (await store.range(new Uint8Array())).length
        for (const steps of changes) {
          await liquidity.change(async unit => {
            for (const each of steps) await perform(unit, each)
          })
          for await (const difference of liquidity.verify()) expect(difference).toBeUndefined()
        }
        await liquidity.change(async unit => {
          for (let id = 1; id <= 12; id++) await perform(unit, { do: 'remove', id })
        })
        for await (const difference of liquidity.verify()) expect(difference).toBeUndefined()
        // The chain's count of full-range liquidity stays.
        const { fullRangeLiquidity } = layoutOf(profile).collections
        const counts = await store.range(fullRangeLiquidity.scan())
        expect((await store.range(new Uint8Array())).length - counts.length).toBe(empty)
        await store.close()
      }),
      { numRuns: 60 }
    )
  })
})
