/** The two profiles against the key vectors of the chain and of the document, byte for byte. */
import { readFileSync } from 'node:fs'
import { type AnyKeyspace, diffKeyspaces } from '@quoin/keyspace'
import { compareBytes, fromHex, startsWith, toHex } from '@quoin/primitives'
import { describe, expect, it } from 'vitest'
import { liquidityChain, liquiditySeed } from './keys.ts'

interface Vector {
  readonly name: string
  readonly hex: string
}

const vectors = (file: string): Vector[] =>
  JSON.parse(readFileSync(new URL(`./fixtures/${file}`, import.meta.url), 'utf8')) as Vector[]

const chain = liquidityChain.collections
const seed = liquiditySeed.collections

const ADDRESS_20 = fromHex(`${'00'.repeat(19)}7c`)
const ADDRESS_32 = Uint8Array.from({ length: 32 }, (_, i) => i)
const CREATOR = 'osmo1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqruwfv6g3'
const U64 = 2n ** 64n - 1n
const TICKS: Record<string, bigint> = {
  'MinInitializedTick=-108000000': -108000000n,
  'MinCurrentTick=-108000001': -108000001n,
  'MinInitializedTickV2=-270000000': -270000000n,
  'MaxTick=342000000': 342000000n,
  int64min: -(2n ** 63n),
  int64max: 2n ** 63n - 1n
}
const OWNERS: Record<string, Uint8Array> = {
  addr20: ADDRESS_20,
  'addr20=00..7c': ADDRESS_20,
  'addr32=00..1f': ADDRESS_32,
  '"bytes_underlying_address"': new TextEncoder().encode('bytes_underlying_address')
}
const id = (text: string): bigint => (text === '2^64-1' ? U64 : BigInt(text))
const scanStart = (range: { start: Uint8Array }): Uint8Array => range.start

/** The vector's name, taken apart, and what our declarations make of it. */
const CHAIN: readonly [RegExp, (...args: string[]) => Uint8Array][] = [
  [
    /^0x01 KeyTick\((.*),(.*)\)$/,
    (pool, tick) => chain.ticks.encode(id(pool!), TICKS[tick!] ?? BigInt(tick!))
  ],
  [/^0x01 prefix KeyTickPrefixByPoolId\((.*)\)$/, pool => scanStart(chain.ticks.scan(id(pool!)))],
  [/^0x02 KeyUserPositions\((.*)\)/, owner => scanStart(chain.positionsByOwner.scan(OWNERS[owner!]!))],
  [
    /^0x02 KeyAddressAndPoolId\((.*),(.*)\)$/,
    (owner, pool) => scanStart(chain.positionsByOwner.scan(OWNERS[owner!]!, id(pool!)))
  ],
  [
    /^0x02 KeyAddressPoolIdPositionId\((.*),(.*),(.*)\)$/,
    (owner, pool, position) => chain.positionsByOwner.encode(OWNERS[owner!]!, id(pool!), id(position!))
  ],
  [/^0x03 KeyPool\((.*)\)$/, pool => chain.pools.encode(id(pool!))],
  [
    /^0x04 KeyIncentiveRecord\((.*),(.*),(.*)\)$/,
    (...args) => chain.incentives.encode(...(args.map(id) as [bigint, bigint, bigint]))
  ],
  [
    /^0x04 prefix KeyUptimeIncentiveRecords\((.*),(.*)\)$/,
    (pool, uptime) => scanStart(chain.incentives.scan(id(pool!), id(uptime!)))
  ],
  [/^0x04 prefix KeyPoolIncentiveRecords\((.*)\)$/, pool => scanStart(chain.incentives.scan(id(pool!)))],
  [/^0x07 /, () => chain.nextPosition.encode()],
  [/^0x08 KeyPositionId\((.*)\)$/, position => chain.positions.encode(id(position!))],
  [
    /^0x09 KeyPoolPositionPositionId\((.*),(.*)\)$/,
    (pool, position) => chain.positionsByPool.encode(id(pool!), id(position!))
  ],
  [/^0x09 prefix KeyPoolPosition\((.*)\)$/, pool => scanStart(chain.positionsByPool.scan(id(pool!)))],
  [/^accum acc spread-reward pool (\d+)$/, pool => chain.spreadAccumulators.encode(id(pool!))],
  [
    /^accum acc uptime pool (\d+) idx (\d+)$/,
    (pool, uptime) => chain.uptimeAccumulators.encode(id(pool!), id(uptime!))
  ],
  [
    /^accum pos spread-reward pool (\d+) position (\d+)$/,
    (pool, position) => chain.spreadPositions.encode(id(pool!), id(position!))
  ],
  [
    /^accum pos uptime pool (\d+) idx (\d+) position (\d+)$/,
    (...args) => chain.uptimePositions.encode(...(args.map(id) as [bigint, bigint, bigint]))
  ],
  [
    /^accum pos uptime pool (\d+) idx (\d+) balancer\((\d+),(\d+),(\d+)\)/,
    (...args) => chain.balancerPositions.encode(...(args.map(id) as [bigint, bigint, bigint, bigint, bigint]))
  ],
  [/^0x0D KeyPositionIdForLock\((.*)\)$/, position => chain.positionLocks.encode(id(position!))],
  [/^0x0E KeyFullRangeLiquidityPrefix\((.*)\)$/, pool => chain.fullRangeLiquidity.encode(id(pool!))],
  [
    /^0x0F KeyBalancerFullRange\((.*),(.*),(.*)\)$/,
    (...args) => seed.balancerFullRange.encode(...(args.map(id) as [bigint, bigint, bigint]))
  ],
  [/^0x10 KeyLockIdForPositionId\((.*)\)$/, lock => chain.lockPositions.encode(id(lock!))],
  [/^0x12 /, () => chain.nextIncentive.encode()],
  [/^0x13 GetDenomPrefix\("(.*)"\)$/, denom => chain.totalLiquidity.encode(denom!)],
  [
    /^0x14 hook\((\d+),"(.*)"\)$/,
    (pool, action) => chain.hooks.encode(id(pool!), action as 'beforeCreatePosition')
  ],
  [/^0x15 /, () => chain.incentiveThreshold.encode()],
  [/^0x16 /, () => chain.spreadThreshold.encode()]
]

const SEED: readonly [RegExp, (...args: string[]) => Uint8Array][] = [
  [
    /^doc 0x02 \(addr20,(\d+),(\d+)\)$/,
    (pool, position) => seed.positionsByOwner.encode(ADDRESS_20, id(pool!), id(position!))
  ],
  [
    /^doc 0x04 \((\d+),(\d+),(.*),addr20\)$/,
    (pool, uptime, denom) => seed.incentives.encode(id(pool!), id(uptime!), denom!, CREATOR)
  ],
  [/^doc 0x09 \((\d+),(\d+)\)$/, (pool, position) => seed.positionsByPool.encode(id(pool!), id(position!))],
  [/^doc accum acc spread (\d+)$/, pool => seed.spreadAccumulators.encode(id(pool!))],
  [
    /^doc accum acc uptime (\d+)\/(\d+)$/,
    (pool, uptime) => seed.uptimeAccumulators.encode(id(pool!), id(uptime!))
  ],
  [
    /^doc accum pos spread (\d+), pos (\d+)$/,
    (pool, position) => seed.spreadPositions.encode(id(pool!), id(position!))
  ],
  [
    /^doc accum pos uptime (\d+)\/(\d+) pos (\d+)$/,
    (...args) => seed.uptimePositions.encode(...(args.map(id) as [bigint, bigint, bigint]))
  ]
]

const made = (rules: readonly [RegExp, (...args: string[]) => Uint8Array][], name: string): Uint8Array => {
  for (const [pattern, make] of rules) {
    const match = pattern.exec(name)
    if (match) return make(...match.slice(1))
  }
  throw new Error(`no rule for ${name}`)
}

const isWholeKey = (name: string): boolean => !/prefix Key|KeyUserPositions|KeyAddressAndPoolId/.test(name)

describe.each([
  ['chain', 'chain-keys.json', CHAIN, liquidityChain],
  ['seed', 'seed-keys.json', SEED, liquiditySeed]
])('the %s profile', (_, file, rules, space: AnyKeyspace) => {
  it.each(vectors(file))('makes $name', ({ name, hex }) => {
    expect(toHex(made(rules, name))).toBe(hex)
  })

  it('owns every whole key of the vectors, once, and reads it back', () => {
    const foreign = /^0x0F/
    const whole = vectors(file).filter(({ name }) => isWholeKey(name) && !foreign.test(name))
    expect(whole.length).toBeGreaterThan(10)
    for (const { name, hex } of whole) {
      const owners = space.all.filter(collection => collection.owns(fromHex(hex)))
      expect(owners.length, name).toBe(1)
      expect(toHex(owners[0]!.encode(...owners[0]!.decode(fromHex(hex))))).toBe(hex)
    }
  })
})

describe('ticks of a pool', () => {
  it('walk from most negative to most positive, across zero', () => {
    const ticks = [-(2n ** 63n), -108000000n, -200n, -1n, 0n, 1n, 200n, 342000000n, 2n ** 63n - 1n]
    const keys = ticks.map(tick => chain.ticks.encode(1n, tick))
    expect(keys.toSorted(compareBytes)).toEqual(keys)
  })

  it.each([
    ['ten bytes', '01000000000000000106000000000000000000'],
    ['a negative payload under a positive sign', '01000000000000000106fffffffffffffffe'],
    ['zero under a negative sign', '010000000000000001050000000000000000'],
    ['a positive payload under a negative sign', '010000000000000001050000000000000002'],
    ['the prefix alone', '010000000000000001'],
    ['no sign byte', '0100000000000000010000000000000001'],
    ['a foreign sign byte, which the chain lets pass', '010000000000000001070000000000000001'],
    ['another prefix', '020000000000000001060000000000000001']
  ])('refuses %s, naming the byte', (_, hex) => {
    expect(() => chain.ticks.decode(fromHex(hex))).toThrow(
      expect.objectContaining({
        code: 'ERR_KEY_DECODE',
        details: expect.objectContaining({ offset: expect.any(Number) })
      })
    )
  })

  it('are bounded exclusively and inclusively, both ways', () => {
    const at = (tick: bigint): string => toHex(chain.ticks.encode(1n, tick))
    const { start, end, reverse } = chain.ticks.range([1n], { gt: [-1n], lte: [5n], reverse: true })
    expect(reverse).toBe(true)
    expect(at(-1n) < toHex(start)).toBe(true)
    expect(toHex(start) <= at(0n)).toBe(true)
    expect(at(5n) < toHex(end!)).toBe(true)
    expect(toHex(end!) <= at(6n)).toBe(true)
  })

  it('end where the next pool begins, for the last pool too', () => {
    expect(toHex(chain.ticks.scan(255n).end!)).toBe('0100000000000001')
    expect(toHex(chain.ticks.scan(U64).end!)).toBe('02')
  })
})

describe('positions of an owner', () => {
  it('of pool 1 do not catch those of pool 10, nor does position 1 catch position 10', () => {
    const { start } = chain.positionsByOwner.scan(ADDRESS_20, 1n)
    expect(startsWith(chain.positionsByOwner.encode(ADDRESS_20, 1n, 10n), start)).toBe(true)
    expect(startsWith(chain.positionsByOwner.encode(ADDRESS_20, 10n, 1n), start)).toBe(false)
    // The whole key is no scan: the compiler and the program both refuse it.
    // @ts-expect-error three components are not a promised prefix
    expect(() => chain.positionsByOwner.scan(ADDRESS_20, 1n, 1n)).toThrow(
      expect.objectContaining({ code: 'ERR_SCAN_NOT_PROMISED' })
    )
  })

  it('walk in another order under each separator, which the declarations know', () => {
    const ids = [1n, 2n, 9n, 10n, 11n, 100n]
    const walk = (encode: (id: bigint) => Uint8Array): bigint[] =>
      ids.toSorted((a, b) => compareBytes(encode(a), encode(b)))
    expect(walk(pool => seed.positionsByOwner.encode(ADDRESS_20, pool, 1n))).toEqual([
      1n,
      10n,
      100n,
      11n,
      2n,
      9n
    ])
    expect(walk(pool => chain.positionsByOwner.encode(ADDRESS_20, pool, 1n))).toEqual([
      100n,
      10n,
      11n,
      1n,
      2n,
      9n
    ])
    const order = (space: typeof seed.positionsByOwner): string => space.orders[3]!.by
    expect(order(seed.positionsByOwner)).toBe('word')
    expect(order(chain.positionsByOwner)).toBe('neither')
    expect(() => chain.positionsByOwner.range([ADDRESS_20], { gte: [9n] })).toThrow(
      expect.objectContaining({ code: 'ERR_RANGE_ORDER' })
    )
  })
})

describe('the difference between the profiles', () => {
  it('is the contradictions between the document and the chain, and what the document leaves out', () => {
    const changes = diffKeyspaces(liquiditySeed, liquidityChain)
    const of = (change: string): string[] =>
      changes.filter(each => each.change === change).map(each => each.collection)
    expect(of('same')).toEqual([
      'ticks',
      'pools',
      'positions',
      'positionLocks',
      'fullRangeLiquidity',
      'lockPositions'
    ])
    expect(of('changed')).toEqual([
      'positionsByOwner',
      'incentives',
      'positionsByPool',
      'spreadAccumulators',
      'uptimeAccumulators',
      'spreadPositions',
      'uptimePositions'
    ])
    expect(of('only in first')).toEqual(['balancerFullRange'])
    expect(of('only in second')).toEqual([
      'nextPosition',
      'balancerPositions',
      'unused',
      'nextIncentive',
      'totalLiquidity',
      'hooks',
      'incentiveThreshold',
      'spreadThreshold'
    ])
  })
})
