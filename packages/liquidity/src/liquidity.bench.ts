/**
 * Swaps on a pool with many positions, against `@osmosis-labs/math` quoting the same way on a list of ticks that it is
 * given. Ours is on a store in memory: a quote reads ticks from it, a swap also writes what it changes and commits it.
 * Then what a swap costs as positions and pools become more, what the search for the next tick costs as ticks do, and
 * an import as it grows, into LMDB.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openStore } from '@quoin/store'
import { suite } from '../../../bench/harness.ts'
import { type BigDec, bigDec, DEC, dec } from './decimal.ts'
import { depthOf } from './depth.ts'
import { generatedGenesis } from './dump/generated.testing.ts'
import { importGenesis } from './dump/genesis-import.ts'
import { largePoolGenesis } from './dump/large-pool.testing.ts'
import { address, newPool, START } from './machine/machine.testing.ts'
import { peerCoin, peerExactIn, peerPool } from './machine/peer.testing.ts'
import { createPool } from './machine/pool.ts'
import { createPosition } from './machine/position.ts'
import type { SwapResult } from './machine/simulate-swap.ts'
import { quoteExactIn, swapExactIn } from './machine/swap.ts'
import { MAX_TICK, MIN_TICK, priceToSqrtPrice } from './math/tick.ts'
import { Liquidity } from './state.ts'
import type { UnitOfWork } from './unit-of-work.ts'

const SPACING = 100n
/** Of ranges, on each side of the price. */
const RANGES = 400n
const PLENTY = 10n ** 30n
const POSITIONS_PER_CHANGE = 500
const TICKS_PER_CHANGE = 10_000

/** Numbers that are the same in each run. */
const random = (seed: number) => () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed / 2 ** 32
}

const openPools = async (pools: number): Promise<Liquidity> => {
  const liquidity = await Liquidity.open(await openStore('memory:'))
  for (let id = 1; id <= pools; id++)
    await liquidity.change(async unit => {
      await createPool(
        unit,
        newPool({ id: BigInt(id), tickSpacing: SPACING, spreadFactor: dec.parse('0.002') })
      )
      const given = {
        pool: BigInt(id),
        owner: address(1),
        lowerTick: MIN_TICK,
        upperTick: MAX_TICK,
        now: START
      }
      await createPosition(unit, { ...given, amount0: 10n ** 12n, amount1: 10n ** 12n })
    })
  return liquidity
}

/** Adds positions around the price, which is 1; every tick near it is the end of one. */
const addPositions = async (liquidity: Liquidity, pool: bigint, from: number, to: number): Promise<void> => {
  const next = random(from + 1)
  for (let done = from; done < to; ) {
    const end = Math.min(done + POSITIONS_PER_CHANGE, to)
    await liquidity.change(async unit => {
      for (; done < end; done++) {
        const lower = (BigInt(done) % (2n * RANGES)) - RANGES
        const upper = lower + 1n + BigInt(Math.floor(next() * 100))
        await createPosition(unit, {
          pool,
          owner: address(1 + (done % 200)),
          lowerTick: lower * SPACING,
          upperTick: upper * SPACING,
          amount0: 10n ** 9n,
          amount1: 10n ** 9n,
          now: START
        })
      }
    })
  }
}

interface Trip {
  readonly low: BigDec
  readonly high: BigDec
}
/** Between two prices in one range, and across a hundred ticks; in the middle of ranges on both ends. */
const TRIPS = {
  'in range': { low: bigDec.parse('1.00003'), high: bigDec.parse('1.00007'), ticks: 0 },
  'across 100 ticks': { low: bigDec.parse('1.00005'), high: bigDec.parse('1.01005'), ticks: 100 }
} satisfies Record<string, Trip & { readonly ticks: number }>

const DOWN = { denom: 'eth', amount: PLENTY }
const UP = { denom: 'usdc', amount: PLENTY }

/** There and back: two swaps after which the price is where it was. */
const tripOf = (liquidity: Liquidity, pool: bigint, { low, high }: Trip) => {
  const swap = (coin: typeof UP, priceLimit: BigDec) => (unit: UnitOfWork) =>
    swapExactIn(unit, { pool, coin, priceLimit, now: START })
  const up = swap(UP, high)
  const down = swap(DOWN, low)
  return {
    up,
    down,
    /** From wherever it is. */
    start: async () => {
      const { sqrtPrice } = (await liquidity.pool(pool))!
      const limit = priceToSqrtPrice(low)
      if (sqrtPrice !== limit) await liquidity.change(sqrtPrice < limit ? swap(UP, low) : down)
    },
    /** So many times, in one commit. */
    thereAndBack: (trips: number) =>
      liquidity.change(async unit => {
        for (let i = 1; i < trips; i++) {
          await up(unit)
          await down(unit)
        }
        return [await up(unit), await down(unit)]
      })
  }
}

export default suite(({ compare, sheet, after, note, quick, scale, progress }) => {
  note('Ours is on a store in memory; @osmosis-labs/math has its ticks in a list, and only quotes.')
  const positions = quick ? 2_000 : 10_000
  let shared: Promise<Liquidity> | undefined
  const pool = (): Promise<Liquidity> => {
    shared ??= (async () => {
      progress(`making ${positions} positions`)
      const liquidity = await openPools(1)
      await addPositions(liquidity, 1n, 0, positions)
      return liquidity
    })()
    return shared
  }

  for (const [name, { ticks, ...trip }] of Object.entries(TRIPS)) {
    let quoteUp: () => Promise<SwapResult>
    let theirUp: () => unknown
    let theirDown: () => unknown
    let swaps: ReturnType<typeof tripOf>
    const prepare = async (): Promise<void> => {
      const liquidity = await pool()
      swaps = tripOf(liquidity, 1n, trip)
      await swaps.start()
      const low = await peerPool(liquidity, (await liquidity.pool(1n))!, 'up')
      const up = await liquidity.change(swaps.up)
      const high = await peerPool(liquidity, (await liquidity.pool(1n))!, 'down')
      const down = await liquidity.change(swaps.down)
      if (up.ticksCrossed !== ticks || down.ticksCrossed !== ticks)
        throw new Error(`${up.ticksCrossed} and ${down.ticksCrossed} ticks, not ${ticks}`)
      quoteUp = () => quoteExactIn(liquidity, { pool: 1n, coin: up.paid })
      const paid = { up: peerCoin(up.paid), down: peerCoin(down.paid) }
      theirUp = () => peerExactIn(low, paid.up)!.amount
      theirDown = () => peerExactIn(high, paid.down)!.amount
    }
    compare(`quote ${name}`, {
      unit: 'ops/s',
      prepare,
      ours: async () => (await quoteUp()).bought.amount,
      peers: { '@osmosis-labs/math': () => theirUp() }
    })
    for (const trips of [1, ticks ? 5 : 50])
      compare(`swap ${name}, ${trips * 2} in a commit`, {
        unit: 'ops/s',
        ops: trips * 2,
        prepare,
        ours: () => swaps.thereAndBack(trips),
        peers: {
          '@osmosis-labs/math, quoting': () => {
            for (let i = 1; i < trips; i++) [theirUp(), theirDown()]
            return [theirUp(), theirDown()]
          }
        }
      })
  }

  /** Microseconds for a swap in range. */
  const timed = async (liquidity: Liquidity): Promise<number> => {
    const { start, thereAndBack } = tripOf(liquidity, 1n, TRIPS['in range'])
    await start()
    return (await least(10, () => thereAndBack(1))) / 2
  }

  sheet('swaps as positions become more', async () => {
    const sizes = { quick: [100, 1_000], normal: [100, 1_000, 10_000], full: [100, 1_000, 10_000, 100_000] }
    const liquidity = await openPools(1)
    const rows: number[][] = []
    let made = 0
    for (const size of sizes[scale]) {
      progress(`${size} positions`)
      await addPositions(liquidity, 1n, made, size)
      made = size
      rows.push([size, await timed(liquidity)])
    }
    return { columns: ['positions', 'us/swap in range'], rows }
  })

  sheet('swaps as pools become more', async () => {
    const rows: number[][] = []
    for (const pools of quick ? [1, 100] : [1, 100, 10_000]) {
      progress(`${pools} pools`)
      const liquidity = await openPools(pools)
      await addPositions(liquidity, 1n, 0, 1000)
      rows.push([pools, await timed(liquidity)])
    }
    return { columns: ['pools', 'us/swap in range'], rows }
  })

  sheet('the next tick as ticks become more', async () => {
    const liquidity = await Liquidity.open(await openStore('memory:'))
    const info = { liquidityGross: DEC, liquidityNet: DEC, spreadRewardGrowth: [], uptimeGrowth: [] }
    const rows: number[][] = []
    let made = 0
    for (const count of quick ? [1e2, 1e4] : [1e2, 1e3, 1e4, 1e5, 1e6]) {
      while (made < count) {
        progress(`${made} ticks`)
        const end = Math.min(made + TICKS_PER_CHANGE, count)
        await liquidity.change(async unit => {
          // To both sides of zero in turn.
          for (; made < end; made++)
            unit.setTick(1n, (made % 2 ? -SPACING : SPACING) * BigInt(made >> 1), info)
        })
      }
      const next = random(1)
      const find = (width: number) => async (): Promise<bigint> => {
        const from = BigInt(Math.floor((next() - 0.5) * width)) * SPACING
        for await (const { index } of liquidity.ticks(1n, { from, inclusive: false })) return index
        throw new Error(`no tick above ${from}`)
      }
      rows.push([count, await least(200, find(90)), await least(200, find(count - 4))])
    }
    return { columns: ['ticks', 'us/search near the price', 'us/search anywhere'], rows }
  })

  sheet('import of a state export into LMDB', async () => {
    const sizes = { quick: [1e4], normal: [1e4, 1e5, 1e6], full: [1e4, 1e5, 1e6] }[scale]
    const rows: number[][] = []
    for (const size of sizes) {
      const folder = await mkdtemp(join(tmpdir(), 'quoin-bench-'))
      after(() => rm(folder, { recursive: true, force: true }))
      const store = await openStore(`lmdb:${folder}`)
      const before = held()
      let most = before
      let next = 0
      const begin = performance.now()
      const report = await importGenesis(store, generatedGenesis(size), {
        onProgress: ({ doing, done }) => {
          progress(`${doing} ${done} of ${size}`)
          // To look takes a while, so it is done a few dozen times.
          if (next++ % Math.ceil(size / 1e5) === 0) most = Math.max(most, held())
        }
      })
      const seconds = (performance.now() - begin) / 1000
      if (report.positions !== size) throw new Error(`${report.positions} positions, not ${size}`)
      rows.push([
        size,
        Math.round(seconds * 10) / 10,
        Math.round(size / seconds),
        Math.round((most - before) / 1e6)
      ])
      await store.close()
      await rm(folder, { recursive: true, force: true })
    }
    return { columns: ['positions', 'seconds', 'positions/s', 'MB held at most'], rows }
  })

  sheet('a pool with two ticks for each position, in LMDB', async () => {
    const size = quick ? 2_000 : 100_000
    const folder = await mkdtemp(join(tmpdir(), 'quoin-bench-'))
    after(() => rm(folder, { recursive: true, force: true }))
    const store = await openStore(`lmdb:${folder}`)
    after(() => store.close())
    const begin = performance.now()
    const { ticks } = await importGenesis(store, largePoolGenesis(size), {
      onProgress: ({ doing, done }) => progress(`${doing} ${done}`)
    })
    const seconds = (performance.now() - begin) / 1000
    const liquidity = await Liquidity.open(store)
    const quote = (amount: bigint) => quoteExactIn(liquidity, { pool: 1n, coin: { denom: 'uatom', amount } })
    const [near, far] = [10n ** 3n, BigInt(size) ** 2n / 10n]
    const { ticksCrossed } = await quote(far)
    return {
      columns: ['positions', 'ticks', 's/import', 'us/quote', 'ticks crossed', 'us/quote across', 'us/depth'],
      rows: [
        [
          size,
          ticks,
          Math.round(seconds * 10) / 10,
          await least(20, () => quote(near)),
          ticksCrossed,
          await least(1, () => quote(far)),
          await least(1, () => depthOf(liquidity, 1n, { percent: 10, ticks: 1_000 }))
        ]
      ]
    }
  })
})

/** Microseconds for a call, in the fastest of many rounds of so many calls: what else the machine does is left out. */
const least = async (calls: number, work: () => Promise<unknown>): Promise<number> => {
  let fastest = Number.POSITIVE_INFINITY
  for (let round = 0; round < 50; round++) {
    const begin = performance.now()
    for (let i = 0; i < calls; i++) await work()
    fastest = Math.min(fastest, ((performance.now() - begin) * 1000) / calls)
  }
  return Math.round(fastest * 10) / 10
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Bytes that V8 holds, without what it only has not thrown away yet. */
const held = (): number => {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
