import { describe, expect, it } from 'vitest'
import { bigDec, dec } from '../decimal.ts'
import { table } from '../fixtures.testing.ts'
import { MAX_TICK, MIN_TICK, tickToPrice } from '../math/tick.ts'
import type { Liquidity } from '../state.ts'
import { ETH, liquidityWithPool, open, START, tickOfPrice, UPPER, USDC } from './machine.testing.ts'
import { quoteExactIn, quoteExactOut, swapExactIn, swapExactOut } from './swap.ts'

const upstream = table('swaps.json')

const prepared = async (spread: string, from = '', to = ''): Promise<Liquidity> => {
  const { liquidity } = await liquidityWithPool({ spreadFactor: dec.parse(spread) })
  await liquidity.change(async unit => {
    await open(unit)
    if (from) await open(unit, { lowerTick: tickOfPrice(from), upperTick: tickOfPrice(to) })
  })
  return liquidity
}

describe.each([
  ['in', upstream.rows('exactIn', 21), upstream.rows('refusedIn', 2), quoteExactIn, swapExactIn],
  ['out', upstream.rows('exactOut', 19), upstream.rows('refusedOut', 2), quoteExactOut, swapExactOut]
] as const)('a swap with an exact amount %s, as upstream has it', (_, rows, refused, quote, swap) => {
  it.each(rows)('%s %s, limit %s, spread %s, second position from %s to %s', async (...row) => {
    const [denom, amount, limit, spread, from, to, paid, bought, tick, sqrtPrice, growth] = row
    const liquidity = await prepared(spread!, from, to)
    const given = {
      pool: 1n,
      coin: { denom: denom!, amount: BigInt(amount!) },
      priceLimit: bigDec.parse(limit!),
      now: START
    }
    const quoted = await quote(liquidity, given)
    expect(await liquidity.change(unit => swap(unit, given))).toEqual(quoted)
    expect([`${quoted.paid.amount}`, `${quoted.bought.amount}`]).toEqual([paid, bought])
    if (tick) expect(quoted.tick).toBe(BigInt(tick))
    if (sqrtPrice) expect(quoted.sqrtPrice).toBe(bigDec.parse(sqrtPrice))
    const pool = (await liquidity.pool(1n))!
    expect(pool).toMatchObject({
      sqrtPrice: quoted.sqrtPrice,
      tick: quoted.tick,
      liquidity: quoted.liquidity
    })
    const [coin] = (await liquidity.accumulator({ pool: 1n }))!.value
    const difference = (coin?.amount ?? 0n) - dec.parse(growth!)
    // Upstream itself compares to within two steps.
    expect(difference >= -2n && difference <= 2n, `${coin?.amount} for ${dec.parse(growth!)}`).toBe(true)
  })

  it.each(refused)('%s %s, limit %s, spread %s is refused', async (denom, amount, limit, spread) => {
    const liquidity = await prepared(spread!)
    const coin = { denom: denom!, amount: BigInt(amount!) }
    const swapping = liquidity.change(unit =>
      swap(unit, { pool: 1n, coin, priceLimit: bigDec.parse(limit!), now: START })
    )
    await expect(swapping).rejects.toMatchObject({ code: 'ERR_LIQUIDITY_REFUSED' })
  })
})

describe('a swap', () => {
  it('that would give less than the least, or cost more than the most, does nothing', async () => {
    const liquidity = await prepared('0')
    const before = await liquidity.pool(1n)
    const coin = { denom: USDC, amount: 42_000_000n }
    const limited = { code: 'ERR_LIQUIDITY_REFUSED', details: { reason: 'amount-limit' } }
    await expect(
      liquidity.change(unit => swapExactIn(unit, { pool: 1n, coin, least: 8397n, now: START }))
    ).rejects.toMatchObject(limited)
    await expect(
      liquidity.change(unit => swapExactOut(unit, { pool: 1n, coin, most: 8403n, now: START }))
    ).rejects.toMatchObject(limited)
    expect(await liquidity.pool(1n)).toEqual(before)
  })

  it.each([
    ['a pool that is not there', { pool: 2n }, 'pool-unknown'],
    ['a denom that the pool has not', { coin: { denom: 'atom', amount: 1n } }, 'denoms'],
    ['nothing', { coin: { denom: ETH, amount: 0n } }, 'amount'],
    ['less than nothing', { coin: { denom: ETH, amount: -1n } }, 'amount'],
    ['more than there can be', { coin: { denom: ETH, amount: 2n ** 256n } }, 'amount'],
    ['more than the pool has', { coin: { denom: ETH, amount: 2n ** 255n } }, 'no-ticks'],
    ['too many ticks', { coin: { denom: ETH, amount: 2n ** 255n }, maxTicks: 0 }, 'no-ticks'],
    ['a limit behind the price', { priceLimit: bigDec.parse('5001') }, 'price-limit'],
    ['a limit at the price', { priceLimit: bigDec.parse('5000') }, 'price-limit'],
    ['a limit below zero', { priceLimit: -1n }, 'price-limit'],
    ['a limit where there are no prices', { priceLimit: 1n }, 'price-limit']
  ])('over %s is refused', async (_, given, reason) => {
    const liquidity = await prepared('0')
    const coin = { denom: ETH, amount: 1000n }
    await expect(quoteExactIn(liquidity, { pool: 1n, coin, ...given })).rejects.toMatchObject({
      code: 'ERR_LIQUIDITY_REFUSED',
      details: { reason }
    })
  })

  it('on a pool without positions is refused', async () => {
    const { liquidity } = await liquidityWithPool()
    await expect(
      quoteExactIn(liquidity, { pool: 1n, coin: { denom: ETH, amount: 1n } })
    ).rejects.toMatchObject({ details: { reason: 'pool-empty' } })
  })

  it('to a tick and back crosses it twice, and leaves the pool as active as it was', async () => {
    const liquidity = await prepared('0', '5500', '6250')
    const before = (await liquidity.pool(1n))!
    const there = await liquidity.change(unit =>
      swapExactIn(unit, {
        pool: 1n,
        coin: { denom: USDC, amount: 10n ** 12n },
        priceLimit: bigDec.parse('5500'),
        now: START
      })
    )
    expect(there).toMatchObject({ ticksCrossed: 1, tick: 31_500_000n })
    const back = await liquidity.change(unit =>
      swapExactIn(unit, { pool: 1n, coin: there.bought, now: START })
    )
    expect(back.ticksCrossed).toBe(1)
    expect(back.liquidity).toBe(before.liquidity)
    expect(back.bought.amount).toBeLessThanOrEqual(there.paid.amount)
  })

  it('buys a coin less where the last place of the amount is lost, as on the chain', async () => {
    const { liquidity } = await liquidityWithPool()
    await liquidity.change(unit =>
      open(unit, { lowerTick: MIN_TICK, upperTick: MAX_TICK, amount0: 3n, amount1: 13n })
    )
    const coin = { denom: ETH, amount: 2n }
    expect((await quoteExactOut(liquidity, { pool: 1n, coin })).bought).toEqual({ denom: ETH, amount: 1n })
  })

  it('that reaches a tick with less than a coin to spare is refused, as on the chain', async () => {
    const liquidity = await prepared('0.003', '5500', '6250')
    const quote = (amount: bigint) => quoteExactIn(liquidity, { pool: 1n, coin: { denom: USDC, amount } })
    const reaching = 5_254_440_905n
    expect(await quote(reaching - 1n)).toMatchObject({ ticksCrossed: 0, tick: UPPER - 1n })
    // A coin too many moves the price past the tick, and a fraction of a coin behind it does not move the price.
    for (const more of [0n, 1n, 50n])
      await expect(quote(reaching + more)).rejects.toMatchObject({ details: { reason: 'no-progress' } })
    expect(await quote(reaching + 1000n)).toMatchObject({ ticksCrossed: 1 })
  })

  it('for an exact purchase ends at the end of all prices with less, or with nothing bought', async () => {
    const { liquidity } = await liquidityWithPool()
    await liquidity.change(unit =>
      open(unit, { lowerTick: MIN_TICK, upperTick: MAX_TICK, amount0: 3n, amount1: 13n })
    )
    const buy = (amount: bigint) =>
      liquidity.change(unit => swapExactOut(unit, { pool: 1n, coin: { denom: ETH, amount }, now: START }))
    const all = await buy(10n ** 6n)
    expect(all).toMatchObject({ bought: { amount: 2n }, tick: MAX_TICK })
    await expect(buy(1n)).rejects.toMatchObject({ details: { reason: 'amount' } })
  })

  it('goes across a hundred gaps without liquidity, and no more, as on the chain', async () => {
    const { liquidity } = await liquidityWithPool()
    const lowerOf = (range: number): bigint => BigInt(range) * 200n
    await liquidity.change(async unit => {
      for (let range = 0; range <= 101; range++) {
        const lowerTick = lowerOf(range)
        await open(unit, { lowerTick, upperTick: lowerTick + 100n, amount0: 1000n, amount1: 1000n })
      }
    })
    const into = (range: number) =>
      quoteExactIn(liquidity, {
        pool: 1n,
        coin: { denom: USDC, amount: 10n ** 9n },
        priceLimit: tickToPrice(lowerOf(range) + 50n)
      })
    expect(await into(100)).toMatchObject({ ticksCrossed: 200, tick: lowerOf(100) + 50n })
    await expect(into(101)).rejects.toMatchObject({ details: { reason: 'no-progress' } })
  })
})
