/** The state as people and programs see it: decimals with their point, times and ids as text. */
import { bigDec, dec } from './decimal.ts'
import { type Depth, type DepthPoint, priceAtTick, priceOf } from './depth.ts'
import type { SwapResult } from './machine/simulate-swap.ts'
import { UPTIMES } from './machine/uptime.ts'
import type { IncentiveRecord } from './profile.ts'
import type { Tick } from './reader.ts'
import { type Reserves, wholeCoins, worth } from './reserves.ts'
import { formatTime } from './time.ts'
import type {
  AccumulatorContent,
  AccumulatorRecord,
  DecCoin,
  DecCoins,
  IncentiveRecordBody,
  Pool,
  Position,
  TickInfo
} from './values.ts'

const coinView = ({ denom, amount }: DecCoin) => ({ denom, amount: dec.format(amount) })
const coinsView = (coins: DecCoins) => coins.map(coinView)

export const poolView = (pool: Pool, reserves?: Reserves) => ({
  id: `${pool.id}`,
  token0: pool.token0,
  token1: pool.token1,
  price: bigDec.format(priceOf(pool.sqrtPrice)),
  sqrtPrice: bigDec.format(pool.sqrtPrice),
  tick: `${pool.tick}`,
  liquidity: dec.format(pool.liquidity),
  tickSpacing: `${pool.tickSpacing}`,
  exponentAtPriceOne: `${pool.exponentAtPriceOne}`,
  spreadFactor: dec.format(pool.spreadFactor),
  address: pool.address,
  incentivesAddress: pool.incentivesAddress,
  spreadRewardsAddress: pool.spreadRewardsAddress,
  lastLiquidityUpdate: formatTime(pool.lastLiquidityUpdate),
  ...(reserves && {
    reserve0: `${wholeCoins(reserves.amount0)}`,
    reserve1: `${wholeCoins(reserves.amount1)}`
  })
})

const tickInfoView = ({ liquidityGross, liquidityNet, spreadRewardGrowth, uptimeGrowth }: TickInfo) => ({
  liquidityGross: dec.format(liquidityGross),
  liquidityNet: dec.format(liquidityNet),
  spreadRewardGrowth: coinsView(spreadRewardGrowth),
  uptimeGrowth: uptimeGrowth.map(coinsView)
})

export const tickView = (pool: Pool, { index, info }: Tick) => ({
  tick: `${index}`,
  price: bigDec.format(priceAtTick(pool, index)),
  ...tickInfoView(info)
})

/** With its pool, also its worth at the price of the pool, in whole coins. */
export const positionView = (position: Position, pool?: Pool, lock?: bigint) => ({
  id: `${position.id}`,
  owner: position.owner,
  pool: `${position.pool}`,
  lowerTick: `${position.lowerTick}`,
  upperTick: `${position.upperTick}`,
  liquidity: dec.format(position.liquidity),
  joinTime: formatTime(position.joinTime),
  ...(lock !== undefined && { lock: `${lock}` }),
  ...(pool && amountsOf(position, pool))
})

const amountsOf = (position: Position, pool: Pool) => {
  const { amount0, amount1 } = worth(pool, position, pool.sqrtPrice)
  return {
    inRange: position.lowerTick <= pool.tick && pool.tick < position.upperTick,
    amount0: `${amount0 / UNIT}`,
    amount1: `${amount1 / UNIT}`
  }
}
const UNIT = 10n ** 54n

const incentiveBodyView = ({ remaining, emissionRate, startTime }: IncentiveRecordBody) => ({
  remaining: coinView(remaining),
  emissionRate: dec.format(emissionRate),
  startTime: formatTime(startTime)
})

export const incentiveView = ({ id, creator, pool, uptime, body }: IncentiveRecord) => ({
  pool: `${pool}`,
  uptime,
  uptimeSeconds: Number(UPTIMES[uptime] ?? 0n) / 1e9,
  ...(id > 0n && { id: `${id}` }),
  ...(creator && { creator }),
  ...incentiveBodyView(body)
})

const accumulatorView = ({ value, totalShares }: AccumulatorContent) => ({
  value: coinsView(value),
  totalShares: dec.format(totalShares)
})

const recordView = ({ shares, valuePerShare, unclaimed, options }: AccumulatorRecord) => ({
  shares: dec.format(shares),
  valuePerShare: coinsView(valuePerShare),
  unclaimed: coinsView(unclaimed),
  options
})

const pointView = ({ tick, price, liquidity, amount0, amount1 }: DepthPoint) => ({
  tick: `${tick}`,
  price: bigDec.format(price),
  liquidity: dec.format(liquidity),
  amount0: `${amount0}`,
  amount1: `${amount1}`
})

export const depthView = ({ pool, price, bids, asks, isWhole }: Depth) => ({
  pool: `${pool.id}`,
  token0: pool.token0,
  token1: pool.token1,
  price: bigDec.format(price),
  bids: bids.map(pointView),
  asks: asks.map(pointView),
  isWhole
})

export const quoteView = ({
  paid,
  bought,
  spreadReward,
  sqrtPrice,
  tick,
  liquidity,
  ticksCrossed
}: SwapResult) => ({
  paid: { denom: paid.denom, amount: `${paid.amount}` },
  bought: { denom: bought.denom, amount: `${bought.amount}` },
  spreadReward: { denom: spreadReward.denom, amount: `${spreadReward.amount}` },
  price: bigDec.format(priceOf(sqrtPrice)),
  sqrtPrice: bigDec.format(sqrtPrice),
  tick: `${tick}`,
  liquidity: dec.format(liquidity),
  ticksCrossed
})

/** Views of values by the name of their collection; other values are shown as they are. */
export const VALUE_VIEWS: Readonly<Record<string, (value: never) => unknown>> = {
  ticks: tickInfoView,
  pools: (pool: Pool) => poolView(pool),
  positions: (position: Position) => positionView(position),
  incentives: incentiveBodyView,
  spreadAccumulators: accumulatorView,
  uptimeAccumulators: accumulatorView,
  spreadPositions: recordView,
  uptimePositions: recordView,
  balancerPositions: recordView,
  fullRangeLiquidity: (liquidity: bigint) => dec.format(liquidity)
}
