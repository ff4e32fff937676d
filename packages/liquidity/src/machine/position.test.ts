import { describe, expect, it } from 'vitest'
import { bigDec, dec } from '../decimal.ts'
import { table } from '../fixtures.testing.ts'
import { MAX_TICK, MIN_TICK, priceToSqrtPrice } from '../math/tick.ts'
import type { Liquidity } from '../state.ts'
import { lockPosition, unlockPosition } from './lock.ts'
import {
  ALICE,
  AMOUNT_0,
  AMOUNT_1,
  BOB,
  ETH,
  HOUR,
  LOWER,
  liquidityWithPool,
  newPool,
  open,
  START,
  tickOfPrice,
  UPPER
} from './machine.testing.ts'
import { createPool } from './pool.ts'
import { addToPosition, createPosition, transferPositions, withdrawPosition } from './position.ts'
import { swapExactIn } from './swap.ts'

const upstream = table('positions.json')
const refused = (reason: string) => ({ code: 'ERR_LIQUIDITY_REFUSED', details: { reason } })
const FULL = { lowerTick: MIN_TICK, upperTick: MAX_TICK }

describe('positions, as upstream has them', () => {
  it.each(upstream.rows('create', 2))('from %s to %s, %s and %s make %s for %s and %s', async (...row) => {
    const [lower, upper, amount0, amount1, made, paid0, paid1] = row
    const { liquidity } = await liquidityWithPool()
    const opened = await liquidity.change(unit =>
      open(unit, {
        lowerTick: BigInt(lower!),
        upperTick: BigInt(upper!),
        amount0: BigInt(amount0!),
        amount1: BigInt(amount1!)
      })
    )
    expect(dec.format(opened.position.liquidity)).toBe(made)
    expect([opened.amount0, opened.amount1]).toEqual([BigInt(paid0!), BigInt(paid1!)])
    expect((await liquidity.pool(1n))!.liquidity).toBe(opened.position.liquidity)
  })

  it.each(upstream.rows('withdraw', 3))('from %s to %s, liquidity %s is worth %s and %s', async (...row) => {
    const [lowerTick, upperTick, taken, got0, got1] = row
    const { liquidity } = await liquidityWithPool()
    await liquidity.change(unit =>
      open(unit, { lowerTick: BigInt(lowerTick!), upperTick: BigInt(upperTick!) })
    )
    const got = await liquidity.change(unit =>
      withdrawPosition(unit, { position: 1n, owner: ALICE, liquidity: dec.parse(taken!), now: START + HOUR })
    )
    expect(got).toMatchObject({ amount0: BigInt(got0!), amount1: BigInt(got1!) })
  })

  it.each(upstream.rows('add', 6))(
    'a pool of %s and %s, from %s to %s, %s and %s, and %s and %s more',
    async (...row) => {
      const [pool0, pool1, lowerTick, upperTick, first0, first1, more0, more1, sum0, sum1] = row.map(BigInt)
      const { liquidity } = await liquidityWithPool()
      const added = await liquidity.change(async unit => {
        await open(unit, { owner: BOB, ...FULL, amount0: pool0!, amount1: pool1! })
        const { position } = await open(unit, {
          lowerTick: lowerTick!,
          upperTick: upperTick!,
          amount0: first0!,
          amount1: first1!
        })
        return addToPosition(unit, {
          position: position.id,
          owner: ALICE,
          amount0: more0!,
          amount1: more1!,
          now: START + HOUR
        })
      })
      expect([added.amount0, added.amount1]).toEqual([sum0, sum1])
      expect(added.position).toMatchObject({ id: 3n, owner: ALICE, joinTime: START + HOUR })
      expect(await liquidity.position(2n)).toBeUndefined()
    }
  )

  it.each(upstream.rows('price', 4))(
    '%s and %s with spacing %s set the price %s, tick %s',
    async (...row) => {
      const [amount0, amount1, tickSpacing, price, tick] = row
      const { liquidity } = await liquidityWithPool({ tickSpacing: BigInt(tickSpacing!) })
      await liquidity.change(unit =>
        open(unit, { ...FULL, amount0: BigInt(amount0!), amount1: BigInt(amount1!) })
      )
      expect(await liquidity.pool(1n)).toMatchObject({
        sqrtPrice: priceToSqrtPrice(bigDec.parse(price!)),
        tick: BigInt(tick!)
      })
    }
  )

  it('swaps back and forth over ranges that come and go', async () => {
    const { liquidity } = await liquidityWithPool({ spreadFactor: dec.parse('0.003') })
    const ranges = {
      full: FULL,
      narrow: { lowerTick: LOWER, upperTick: UPPER },
      consecutive: { lowerTick: tickOfPrice('5500'), upperTick: tickOfPrice('6250') },
      overlapping: { lowerTick: tickOfPrice('4000'), upperTick: tickOfPrice('4999') }
    }
    const counts = { full: 4, narrow: 3, consecutive: 2, overlapping: 1 }
    const ids = new Map<string, bigint[]>()
    for (const name of ['full', 'narrow', 'consecutive', 'overlapping'] as const)
      for (let i = 0; i < counts[name]; i++) {
        const { position } = await liquidity.change(unit => open(unit, ranges[name]))
        ids.set(name, [...(ids.get(name) ?? []), position.id])
      }
    for (const [denom, amount, sqrtPrice, bought, leaving] of upstream.rows('functional', 4)) {
      let sum = 0n
      for (let i = 0; i < 5; i++) {
        const coin = { denom: denom!, amount: BigInt(amount!) }
        const swapped = await liquidity.change(unit => swapExactIn(unit, { pool: 1n, coin, now: START }))
        sum += swapped.bought.amount
      }
      const close = (actual: bigint, expected: bigint): boolean => {
        const off = actual > expected ? actual - expected : expected - actual
        return off * 10_000n <= expected
      }
      expect(close(sum, BigInt(bought!)), `${sum} for ${bought}`).toBe(true)
      expect(close((await liquidity.pool(1n))!.sqrtPrice, bigDec.parse(sqrtPrice!))).toBe(true)
      for (const position of ids.get(leaving!) ?? [])
        await liquidity.change(unit => withdrawPosition(unit, { position, owner: ALICE, now: START }))
    }
  })
})

const twoPositions = async (): Promise<Liquidity> => {
  const { liquidity } = await liquidityWithPool()
  await liquidity.change(async unit => {
    await open(unit)
    await open(unit, { owner: BOB, ...FULL })
  })
  return liquidity
}

describe('a new position', () => {
  it.each([
    ['a pool that is not there', { pool: 2n }, 'pool-unknown'],
    ['a tick below all', { lowerTick: MIN_TICK - 100n }, 'tick-range'],
    ['a tick above all', { upperTick: MAX_TICK + 100n }, 'tick-range'],
    ['a range that falls', { lowerTick: 500n, upperTick: 400n }, 'tick-range'],
    ['a range of nothing', { lowerTick: 500n, upperTick: 500n }, 'tick-range'],
    ['ticks between the spacing', { lowerTick: 305_451n, upperTick: 315_001n }, 'tick-spacing'],
    ['no amounts', { amount0: 0n, amount1: 0n }, 'amount'],
    ['amounts below zero', { amount0: -1n }, 'amount'],
    ['no token 0, as the first of its pool', { amount0: 0n }, 'amount'],
    ['no token 1, as the first of its pool', { amount1: 0n }, 'amount'],
    ['least amounts below zero', { least: { amount0: -1n, amount1: 0n } }, 'amount'],
    ['more of token 0 than it takes', { least: { amount0: 998_978n, amount1: 0n } }, 'amount-limit'],
    ['more of token 1 than it takes', { least: { amount0: 0n, amount1: AMOUNT_1 + 1n } }, 'amount-limit']
  ])('with %s is refused, and nothing has happened', async (_, given, reason) => {
    const { liquidity } = await liquidityWithPool()
    await expect(liquidity.change(unit => open(unit, given))).rejects.toMatchObject(refused(reason))
    expect(await liquidity.nextPositionId()).toBe(1n)
    expect((await liquidity.pool(1n))!.sqrtPrice).toBe(0n)
  })

  it('outside of the price is of one token only, and not active', async () => {
    const liquidity = await twoPositions()
    const before = (await liquidity.pool(1n))!.liquidity
    const above = await liquidity.change(unit =>
      open(unit, { lowerTick: UPPER, upperTick: UPPER + 100n, amount1: 0n })
    )
    const below = await liquidity.change(unit =>
      open(unit, { lowerTick: LOWER - 100n, upperTick: LOWER, amount0: 0n })
    )
    expect([above.amount1, below.amount0]).toEqual([0n, 0n])
    expect([above.amount0, below.amount1]).toEqual([AMOUNT_0, AMOUNT_1])
    expect((await liquidity.pool(1n))!.liquidity).toBe(before)
  })

  it('at a price that no pool has is refused', async () => {
    const { liquidity } = await liquidityWithPool()
    await expect(
      liquidity.change(unit => open(unit, { ...FULL, amount0: 10n ** 13n, amount1: 1n }))
    ).rejects.toMatchObject(refused('price-limit'))
  })
})

describe('a withdrawal', () => {
  it.each([
    ['of a position that is not there', { position: 3n }, 'position-unknown'],
    ["of somebody else's position", { owner: BOB }, 'position-owner'],
    ['of more than there is', { liquidity: dec.parse('1517882344') }, 'liquidity'],
    ['of nothing', { liquidity: 0n }, 'liquidity'],
    ['of less than nothing', { liquidity: -1n }, 'liquidity'],
    ['before the pool was last changed', { now: START - 1n }, 'time']
  ])('%s is refused', async (_, given, reason) => {
    const liquidity = await twoPositions()
    await expect(
      liquidity.change(unit => withdrawPosition(unit, { position: 1n, owner: ALICE, now: START, ...given }))
    ).rejects.toMatchObject(refused(reason))
  })

  it('of the last position leaves a pool as it was when it was made', async () => {
    const { liquidity } = await liquidityWithPool()
    const fresh = await liquidity.pool(1n)
    await liquidity.change(unit => open(unit))
    await liquidity.change(unit => withdrawPosition(unit, { position: 1n, owner: ALICE, now: START }))
    expect(await liquidity.pool(1n)).toEqual(fresh)
    for await (const tick of liquidity.ticks(1n)) expect.unreachable(`tick ${tick.index}`)
    for (const uptime of [undefined, 0, 1, 2, 3, 4, 5]) {
      expect(await liquidity.accumulator({ pool: 1n, uptime })).toEqual({ value: [], totalShares: 0n })
      // The chain removes the record of spread rewards, and keeps those of incentives without shares.
      const record = await liquidity.accumulatorRecord({ pool: 1n, uptime }, 1n)
      expect(record?.shares).toBe(uptime === undefined ? undefined : 0n)
    }
  })
})

describe('adding to a position', () => {
  it.each([
    ['that is not there', { position: 3n }, 'position-unknown'],
    ['of somebody else', { owner: BOB }, 'position-owner'],
    ['nothing', { amount0: 0n, amount1: 0n }, 'amount'],
    ['less than nothing', { amount1: -1n }, 'amount'],
    ['less than the least', { amount0: 0n, least: { amount0: 1n, amount1: 0n } }, 'amount-limit'],
    ['less than nothing at least', { least: { amount0: -(10n ** 9n), amount1: 0n } }, 'amount']
  ])('%s is refused, and the position stays', async (_, given, reason) => {
    const liquidity = await twoPositions()
    const before = await liquidity.position(1n)
    const adding = { position: 1n, owner: ALICE, amount0: 1n, amount1: AMOUNT_1, now: START, ...given }
    await expect(liquidity.change(unit => addToPosition(unit, adding))).rejects.toMatchObject(refused(reason))
    expect(await liquidity.position(1n)).toEqual(before)
  })

  it('is refused for the last position of a pool, whose price would be lost', async () => {
    const { liquidity } = await liquidityWithPool()
    await liquidity.change(unit => open(unit))
    const adding = { position: 1n, owner: ALICE, amount0: AMOUNT_0, amount1: AMOUNT_1, now: START }
    await expect(liquidity.change(unit => addToPosition(unit, adding))).rejects.toMatchObject(
      refused('position-last')
    )
  })
})

describe('a transfer', () => {
  it('moves positions between owners, with their age', async () => {
    const liquidity = await twoPositions()
    const before = (await liquidity.position(1n))!
    await liquidity.change(unit => transferPositions(unit, { positions: [1n], owner: ALICE, to: BOB }))
    expect(await liquidity.position(1n)).toEqual({ ...before, owner: BOB })
    const ids = async (owner: string): Promise<bigint[]> => {
      const found: bigint[] = []
      for await (const { id } of liquidity.positionsOf(owner, 1n)) found.push(id)
      return found
    }
    expect([await ids(ALICE), await ids(BOB)]).toEqual([[], [1n, 2n]])
  })

  it.each([
    ['a position that is not there', [1n, 3n], 'position-unknown'],
    ["somebody else's position", [1n, 2n], 'position-owner'],
    ['one position twice', [1n, 1n], 'position-unknown'],
    ['no position', [], 'position-unknown']
  ])('of %s is refused', async (_, positions, reason) => {
    const liquidity = await twoPositions()
    await expect(
      liquidity.change(unit => transferPositions(unit, { positions, owner: ALICE, to: BOB }))
    ).rejects.toMatchObject(refused(reason))
    expect((await liquidity.position(1n))!.owner).toBe(ALICE)
  })

  it('of the last position of a pool is refused, as on the chain', async () => {
    const { liquidity } = await liquidityWithPool()
    await liquidity.change(unit => open(unit))
    await expect(
      liquidity.change(unit => transferPositions(unit, { positions: [1n], owner: ALICE, to: BOB }))
    ).rejects.toMatchObject(refused('position-last'))
  })
})

describe('a lock', () => {
  it('keeps a position of the whole range from being changed until it is gone', async () => {
    const liquidity = await twoPositions()
    await liquidity.change(unit => lockPosition(unit, { position: 2n, owner: BOB, lock: 9n }))
    expect(await liquidity.lockOf(2n)).toBe(9n)
    expect(await liquidity.positionOfLock(9n)).toBe(2n)
    const held = { position: 2n, owner: BOB, now: START }
    for (const work of [
      liquidity.change(unit => withdrawPosition(unit, held)),
      liquidity.change(unit => addToPosition(unit, { ...held, amount0: 1n, amount1: 1n })),
      liquidity.change(unit => transferPositions(unit, { positions: [2n], owner: BOB, to: ALICE })),
      liquidity.change(unit => lockPosition(unit, { position: 2n, owner: BOB, lock: 10n }))
    ])
      await expect(work).rejects.toMatchObject(refused('position-locked'))
    expect(await liquidity.change(unit => unlockPosition(unit, { position: 2n, owner: BOB }))).toBe(9n)
    await liquidity.change(unit => withdrawPosition(unit, held))
    expect(await liquidity.positionOfLock(9n)).toBeUndefined()
  })

  it('is for positions of the whole range, and one position', async () => {
    const liquidity = await twoPositions()
    const locking = (position: bigint, owner: string) =>
      liquidity.change(unit => lockPosition(unit, { position, owner, lock: 9n }))
    await expect(locking(1n, ALICE)).rejects.toMatchObject(refused('position-range'))
    await expect(
      liquidity.change(unit => unlockPosition(unit, { position: 2n, owner: BOB }))
    ).rejects.toMatchObject(refused('position-unlocked'))
    await locking(2n, BOB)
    await liquidity.change(unit => open(unit, FULL))
    await expect(locking(3n, ALICE)).rejects.toMatchObject(refused('lock-taken'))
  })
})

describe('a new pool', () => {
  it.each([
    ['an id that is taken', {}, 'pool-exists'],
    ['one denom twice', { id: 2n, token1: ETH }, 'denoms'],
    ['no spacing', { id: 2n, tickSpacing: 0n }, 'tick-spacing'],
    ['a spread factor of one', { id: 2n, spreadFactor: dec.parse('1') }, 'spread-factor'],
    ['a spread factor below zero', { id: 2n, spreadFactor: -1n }, 'spread-factor']
  ])('with %s is refused', async (_, given, reason) => {
    const { liquidity } = await liquidityWithPool()
    await expect(liquidity.change(unit => createPool(unit, newPool(given)))).rejects.toMatchObject(
      refused(reason)
    )
  })

  it('with ticks of another size, from an export of 2023, takes no positions', async () => {
    const { liquidity } = await liquidityWithPool()
    await liquidity.change(async unit => unit.setPool({ ...(await unit.pool(1n))!, exponentAtPriceOne: -1n }))
    await expect(
      liquidity.change(unit =>
        createPosition(unit, {
          pool: 1n,
          owner: ALICE,
          lowerTick: 0n,
          upperTick: 100n,
          amount0: 1n,
          amount1: 1n,
          now: START
        })
      )
    ).rejects.toMatchObject(refused('pool-former'))
  })
})
