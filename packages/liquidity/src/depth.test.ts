/** Depth: what it says is what a swap does; and the picture of it. */

import { openStore, type Store } from '@quoin/store'
import { afterEach, describe, expect, it } from 'vitest'
import { bigDec, DEC } from './decimal.ts'
import { depthOf, priceOf } from './depth.ts'
import { depthPicture, shortNumber } from './depth-picture.ts'
import { quoteExactIn, quoteExactOut } from './machine/swap.ts'
import { Liquidity } from './state.ts'
import { poolOf, positionOf, tickOf } from './values.testing.ts'

const stores: Store[] = []
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
})

/** A pool at price 1 with these ranges, each with a million of liquidity. */
const poolWith = async (
  ranges: readonly (readonly [bigint, bigint])[],
  overrides = {}
): Promise<Liquidity> => {
  const store = await openStore('memory:')
  stores.push(store)
  const liquidity = await Liquidity.open(store)
  const each = 1_000_000n * DEC
  const active = ranges.filter(([lower, upper]) => lower <= 0n && upper > 0n).length
  await liquidity.change(async unit => {
    unit.setPool(poolOf(1n, { liquidity: each * BigInt(active), spreadFactor: 0n, ...overrides }))
    for (const [i, [lowerTick, upperTick]] of ranges.entries()) {
      await unit.setPosition(positionOf(BigInt(i + 1), { lowerTick, upperTick, liquidity: each }))
      for (const [tick, net] of [
        [lowerTick, each],
        [upperTick, -each]
      ] as const) {
        const before = (await unit.tick(1n, tick)) ?? tickOf(0n, 0n)
        unit.setTick(1n, tick, tickOf(before.liquidityGross + each, before.liquidityNet + net))
      }
    }
  })
  expect((await liquidity.verify().next()).done).toBe(true)
  return liquidity
}
const RANGES = [
  [-200_000n, 200_000n],
  [-50_000n, 10_000n],
  [20_000n, 90_000n],
  [-90_000n, -60_000n]
] as const

describe('depth', () => {
  it('says at each tick what a swap to there costs and gives', async () => {
    const liquidity = await poolWith(RANGES)
    const { bids, asks, price, isWhole } = await depthOf(liquidity, 1n, { percent: 10 })
    expect(isWhole).toBe(true)
    expect(bigDec.format(price)).toBe('1.000000000000000000000000000000000000')
    expect(asks.map(({ tick }) => tick)).toEqual([10_000n, 20_000n, 90_000n, 99_999n])
    expect(bids.map(({ tick }) => tick)).toEqual([-50_000n, -60_000n, -90_000n, -200_000n, -909_091n])
    // Between the ranges only the widest has liquidity.
    expect(asks.map(point => point.liquidity / DEC)).toEqual([2_000_000n, 1_000_000n, 2_000_000n, 1_000_000n])
    for (const { amount0, amount1, price: there } of asks) {
      const swapped = await quoteExactOut(liquidity, { pool: 1n, coin: { denom: 'uatom', amount: amount0 } })
      expect(Number(swapped.paid.amount - amount1)).toBeGreaterThanOrEqual(-1)
      expect(Number(swapped.paid.amount - amount1)).toBeLessThanOrEqual(asks.length + 1)
      expect(Number(bigDec.format(priceOf(swapped.sqrtPrice)))).toBeCloseTo(Number(bigDec.format(there)), 5)
    }
    // Beyond the lowest range there is nothing to buy, however far the price goes.
    expect(bids.at(-1)).toMatchObject({ liquidity: 0n, amount1: bids.at(-2)!.amount1 })
    for (const { amount0, amount1 } of bids.slice(0, -1)) {
      const swapped = await quoteExactIn(liquidity, { pool: 1n, coin: { denom: 'uatom', amount: amount0 } })
      expect(Math.abs(Number(swapped.bought.amount - amount1))).toBeLessThanOrEqual(bids.length + 1)
    }
  })

  it('ends at the bound, or after so many ticks', async () => {
    const liquidity = await poolWith(RANGES)
    const near = await depthOf(liquidity, 1n, { percent: 0.5 })
    expect([near.bids.length, near.asks.length, near.isWhole]).toEqual([1, 1, true])
    expect(bigDec.format(near.asks[0]!.price).slice(0, 6)).toBe('1.0049')
    const few = await depthOf(liquidity, 1n, { percent: 1000, ticks: 2 })
    expect([few.bids.length, few.asks.length, few.isWhole]).toEqual([2, 2, false])
  })

  it('of a pool without positions is nothing', async () => {
    const liquidity = await poolWith([], { sqrtPrice: 0n })
    expect(await depthOf(liquidity, 1n)).toMatchObject({ bids: [], asks: [], price: 0n })
    expect(depthPicture(await depthOf(liquidity, 1n))).toContain('</svg>')
  })

  it('is refused of no pool, and beyond what makes sense', async () => {
    const liquidity = await poolWith([])
    await expect(depthOf(liquidity, 2n)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
    for (const percent of [0, -1, 1001, Number.NaN])
      await expect(depthOf(liquidity, 1n, { percent })).rejects.toMatchObject({ code: 'ERR_LIQUIDITY_RANGE' })
  })
})

describe('the picture of it', () => {
  it('has both sides, and escapes what strangers named', async () => {
    const depth = await depthOf(await poolWith(RANGES), 1n)
    const svg = depthPicture({ ...depth, pool: { ...depth.pool, token0: 'a<script>"&' } })
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
    expect(svg.match(/<path /g)).toHaveLength(6)
    expect(svg).not.toContain('<script')
    expect(svg).toContain('a&lt;script&gt;&quot;&amp; in uosmo')
    expect(svg).not.toMatch(/NaN|Infinity/)
    // Every point lies within the picture.
    for (const [, x, y] of svg.matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)) {
      expect(Number(x)).toBeGreaterThanOrEqual(0)
      expect(Number(x)).toBeLessThanOrEqual(720)
      expect(Number(y)).toBeGreaterThanOrEqual(0)
      expect(Number(y)).toBeLessThanOrEqual(360)
    }
  })

  it.each([
    [0, '0'],
    [1, '1'],
    [1.5, '1.5'],
    [123456789, '1.23457e+8'],
    [0.000123456789, '0.000123457'],
    [1e-18, '1.000e-18'],
    [1200, '1200']
  ])('writes %d as %s', (value, text) => {
    expect(shortNumber(value)).toBe(text)
  })
})
