/** Creating pools: two denoms, a tick spacing, a spread factor. */
import { DEC, type Dec } from '../decimal.ts'
import type { Draft } from '../draft.ts'
import type { Time } from '../time.ts'
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

export const createPool = async (draft: Draft, { now, ...given }: NewPool): Promise<Pool> => {
  const { id, token0, token1, tickSpacing, spreadFactor } = given
  if (await draft.pool(id)) throw refusal('pool-exists', `there is a pool ${id}`, { pool: id })
  if (token0 === token1) throw refusal('denoms', 'a pool has two denoms', { token0, token1 })
  if (tickSpacing <= 0n) throw refusal('tick-spacing', 'ticks lie at least one apart', { tickSpacing })
  if (spreadFactor < 0n || spreadFactor >= DEC)
    throw refusal('spread-factor', 'a spread factor is from 0 to less than 1', { spreadFactor })
  const pool: Pool = {
    ...given,
    liquidity: 0n,
    sqrtPrice: 0n,
    tick: 0n,
    exponentAtPriceOne: EXPONENT_AT_PRICE_ONE,
    lastLiquidityUpdate: now
  }
  draft.setPool(pool)
  draft.setAccumulator({ pool: id }, { value: NOTHING, totalShares: 0n })
  for (const uptime of UPTIMES.keys())
    draft.setAccumulator({ pool: id, uptime }, { value: NOTHING, totalShares: 0n })
  return pool
}

/** Refuses pools of exports of 2023, which have ticks of another size and are read-only. */
export const mustBeOfToday = ({ id, exponentAtPriceOne }: Pool): void => {
  if (exponentAtPriceOne !== EXPONENT_AT_PRICE_ONE)
    throw refusal('pool-former', `pool ${id} has ticks of another size`, { exponentAtPriceOne })
}
