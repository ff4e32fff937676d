/**
 * A profile in use: its collections under one set of names. Collections that the document leaves out (next ids, total
 * liquidity, hooks, thresholds) have auxiliary keys beside the profile `seed`; collections that no chain has (the
 * profile, the number of changes, exact reserves) have them beside both.
 */
import {
  type AnyKeyspace,
  bech32,
  collection,
  decimal,
  json,
  type KeyRange,
  keyspace,
  single,
  u64,
  type ValueCodec,
  value,
  word
} from '@quoin/keyspace'
import { denom } from '@quoin/liquidity/components'
import { HOOK_ACTIONS, liquidityChain, liquiditySeed } from './keys.ts'
import { PROVED } from './proved.ts'
import { reservesCodec } from './reserves.ts'
import { type IncentiveRecordBody, incentiveCodec, intCodec, u64Value, uint64Codec } from './values.ts'

export type Profile = 'chain' | 'seed'

const number = (name: string, about: string) =>
  collection({ key: [`liquidity:${name}`], value: u64Value, about })

export const liquidityAux = keyspace(
  'liquidity-beside',
  {
    profile: collection({
      key: ['liquidity:profile'],
      value: single(word('profile', 'chain', 'seed')),
      about: 'The profile of this store.'
    }),
    revision: number('revision', 'How many changes were committed.'),
    loading: collection({
      key: ['liquidity:loading'],
      value: single(word('loading', 'genesis', 'raw')),
      about: 'An import that has begun and not ended.'
    }),
    params: collection({
      key: ['liquidity:params'],
      value: json<Readonly<Record<string, unknown>>>(),
      about:
        "The parameters of the module as an export has them, which the chain keeps in another module's store."
    }),
    reserves: collection({
      key: ['liquidity:reserves:', u64('pool')],
      scans: [[]],
      value: value(reservesCodec),
      about: 'What the positions of a pool are worth at its price, exactly.'
    })
  },
  { about: 'Beside concentrated liquidity of either profile.', proved: PROVED }
)

export const liquiditySeedAux = keyspace(
  'liquidity-seed-beside',
  {
    nextPosition: collection({
      key: ['liquidity:next-position'],
      value: value(uint64Codec),
      about: 'The id of the next position.'
    }),
    nextIncentive: collection({
      key: ['liquidity:next-incentive'],
      value: value(uint64Codec),
      about: 'The id of the next incentive record.'
    }),
    totalLiquidity: collection({
      key: ['liquidity:total:', denom('denom')],
      scans: [[]],
      value: value(intCodec),
      about: 'Coins of a denom in pools: paid by positions and swaps, less those that swaps bought.'
    }),
    hooks: collection({
      key: ['liquidity:hook:', decimal('pool'), '|', word('action', ...HOOK_ACTIONS)],
      scans: [[], ['pool']],
      value: single(bech32('contract')),
      about: 'The contract to call at an action on a pool.'
    }),
    incentiveThreshold: number(
      'incentive-threshold',
      'The last pool whose incentive accumulators are not scaled.'
    ),
    spreadThreshold: number('spread-threshold', 'The last pool whose spread accumulators are not scaled.')
  },
  { about: 'Beside the profile of the document: what it leaves out.', proved: PROVED }
)

/** The keyspaces of a store with a profile. */
export const profileKeyspaces = (profile: Profile): readonly AnyKeyspace[] =>
  profile === 'chain' ? [liquidityChain, liquidityAux] : [liquiditySeed, liquiditySeedAux, liquidityAux]

/** The identity of an incentive record. The chain's key has its id, the document's has its denom and creator. */
export interface IncentiveKey {
  readonly pool: bigint
  readonly uptime: number
  /** 0 under the profile `seed`, whose key has no id. */
  readonly id: bigint
  /** Empty under the profile `chain`, whose key has no creator. */
  readonly creator: string
}

export interface IncentiveRecord extends IncentiveKey {
  readonly body: IncentiveRecordBody
}

interface IncentiveKeys {
  readonly body: ValueCodec<IncentiveRecordBody>
  encode(record: IncentiveRecord): Uint8Array
  decode(key: Uint8Array): IncentiveKey
  scan(pool?: bigint, uptime?: number): KeyRange
}

const chain = liquidityChain.collections
const seed = liquiditySeed.collections

const chainIncentives: IncentiveKeys = {
  body: incentiveCodec,
  encode: ({ pool, uptime, id }) => chain.incentives.encode(pool, BigInt(uptime), id),
  decode(key) {
    const [pool, uptime, id] = chain.incentives.decode(key)
    return { pool, uptime: Number(uptime), id, creator: '' }
  },
  scan(pool, uptime) {
    if (pool === undefined) return chain.incentives.scan()
    return uptime === undefined ? chain.incentives.scan(pool) : chain.incentives.scan(pool, BigInt(uptime))
  }
}

const seedIncentives: IncentiveKeys = {
  body: incentiveCodec,
  encode: ({ pool, uptime, creator, body }) =>
    seed.incentives.encode(pool, BigInt(uptime), body.remaining.denom, creator),
  decode(key) {
    const [pool, uptime, , creator] = seed.incentives.decode(key)
    return { pool, uptime: Number(uptime), id: 0n, creator }
  },
  scan(pool, uptime) {
    if (pool === undefined) return seed.incentives.scan()
    return uptime === undefined ? seed.incentives.scan(pool) : seed.incentives.scan(pool, BigInt(uptime))
  }
}

const { incentives: _chainIncentives, unused, balancerPositions, ...chainCollections } = chain
const { incentives: _seedIncentives, balancerFullRange, ...seedCollections } = seed

type Collections = typeof chainCollections & typeof liquidityAux.collections

export interface Layout {
  readonly profile: Profile
  readonly collections: Collections
  readonly incentives: IncentiveKeys
}

const LAYOUTS: Readonly<Record<Profile, Layout>> = {
  chain: {
    profile: 'chain',
    collections: { ...chainCollections, ...liquidityAux.collections },
    incentives: chainIncentives
  },
  seed: {
    profile: 'seed',
    collections: { ...seedCollections, ...liquiditySeedAux.collections, ...liquidityAux.collections },
    incentives: seedIncentives
  }
}

export const layoutOf = (profile: Profile): Layout => LAYOUTS[profile]
