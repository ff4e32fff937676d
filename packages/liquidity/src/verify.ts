/**
 * Checks derived rows against the positions: both position indexes, both directions of locks, the owners of reward
 * records, ticks, active liquidity, reserves. All are derived again, a pool at a time, and compared. The chain's counts
 * of full-range and total liquidity only rise with positions, so they are at least what the positions make.
 */
import { toHex } from '@quoin/primitives'
import { formatAddress, parseAddress } from './bech32.ts'
import { dec } from './decimal.ts'
import { UPTIMES } from './machine/uptime.ts'
import type { Layout } from './profile.ts'
import { StateReader } from './reader.ts'
import { isFullRange, NO_RESERVES, plus, RESERVE_UNIT, type Reserves, worth } from './reserves.ts'
import type { Rows } from './rows.ts'
import type { Pool, Position } from './values.ts'

/** A stored value that differs from the derived one. */
export interface Difference {
  readonly collection: string
  readonly key: string
  readonly stored: string | undefined
  readonly derived: string | undefined
}

interface Sums {
  readonly ticks: Map<bigint, { gross: bigint; net: bigint }>
  active: bigint
  fullRange: bigint
  reserves: Reserves
}

export async function* differences(layout: Layout, rows: Rows): AsyncGenerator<Difference> {
  const reader = new StateReader(layout, rows)
  yield* indexesOf(layout, rows, reader)
  yield* locksOf(layout, rows, reader)
  yield* recordsOf(layout, rows, reader)
  const totals = new Map<string, bigint>()
  for await (const pool of reader.pools()) yield* poolOf(reader, pool, totals)
  for await (const { denom, amount } of reader.totalLiquidities()) {
    const derived = totals.get(denom) ?? 0n
    if (amount < derived)
      yield { collection: 'totalLiquidity', key: denom, stored: `${amount}`, derived: `${derived}` }
  }
}

/** Every position has both index entries, and every index entry has its position. */
async function* indexesOf(layout: Layout, rows: Rows, reader: StateReader): AsyncGenerator<Difference> {
  const { positionsByOwner, positionsByPool } = layout.collections
  for await (const position of reader.positions()) {
    const { id, pool, owner } = position
    const keys = {
      positionsByOwner: positionsByOwner.encode(parseAddress(owner).bytes, pool, id),
      positionsByPool: positionsByPool.encode(pool, id)
    }
    for (const [collection, key] of Object.entries(keys))
      if (!(await rows.get(key)))
        yield {
          collection,
          key: `${collection === 'positionsByOwner' ? owner : pool}/${id}`,
          stored: undefined,
          derived: '01'
        }
  }
  for await (const page of rows.pages(positionsByOwner.scan()))
    for (const { key } of page) {
      const [owner, pool, id] = positionsByOwner.decode(key)
      const position = await reader.position(id)
      if (position?.pool !== pool || toHex(parseAddress(position.owner).bytes) !== toHex(owner))
        yield {
          collection: 'positionsByOwner',
          key: `${formatAddress({ prefix: 'osmo', bytes: owner })}/${pool}/${id}`,
          stored: '01',
          derived: undefined
        }
    }
  for await (const page of rows.pages(positionsByPool.scan()))
    for (const { key } of page) {
      const [pool, id] = positionsByPool.decode(key)
      if ((await reader.position(id))?.pool !== pool)
        yield { collection: 'positionsByPool', key: `${pool}/${id}`, stored: '01', derived: undefined }
    }
}

/** Locks and positions name each other, and the positions exist. */
async function* locksOf(layout: Layout, rows: Rows, reader: StateReader): AsyncGenerator<Difference> {
  const { positionLocks, lockPositions } = layout.collections
  for await (const page of rows.pages(positionLocks.scan()))
    for (const { key } of page) {
      const [position] = positionLocks.decode(key)
      const lock = (await reader.lockOf(position))!
      if (!(await reader.position(position)))
        yield { collection: 'positionLocks', key: `${position}`, stored: `${lock}`, derived: undefined }
      const back = await reader.positionOfLock(lock)
      if (back !== position)
        yield {
          collection: 'lockPositions',
          key: `${lock}`,
          stored: back?.toString(),
          derived: `${position}`
        }
    }
  for await (const page of rows.pages(lockPositions.scan()))
    for (const { key } of page) {
      const [lock] = lockPositions.decode(key)
      const position = (await reader.positionOfLock(lock))!
      if ((await reader.lockOf(position)) === undefined)
        yield { collection: 'lockPositions', key: `${lock}`, stored: `${position}`, derived: undefined }
    }
}

/** Reward records belong to existing positions, except those of incentives that the chain keeps without shares. */
async function* recordsOf(layout: Layout, rows: Rows, reader: StateReader): AsyncGenerator<Difference> {
  const { spreadPositions, uptimePositions } = layout.collections
  for await (const page of rows.pages(spreadPositions.scan()))
    for (const { key } of page) {
      const [pool, position] = spreadPositions.decode(key)
      if ((await reader.position(position))?.pool !== pool)
        yield {
          collection: 'spreadPositions',
          key: `${pool}/${position}`,
          stored: 'a record',
          derived: undefined
        }
    }
  for await (const pool of reader.pools())
    for (const uptime of UPTIMES.keys())
      for await (const page of rows.pages(uptimePositions.scan(pool.id, BigInt(uptime))))
        for (const { key, value } of page) {
          const [, , position] = uptimePositions.decode(key)
          if (uptimePositions.value.codec.decode(value).shares === 0n) continue
          if ((await reader.position(position))?.pool !== pool.id)
            yield {
              collection: 'uptimePositions',
              key: `${pool.id}/${uptime}/${position}`,
              stored: 'a record',
              derived: undefined
            }
        }
}

const addToSums = (sums: Sums, pool: Pool, position: Position): void => {
  const { lowerTick, upperTick, liquidity } = position
  for (const [index, net] of [
    [lowerTick, liquidity],
    [upperTick, -liquidity]
  ] as const) {
    const tick = sums.ticks.get(index) ?? { gross: 0n, net: 0n }
    sums.ticks.set(index, { gross: tick.gross + liquidity, net: tick.net + net })
  }
  if (lowerTick <= pool.tick && pool.tick < upperTick) sums.active += liquidity
  if (isFullRange(pool, position)) sums.fullRange += liquidity
  if (pool.sqrtPrice) sums.reserves = plus(sums.reserves, worth(pool, position, pool.sqrtPrice))
}

/** The sums over the positions of a pool. */
async function* poolOf(
  reader: StateReader,
  pool: Pool,
  totals: Map<string, bigint>
): AsyncGenerator<Difference> {
  const sums: Sums = { ticks: new Map(), active: 0n, fullRange: 0n, reserves: NO_RESERVES }
  for await (const position of reader.positionsIn(pool.id)) addToSums(sums, pool, position)
  for await (const { index, info } of reader.ticks(pool.id)) {
    const derived = sums.ticks.get(index)
    sums.ticks.delete(index)
    if (derived?.gross !== info.liquidityGross || derived.net !== info.liquidityNet)
      yield {
        collection: 'ticks',
        key: `${pool.id}/${index}`,
        stored: `gross ${dec.format(info.liquidityGross)}, net ${dec.format(info.liquidityNet)}`,
        derived: derived && `gross ${dec.format(derived.gross)}, net ${dec.format(derived.net)}`
      }
  }
  for (const [index, { gross, net }] of sums.ticks)
    yield {
      collection: 'ticks',
      key: `${pool.id}/${index}`,
      stored: undefined,
      derived: `gross ${dec.format(gross)}, net ${dec.format(net)}`
    }
  const { amount0, amount1 } = await reader.reserves(pool.id)
  const compared: readonly (readonly [collection: string, stored: bigint, derived: bigint])[] = [
    ['pools', pool.liquidity, sums.active],
    ['reserves', amount0, sums.reserves.amount0],
    ['reserves', amount1, sums.reserves.amount1]
  ]
  for (const [collection, stored, derived] of compared)
    if (stored !== derived)
      yield { collection, key: `${pool.id}`, stored: `${stored}`, derived: `${derived}` }
  const fullRange = await reader.fullRange(pool.id)
  if (fullRange < sums.fullRange)
    yield {
      collection: 'fullRangeLiquidity',
      key: `${pool.id}`,
      stored: `${fullRange}`,
      derived: `${sums.fullRange}`
    }
  for (const [denom, amount] of [
    [pool.token0, sums.reserves.amount0],
    [pool.token1, sums.reserves.amount1]
  ] as const)
    totals.set(denom, (totals.get(denom) ?? 0n) + amount / RESERVE_UNIT)
}
