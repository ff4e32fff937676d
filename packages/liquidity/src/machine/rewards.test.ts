import { describe, expect, it } from 'vitest'
import { dec } from '../decimal.ts'
import { table } from '../fixtures.testing.ts'
import { MAX_TICK, MIN_TICK } from '../math/tick.ts'
import type { Liquidity } from '../state.ts'
import { SECOND } from '../time.ts'
import { NOTHING } from './coins.ts'
import { growthInside, growthOfNewTick } from './growth.ts'
import { createIncentive, type NewIncentive } from './incentive.ts'
import {
  ALICE,
  AMOUNT_0,
  BOB,
  ETH,
  HOUR,
  liquidityWithPool,
  newPool,
  open,
  START,
  USDC
} from './machine.testing.ts'
import { createPool } from './pool.ts'
import { transferPositions, withdrawPosition } from './position.ts'
import { collectIncentives, collectSpreadRewards } from './rewards.ts'
import { swapExactIn } from './swap.ts'
import { emit, UPTIMES } from './uptime.ts'

const upstream = table('rewards.json')
const SCALE = 10n ** 27n
const DAY = 24n * HOUR
const FULL = { lowerTick: MIN_TICK, upperTick: MAX_TICK }
const refused = (reason: string) => ({ code: 'ERR_LIQUIDITY_REFUSED', details: { reason } })

const record = (remaining: string, rate: string) => ({
  remaining: { denom: 'atom', amount: dec.parse(remaining) },
  emissionRate: dec.parse(rate),
  startTime: START
})

describe('emissions, as upstream has them', () => {
  it.each(upstream.rows('emissions', 8))('%s a second for %s ns to liquidity %s, of %s', (...row) => {
    const [rate, elapsed, liquidity, before, perShare, after] = row
    const emission = emit(record(before!, rate!), BigInt(elapsed!), dec.parse(liquidity!), SCALE)!
    expect(dec.format(emission.perShare)).toBe(perShare)
    expect(dec.format(emission.body.remaining.amount)).toBe(after)
  })

  it.each(upstream.list('overflowingRates'))(
    '%s a second is more than a decimal holds, and passed over',
    rate => {
      expect(emit(record('1000', rate), HOUR, dec.parse('100'), SCALE)).toBeUndefined()
    }
  )
})

describe('growth, as upstream has it', () => {
  it.each(upstream.rows('growth', 4))('of the %s tick %s, at tick %s, of %s with %s kept', (...row) => {
    const [which, tick, current, value, kept, expected] = row
    const coins = (amount: string) => [{ denom: 'uosmo', amount: dec.parse(amount) }]
    const [lower, upper] = which === 'lower' ? [coins(kept!), NOTHING] : [NOTHING, coins(kept!)]
    const range = {
      lowerTick: which === 'lower' ? BigInt(tick!) : -100n,
      upperTick: which === 'upper' ? BigInt(tick!) : 100n
    }
    const inside = growthInside(coins(value!), lower, upper, BigInt(current!), range)
    expect(dec.parse(value!) - inside[0]!.amount).toBe(dec.parse(expected!))
  })
})

describe('a new tick', () => {
  it('begins as if all that grew before grew below it', () => {
    const value = [{ denom: 'uosmo', amount: 10n }]
    expect(growthOfNewTick(value, 4n, 5n)).toEqual(value)
    expect(growthOfNewTick(value, 5n, 5n)).toEqual(value)
    expect(growthOfNewTick(value, 6n, 5n)).toEqual([])
  })
})

const swapping = (liquidity: Liquidity, denom: string, amount: bigint, now = START) =>
  liquidity.change(unit => swapExactIn(unit, { pool: 1n, coin: { denom, amount }, now }))

const collecting = (liquidity: Liquidity, position: bigint, owner = ALICE) =>
  liquidity.change(unit => collectSpreadRewards(unit, { position, owner }))

describe.each([
  ['scaled', 1n],
  ['not scaled', 0n]
])('spread rewards, %s', (_, scaled) => {
  const prepared = async (): Promise<Liquidity> => {
    const { liquidity } = await liquidityWithPool({ spreadFactor: dec.parse('0.003') })
    await liquidity.change(async unit => {
      unit.setThreshold('spread', 1n - scaled)
      await open(unit)
    })
    return liquidity
  }

  it('go to those whose range the price was in, by their liquidity', async () => {
    const liquidity = await prepared()
    await liquidity.change(unit => open(unit, { owner: BOB }))
    const { spreadReward } = await swapping(liquidity, USDC, 42_000_000n)
    const [first] = await collecting(liquidity, 1n)
    const [second] = await collecting(liquidity, 2n, BOB)
    expect([first!.denom, second!.denom]).toEqual([USDC, USDC])
    // Each loses less than a coin, and the second may get of what the first has lost.
    expect(second!.amount - first!.amount).toBeLessThanOrEqual(1n)
    const rest = spreadReward.amount - first!.amount - second!.amount
    expect(rest >= 0n && rest <= 2n).toBe(true)
    expect(await collecting(liquidity, 1n)).toEqual([])
  })

  it('grow by what a unit of liquidity gets of them, cut off at the last place', async () => {
    const liquidity = await prepared()
    const { spreadReward } = await swapping(liquidity, USDC, 42_000_000n)
    const scale = scaled ? SCALE : 1n
    const each = dec.quoDown(dec.whole(spreadReward.amount) * scale, (await liquidity.pool(1n))!.liquidity)
    expect((await liquidity.accumulator({ pool: 1n }))!.value).toEqual([{ denom: USDC, amount: each }])
  })

  it('do not go to a range that the price was not in', async () => {
    const liquidity = await prepared()
    await liquidity.change(unit => open(unit, { owner: BOB, lowerTick: 31_500_000n, upperTick: 32_250_000n }))
    await swapping(liquidity, USDC, 42_000_000n)
    expect(await collecting(liquidity, 2n, BOB)).toEqual([])
    // Now it goes into that range, and back.
    await swapping(liquidity, USDC, 8_000_000_000n)
    await swapping(liquidity, ETH, AMOUNT_0)
    const earned = await collecting(liquidity, 2n, BOB)
    expect(earned.map(({ denom }) => denom)).toEqual([ETH, USDC])
    const [eth] = await collecting(liquidity, 1n)
    expect(eth!.amount).toBeGreaterThan(earned[0]!.amount)
  })

  it('from before a position is not owed to it, on ticks that are older', async () => {
    const liquidity = await prepared()
    await swapping(liquidity, USDC, 42_000_000n)
    await liquidity.change(unit => open(unit, { owner: BOB }))
    expect(await collecting(liquidity, 2n, BOB)).toEqual([])
  })

  it('stay owed when a part is withdrawn, and are paid with the rest', async () => {
    const liquidity = await prepared()
    await liquidity.change(unit => open(unit, { owner: BOB, ...FULL }))
    await swapping(liquidity, USDC, 42_000_000n)
    const half = (await liquidity.position(1n))!.liquidity / 2n
    const first = await liquidity.change(unit =>
      withdrawPosition(unit, { position: 1n, owner: ALICE, liquidity: half, now: START })
    )
    expect(first.spreadRewards).toEqual([])
    const rest = await liquidity.change(unit =>
      withdrawPosition(unit, { position: 1n, owner: ALICE, now: START })
    )
    expect(rest.spreadRewards[0]!.amount).toBeGreaterThan(100_000n)
  })

  it('belong to whoever owns the position when they are collected', async () => {
    const liquidity = await prepared()
    await liquidity.change(unit => open(unit, { owner: BOB, ...FULL }))
    await swapping(liquidity, USDC, 42_000_000n)
    await liquidity.change(unit => transferPositions(unit, { positions: [1n], owner: ALICE, to: BOB }))
    await expect(collecting(liquidity, 1n)).rejects.toMatchObject(refused('position-owner'))
    expect((await collecting(liquidity, 1n, BOB))[0]!.amount).toBeGreaterThan(100_000n)
  })
})

describe('a fraction of a coin that is left of spread rewards', () => {
  it('goes back to all where values are not scaled, and is too little to count where they are', async () => {
    for (const [threshold, grows] of [
      [1n, true],
      [0n, false]
    ] as const) {
      const { liquidity } = await liquidityWithPool({ spreadFactor: dec.parse('0.003') })
      await liquidity.change(async unit => {
        unit.setThreshold('spread', threshold)
        // So little liquidity that a fraction of a coin is something for each unit of it.
        await open(unit, { ...FULL, amount0: 1000n, amount1: 1000n })
        await open(unit, { ...FULL, owner: BOB, amount0: 777n, amount1: 777n })
      })
      await swapping(liquidity, USDC, 1000n)
      const before = (await liquidity.accumulator({ pool: 1n }))!.value[0]!.amount
      await collecting(liquidity, 1n)
      const after = (await liquidity.accumulator({ pool: 1n }))!.value[0]!.amount
      expect(after > before).toBe(grows)
    }
  })
})

describe('incentives', () => {
  const incentive = (given: Partial<NewIncentive> = {}): NewIncentive => ({
    pool: 1n,
    creator: BOB,
    coin: { denom: 'atom', amount: 1_000_000n },
    emissionRate: dec.parse('10'),
    startTime: START,
    uptime: 0,
    now: START,
    ...given
  })
  const prepared = async (...incentives: Partial<NewIncentive>[]): Promise<Liquidity> => {
    const { liquidity } = await liquidityWithPool()
    await liquidity.change(async unit => {
      await open(unit)
      for (const each of incentives) await createIncentive(unit, incentive(each))
    })
    return liquidity
  }
  const claiming = (liquidity: Liquidity, position: bigint, now: bigint, owner = ALICE) =>
    liquidity.change(unit => collectIncentives(unit, { position, owner, now }))
  const remaining = async (liquidity: Liquidity, uptime = 0): Promise<string[]> => {
    const found: string[] = []
    for await (const { body } of liquidity.incentives(1n, uptime))
      found.push(dec.format(body.remaining.amount))
    return found
  }

  it('are emitted by the second to those at the price, and divided by liquidity', async () => {
    const liquidity = await prepared({})
    await liquidity.change(unit => open(unit, { owner: BOB }))
    const [first] = (await claiming(liquidity, 1n, START + 100n * SECOND)).paid
    const [second] = (await claiming(liquidity, 2n, START + 100n * SECOND, BOB)).paid
    // 1000 atom, of which half a unit may be cut off at each.
    expect(first).toEqual({ denom: 'atom', amount: 499n })
    expect(second).toEqual(first)
    expect(await remaining(liquidity)).toEqual(['999000.000000000000000000'])
  })

  it('end when nothing remains, and the record is gone', async () => {
    const liquidity = await prepared({})
    expect((await claiming(liquidity, 1n, START + 1_000_000n * SECOND)).paid).toEqual([
      { denom: 'atom', amount: 999_999n }
    ])
    expect(await remaining(liquidity)).toEqual([])
    expect((await claiming(liquidity, 1n, START + 2_000_000n * SECOND)).paid).toEqual([])
  })

  it('do not begin before their time', async () => {
    const liquidity = await prepared({ startTime: START + HOUR })
    expect((await claiming(liquidity, 1n, START + HOUR)).paid).toEqual([])
    expect(await remaining(liquidity)).toEqual(['1000000.000000000000000000'])
    expect((await claiming(liquidity, 1n, START + HOUR + 10n * SECOND)).paid).toEqual([
      { denom: 'atom', amount: 99n }
    ])
  })

  it('that begin between two changes of a pool are emitted for all the time between them', async () => {
    const liquidity = await prepared({ startTime: START + HOUR })
    await claiming(liquidity, 1n, START + HOUR + 1n)
    expect(await remaining(liquidity)).toEqual(['963999.999999990000000000'])
  })

  it('are not emitted while no liquidity is at the price', async () => {
    const liquidity = await prepared()
    await liquidity.change(async unit => {
      await open(unit, { ...FULL, owner: BOB, amount0: 1n, amount1: 5000n })
      await createIncentive(unit, incentive())
      await withdrawPosition(unit, { position: 2n, owner: BOB, now: START })
      await withdrawPosition(unit, { position: 1n, owner: ALICE, now: START })
    })
    await liquidity.change(unit => open(unit, { now: START + HOUR }))
    expect(await remaining(liquidity)).toEqual(['1000000.000000000000000000'])
  })

  it('do not go to a range that the price was not in, whichever way it came', async () => {
    const liquidity = await prepared({})
    await liquidity.change(unit => open(unit, { owner: BOB, lowerTick: 31_500_000n, upperTick: 32_250_000n }))
    // An hour below the range, an hour in it, an hour below it again.
    await swapping(liquidity, USDC, 8_000_000_000n, START + HOUR)
    await swapping(liquidity, ETH, AMOUNT_0, START + 2n * HOUR)
    const [inside] = (await claiming(liquidity, 2n, START + 3n * HOUR, BOB)).paid
    const [outside] = (await claiming(liquidity, 1n, START + 3n * HOUR)).paid
    expect([inside, outside]).toEqual([
      { denom: 'atom', amount: 35_999n },
      { denom: 'atom', amount: 71_999n }
    ])
  })

  it('are not emitted to less than one unit of liquidity', async () => {
    const liquidity = await prepared({})
    const { liquidity: all } = (await liquidity.position(1n))!
    await liquidity.change(unit =>
      withdrawPosition(unit, { position: 1n, owner: ALICE, liquidity: all - dec.parse('0.5'), now: START })
    )
    expect((await claiming(liquidity, 1n, START + HOUR)).paid).toEqual([])
    expect(await remaining(liquidity)).toEqual(['1000000.000000000000000000'])
  })

  it('of an uptime are for positions that are as old, which is how long that is', async () => {
    expect(UPTIMES).toEqual([1n, 60n * SECOND, HOUR, DAY, 7n * DAY, 14n * DAY])
    const liquidity = await prepared({ uptime: 2 })
    await liquidity.change(unit => open(unit, { owner: BOB, now: START + 1n }))
    const early = await claiming(liquidity, 1n, START + HOUR - 1n)
    expect(early.paid).toEqual([])
    expect(early.forfeited).toEqual([{ denom: 'atom', amount: 17_999n }])
    // On the chain a claim loses what it forfeits: nobody gets it.
    const [other] = (await claiming(liquidity, 2n, START + HOUR + 1n, BOB)).paid
    expect(other).toEqual({ denom: 'atom', amount: 17_999n })
    expect((await claiming(liquidity, 1n, START + HOUR + 1n)).paid).toEqual([])
  })

  it('forfeited by a withdrawal go to the positions at the price', async () => {
    const liquidity = await prepared({ uptime: 2 })
    await liquidity.change(unit => open(unit, { owner: BOB, now: START + 1n }))
    const early = await liquidity.change(unit =>
      withdrawPosition(unit, { position: 1n, owner: ALICE, now: START + HOUR - 1n })
    )
    expect(early.incentives).toEqual([])
    const [other] = (await claiming(liquidity, 2n, START + HOUR + 1n, BOB)).paid
    expect(other).toEqual({ denom: 'atom', amount: 36_000n })
  })

  it('that are given up with nobody else at the price go to who gives them up', async () => {
    const liquidity = await prepared({ uptime: 5 })
    const { incentives } = await liquidity.change(unit =>
      withdrawPosition(unit, { position: 1n, owner: ALICE, now: START + HOUR })
    )
    expect(incentives).toEqual([{ denom: 'atom', amount: 35_999n }])
  })

  it('of several denoms and records add up', async () => {
    const liquidity = await prepared(
      {},
      { emissionRate: dec.parse('5') },
      { coin: { denom: 'gold', amount: 10n } },
      { uptime: 1 }
    )
    expect((await claiming(liquidity, 1n, START + 60n * SECOND)).paid).toEqual([
      { denom: 'atom', amount: 1498n },
      { denom: 'gold', amount: 9n }
    ])
  })

  it.each([
    ['of nothing', { coin: { denom: 'atom', amount: 0n } }, 'amount'],
    ['at no rate', { emissionRate: 0n }, 'amount'],
    ['from the past', { startTime: START - 1n }, 'time'],
    ['for an uptime there is not', { uptime: 6 }, 'uptime'],
    ['for a pool there is not', { pool: 2n }, 'pool-unknown']
  ])('%s are refused', async (_, given, reason) => {
    const liquidity = await prepared()
    await expect(liquidity.change(unit => createIncentive(unit, incentive(given)))).rejects.toMatchObject(
      refused(reason)
    )
  })

  it('of one creator, denom and uptime are two records on the chain, and one in the document', async () => {
    const chain = await prepared({}, {})
    expect(await remaining(chain)).toHaveLength(2)
    const { liquidity: seed } = await liquidityWithPool({ id: 2n }, 'seed')
    const promise = () => seed.change(unit => createIncentive(unit, incentive({ pool: 2n })))
    await promise()
    await expect(promise()).rejects.toMatchObject(refused('incentive-exists'))
  })

  it('cannot be claimed by a position from the future', async () => {
    const liquidity = await prepared({})
    await liquidity.change(async unit => {
      await createPool(unit, newPool({ id: 3n }))
      await unit.setPosition({ ...(await unit.position(1n))!, joinTime: START + HOUR })
    })
    await expect(claiming(liquidity, 1n, START + 1n)).rejects.toMatchObject(refused('time'))
  })
})
