/**
 * Reads of the state: by key, and by every scan that the key space promises. Walks return rows in the order of their
 * keys: ticks and the positions of a pool as numbers, all others as decimal text (1, 10, 2).
 */
import type { KeyRange, RangeOptions, Value } from '@quoin/keyspace'
import type { KeyValue } from '@quoin/store'
import { parseAddress } from './bech32.ts'
import type { Dec } from './decimal.ts'
import { decodeRows } from './decode-rows.ts'
import type { HOOK_ACTIONS } from './keys.ts'
import type { IncentiveRecord, Layout, Profile } from './profile.ts'
import { NO_RESERVES, type Reserves } from './reserves.ts'
import type { Rows } from './rows.ts'
import {
  type AccumulatorContent,
  type AccumulatorRecord,
  liquidityNetOf,
  type Pool,
  type Position,
  type TickInfo
} from './values.ts'

export interface Tick {
  readonly index: bigint
  readonly info: TickInfo
}

export interface TickWalk {
  /** The first tick; by default the lowest, or the highest when `reverse`. */
  readonly from?: bigint | undefined
  /** Whether the walk includes `from`; true by default. */
  readonly inclusive?: boolean | undefined
  readonly reverse?: boolean | undefined
}

/** A page: the walk continues after this key. */
export interface After<T> {
  readonly after?: T | undefined
}

/** Names the spread rewards of a pool, or with an uptime the incentives of that uptime. */
export interface AccumulatorName {
  readonly pool: bigint
  readonly uptime?: number | undefined
}

export type HookAction = (typeof HOOK_ACTIONS)[number]
export type Threshold = 'incentive' | 'spread'

export interface Reader {
  readonly profile: Profile
  pool(id: bigint): Promise<Pool | undefined>
  pools(walk?: After<bigint>): AsyncIterable<Pool>
  tick(pool: bigint, index: bigint): Promise<TickInfo | undefined>
  ticks(pool: bigint, walk?: TickWalk): AsyncIterable<Tick>
  position(id: bigint): Promise<Position | undefined>
  positions(): AsyncIterable<Position>
  positionsOf(
    owner: string,
    pool?: bigint,
    walk?: After<Pick<Position, 'pool' | 'id'>>
  ): AsyncIterable<Position>
  positionsIn(pool: bigint, walk?: After<bigint>): AsyncIterable<Position>
  hasPositions(pool: bigint): Promise<boolean>
  incentives(pool: bigint, uptime?: number): AsyncIterable<IncentiveRecord>
  accumulator(name: AccumulatorName): Promise<AccumulatorContent | undefined>
  accumulatorRecord(name: AccumulatorName, position: bigint): Promise<AccumulatorRecord | undefined>
  lockOf(position: bigint): Promise<bigint | undefined>
  positionOfLock(lock: bigint): Promise<bigint | undefined>
  /**
   * The chain's count of full-range liquidity: positions add theirs whenever they are set, and never subtract it. It is
   * at least the liquidity of the full-range positions.
   */
  fullRange(pool: bigint): Promise<Dec>
  /** The worth of a pool's positions at its price, times 10^54. */
  reserves(pool: bigint): Promise<Reserves>
  /**
   * The chain's count of a denom's coins in pools: withdrawals do not subtract from it, and swaps add their rewards. It
   * is at least the reserves of all pools.
   */
  totalLiquidity(denom: string): Promise<bigint>
  totalLiquidities(): AsyncIterable<{ readonly denom: string; readonly amount: bigint }>
  nextPositionId(): Promise<bigint>
  nextIncentiveId(): Promise<bigint>
  /** The last pool with unscaled accumulators, if set. */
  threshold(of: Threshold): Promise<bigint | undefined>
  hook(pool: bigint, action: HookAction): Promise<string | undefined>
  /** The parameters of the module, if the state was imported with them. */
  params(): Promise<Readonly<Record<string, unknown>> | undefined>
}

/** A collection of single values. */
interface ValueCollection<T> {
  readonly value: Value<T>
}

export class StateReader implements Reader {
  protected readonly layout: Layout
  protected readonly rows: Rows

  constructor(layout: Layout, rows: Rows) {
    this.layout = layout
    this.rows = rows
  }

  get profile(): Profile {
    return this.layout.profile
  }

  protected async get<T>(collection: ValueCollection<T>, key: Uint8Array): Promise<T | undefined> {
    const bytes = await this.rows.get(key)
    return bytes && collection.value.codec.decode(bytes)
  }

  pool(id: bigint): Promise<Pool | undefined> {
    const { pools } = this.layout.collections
    return this.get(pools, pools.encode(id))
  }

  pools({ after }: After<bigint> = {}): AsyncIterable<Pool> {
    const { pools } = this.layout.collections
    return this.#values(pools, after === undefined ? pools.scan() : pools.range([], { after: [after] }))
  }

  tick(pool: bigint, index: bigint): Promise<TickInfo | undefined> {
    const { ticks } = this.layout.collections
    return this.get(ticks, ticks.encode(pool, index))
  }

  ticks(pool: bigint, walk?: TickWalk): AsyncIterable<Tick> {
    const { ticks } = this.layout.collections
    return decodeRows(this.#tickPages(pool, walk), (key, value) => ({
      index: ticks.decode(key)[1],
      info: ticks.value.codec.decode(value)
    }))
  }

  /** The same with only the net liquidity of each tick. */
  netLiquidities(pool: bigint, walk: TickWalk): AsyncIterable<{ readonly index: bigint; readonly net: Dec }> {
    const { ticks } = this.layout.collections
    return decodeRows(this.#tickPages(pool, walk), (key, value) => ({
      index: ticks.decode(key)[1],
      net: liquidityNetOf(value)
    }))
  }

  #tickPages(
    pool: bigint,
    { from, inclusive = true, reverse = false }: TickWalk = {}
  ): AsyncIterable<readonly KeyValue[]> {
    const { ticks } = this.layout.collections
    const bound = from === undefined ? { reverse } : tickBound(from, inclusive, reverse)
    return this.rows.pages(ticks.range([pool], bound))
  }

  position(id: bigint): Promise<Position | undefined> {
    const { positions } = this.layout.collections
    return this.get(positions, positions.encode(id))
  }

  positions(): AsyncIterable<Position> {
    const { positions } = this.layout.collections
    return this.#values(positions, positions.scan())
  }

  positionsOf(
    owner: string,
    pool?: bigint,
    { after }: After<Pick<Position, 'pool' | 'id'>> = {}
  ): AsyncIterable<Position> {
    const { positionsByOwner } = this.layout.collections
    const { bytes } = parseAddress(owner)
    const range =
      pool === undefined
        ? positionsByOwner.range([bytes], after && { after: [after.pool, after.id] })
        : positionsByOwner.range([bytes, pool], after && { after: [after.id] })
    return this.#indexed(range, key => positionsByOwner.decode(key)[2])
  }

  positionsIn(pool: bigint, { after }: After<bigint> = {}): AsyncIterable<Position> {
    const { positionsByPool } = this.layout.collections
    const range = positionsByPool.range([pool], after === undefined ? {} : { after: [after] })
    return this.#indexed(range, key => positionsByPool.decode(key)[1])
  }

  async hasPositions(pool: bigint): Promise<boolean> {
    for await (const page of this.rows.pages(this.layout.collections.positionsByPool.scan(pool)))
      return page.length > 0
    return false
  }

  incentives(pool: bigint, uptime?: number): AsyncIterable<IncentiveRecord> {
    const { scan, decode, body } = this.layout.incentives
    return decodeRows(this.rows.pages(scan(pool, uptime)), (key, value) => ({
      ...decode(key),
      body: body.decode(value)
    }))
  }

  accumulator({ pool, uptime }: AccumulatorName): Promise<AccumulatorContent | undefined> {
    const { spreadAccumulators, uptimeAccumulators } = this.layout.collections
    return uptime === undefined
      ? this.get(spreadAccumulators, spreadAccumulators.encode(pool))
      : this.get(uptimeAccumulators, uptimeAccumulators.encode(pool, BigInt(uptime)))
  }

  accumulatorRecord(
    { pool, uptime }: AccumulatorName,
    position: bigint
  ): Promise<AccumulatorRecord | undefined> {
    const { spreadPositions, uptimePositions } = this.layout.collections
    return uptime === undefined
      ? this.get(spreadPositions, spreadPositions.encode(pool, position))
      : this.get(uptimePositions, uptimePositions.encode(pool, BigInt(uptime), position))
  }

  lockOf(position: bigint): Promise<bigint | undefined> {
    const { positionLocks } = this.layout.collections
    return this.get(positionLocks, positionLocks.encode(position))
  }

  positionOfLock(lock: bigint): Promise<bigint | undefined> {
    const { lockPositions } = this.layout.collections
    return this.get(lockPositions, lockPositions.encode(lock))
  }

  async fullRange(pool: bigint): Promise<Dec> {
    const { fullRangeLiquidity } = this.layout.collections
    return (await this.get(fullRangeLiquidity, fullRangeLiquidity.encode(pool))) ?? 0n
  }

  async reserves(pool: bigint): Promise<Reserves> {
    const { reserves } = this.layout.collections
    return (await this.get(reserves, reserves.encode(pool))) ?? NO_RESERVES
  }

  async totalLiquidity(denom: string): Promise<bigint> {
    const { totalLiquidity } = this.layout.collections
    return (await this.get(totalLiquidity, totalLiquidity.encode(denom))) ?? 0n
  }

  totalLiquidities(): AsyncIterable<{ readonly denom: string; readonly amount: bigint }> {
    const { totalLiquidity } = this.layout.collections
    return decodeRows(this.rows.pages(totalLiquidity.scan()), (key, value) => ({
      denom: totalLiquidity.decode(key)[0],
      amount: totalLiquidity.value.codec.decode(value)
    }))
  }

  async nextPositionId(): Promise<bigint> {
    const { nextPosition } = this.layout.collections
    return (await this.get(nextPosition, nextPosition.encode())) ?? 1n
  }

  async nextIncentiveId(): Promise<bigint> {
    const { nextIncentive } = this.layout.collections
    return (await this.get(nextIncentive, nextIncentive.encode())) ?? 1n
  }

  threshold(of: Threshold): Promise<bigint | undefined> {
    const collection = this.layout.collections[`${of}Threshold`]
    return this.get(collection, collection.encode())
  }

  hook(pool: bigint, action: HookAction): Promise<string | undefined> {
    const { hooks } = this.layout.collections
    return this.get(hooks, hooks.encode(pool, action))
  }

  params(): Promise<Readonly<Record<string, unknown>> | undefined> {
    const { params } = this.layout.collections
    return this.get(params, params.encode())
  }

  #values<T>(collection: ValueCollection<T>, range: KeyRange): AsyncIterable<T> {
    return decodeRows(this.rows.pages(range), (_, value) => collection.value.codec.decode(value))
  }

  /** The positions of an index. The first page is requested at once, so the walk is as stable as any other. */
  #indexed(range: KeyRange, idOf: (key: Uint8Array) => bigint): AsyncIterable<Position> {
    return this.#positions(decodeRows(this.rows.pages(range), idOf))
  }

  async *#positions(ids: AsyncIterable<bigint>): AsyncGenerator<Position> {
    for await (const id of ids) {
      const position = await this.position(id)
      // Undefined when the position was removed after the page was read.
      if (position) yield position
    }
  }
}

const tickBound = (from: bigint, inclusive: boolean, reverse: boolean): RangeOptions<[bigint]> => {
  if (reverse) return inclusive ? { lte: [from], reverse } : { lt: [from], reverse }
  return inclusive ? { gte: [from] } : { gt: [from] }
}
