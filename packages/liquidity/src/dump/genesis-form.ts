/**
 * The state of the module in a `genesis.json`, in two schemas: the current one (since the release of July 2023), and
 * that of April 2023, with fees in place of spread rewards, positions without records, and coarser prices.
 */
import { QuoinError } from '@quoin/primitives'
import { UPTIMES } from '../machine/uptime.ts'
import type { IncentiveRecord } from '../profile.ts'
import type {
  AccumulatorContent,
  AccumulatorRecord,
  DecCoin,
  IncentiveRecordBody,
  Pool,
  Position,
  TickInfo
} from '../values.ts'
import {
  decimal18,
  decimal36,
  duration,
  type Form,
  inside,
  list,
  malformed,
  moment,
  narrow36,
  nullable,
  object,
  presence,
  signed,
  text,
  unsigned
} from './form.ts'

export type Schema = 'today' | '2023'

/** A tick with its pool and index. */
interface FullTick {
  readonly pool: bigint
  readonly index: bigint
  readonly info: TickInfo
}

export interface NamedAccumulator {
  /** `\x0b/1` for the spread rewards of pool 1, `\x0c/1/0` for its first uptime. */
  readonly name: string
  readonly content: AccumulatorContent
}

/** A position with its lock and its accumulator records. */
export interface FullPosition {
  readonly position: Position
  /** 0 without a lock. */
  readonly lock: bigint
  readonly spreadRecord: AccumulatorRecord | undefined
  readonly uptimeRecords: readonly AccumulatorRecord[]
}

const decCoin = object<DecCoin>({ denom: ['denom', text], amount: ['amount', decimal18] })
const coins = list(decCoin)
const growth = inside('uptime_growth_outside', coins)

const uptime: Form<number> = {
  read(json, path) {
    const index = UPTIMES.indexOf(duration.read(json, path))
    if (index === -1) throw malformed(path, 'an uptime of the chain')
    return index
  },
  write: index => duration.write(UPTIMES[index]!)
}

const accumulator = object<NamedAccumulator>({
  name: ['name', text],
  content: [
    'accum_content',
    object<AccumulatorContent>({
      value: ['accum_value', coins],
      totalShares: ['total_shares', decimal18]
    })
  ]
})

const record = object<AccumulatorRecord>({
  shares: ['num_shares', decimal18],
  valuePerShare: ['accum_value_per_share', coins],
  unclaimed: ['unclaimed_rewards_total', coins],
  options: ['options', presence]
})

const position = object<Position>({
  id: ['position_id', unsigned],
  owner: ['address', text],
  pool: ['pool_id', unsigned],
  lowerTick: ['lower_tick', signed],
  upperTick: ['upper_tick', signed],
  joinTime: ['join_time', moment],
  liquidity: ['liquidity', decimal18]
})

const fullTick = (info: Form<TickInfo>): Form<FullTick> =>
  object<FullTick>({ pool: ['pool_id', unsigned], index: ['tick_index', signed], info: ['info', info] })

export interface Forms {
  /** The names of the parts of the state. */
  readonly names: {
    readonly positions: string
    readonly spreadAccumulator: string
    readonly spreadFactors: string
  }
  readonly pool: Form<Pool>
  readonly tick: Form<FullTick>
  readonly accumulator: Form<NamedAccumulator>
  readonly incentive: Form<IncentiveRecord>
  readonly position: Form<FullPosition>
}

const poolForm = (schema: Schema): Form<Pool> =>
  object<Pool>(
    {
      address: ['address', text],
      incentivesAddress: ['incentives_address', text],
      spreadRewardsAddress: schema === 'today' ? ['spread_rewards_address', text] : { always: '' },
      id: ['id', unsigned],
      liquidity: ['current_tick_liquidity', decimal18],
      token0: ['token0', text],
      token1: ['token1', text],
      sqrtPrice: ['current_sqrt_price', schema === 'today' ? decimal36 : narrow36],
      tick: ['current_tick', signed],
      tickSpacing: ['tick_spacing', unsigned],
      exponentAtPriceOne: ['exponent_at_price_one', signed],
      spreadFactor: [schema === 'today' ? 'spread_factor' : 'swap_fee', decimal18],
      lastLiquidityUpdate: ['last_liquidity_update', moment]
    },
    { '@type': '/osmosis.concentratedliquidity.v1beta1.Pool' }
  )

const TODAY: Forms = {
  names: {
    positions: 'position_data',
    spreadAccumulator: 'spread_reward_accumulator',
    spreadFactors: 'authorized_spread_factors'
  },
  pool: poolForm('today'),
  tick: fullTick(
    object<TickInfo>({
      liquidityGross: ['liquidity_gross', decimal18],
      liquidityNet: ['liquidity_net', decimal18],
      spreadRewardGrowth: ['spread_reward_growth_opposite_direction_of_last_traversal', coins],
      uptimeGrowth: ['uptime_trackers', inside('list', list(growth))]
    })
  ),
  accumulator,
  incentive: object<IncentiveRecord>({
    id: ['incentive_id', unsigned],
    pool: ['pool_id', unsigned],
    body: [
      'incentive_record_body',
      object<IncentiveRecordBody>({
        remaining: ['remaining_coin', decCoin],
        emissionRate: ['emission_rate', decimal18],
        startTime: ['start_time', moment]
      })
    ],
    uptime: ['min_uptime', uptime],
    creator: { always: '' }
  }),
  position: object<FullPosition>({
    position: ['position', position],
    lock: ['lock_id', unsigned],
    spreadRecord: ['spread_reward_accum_record', nullable(record)],
    uptimeRecords: ['uptime_accum_records', list(record)]
  })
}

interface FormerIncentive {
  readonly pool: bigint
  readonly denom: string
  readonly creator: string
  readonly body: { readonly amount: bigint; readonly emissionRate: bigint; readonly startTime: bigint }
  readonly uptime: number
}

const formerIncentive = object<FormerIncentive>({
  pool: ['pool_id', unsigned],
  denom: ['incentive_denom', text],
  creator: ['incentive_creator_addr', text],
  body: [
    'incentive_record_body',
    object<FormerIncentive['body']>({
      amount: ['remaining_amount', decimal18],
      emissionRate: ['emission_rate', decimal18],
      startTime: ['start_time', moment]
    })
  ],
  uptime: ['min_uptime', uptime]
})

const FORMER: Forms = {
  names: {
    positions: 'positions',
    spreadAccumulator: 'fee_accumulator',
    spreadFactors: 'authorized_swap_fees'
  },
  pool: poolForm('2023'),
  tick: fullTick(
    object<TickInfo>({
      liquidityGross: ['liquidity_gross', decimal18],
      liquidityNet: ['liquidity_net', decimal18],
      spreadRewardGrowth: ['fee_growth_outside', coins],
      uptimeGrowth: ['uptime_trackers', list(growth)]
    })
  ),
  accumulator,
  incentive: {
    read(json, path) {
      const { pool, denom, creator, body, uptime } = formerIncentive.read(json, path)
      const { amount, emissionRate, startTime } = body
      return {
        pool,
        uptime,
        id: 0n,
        creator,
        body: { remaining: { denom, amount }, emissionRate, startTime }
      }
    },
    write: ({ pool, uptime, creator, body: { remaining, emissionRate, startTime } }) =>
      formerIncentive.write({
        pool,
        denom: remaining.denom,
        creator,
        body: { amount: remaining.amount, emissionRate, startTime },
        uptime
      })
  },
  position: {
    read: (json, path) => ({
      position: position.read(json, path),
      lock: 0n,
      spreadRecord: undefined,
      uptimeRecords: []
    }),
    write({ position: each, lock, spreadRecord, uptimeRecords }) {
      if (lock !== 0n || spreadRecord || uptimeRecords.length > 0)
        throw new QuoinError('ERR_LIQUIDITY_EXPORT', 'the schema of 2023 keeps no locks and no rewards', {
          position: `${each.id}`
        })
      return position.write(each)
    }
  }
}

export const formsOf = (schema: Schema): Forms => (schema === 'today' ? TODAY : FORMER)
