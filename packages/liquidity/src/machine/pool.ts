/** Creating pools: two denoms, a tick spacing, a spread factor. */
import { DEC, type Dec } from '../decimal.ts'
import type { Time } from '../time.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { Pool } from '../values.ts'
import { NOTHING } from './coins.ts'
import { refusal } from './refusal.ts'
import { UPTIMES } from './uptime.ts'

export interface NewPool {
  /** Given by the caller: pools of other kinds share the sequence of ids. */
  readonly id: bigint
  readonly token0: string
  readonly token1: string
  readonly tickSpacing: bigint
  readonly spreadFactor: Dec
  /** The account of its coins, its incentives and its spread rewards. */
  readonly address: string
  readonly incentivesAddress: string
  readonly spreadRewardsAddress: string
  readonly now: Time
}

/** Prices have a precision of a millionth of the power of ten below them. */
const EXPONENT_AT_PRICE_ONE = -6n

export const createPool = async (unit: UnitOfWork, { now, ...given }: NewPool): Promise<Pool> => {
  const { id, token0, token1, tickSpacing, spreadFactor } = given
  if (await unit.pool(id)) throw refusal('pool-exists', `pool ${id} already exists`, { pool: id })
  if (token0 === token1)
    throw refusal('denoms', 'invalid denoms: expected two different ones', { token0, token1 })
  if (tickSpacing <= 0n)
    throw refusal('tick-spacing', 'invalid tick spacing: expected 1 or more', { tickSpacing })
  if (spreadFactor < 0n || spreadFactor >= DEC)
    throw refusal('spread-factor', 'invalid spread factor: expected 0 to less than 1', { spreadFactor })
  const pool: Pool = {
    ...given,
    liquidity: 0n,
    sqrtPrice: 0n,
    tick: 0n,
    exponentAtPriceOne: EXPONENT_AT_PRICE_ONE,
    lastLiquidityUpdate: now
  }
  unit.setPool(pool)
  unit.setAccumulator({ pool: id }, { value: NOTHING, totalShares: 0n })
  for (const uptime of UPTIMES.keys())
    unit.setAccumulator({ pool: id, uptime }, { value: NOTHING, totalShares: 0n })
  // A chain has its counters from its genesis on, so a state that begins with a pool has them too.
  unit.setNextPositionId(await unit.nextPositionId())
  unit.setNextIncentiveId(await unit.nextIncentiveId())
  return pool
}

/** Refuses pools of exports of 2023, which have ticks of another size and are read-only. */
export const assertCurrentTicks = ({ id, exponentAtPriceOne }: Pool): void => {
  if (exponentAtPriceOne !== EXPONENT_AT_PRICE_ONE)
    throw refusal('pool-former', `pool ${id} has the tick size of 2023 and is read-only`, {
      exponentAtPriceOne
    })
}
