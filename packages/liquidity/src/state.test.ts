/** The state: what is set in a change is there whole, indexes and sums follow, walks keep their promises. */

import { fromHex, toHex } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { afterEach, describe, expect, it } from 'vitest'
import { DEC } from './decimal.ts'
import { liquidityChain, liquiditySeed } from './keys.ts'
import type { Profile } from './profile.ts'
import { sqrtPriceAt, wholeCoins } from './reserves.ts'
import { Liquidity } from './state.ts'
import type { UnitOfWork } from './unit-of-work.ts'
import { address, NOW, poolOf, positionOf, tickOf } from './values.testing.ts'
import type { Difference } from './verify.ts'

const stores: Store[] = []
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
})
const newStore = async (): Promise<Store> => {
  const store = await openStore('memory:')
  stores.push(store)
  return store
}
const opened = async (profile: Profile = 'chain'): Promise<{ store: Store; liquidity: Liquidity }> => {
  const store = await newStore()
  return { store, liquidity: await Liquidity.open(store, { profile }) }
}
const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}
const PROFILES: readonly Profile[] = ['chain', 'seed']
const collectionsOf = (profile: Profile) =>
  profile === 'chain' ? liquidityChain.collections : liquiditySeed.collections

/** Ids at which widths, signs and separators change. 124 is `|`, 47 is `/`, 31868 is `||`, 12079 is `//`. */
const IDS = [0n, 1n, 9n, 10n, 11n, 47n, 99n, 100n, 124n, 12079n, 31868n, 2n ** 64n - 1n]
const TICKS = [-(2n ** 63n), -108000000n, -256n, -2n, -1n, 0n, 1n, 2n, 124n, 256n, 342000000n, 2n ** 63n - 1n]

describe('a profile', () => {
  it('is recorded with the first change, and another is refused from then on', async () => {
    const store = await newStore()
    await Liquidity.open(store, { profile: 'chain' })
    const seed = await Liquidity.open(store, { profile: 'seed' })
    const late = await Liquidity.open(store, { profile: 'chain' })
    await seed.change(async unit => unit.setPool(poolOf(1n)))
    expect((await Liquidity.open(store)).profile).toBe('seed')
    const refusal = { code: 'ERR_LIQUIDITY_PROFILE' }
    await expect(Liquidity.open(store, { profile: 'chain' })).rejects.toMatchObject(refusal)
    await expect(late.change(async unit => unit.setPool(poolOf(2n)))).rejects.toMatchObject(refusal)
  })

  it.each(PROFILES)('%s: keys and values are those of the profile, to the byte', async profile => {
    const { store, liquidity } = await opened(profile)
    const owner = 'osmo1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqruwfv6g3'
    await liquidity.change(async unit => {
      unit.setPool(poolOf(1n))
      unit.setTick(1n, -1n, tickOf(DEC, -DEC))
      await unit.setPosition(positionOf(10n, { owner }))
      await unit.setLock(10n, 7n)
      unit.setIncentive({
        pool: 1n,
        uptime: 3,
        id: 2n,
        creator: owner,
        body: { remaining: { denom: 'uosmo', amount: 5n }, emissionRate: 1n, startTime: NOW }
      })
      unit.setAccumulator({ pool: 1n }, { value: [], totalShares: 0n })
      unit.setAccumulatorRecord({ pool: 1n, uptime: 0 }, 10n, {
        shares: 1n,
        valuePerShare: [],
        unclaimed: [],
        options: true
      })
    })
    const separator = profile === 'chain' ? '7c' : '2f'
    const hexOwner = Buffer.from(`${'00'.repeat(19)}7c`).toString('hex')
    const value = async (hex: string): Promise<string | undefined> => {
      const bytes = await store.get(fromHex(hex))
      return bytes && toHex(bytes)
    }
    expect(await value('01000000000000000105ffffffffffffffff')).toBe(
      '0a13313030303030303030303030303030303030301214' +
        `${Buffer.from('-1000000000000000000').toString('hex')}2200`
    )
    expect(await value(`02${separator}${hexOwner}${separator}31${separator}3130`)).toBe('01')
    expect(await value(`090000000000000001${separator}000000000000000a`)).toBe('01')
    expect(await value('0d3130')).toBe('0000000000000007')
    expect(await value('1037')).toBe('000000000000000a')
    const incentive =
      profile === 'chain'
        ? '047c317c337c327c'
        : `047c317c337c${Buffer.from('uosmo').toString('hex')}7c${Buffer.from(owner).toString('hex')}`
    expect(await value(incentive)).toMatch(/^0a0a0a05756f736d6f120135120131/)
    const inner = Buffer.from(profile === 'chain' ? '||' : '/').toString('hex')
    expect(await value(`616363756d${inner}616363${inner}0b2f31`)).toBe('120130')
    expect(await value(`616363756d${inner}706f73${inner}0c2f312f307c7c083130`)).toBe('0a01312200')
  })
})

describe.each(PROFILES)('walks under the profile %s', profile => {
  const withTicks = async (): Promise<Liquidity> => {
    const { liquidity } = await opened(profile)
    await liquidity.change(async unit => {
      for (const pool of [0n, 1n, 2n, 2n ** 64n - 1n])
        for (const tick of TICKS) unit.setTick(pool, tick, tickOf(pool + 1n, tick))
    })
    return liquidity
  }
  const indexes = async (liquidity: Liquidity, ...walk: Parameters<Liquidity['ticks']>): Promise<bigint[]> =>
    (await all(liquidity.ticks(...walk))).map(({ index }) => index)

  it('give the ticks of a pool from most negative to most positive and back, and of no other pool', async () => {
    const liquidity = await withTicks()
    for (const pool of [0n, 1n, 2n, 2n ** 64n - 1n]) {
      const walked = await all(liquidity.ticks(pool))
      expect(walked.map(({ index }) => index)).toEqual(TICKS)
      expect(
        walked.every(({ index, info }) => info.liquidityNet === index && info.liquidityGross === pool + 1n)
      ).toBe(true)
      expect(await indexes(liquidity, pool, { reverse: true })).toEqual(TICKS.toReversed())
    }
    expect(await indexes(liquidity, 3n)).toEqual([])
  })

  it('begin at any tick, inclusive or exclusive, both ways, whether or not it is there', async () => {
    const liquidity = await withTicks()
    for (const from of [...TICKS, -3n, 3n, -107999999n])
      for (const inclusive of [true, false]) {
        const up = TICKS.filter(tick => tick > from || (inclusive && tick === from))
        const down = TICKS.filter(tick => tick < from || (inclusive && tick === from)).toReversed()
        expect(await indexes(liquidity, 1n, { from, inclusive })).toEqual(up)
        expect(await indexes(liquidity, 1n, { from, inclusive, reverse: true })).toEqual(down)
      }
  })

  it('are what they were when they began, whatever the walk writes', async () => {
    const liquidity = await withTicks()
    for (const reverse of [false, true]) {
      await liquidity
        .change(async unit => {
          unit.setTick(1n, 5n, tickOf(1n, 1n))
          const walked: bigint[] = []
          for await (const { index, info } of unit.ticks(1n, { reverse })) {
            walked.push(index)
            expect(info.liquidityNet).not.toBe(77n)
            unit.setTick(1n, index, tickOf(1n, 77n))
            if (index > -1000n && index < 1000n)
              unit.setTick(1n, index + (reverse ? -1n : 1n), tickOf(1n, 77n))
            unit.removeTick(1n, 342000000n)
            unit.removeTick(1n, -108000000n)
          }
          const expected = [...TICKS, 5n].toSorted((a, b) => (a < b ? -1 : 1))
          expect(walked).toEqual(reverse ? expected.toReversed() : expected)
          const left = (await all(unit.ticks(1n))).map(({ index }) => index)
          expect(left).not.toContain(342000000n)
          throw new Error('not kept')
        })
        .catch(error => expect(error.message).toBe('not kept'))
    }
    expect(await indexes(liquidity, 1n)).toEqual(TICKS)
  })

  it('go on where they were when ticks are committed while they last', async () => {
    const liquidity = await withTicks()
    const walked: bigint[] = []
    for await (const { index } of liquidity.ticks(1n)) {
      walked.push(index)
      await liquidity.change(async unit => unit.setTick(1n, index, tickOf(9n, 9n)))
    }
    expect(walked).toEqual(TICKS)
  })

  it('give positions by owner, by owner and pool, and by pool, exactly', async () => {
    const { liquidity } = await opened(profile)
    const owners = [1, 0x2f, 0x7c].map(address)
    const made: { id: bigint; owner: string; pool: bigint }[] = []
    await liquidity.change(async unit => {
      for (const pool of IDS) unit.setPool(poolOf(pool))
      // Ids of positions are spread over pools and owners so that each of them has some of every length.
      for (const [i, pool] of IDS.entries())
        for (const [j, id] of IDS.entries()) {
          const position = { id: id ^ (BigInt(i) << 32n), owner: owners[(i + j) % 3]!, pool }
          made.push(position)
          await unit.setPosition(positionOf(position.id, position))
        }
    })
    const idsOf = async (positions: AsyncIterable<{ id: bigint }>): Promise<bigint[]> =>
      (await all(positions)).map(({ id }) => id).toSorted((a, b) => (a < b ? -1 : 1))
    const expected = (test: (position: (typeof made)[number]) => boolean): bigint[] =>
      made
        .filter(test)
        .map(({ id }) => id)
        .toSorted((a, b) => (a < b ? -1 : 1))
    for (const owner of owners) {
      expect(await idsOf(liquidity.positionsOf(owner))).toEqual(expected(each => each.owner === owner))
      for (const pool of IDS)
        expect(await idsOf(liquidity.positionsOf(owner, pool))).toEqual(
          expected(each => each.owner === owner && each.pool === pool)
        )
    }
    for (const pool of IDS) {
      const walked = (await all(liquidity.positionsIn(pool))).map(({ id }) => id)
      // In the order of numbers as they are walked, without being sorted here.
      expect(walked).toEqual(expected(each => each.pool === pool))
      expect(await liquidity.hasPositions(pool)).toBe(true)
    }
    expect(await liquidity.hasPositions(12n)).toBe(false)
    const found = await all(liquidity.verify())
    expect(found.filter(({ collection }) => collection !== 'ticks' && collection !== 'pools')).toEqual([])
  })

  it('give incentive records by pool, and by pool and uptime, exactly', async () => {
    const { liquidity } = await opened(profile)
    const denoms = ['uosmo', 'uosmo/x', 'uos', `ibc/${'A'.repeat(64)}`]
    const made: string[] = []
    const name = (pool: bigint, uptime: number, denom: string): string => `${pool} ${uptime} ${denom}`
    await liquidity.change(async unit => {
      let id = 8n
      for (const pool of [1n, 10n, 100n, 124n])
        for (const uptime of [0, 1, 5])
          for (const denom of denoms) {
            made.push(name(pool, uptime, denom))
            unit.setIncentive({
              pool,
              uptime,
              id: id++,
              creator: address(1),
              body: { remaining: { denom, amount: DEC }, emissionRate: 1n, startTime: NOW }
            })
          }
    })
    const names = async (pool: bigint, uptime?: number): Promise<string[]> =>
      (await all(liquidity.incentives(pool, uptime)))
        .map(record => name(record.pool, record.uptime, record.body.remaining.denom))
        .toSorted()
    for (const pool of [1n, 10n, 100n, 124n, 12n]) {
      expect(await names(pool)).toEqual(made.filter(each => each.startsWith(`${pool} `)).toSorted())
      for (const uptime of [0, 1, 5, 10])
        expect(await names(pool, uptime)).toEqual(
          made.filter(each => each.startsWith(`${pool} ${uptime} `)).toSorted()
        )
    }
    const [record] = await all(liquidity.incentives(1n, 0))
    await liquidity.change(async unit =>
      unit.setIncentive({
        ...record!,
        body: { ...record!.body, remaining: { ...record!.body.remaining, amount: 0n } }
      })
    )
    expect(await names(1n, 0)).toHaveLength(denoms.length - 1)
  })
})

describe('a change', () => {
  it('happens whole, or not at all', async () => {
    const { liquidity } = await opened()
    await liquidity.change(async unit => unit.setPool(poolOf(1n)))
    const failing = liquidity.change(async unit => {
      await unit.setPosition(positionOf(1n))
      expect(await unit.position(1n)).toEqual(positionOf(1n))
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await liquidity.position(1n)).toBeUndefined()
    expect(await all(liquidity.positionsIn(1n))).toEqual([])
    expect(await liquidity.totalLiquidity('uatom')).toBe(0n)
  })

  it('is over when it is over', async () => {
    const { liquidity } = await opened()
    let kept: UnitOfWork | undefined
    await liquidity.change(async unit => {
      kept = unit
    })
    expect(() => kept?.setPool(poolOf(1n))).toThrow(
      expect.objectContaining({ code: 'ERR_LIQUIDITY_REFUSED' })
    )
  })

  it('comes after the one before it', async () => {
    const { liquidity } = await opened()
    const ids = await Promise.all(
      Array.from({ length: 20 }, () => liquidity.change(unit => unit.takePositionId()))
    )
    expect(ids).toEqual(Array.from({ length: 20 }, (_, i) => BigInt(i + 1)))
    expect(await liquidity.nextPositionId()).toBe(21n)
  })

  it('is made again when somebody else changed the store meanwhile', async () => {
    const { store, liquidity } = await opened()
    const other = await Liquidity.open(store)
    const take = (unit: UnitOfWork): Promise<bigint> => unit.takePositionId()
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? liquidity : other).change(take))
    )
    expect(new Set(ids).size).toBe(20)
    expect(await liquidity.nextPositionId()).toBe(21n)
  })
})

describe('what follows from positions', () => {
  const OWNER = address(1)
  const FULL = { lowerTick: -108000000n, upperTick: 342000000n }
  /** Positions with the ticks and the active liquidity they make, as the machine would set them. */
  const put = async (unit: UnitOfWork, position: ReturnType<typeof positionOf>, sign = 1n): Promise<void> => {
    const { pool, lowerTick, upperTick, liquidity } = position
    for (const [index, net] of [
      [lowerTick, liquidity],
      [upperTick, -liquidity]
    ] as const) {
      const tick = (await unit.tick(pool, index)) ?? tickOf(0n, 0n)
      const next = tickOf(tick.liquidityGross + sign * liquidity, tick.liquidityNet + sign * net)
      if (next.liquidityGross === 0n) unit.removeTick(pool, index)
      else unit.setTick(pool, index, next)
    }
    const state = (await unit.pool(pool))!
    if (lowerTick <= state.tick && state.tick < upperTick)
      unit.setPool({ ...state, liquidity: state.liquidity + sign * liquidity })
    if (sign > 0n) await unit.setPosition(position)
    else await unit.removePosition(position.id)
  }

  it('moves with them: indexes on transfer, sums on every change, locks on removal', async () => {
    const { liquidity } = await opened()
    const heir = address(2)
    await liquidity.change(async unit => {
      unit.setPool(poolOf(1n))
      await put(unit, positionOf(1n, FULL))
      await put(unit, positionOf(2n, { liquidity: 7n * DEC }))
      await unit.setLock(1n, 50n)
    })
    expect(await liquidity.fullRange(1n)).toBe(5n * DEC)
    expect(await all(liquidity.verify())).toEqual([])

    await liquidity.change(async unit => unit.setPosition({ ...positionOf(1n, FULL), owner: heir }))
    expect((await all(liquidity.positionsOf(OWNER))).map(({ id }) => id)).toEqual([2n])
    expect((await all(liquidity.positionsOf(heir, 1n))).map(({ id }) => id)).toEqual([1n])
    // The chain counts a position again whenever it is set, and never subtracts.
    expect(await liquidity.fullRange(1n)).toBe(10n * DEC)
    expect(await all(liquidity.verify())).toEqual([])

    await liquidity.change(async unit => {
      await put(unit, positionOf(1n, FULL), -1n)
    })
    expect(await liquidity.lockOf(1n)).toBeUndefined()
    expect(await liquidity.positionOfLock(50n)).toBeUndefined()
    expect(await liquidity.fullRange(1n)).toBe(10n * DEC)
    expect(await all(liquidity.verify())).toEqual([])
  })

  it('is worth what the formula says, moves with the price across ticks, and comes back to nothing', async () => {
    const { store, liquidity } = await opened()
    const narrow = positionOf(1n, { lowerTick: -1000000n, upperTick: 1000000n, liquidity: 1000n * DEC })
    const above = positionOf(2n, { lowerTick: 500000n, upperTick: 1000000n, liquidity: 3n * DEC })
    const below = positionOf(3n, { lowerTick: -1000000n, upperTick: -500000n, liquidity: 11n * DEC })
    await liquidity.change(async unit => {
      unit.setPool(poolOf(1n))
      for (const position of [narrow, above, below]) await put(unit, position)
    })
    const start = await liquidity.reserves(1n)
    // √2 and √0.9 bound the range: 1000·(1 − 1/√2) + 3·(1/√1.5 − 1/√2), and 1000·(1 − √0.9) + 11·(√0.95 − √0.9).
    expect(Number(start.amount0) / 1e54).toBeCloseTo(
      1000 * (1 - 2 ** -0.5) + 3 * (1.5 ** -0.5 - 2 ** -0.5),
      9
    )
    expect(Number(start.amount1) / 1e54).toBeCloseTo(
      1000 * (1 - 0.9 ** 0.5) + 11 * (0.95 ** 0.5 - 0.9 ** 0.5),
      9
    )
    const active = (tick: bigint): bigint =>
      [narrow, above, below]
        .filter(({ lowerTick, upperTick }) => lowerTick <= tick && tick < upperTick)
        .reduce((sum, each) => sum + each.liquidity, 0n)
    for (const tick of [600000n, 1500000n, -600000n, -1500000n, 500000n, -500001n, 0n]) {
      await liquidity.change(async unit => {
        const pool = (await unit.pool(1n))!
        unit.setPool({ ...pool, tick, sqrtPrice: sqrtPriceAt(pool, tick), liquidity: active(tick) })
      })
      expect(await all(liquidity.verify())).toEqual([])
    }
    expect(await liquidity.reserves(1n)).toEqual(start)

    await liquidity.change(async unit => {
      for (const position of [narrow, above, below]) await put(unit, position, -1n)
      unit.setPool({ ...(await unit.pool(1n))!, sqrtPrice: 0n, tick: 0n })
    })
    expect(await all(liquidity.verify())).toEqual([])
    const left = await store.range(new Uint8Array())
    const { pools } = liquidityChain.collections
    expect(
      left
        .map(({ key }) => toHex(key))
        .filter(key => !/^(liquidity|quoin):/.test(Buffer.from(key, 'hex').toString('latin1')))
    ).toEqual([toHex(pools.encode(1n))])
    expect(left.map(({ key }) => Buffer.from(key).toString('latin1'))).not.toContain('liquidity:reserves')
  })

  it('has the same reserves in any order of a change, also when they are read in between', async () => {
    const { liquidity } = await opened()
    const seen = await liquidity.change(async unit => {
      unit.setPool(poolOf(1n))
      await put(unit, positionOf(1n, { lowerTick: -10n, upperTick: 10n }))
      const first = wholeCoins((await unit.reserves(1n)).amount0)
      const pool = (await unit.pool(1n))!
      unit.setPool({ ...pool, tick: 20n, sqrtPrice: sqrtPriceAt(pool, 20n), liquidity: 0n })
      const second = wholeCoins((await unit.reserves(1n)).amount0)
      await put(unit, positionOf(2n, { lowerTick: 10n, upperTick: 30n }))
      return [first, second, wholeCoins((await unit.reserves(1n)).amount0)]
    })
    expect(seen).toEqual([1n, 0n, 1n])
    expect(await all(liquidity.verify())).toEqual([])
  })

  it('is at most what the chain counted of it', async () => {
    const { store, liquidity } = await opened()
    await liquidity.change(async unit => {
      unit.setPool(poolOf(1n))
      await put(unit, positionOf(1n, FULL))
      await unit.addTotalLiquidity('uatom', 5n)
    })
    expect(await all(liquidity.verify())).toEqual([])
    const { fullRangeLiquidity, totalLiquidity } = liquidityChain.collections
    await store.set(fullRangeLiquidity.encode(1n), fullRangeLiquidity.value.codec.encode(5n * DEC - 1n))
    await store.set(totalLiquidity.encode('uatom'), totalLiquidity.value.codec.encode(3n))
    expect(await all(liquidity.verify())).toEqual([
      {
        collection: 'fullRangeLiquidity',
        key: '1',
        stored: `${5n * DEC - 1n}`,
        derived: `${5n * DEC}`
      },
      { collection: 'totalLiquidity', key: 'uatom', stored: '3', derived: '4' }
    ])
  })

  it('needs a pool, an address and a lock of its own', async () => {
    const { liquidity } = await opened()
    const refusal = { code: 'ERR_LIQUIDITY_REFUSED' }
    await expect(liquidity.change(unit => unit.setPosition(positionOf(1n)))).rejects.toMatchObject(refusal)
    await liquidity.change(async unit => unit.setPool(poolOf(1n)))
    await expect(
      liquidity.change(unit => unit.setPosition(positionOf(1n, { owner: 'me' })))
    ).rejects.toMatchObject({ code: 'ERR_LIQUIDITY_VALUE' })
    await expect(liquidity.change(unit => unit.removePosition(1n))).rejects.toMatchObject(refusal)
    await liquidity.change(async unit => {
      await unit.setPosition(positionOf(1n))
      await unit.setPosition(positionOf(2n))
      await unit.setLock(1n, 5n)
      await unit.setLock(1n, 6n)
    })
    expect(await liquidity.positionOfLock(5n)).toBeUndefined()
    await expect(liquidity.change(unit => unit.setLock(2n, 6n))).rejects.toMatchObject(refusal)
  })
})

describe.each(PROFILES)('verify under the profile %s', profile => {
  const collections = collectionsOf(profile)
  const owner = Uint8Array.of(1)
  const one = Uint8Array.of(1)
  const eight = new Uint8Array(8).fill(3)
  it.each<[string, (store: Store) => Promise<void>, Partial<Difference>]>([
    [
      'an index entry of nobody',
      store => store.set(collections.positionsByOwner.encode(owner, 1n, 9n), one),
      { collection: 'positionsByOwner', derived: undefined }
    ],
    [
      'one of a pool',
      store => store.set(collections.positionsByPool.encode(1n, 9n), one),
      { collection: 'positionsByPool', key: '1/9' }
    ],
    [
      'a missing one',
      store => store.del(collections.positionsByPool.encode(1n, 1n)),
      { collection: 'positionsByPool', stored: undefined }
    ],
    [
      'a lock of nobody',
      store => store.set(collections.positionLocks.encode(9n), eight),
      { collection: 'positionLocks' }
    ],
    [
      'a lock that names nobody who names it',
      store => store.set(collections.lockPositions.encode(9n), eight),
      { collection: 'lockPositions', key: '9' }
    ],
    [
      'rewards of nobody',
      store => store.set(collections.spreadPositions.encode(1n, 9n), fromHex('0a0130')),
      { collection: 'spreadPositions', key: '1/9' }
    ],
    [
      'incentives of nobody',
      store => store.set(collections.uptimePositions.encode(1n, 5n, 9n), fromHex('0a01312200')),
      { collection: 'uptimePositions', key: '1/5/9' }
    ],
    [
      'a tick too many',
      store => store.set(collections.ticks.encode(1n, 7n), fromHex('0a01311201312200')),
      { collection: 'ticks', key: '1/7', derived: undefined }
    ]
  ])('finds %s', async (_, spoil, expected) => {
    const { store, liquidity } = await opened(profile)
    await liquidity.change(async unit => {
      unit.setPool(poolOf(1n, { liquidity: 5n * DEC }))
      unit.setTick(1n, -100n, tickOf(5n * DEC, 5n * DEC))
      unit.setTick(1n, 100n, tickOf(5n * DEC, -5n * DEC))
      await unit.setPosition(positionOf(1n))
    })
    expect(await all(liquidity.verify())).toEqual([])
    await spoil(store)
    expect(await all(liquidity.verify())).toContainEqual(expect.objectContaining(expected))
  })
})
