/**
 * Random programs of operations on two pools, with a bank beside them that counts every coin. Both are below the
 * threshold; one is of the pools whose accumulators the chain scaled nevertheless.
 */

import { QuoinError } from '@quoin/primitives'
import fc from 'fast-check'
import { type Dec, dec } from '../decimal.ts'
import { MAX_TICK, MIN_TICK } from '../math/tick.ts'
import type { Time } from '../time.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { Position } from '../values.ts'
import type { Coin } from './coins.ts'
import { createIncentive } from './incentive.ts'
import { lockPosition, unlockPosition } from './lock.ts'
import { address, newPool, START } from './machine.testing.ts'
import { createPool } from './pool.ts'
import { addToPosition, createPosition, transferPositions, withdrawPosition } from './position.ts'
import { collectIncentives, collectSpreadRewards } from './rewards.ts'
import { swapExactIn, swapExactOut } from './swap.ts'

export const POOLS = [1n, 1423n] as const
const THRESHOLD = 1500n
const OWNERS = [address(1), address(2), address(3)]
const DENOMS = ['axl', 'btc']
const SPACING = 10n

type Purse = 'pool' | 'spread' | 'incentives'

/** Coins by where they are kept. */
class Bank {
  readonly #amounts = new Map<string, bigint>()

  copy(): Bank {
    const bank = new Bank()
    for (const [key, amount] of this.#amounts) bank.#amounts.set(key, amount)
    return bank
  }

  add(purse: Purse, pool: bigint, coins: readonly Coin[], sign: 1n | -1n = 1n): void {
    for (const { denom, amount } of coins) {
      const key = `${purse} ${pool} ${denom}`
      this.#amounts.set(key, (this.#amounts.get(key) ?? 0n) + sign * amount)
    }
  }

  pay(purse: Purse, pool: bigint, coins: readonly Coin[]): void {
    this.add(purse, pool, coins, -1n)
  }

  /** What was paid that was not there. */
  get debts(): string[] {
    return [...this.#amounts].filter(([, amount]) => amount < 0n).map(([key, amount]) => `${key}: ${amount}`)
  }
}

export interface World {
  now: Time
  bank: Bank
}

/** Does something and tells the bank; what is refused throws. */
type Step = (unit: UnitOfWork, world: World) => Promise<void>

const both = (amount0: bigint, amount1: bigint): Coin[] => [
  { denom: DENOMS[0]!, amount: amount0 },
  { denom: DENOMS[1]!, amount: amount1 }
]

export const preparePools = async (unit: UnitOfWork): Promise<void> => {
  unit.setThreshold('spread', THRESHOLD)
  unit.setThreshold('incentive', THRESHOLD)
  for (const [i, id] of POOLS.entries())
    await createPool(
      unit,
      newPool({
        id,
        token0: DENOMS[0]!,
        token1: DENOMS[1]!,
        tickSpacing: SPACING,
        spreadFactor: dec.parse(i === 0 ? '0.003' : '0.0005')
      })
    )
}

/** One of the positions there are, if any. */
const pick = async (unit: UnitOfWork, choice: number): Promise<Position> => {
  const all: Position[] = []
  for await (const position of unit.positions()) all.push(position)
  if (all.length === 0) throw new QuoinError('ERR_LIQUIDITY_REFUSED', 'there are no positions', {})
  return all[choice % all.length]!
}

/** Takes out a position, and all that comes with it. */
const takeOut = async (
  unit: UnitOfWork,
  { now, bank }: World,
  position: Position,
  liquidity?: Dec
): Promise<void> => {
  const { owner, id, pool } = position
  const got = await withdrawPosition(unit, { position: id, owner, liquidity, now })
  bank.pay('pool', pool, both(got.amount0, got.amount1))
  bank.pay('spread', pool, got.spreadRewards)
  bank.pay('incentives', pool, got.incentives)
}

const poolId = fc.constantFrom(...POOLS)
const owner = fc.constantFrom(...OWNERS)
const choice = fc.nat({ max: 1000 })
const amount = fc.oneof(fc.bigInt({ min: 1n, max: 50n }), fc.bigInt({ min: 1n, max: 10n ** 7n }))
const denom = fc.constantFrom(...DENOMS)
/** Few ticks, so that ranges share them. */
const range = fc.oneof(
  fc.constant({ lowerTick: MIN_TICK, upperTick: MAX_TICK }),
  fc.tuple(fc.integer({ min: -6, max: 5 }), fc.integer({ min: 1, max: 6 })).map(([from, width]) => ({
    lowerTick: BigInt(from) * 100_000n,
    upperTick: BigInt(from + width) * 100_000n
  }))
)

const create = fc.record({ pool: poolId, owner, range, amount0: amount, amount1: amount }).map(
  ({ range: ticks, ...given }): Step =>
    async (unit, { now, bank }) => {
      const opened = await createPosition(unit, { ...given, ...ticks, now })
      bank.add('pool', given.pool, both(opened.amount0, opened.amount1))
    }
)

const add = fc.record({ choice, amount0: amount, amount1: amount }).map(
  (given): Step =>
    async (unit, { now, bank }) => {
      const position = await pick(unit, given.choice)
      const { amount0, amount1 } = given
      const added = await addToPosition(unit, {
        position: position.id,
        owner: position.owner,
        amount0,
        amount1,
        now
      })
      const { withdrawn, ...paid } = added
      bank.pay('pool', position.pool, both(withdrawn.amount0, withdrawn.amount1))
      bank.pay('spread', position.pool, withdrawn.spreadRewards)
      bank.pay('incentives', position.pool, withdrawn.incentives)
      bank.add('pool', position.pool, both(paid.amount0, paid.amount1))
    }
)

const withdraw = fc.record({ choice, share: fc.constantFrom(1n, 2n, 7n, 1n, 1_000_000n) }).map(
  (given): Step =>
    async (unit, world) => {
      const position = await pick(unit, given.choice)
      await takeOut(unit, world, position, position.liquidity / given.share)
    }
)

const swap = fc.record({ pool: poolId, denom, amount, exact: fc.constantFrom('in', 'out') }).map(
  ({ exact, pool, ...coin }): Step =>
    async (unit, { now, bank }) => {
      const { paid, bought, spreadReward } = await (exact === 'in' ? swapExactIn : swapExactOut)(unit, {
        pool,
        coin,
        now
      })
      bank.add('pool', pool, [{ denom: paid.denom, amount: paid.amount - spreadReward.amount }])
      bank.add('spread', pool, [spreadReward])
      bank.pay('pool', pool, [bought])
    }
)

const collectSpread = choice.map(
  (which): Step =>
    async (unit, { bank }) => {
      const { id, owner: of, pool } = await pick(unit, which)
      bank.pay('spread', pool, await collectSpreadRewards(unit, { position: id, owner: of }))
    }
)

const collect = choice.map(
  (which): Step =>
    async (unit, { bank, now }) => {
      const { id, owner: of, pool } = await pick(unit, which)
      const { paid } = await collectIncentives(unit, { position: id, owner: of, now })
      bank.pay('incentives', pool, paid)
    }
)

const promise = fc
  .record({
    pool: poolId,
    creator: owner,
    coin: fc.record({ denom: fc.constantFrom('atom', 'gold'), amount }),
    emissionRate: fc.bigInt({ min: 1n, max: 10n ** 21n }),
    delay: fc.constantFrom(0n, 10n ** 9n, 10n ** 13n),
    uptime: fc.constantFrom(0, 0, 0, 1, 2, 3, 4, 5)
  })
  .map(
    ({ delay, ...given }): Step =>
      async (unit, { now, bank }) => {
        await createIncentive(unit, { ...given, startTime: now + delay, now })
        bank.add('incentives', given.pool, [given.coin])
      }
  )

const lock = fc.record({ choice, lock: fc.bigInt({ min: 1n, max: 5n }) }).map(
  (given): Step =>
    async unit => {
      const { id, owner: of } = await pick(unit, given.choice)
      await lockPosition(unit, { position: id, owner: of, lock: given.lock })
    }
)

const unlock = choice.map(
  (which): Step =>
    async unit => {
      const { id, owner: of } = await pick(unit, which)
      await unlockPosition(unit, { position: id, owner: of })
    }
)

const transfer = fc.record({ choice, to: owner }).map(
  ({ choice: which, to }): Step =>
    async unit => {
      const { id, owner: of } = await pick(unit, which)
      await transferPositions(unit, { positions: [id], owner: of, to })
    }
)

const wait = fc.constantFrom(1n, 10n ** 9n, 60n * 10n ** 9n, 10n ** 14n, 10n ** 16n).map(
  (time): Step =>
    async (_, world) => {
      world.now += time
    }
)

const named = (name: string, weight: number, step: fc.Arbitrary<Step>) => ({
  weight,
  arbitrary: step.map(run => ({ name, run, toString: () => name }))
})

interface NamedStep {
  readonly name: string
  readonly run: Step
}

export const programs = (maxLength: number): fc.Arbitrary<NamedStep[]> =>
  fc.array(
    fc.oneof(
      named('create', 6, create),
      named('add', 2, add),
      named('withdraw', 3, withdraw),
      named('swap', 8, swap),
      named('collect spread rewards', 2, collectSpread),
      named('collect incentives', 2, collect),
      named('promise incentives', 4, promise),
      named('lock', 1, lock),
      named('unlock', 1, unlock),
      named('transfer', 1, transfer),
      named('wait', 5, wait)
    ),
    { minLength: 5, maxLength, size: 'max' }
  )

export const newWorld = (): World => ({ now: START, bank: new Bank() })

/** Every position collects its rewards. */
export const claimAll = async (unit: UnitOfWork, { now, bank }: World): Promise<void> => {
  for await (const { id, owner: of, pool } of unit.positions()) {
    bank.pay('spread', pool, await collectSpreadRewards(unit, { position: id, owner: of }))
    bank.pay('incentives', pool, (await collectIncentives(unit, { position: id, owner: of, now })).paid)
  }
}

/** Everybody leaves: locks are taken off, and every position out. */
export const leaveAll = async (unit: UnitOfWork, world: World): Promise<void> => {
  const all: Position[] = []
  for await (const position of unit.positions()) all.push(position)
  for (const position of all) {
    if ((await unit.lockOf(position.id)) !== undefined)
      await unlockPosition(unit, { position: position.id, owner: position.owner })
    await takeOut(unit, world, position)
  }
}
