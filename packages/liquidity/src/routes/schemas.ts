/** Schemas of requests and responses for concentrated liquidity. */
import { Type } from '@quoin/http/typebox'

export const Id = Type.String({ pattern: '^(0|[1-9][0-9]{0,19})$', description: 'A number as text.' })
export const Tick = Type.String({ pattern: '^(0|-?[1-9][0-9]{0,18})$' })
export const Decimal = Type.String({ description: 'A decimal as text, with all its places.' })
const Coins = Type.Array(Type.Object({ denom: Type.String(), amount: Decimal }))
export const CoinText = Type.String({
  pattern: '^[1-9][0-9]{0,77}[a-zA-Z][a-zA-Z0-9/:._-]{2,127}$',
  description: 'An amount and a denom: `1000uosmo`.'
})

export const PoolState = Type.Object(
  {
    id: Id,
    token0: Type.String(),
    token1: Type.String(),
    price: Decimal,
    sqrtPrice: Decimal,
    tick: Tick,
    liquidity: Decimal,
    tickSpacing: Id,
    exponentAtPriceOne: Tick,
    spreadFactor: Decimal,
    address: Type.String(),
    incentivesAddress: Type.String(),
    spreadRewardsAddress: Type.String(),
    lastLiquidityUpdate: Type.String(),
    reserve0: Type.Optional(Id),
    reserve1: Type.Optional(Id)
  },
  { $id: 'LiquidityPool' }
)
export const TickState = Type.Object(
  {
    tick: Tick,
    price: Decimal,
    liquidityGross: Decimal,
    liquidityNet: Decimal,
    spreadRewardGrowth: Coins,
    uptimeGrowth: Type.Array(Coins)
  },
  { $id: 'LiquidityTick' }
)
export const PositionState = Type.Object(
  {
    id: Id,
    owner: Type.String(),
    pool: Id,
    lowerTick: Tick,
    upperTick: Tick,
    liquidity: Decimal,
    joinTime: Type.String(),
    lock: Type.Optional(Id),
    inRange: Type.Optional(Type.Boolean()),
    amount0: Type.Optional(Type.String()),
    amount1: Type.Optional(Type.String())
  },
  { $id: 'LiquidityPosition' }
)
export const Incentive = Type.Object(
  {
    pool: Id,
    uptime: Type.Integer(),
    uptimeSeconds: Type.Number(),
    id: Type.Optional(Id),
    creator: Type.Optional(Type.String()),
    remaining: Type.Object({ denom: Type.String(), amount: Decimal }),
    emissionRate: Decimal,
    startTime: Type.String()
  },
  { $id: 'LiquidityIncentive' }
)
const DepthPoint = Type.Object({
  tick: Tick,
  price: Decimal,
  liquidity: Decimal,
  amount0: Type.String(),
  amount1: Type.String()
})
export const Depth = Type.Object(
  {
    pool: Id,
    token0: Type.String(),
    token1: Type.String(),
    price: Decimal,
    bids: Type.Array(DepthPoint),
    asks: Type.Array(DepthPoint),
    isWhole: Type.Boolean({ description: 'Whether all ticks that far were looked at.' })
  },
  { $id: 'LiquidityDepth' }
)
export const WholeCoin = Type.Object({ denom: Type.String(), amount: Id })
export const Quote = Type.Object(
  {
    pool: Id,
    paid: WholeCoin,
    bought: WholeCoin,
    spreadReward: WholeCoin,
    price: Decimal,
    sqrtPrice: Decimal,
    tick: Tick,
    liquidity: Decimal,
    ticksCrossed: Type.Integer()
  },
  { $id: 'LiquidityQuote' }
)
