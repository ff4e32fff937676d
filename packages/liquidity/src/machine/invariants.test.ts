/**
 * Invariants after every step of random programs: those of the chain's own tests (all rewards can be claimed, and all
 * positions withdrawn, from the coins that were paid in), the sums over positions, and no gain by swapping to and fro.
 * `QUOIN_FUZZ` is the number of programs.
 */

import { hasCode } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Dec } from '../decimal.ts'
import { MAX_TICK, tickToSqrtPrice } from '../math/tick.ts'
import type { Profile } from '../profile.ts'
import type { Reader } from '../reader.ts'
import { Liquidity } from '../state.ts'
import type { Pool, Position } from '../values.ts'
import { claimAll, leaveAll, newWorld, POOLS, preparePools, programs, type World } from './program.testing.ts'
import type { SwapResult } from './simulate-swap.ts'
import { quoteExactIn } from './swap.ts'
import { UPTIMES } from './uptime.ts'

const RUNS = Number(process.env['QUOIN_FUZZ'] ?? 20)
const NAMES = [undefined, ...UPTIMES.keys()]

const positionsIn = async (reader: Reader, pool: bigint): Promise<Position[]> => {
  const found: Position[] = []
  for await (const position of reader.positionsIn(pool)) found.push(position)
  return found
}

/** Gross and net of each tick, summed over positions. */
const ticksOf = (positions: readonly Position[]): Map<bigint, { gross: Dec; net: Dec }> => {
  const sums = new Map<bigint, { gross: Dec; net: Dec }>()
  const add = (tick: bigint, gross: Dec, net: Dec): void => {
    const sum = sums.get(tick) ?? { gross: 0n, net: 0n }
    sums.set(tick, { gross: sum.gross + gross, net: sum.net + net })
  }
  for (const { lowerTick, upperTick, liquidity } of positions) {
    add(lowerTick, liquidity, liquidity)
    add(upperTick, liquidity, -liquidity)
  }
  return sums
}

const checkTicks = async (reader: Reader, pool: Pool, positions: readonly Position[]): Promise<void> => {
  const sums = ticksOf(positions)
  let last: bigint | undefined
  let count = 0
  for await (const { index, info } of reader.ticks(pool.id)) {
    expect(last === undefined || last < index).toBe(true)
    expect({ gross: info.liquidityGross, net: info.liquidityNet }).toEqual(sums.get(index))
    last = index
    count++
  }
  expect(count).toBe(sums.size)
}

const checkPool = async (reader: Reader, id: bigint): Promise<void> => {
  const pool = (await reader.pool(id))!
  const positions = await positionsIn(reader, id)
  await checkTicks(reader, pool, positions)
  const active = positions.filter(
    ({ lowerTick, upperTick }) => lowerTick <= pool.tick && pool.tick < upperTick
  )
  expect(pool.liquidity).toBe(active.reduce((sum, { liquidity }) => sum + liquidity, 0n))
  if (positions.length === 0) expect([pool.sqrtPrice, pool.tick, pool.liquidity]).toEqual([0n, 0n, 0n])
  else {
    // The upper end is included: a tick that was crossed downwards leaves the pool at its root, one tick below. Until
    // the first swap, a pool is at a multiple of its spacing.
    expect(tickToSqrtPrice(pool.tick) <= pool.sqrtPrice).toBe(true)
    const next = pool.tick % pool.tickSpacing === 0n ? pool.tick + pool.tickSpacing : pool.tick + 1n
    expect(pool.sqrtPrice <= tickToSqrtPrice(next < MAX_TICK ? next : MAX_TICK)).toBe(true)
  }
  const all = positions.reduce((sum, { liquidity }) => sum + liquidity, 0n)
  for (const uptime of NAMES) {
    expect((await reader.accumulator({ pool: id, uptime }))!.totalShares).toBe(all)
    for (const position of positions) {
      const record = await reader.accumulatorRecord({ pool: id, uptime }, position.id)
      expect(record?.shares).toBe(position.liquidity)
      for (const { amount } of record!.unclaimed) expect(amount).toBeGreaterThan(0n)
    }
  }
}

/** Nobody gets back more than was paid by swapping to and fro. */
const checkRoundTrip = async (liquidity: Liquidity, id: bigint): Promise<void> => {
  const pool = (await liquidity.pool(id))!
  for (const denom of [pool.token0, pool.token1]) {
    const undo = new Error('undone')
    let there: SwapResult | undefined
    let back: SwapResult | undefined
    const trip = liquidity.change(async unit => {
      there = await quoteExactIn(unit, { pool: id, coin: { denom, amount: 100_000n } })
      unit.setPool({ ...pool, sqrtPrice: there.sqrtPrice, tick: there.tick, liquidity: there.liquidity })
      back = await quoteExactIn(unit, { pool: id, coin: there.bought })
      throw undo
    })
    await trip.catch(error => {
      if (error !== undo && !isRefused(error)) throw error
    })
    if (there && back) expect(back.bought.amount).toBeLessThanOrEqual(there.paid.amount)
  }
}

const isRefused = (error: unknown): boolean => hasCode(error, 'ERR_LIQUIDITY_REFUSED')

/** If everybody left now, all could be paid, and no position, tick or reserve would stay. */
const checkLeaving = async (liquidity: Liquidity, { now, bank }: World): Promise<void> => {
  const undo = new Error('undone')
  const left = { now, bank: bank.copy() }
  const leaving = liquidity.change(async unit => {
    await leaveAll(unit, left)
    for (const id of POOLS) {
      await checkPool(unit, id)
      expect(await unit.reserves(id)).toEqual({ amount0: 0n, amount1: 0n })
      expect(await unit.hasPositions(id)).toBe(false)
    }
    throw undo
  })
  await expect(leaving).rejects.toBe(undo)
  expect(left.bank.debts).toEqual([])
}

/** If everybody claimed now, all could be paid, and the positions and their coins would stay as they are. */
const checkClaiming = async (liquidity: Liquidity, { now, bank }: World): Promise<void> => {
  const undo = new Error('undone')
  const claimed = { now, bank: bank.copy() }
  const claiming = liquidity.change(async unit => {
    const before = await Promise.all(POOLS.map(id => positionsIn(unit, id)))
    const reserves = await Promise.all(POOLS.map(id => unit.reserves(id)))
    await claimAll(unit, claimed)
    expect(await Promise.all(POOLS.map(id => positionsIn(unit, id)))).toEqual(before)
    expect(await Promise.all(POOLS.map(id => unit.reserves(id)))).toEqual(reserves)
    throw undo
  })
  await expect(claiming).rejects.toBe(undo)
  expect(claimed.bank.debts).toEqual([])
}

const differences = async (liquidity: Liquidity): Promise<unknown[]> => {
  const found: unknown[] = []
  for await (const difference of liquidity.verify()) found.push(difference)
  return found
}

describe.each(['chain', 'seed'] as const)(
  'after every step of a random program, profile %s',
  (profile: Profile) => {
    it(
      'sums and indexes agree with positions, and all that is owed can be paid',
      async () => {
        const done: Record<string, number> = {}
        await fc.assert(
          fc.asyncProperty(programs(30), async program => {
            const liquidity = await Liquidity.open(await openStore('memory:'), { profile })
            await liquidity.change(preparePools)
            let world = newWorld()
            for (const { name, run } of program) {
              const next = { now: world.now, bank: world.bank.copy() }
              try {
                await liquidity.change(unit => run(unit, next))
                world = next
                done[name] = (done[name] ?? 0) + 1
              } catch (error) {
                if (!isRefused(error)) throw error
              }
              expect(world.bank.debts).toEqual([])
              for (const id of POOLS) {
                await checkPool(liquidity, id)
                await checkRoundTrip(liquidity, id)
              }
              expect(await differences(liquidity)).toEqual([])
              await checkClaiming(liquidity, world)
              await checkLeaving(liquidity, world)
            }
          }),
          { numRuns: RUNS }
        )
        // A program that is always refused shows nothing.
        for (const name of ['create', 'swap', 'withdraw', 'add', 'wait'])
          expect(done[name], name).toBeGreaterThan(0)
      },
      60_000 + RUNS * 2_000
    )
  }
)
