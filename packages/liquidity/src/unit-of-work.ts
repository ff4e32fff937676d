/**
 * The unit of work of one change: its reads see its writes, and a store gets all of them in one batch. Writes
 * maintain the two position indexes, both directions of locks and full-range liquidity at once; reserves are computed
 * before they are read and before the commit.
 */
import { QuoinError } from '@quoin/primitives'
import type { Batch } from '@quoin/store'
import { parseAddress } from './bech32.ts'
import type { IncentiveRecord, Layout } from './profile.ts'
import { type AccumulatorName, type HookAction, type Reader, StateReader, type Threshold } from './reader.ts'
import {
  isFullRange,
  minus,
  moved,
  NO_RESERVES,
  plus,
  type Reserves,
  sqrtPriceAt,
  worth
} from './reserves.ts'
import { BufferedRows, type Rows } from './rows.ts'
import type { AccumulatorContent, AccumulatorRecord, Pool, Position, TickInfo } from './values.ts'

export interface UnitOfWork extends Reader {
  setPool(pool: Pool): void
  setTick(pool: bigint, index: bigint, info: TickInfo): void
  removeTick(pool: bigint, index: bigint): void
  /** Adds or replaces a position, with its index entries and its part of the reserves. */
  setPosition(position: Position): Promise<void>
  /** Removes a position, its index entries, its part of the reserves and its lock. */
  removePosition(id: bigint): Promise<void>
  setLock(position: bigint, lock: bigint): Promise<void>
  removeLock(position: bigint): Promise<void>
  /** Stores a record, or removes it when nothing remains of it. */
  setIncentive(record: IncentiveRecord): void
  /** Adds to the chain's count of a denom's coins in pools, or subtracts. */
  addTotalLiquidity(denom: string, amount: bigint): Promise<void>
  setAccumulator(name: AccumulatorName, content: AccumulatorContent): void
  setAccumulatorRecord(name: AccumulatorName, position: bigint, record: AccumulatorRecord): void
  removeAccumulatorRecord(name: AccumulatorName, position: bigint): void
  /** Returns the next id and increments the counter. */
  takePositionId(): Promise<bigint>
  takeIncentiveId(): Promise<bigint>
  setNextPositionId(id: bigint): void
  setNextIncentiveId(id: bigint): void
  setThreshold(of: Threshold, pool: bigint): void
  setHook(pool: bigint, action: HookAction, contract: string | undefined): void
}

const refused = (reason: string, message: string, details: Record<string, string>): QuoinError =>
  new QuoinError('ERR_LIQUIDITY_REFUSED', message, { reason, ...details })

export class StateUnitOfWork extends StateReader implements UnitOfWork {
  readonly #written: BufferedRows
  /** The state at which reserves were last computed, and the pools and positions that have changed since. */
  #reservesBase: StateReader
  readonly #pools = new Set<bigint>()
  readonly #positions = new Map<bigint, Position | undefined>()
  /**
   * Pools as they are, and as they were when reserves were last computed. Both are decoded: one change reads a pool
   * often.
   */
  readonly #present = new Map<bigint, Pool>()
  readonly #former = new Map<bigint, Pool | undefined>()

  constructor(layout: Layout, base: Rows) {
    const written = new BufferedRows(base)
    super(layout, written)
    this.#written = written
    this.#reservesBase = new StateReader(layout, base)
  }

  get isEmpty(): boolean {
    return this.#written.isEmpty
  }

  writeTo(batch: Batch): void {
    this.#written.writeTo(batch)
  }

  /** Refuses later writes. */
  end(): void {
    this.#written.end()
  }

  override async pool(id: bigint): Promise<Pool | undefined> {
    const known = this.#present.get(id)
    if (known) return known
    const read = await super.pool(id)
    const set = this.#present.get(id)
    if (set) return set
    this.#former.set(id, read)
    if (read) this.#present.set(id, read)
    return read
  }

  setPool(pool: Pool): void {
    const { pools } = this.layout.collections
    this.#written.set(pools.encode(pool.id), pools.value.codec.encode(pool))
    this.#present.set(pool.id, pool)
    this.#pools.add(pool.id)
  }

  setTick(pool: bigint, index: bigint, info: TickInfo): void {
    const { ticks } = this.layout.collections
    this.#written.set(ticks.encode(pool, index), ticks.value.codec.encode(info))
  }

  removeTick(pool: bigint, index: bigint): void {
    this.#written.delete(this.layout.collections.ticks.encode(pool, index))
  }

  async setPosition(position: Position): Promise<void> {
    const { positions, positionsByOwner, positionsByPool } = this.layout.collections
    const pool = await this.pool(position.pool)
    if (!pool)
      throw refused('pool', `position ${position.id} is in an unknown pool ${position.pool}`, {
        pool: `${position.pool}`
      })
    const owner = parseAddress(position.owner).bytes
    await this.#unindex(position.id)
    this.#written.set(positions.encode(position.id), positions.value.codec.encode(position))
    this.#written.set(positionsByOwner.encode(owner, pool.id, position.id), MARK)
    this.#written.set(positionsByPool.encode(pool.id, position.id), MARK)
    await this.#addFullRange(pool, position)
  }

  async removePosition(id: bigint): Promise<void> {
    if (!(await this.#unindex(id))) throw refused('position', `unknown position ${id}`, { position: `${id}` })
    this.#written.delete(this.layout.collections.positions.encode(id))
    await this.removeLock(id)
  }

  /** Removes a position from indexes, and returns it. */
  async #unindex(id: bigint): Promise<Position | undefined> {
    const { positionsByOwner, positionsByPool } = this.layout.collections
    const before = await this.position(id)
    if (!this.#positions.has(id)) this.#positions.set(id, before)
    if (!before) return undefined
    this.#written.delete(positionsByOwner.encode(parseAddress(before.owner).bytes, before.pool, id))
    this.#written.delete(positionsByPool.encode(before.pool, id))
    this.#pools.add(before.pool)
    return before
  }

  /** As the chain counts: all of a full-range position whenever it is set, and nothing back when it leaves. */
  async #addFullRange(pool: Pool, position: Position): Promise<void> {
    this.#pools.add(pool.id)
    if (!isFullRange(pool, position)) return
    const { fullRangeLiquidity } = this.layout.collections
    const sum = (await this.fullRange(pool.id)) + position.liquidity
    this.#written.set(fullRangeLiquidity.encode(pool.id), fullRangeLiquidity.value.codec.encode(sum))
  }

  async addTotalLiquidity(denom: string, amount: bigint): Promise<void> {
    if (amount === 0n) return
    const { totalLiquidity } = this.layout.collections
    const sum = (await this.totalLiquidity(denom)) + amount
    this.#written.set(totalLiquidity.encode(denom), totalLiquidity.value.codec.encode(sum))
  }

  async setLock(position: bigint, lock: bigint): Promise<void> {
    const { positionLocks, lockPositions } = this.layout.collections
    const other = await this.positionOfLock(lock)
    if (other !== undefined && other !== position)
      throw refused('lock', `lock ${lock} belongs to position ${other}`, {
        lock: `${lock}`,
        position: `${other}`
      })
    await this.removeLock(position)
    this.#written.set(positionLocks.encode(position), positionLocks.value.codec.encode(lock))
    this.#written.set(lockPositions.encode(lock), lockPositions.value.codec.encode(position))
  }

  async removeLock(position: bigint): Promise<void> {
    const { positionLocks, lockPositions } = this.layout.collections
    const lock = await this.lockOf(position)
    if (lock === undefined) return
    this.#written.delete(positionLocks.encode(position))
    this.#written.delete(lockPositions.encode(lock))
  }

  setIncentive(record: IncentiveRecord): void {
    const { encode, body } = this.layout.incentives
    if (record.body.remaining.amount === 0n) this.#written.delete(encode(record))
    else this.#written.set(encode(record), body.encode(record.body))
  }

  setAccumulator({ pool, uptime }: AccumulatorName, content: AccumulatorContent): void {
    const { spreadAccumulators, uptimeAccumulators } = this.layout.collections
    const key =
      uptime === undefined ? spreadAccumulators.encode(pool) : uptimeAccumulators.encode(pool, BigInt(uptime))
    this.#written.set(key, spreadAccumulators.value.codec.encode(content))
  }

  setAccumulatorRecord(name: AccumulatorName, position: bigint, record: AccumulatorRecord): void {
    const { codec } = this.layout.collections.spreadPositions.value
    this.#written.set(this.#recordKey(name, position), codec.encode(record))
  }

  removeAccumulatorRecord(name: AccumulatorName, position: bigint): void {
    this.#written.delete(this.#recordKey(name, position))
  }

  #recordKey({ pool, uptime }: AccumulatorName, position: bigint): Uint8Array {
    const { spreadPositions, uptimePositions } = this.layout.collections
    return uptime === undefined
      ? spreadPositions.encode(pool, position)
      : uptimePositions.encode(pool, BigInt(uptime), position)
  }

  async takePositionId(): Promise<bigint> {
    const id = await this.nextPositionId()
    this.setNextPositionId(id + 1n)
    return id
  }

  async takeIncentiveId(): Promise<bigint> {
    const id = await this.nextIncentiveId()
    this.setNextIncentiveId(id + 1n)
    return id
  }

  setNextPositionId(id: bigint): void {
    const { nextPosition } = this.layout.collections
    this.#written.set(nextPosition.encode(), nextPosition.value.codec.encode(id))
  }

  setNextIncentiveId(id: bigint): void {
    const { nextIncentive } = this.layout.collections
    this.#written.set(nextIncentive.encode(), nextIncentive.value.codec.encode(id))
  }

  setThreshold(of: Threshold, pool: bigint): void {
    const collection = this.layout.collections[`${of}Threshold`]
    this.#written.set(collection.encode(), collection.value.codec.encode(pool))
  }

  setHook(pool: bigint, action: HookAction, contract: string | undefined): void {
    const { hooks } = this.layout.collections
    const key = hooks.encode(pool, action)
    if (contract === undefined) this.#written.delete(key)
    else this.#written.set(key, hooks.value.codec.encode(contract))
  }

  override async reserves(pool: bigint): Promise<Reserves> {
    await this.updateReserves()
    return super.reserves(pool)
  }

  /** Computes reserves from the pools and positions that have changed. */
  async updateReserves(): Promise<void> {
    if (this.#pools.size === 0) return
    for (const id of this.#pools) {
      const pool = (await this.pool(id))!
      const change = await this.#changeOf(pool)
      if (change.amount0 !== 0n || change.amount1 !== 0n) await this.#addReserves(pool, change)
      this.#former.set(id, pool)
    }
    this.#pools.clear()
    this.#positions.clear()
    this.#reservesBase = new StateReader(this.layout, this.#written.fork())
  }

  /** The change of reserves: the old positions moved to the new price, then the changed positions at that price. */
  async #changeOf(pool: Pool): Promise<Reserves> {
    const before = this.#former.has(pool.id)
      ? this.#former.get(pool.id)
      : await this.#reservesBase.pool(pool.id)
    // Without positions a pool has no price, and no reserves to move.
    const price = pool.sqrtPrice || before?.sqrtPrice
    if (!price) return NO_RESERVES
    let change = before?.sqrtPrice && pool.sqrtPrice ? await this.#movement(before, pool) : NO_RESERVES
    for (const [id, former] of this.#positions) {
      if (former?.pool === pool.id) change = minus(change, worth(pool, former, price))
      const present = await this.position(id)
      if (present?.pool === pool.id) change = plus(change, worth(pool, present, price))
    }
    return change
  }

  async #movement(before: Pool, after: Pool): Promise<Reserves> {
    const reverse = after.tick < before.tick
    let { sqrtPrice, liquidity } = before
    let change = NO_RESERVES
    if (after.tick !== before.tick) {
      const walk = { from: before.tick, inclusive: reverse, reverse }
      for await (const { index, net } of this.#reservesBase.netLiquidities(before.id, walk)) {
        if (reverse ? index <= after.tick : index > after.tick) break
        const next = sqrtPriceAt(before, index)
        change = plus(change, moved(liquidity, sqrtPrice, next))
        liquidity += reverse ? -net : net
        sqrtPrice = next
      }
    }
    return plus(change, moved(liquidity, sqrtPrice, after.sqrtPrice))
  }

  async #addReserves({ id }: Pool, change: Reserves): Promise<void> {
    const { reserves } = this.layout.collections
    const after = plus(await super.reserves(id), change)
    const key = reserves.encode(id)
    if (after.amount0 === 0n && after.amount1 === 0n) this.#written.delete(key)
    else this.#written.set(key, reserves.value.codec.encode(after))
  }
}

const MARK = Uint8Array.of(1)
