/**
 * The key space of concentrated liquidity in two profiles: `seed`, as the document of seed 004 has it, and `chain`,
 * as the chain stores it. They differ in separators, in the key of incentive records and in the collections that the
 * document leaves out; shared collections are declared once. The seed's guarantee "a key that begins with 0x01 is of
 * the form 0x01…" is the scan over the whole collection, proved to catch no other key.
 */
import {
  bech32,
  bytes,
  collection,
  decimal,
  hex,
  keyspace,
  raw,
  single,
  u64,
  type Value,
  value,
  word
} from '@quoin/keyspace'
import { denom, tick9 } from '@quoin/liquidity/components'
import { PROVED } from './proved.ts'
import {
  accumulatorCodec,
  accumulatorRecordCodec,
  decProtoCodec,
  incentiveCodec,
  intCodec,
  markValue,
  poolCodec,
  positionCodec,
  tickInfoCodec,
  u64Value,
  uint64Codec
} from './values.ts'

const pool = decimal('pool')
const position = decimal('position')
/** An index into the six supported uptimes. */
const uptime = decimal('uptime', { bits: 8 })

/** The actions of a pool that may call a contract. */
export const HOOK_ACTIONS = [
  'beforeCreatePosition',
  'afterCreatePosition',
  'beforeWithdrawPosition',
  'afterWithdrawPosition',
  'beforeSwapExactAmountIn',
  'afterSwapExactAmountIn',
  'beforeSwapExactAmountOut',
  'afterSwapExactAmountOut'
] as const

const constant = (prefix: string, holds: Value<bigint>, about: string) =>
  collection({ key: [raw(prefix)], value: holds, about })

const ticks = collection({
  key: [raw('01'), u64('pool'), tick9('tick')],
  scans: [
    { prefix: [], order: 'value' },
    { prefix: ['pool'], order: 'value' }
  ],
  value: value(tickInfoCodec),
  about: 'Ticks of a pool, from most negative to most positive. The sign byte of a tick is 05 or 06.'
})
const pools = collection({ key: [raw('03'), pool], scans: [[]], value: value(poolCodec), about: 'Pools.' })
const positions = collection({
  key: [raw('08'), position],
  scans: [[]],
  value: value(positionCodec),
  about: 'Positions by id.'
})
const positionLocks = collection({
  key: [raw('0D'), position],
  scans: [[]],
  value: u64Value,
  about: 'The lock of a position.'
})
const fullRangeLiquidity = collection({
  key: [raw('0E'), pool],
  scans: [[]],
  value: value(decProtoCodec),
  about:
    'Full-range liquidity of a pool: that of each position, added whenever it is set and never subtracted.'
})
const lockPositions = collection({
  key: [raw('10'), decimal('lock')],
  scans: [[]],
  value: u64Value,
  about: 'The position of a lock.'
})

const positionsByOwner = (separator: string) =>
  collection({
    key: [raw('02'), separator, hex('owner'), separator, pool, separator, position],
    scans: [[], ['owner'], ['owner', 'pool']],
    value: markValue,
    about: 'Positions of an owner.'
  })

const positionsByPool = (separator: string) =>
  collection({
    key: [raw('09'), u64('pool'), separator, u64('position')],
    // The chain iterates without the separator, which is as exact: a pool id has one width.
    scans: [
      { prefix: [], order: 'value' },
      { prefix: ['pool'], order: 'value', trailing: false }
    ],
    value: markValue,
    about: 'Positions of a pool.'
  })

/** The accumulators. `inner` separates the words in front, `mark` the mark 0A from a position in a name. */
const accumulators = (inner: string, mark: string) => ({
  spreadAccumulators: collection({
    key: [`accum${inner}acc${inner}`, raw('0B'), '/', pool],
    scans: [[]],
    value: value(accumulatorCodec),
    about: 'Spread rewards of a pool.'
  }),
  uptimeAccumulators: collection({
    key: [`accum${inner}acc${inner}`, raw('0C'), '/', pool, '/', uptime],
    scans: [[], ['pool']],
    value: value(accumulatorCodec),
    about: 'Incentive rewards of a pool for an uptime.'
  }),
  spreadPositions: collection({
    key: [`accum${inner}pos${inner}`, raw('0B'), '/', pool, '||', raw('0A'), mark, position],
    scans: [[], ['pool']],
    value: value(accumulatorRecordCodec),
    about: 'A position in the spread rewards of a pool.'
  }),
  uptimePositions: collection({
    key: [`accum${inner}pos${inner}`, raw('0C'), '/', pool, '/', uptime, '||', raw('08'), position],
    scans: [['pool', 'uptime']],
    value: value(accumulatorRecordCodec),
    about: 'A position in the incentive rewards of a pool for an uptime.'
  })
})

export const liquiditySeed = keyspace(
  'liquidity-seed',
  {
    ticks,
    positionsByOwner: positionsByOwner('/'),
    pools,
    incentives: collection({
      key: [raw('04'), '|', pool, '|', uptime, '|', denom('denom'), '|', bech32('creator', { hrp: 'osmo' })],
      scans: [[], ['pool'], ['pool', 'uptime']],
      value: value(incentiveCodec),
      about: 'Incentive records of a pool and an uptime.'
    }),
    positions,
    positionsByPool: positionsByPool('/'),
    ...accumulators('/', '/'),
    positionLocks,
    fullRangeLiquidity,
    balancerFullRange: collection({
      key: [raw('0F'), '|', decimal('clPool'), '|', decimal('balancerPool'), '|', uptime],
      scans: [[]],
      about: 'Balancer full range map. The chain never had it as a key of its own.'
    }),
    lockPositions
  },
  { about: 'Concentrated liquidity as the document has it.', proved: PROVED }
)

export const liquidityChain = keyspace(
  'liquidity-chain',
  {
    ticks,
    positionsByOwner: positionsByOwner('|'),
    pools,
    incentives: collection({
      key: [raw('04'), '|', pool, '|', uptime, '|', decimal('incentive'), '|'],
      scans: [[], ['pool'], ['pool', 'uptime']],
      value: value(incentiveCodec),
      about: 'Incentive records of a pool and an uptime.'
    }),
    nextPosition: constant('07', value(uint64Codec), 'The id of the next position.'),
    positions,
    positionsByPool: positionsByPool('|'),
    ...accumulators('||', '|'),
    balancerPositions: collection({
      key: [
        'accum||pos||',
        raw('0C'),
        '/',
        pool,
        '/',
        uptime,
        '||',
        raw('0F'),
        '|',
        decimal('clPool'),
        '|',
        decimal('balancerPool'),
        '|',
        decimal('balancerUptime', { bits: 8 })
      ],
      scans: [['pool', 'uptime']],
      value: value(accumulatorRecordCodec),
      about: 'A balancer pool in the incentive rewards, written within one call by releases 16 to 19.'
    }),
    positionLocks,
    fullRangeLiquidity,
    lockPositions,
    unused: collection({
      key: [raw('11'), bytes('rest')],
      scans: [[]],
      about: 'Declared by the chain as a lock prefix and used by nothing.'
    }),
    nextIncentive: constant('12', value(uint64Codec), 'The id of the next incentive record.'),
    totalLiquidity: collection({
      key: [raw('13'), denom('denom')],
      scans: [[]],
      value: value(intCodec),
      about: 'Coins of a denom in pools: paid by positions and swaps, less those that swaps bought.'
    }),
    hooks: collection({
      key: [raw('14'), pool, '|', word('action', ...HOOK_ACTIONS)],
      scans: [[], ['pool']],
      value: single(bech32('contract')),
      about: 'The contract to call at an action on a pool.'
    }),
    incentiveThreshold: constant(
      '15',
      u64Value,
      'The last pool whose incentive accumulators are not scaled.'
    ),
    spreadThreshold: constant('16', u64Value, 'The last pool whose spread accumulators are not scaled.')
  },
  { about: 'Concentrated liquidity as the chain stores it.', proved: PROVED }
)
