/**
 * Values of concentrated liquidity: types, and their bytes exactly as a node of the chain holds them. Decimals are
 * bigints (`decimal.ts`), times are nanoseconds (`time.ts`), addresses are bech32 text.
 */
import { single, u64, type Value, type ValueCodec, value } from '@quoin/keyspace'
import type { BigDec, Dec } from './decimal.ts'
import {
  bytes,
  decimal,
  embedded,
  type Field,
  int64,
  integerText,
  message,
  partOf,
  presence,
  repeated,
  string,
  time,
  uint64,
  wholeOf
} from './protobuf.ts'
import type { Time } from './time.ts'

export interface DecCoin {
  readonly denom: string
  readonly amount: Dec
}

/** Sorted by denom, distinct, without amounts of 0. */
export type DecCoins = readonly DecCoin[]

export interface Pool {
  readonly address: string
  readonly incentivesAddress: string
  readonly spreadRewardsAddress: string
  readonly id: bigint
  /** The liquidity of positions whose range includes the current tick. */
  readonly liquidity: Dec
  readonly token0: string
  readonly token1: string
  readonly sqrtPrice: BigDec
  readonly tick: bigint
  readonly tickSpacing: bigint
  readonly exponentAtPriceOne: bigint
  readonly spreadFactor: Dec
  readonly lastLiquidityUpdate: Time
}

export interface TickInfo {
  /** The liquidity of all positions that begin or end at this tick. */
  readonly liquidityGross: Dec
  /** The change of active liquidity when the price rises past this tick. */
  readonly liquidityNet: Dec
  /** The spread rewards per unit of liquidity on the side away from the price. */
  readonly spreadRewardGrowth: DecCoins
  /** The incentives on that side, by uptime. */
  readonly uptimeGrowth: readonly DecCoins[]
}

export interface Position {
  readonly id: bigint
  readonly owner: string
  readonly pool: bigint
  readonly lowerTick: bigint
  readonly upperTick: bigint
  readonly joinTime: Time
  readonly liquidity: Dec
}

export interface IncentiveRecordBody {
  readonly remaining: DecCoin
  /** Per second. */
  readonly emissionRate: Dec
  readonly startTime: Time
}

export interface AccumulatorContent {
  /** Per share. */
  readonly value: DecCoins
  readonly totalShares: Dec
}

/** The record of a position in an accumulator. */
export interface AccumulatorRecord {
  readonly shares: Dec
  /** The accumulator's value at the position's last change. May be negative. */
  readonly valuePerShare: DecCoins
  readonly unclaimed: DecCoins
  /** Whether the chain wrote its (empty) options, as it does for uptimes and not for spread rewards. */
  readonly options: boolean
}

const decCoin = message<DecCoin>('DecCoin', { denom: string(1), amount: decimal(2) })
const uptimeTracker: { body: Field<DecCoins> } = { body: repeated(1, decCoin) }
const uptimeTrackers = {
  ...wholeOf('UptimeTrackers', repeated(1, uptimeTracker)),
  body: repeated(1, uptimeTracker)
}

export const poolCodec = message<Pool>('Pool', {
  address: string(1),
  incentivesAddress: string(2),
  spreadRewardsAddress: string(3),
  id: uint64(4),
  liquidity: decimal(5),
  token0: string(6),
  token1: string(7),
  sqrtPrice: decimal(8),
  tick: int64(9),
  tickSpacing: uint64(10),
  exponentAtPriceOne: int64(11),
  spreadFactor: decimal(12),
  lastLiquidityUpdate: time(13)
})

const gross = decimal(1)
const net = decimal(2)

export const tickInfoCodec = message<TickInfo>('TickInfo', {
  liquidityGross: gross,
  liquidityNet: net,
  spreadRewardGrowth: repeated(3, decCoin),
  uptimeGrowth: embedded(4, uptimeTrackers)
})

/** Only the net liquidity of a tick, for long walks. */
export const liquidityNetOf = partOf('TickInfo', {
  read(source) {
    gross.read(source)
    return net.read(source)
  }
})

export const positionCodec = message<Position>('Position', {
  id: uint64(1),
  owner: string(2),
  pool: uint64(3),
  lowerTick: int64(4),
  upperTick: int64(5),
  joinTime: time(6),
  liquidity: decimal(7)
})

export const incentiveCodec = message<IncentiveRecordBody>('IncentiveRecordBody', {
  remaining: embedded(1, decCoin),
  emissionRate: decimal(2),
  startTime: time(3)
})

export const accumulatorCodec = message<AccumulatorContent>('AccumulatorContent', {
  value: repeated(1, decCoin),
  totalShares: decimal(2)
})

export const accumulatorRecordCodec = message<AccumulatorRecord>('Record', {
  shares: decimal(1),
  valuePerShare: repeated(2, decCoin),
  unclaimed: repeated(3, decCoin),
  options: presence(4)
})

/** One entry of a node's store. */
export interface Pair {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/** The answer of a node to a query for a subspace of its store. */
export const pairsCodec = wholeOf(
  'Pairs',
  repeated(1, message<Pair>('Pair', { key: bytes(1), value: bytes(2) }))
)

/** `google.protobuf.UInt64Value`: no bytes stand for 0. */
export const uint64Codec = wholeOf('UInt64Value', uint64(1))
export const decProtoCodec = wholeOf('DecProto', decimal(1))

/** An integer as its digits, alone. */
export const intCodec: ValueCodec<bigint> = wholeOf('Int', {
  write: (integer, sink) => sink.ascii(integer.toString()),
  read: source => integerText(source, source.end - source.at)
})

export const u64Value: Value<bigint> = single(u64('id'))

/** An index entry: one byte 01. */
export const markValue: Value<true> = value(
  wholeOf<true>('01', {
    write: (_, sink) => sink.byte(1),
    read: source => {
      if (!source.tag(1)) throw source.error('not the byte 01')
      return true
    }
  })
)
