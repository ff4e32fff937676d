/** The liquidity that positions add to the ticks of their range. A tick without liquidity does not exist. */
import type { Dec } from '../decimal.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { AccumulatorContent, Pool, Position, TickInfo } from '../values.ts'
import { growthOfNewTick, type TickRange } from './growth.ts'
import type { Bounds } from './rewards.ts'
import { valuesOf } from './uptime.ts'

/** Adds liquidity at both ends of a range. A new tick records the growth so far. */
export const addToTicks = async (
  unit: UnitOfWork,
  pool: Pool,
  { lowerTick, upperTick }: TickRange,
  liquidity: Dec,
  spread: AccumulatorContent,
  uptimes: readonly AccumulatorContent[]
): Promise<Bounds> => {
  const newTick = (index: bigint): TickInfo => ({
    liquidityGross: 0n,
    liquidityNet: 0n,
    spreadRewardGrowth: growthOfNewTick(spread.value, index, pool.tick),
    uptimeGrowth: valuesOf(uptimes).map(value => growthOfNewTick(value, index, pool.tick))
  })
  const add = async (index: bigint, net: Dec): Promise<TickInfo> => {
    const tick = changed((await unit.tick(pool.id, index)) ?? newTick(index), liquidity, net)
    unit.setTick(pool.id, index, tick)
    return tick
  }
  return { lower: await add(lowerTick, liquidity), upper: await add(upperTick, -liquidity) }
}

/** Removes liquidity of a position at both ends of its range. */
export const removeFromTicks = (
  unit: UnitOfWork,
  { pool, lowerTick, upperTick }: Position,
  liquidity: Dec,
  { lower, upper }: Bounds
): void => {
  const remove = (index: bigint, info: TickInfo, net: Dec): void => {
    const tick = changed(info, -liquidity, net)
    if (tick.liquidityGross === 0n) unit.removeTick(pool, index)
    else unit.setTick(pool, index, tick)
  }
  remove(lowerTick, lower, -liquidity)
  remove(upperTick, upper, liquidity)
}

const changed = (tick: TickInfo, gross: Dec, net: Dec): TickInfo => ({
  ...tick,
  liquidityGross: tick.liquidityGross + gross,
  liquidityNet: tick.liquidityNet + net
})
