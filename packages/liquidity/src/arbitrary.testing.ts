/** Random values of concentrated liquidity. */
import fc from 'fast-check'
import { NEVER, TIME_END } from './time.ts'
import type {
  AccumulatorContent,
  AccumulatorRecord,
  DecCoins,
  IncentiveRecordBody,
  Pool,
  Position,
  TickInfo
} from './values.ts'

const u64 = fc.bigInt(0n, 2n ** 64n - 1n)
const i64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)
const decimal = fc.oneof(fc.constant(0n), fc.bigInt(-(10n ** 60n), 10n ** 60n))
const time = fc.bigInt(NEVER, TIME_END - 1n)
const text = fc.oneof(fc.constant(''), fc.string({ unit: 'binary', maxLength: 200 }))
const coin = fc.record({ denom: text, amount: decimal })
const coins: fc.Arbitrary<DecCoins> = fc.array(coin, { maxLength: 4 })

export const anyValue = {
  pool: fc.record<Pool>({
    address: text,
    incentivesAddress: text,
    spreadRewardsAddress: text,
    id: u64,
    liquidity: decimal,
    token0: text,
    token1: text,
    sqrtPrice: decimal,
    tick: i64,
    tickSpacing: u64,
    exponentAtPriceOne: i64,
    spreadFactor: decimal,
    lastLiquidityUpdate: time
  }),
  tick: fc.record<TickInfo>({
    liquidityGross: decimal,
    liquidityNet: decimal,
    spreadRewardGrowth: coins,
    uptimeGrowth: fc.array(coins, { maxLength: 6 })
  }),
  position: fc.record<Position>({
    id: u64,
    owner: text,
    pool: u64,
    lowerTick: i64,
    upperTick: i64,
    joinTime: time,
    liquidity: decimal
  }),
  incentive: fc.record<IncentiveRecordBody>({ remaining: coin, emissionRate: decimal, startTime: time }),
  accumulator: fc.record<AccumulatorContent>({ value: coins, totalShares: decimal }),
  record: fc.record<AccumulatorRecord>({
    shares: decimal,
    valuePerShare: coins,
    unclaimed: coins,
    options: fc.boolean()
  }),
  integer: decimal,
  id: u64
}
