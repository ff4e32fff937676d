/**
 * Fills an empty store with a state. Index entries of the input are not trusted: primary rows are written as they come,
 * then every index and the reserves are derived from the positions and compared with the input. The chain's counts
 * (full-range and total liquidity) depend on history: raw rows keep them, and a state export, which has none, begins
 * them at the sums, as the chain does at its genesis.
 * A load that fails leaves the store empty. A store whose load was cut off with its process does not open; the next load
 * clears it first. Memory does not grow with the state.
 */

import type { Collection } from '@quoin/keyspace'
import { QuoinError } from '@quoin/primitives'
import { type Batch, claimLayouts, type Store } from '@quoin/store'
import { parseAddress } from '../bech32.ts'
import { type Layout, layoutOf, liquidityAux, type Profile, profileKeyspaces } from '../profile.ts'
import { StateReader } from '../reader.ts'
import { isFullRange, NO_RESERVES, plus, type Reserves, wholeCoins, worth } from '../reserves.ts'
import { StoreRows } from '../rows.ts'
import type { Pool, Position } from '../values.ts'
import { wholeRanges } from './collections.ts'
import { type Drift, driftOf } from './drift.ts'
import { RowWriter } from './row-writer.ts'

export interface LoadOptions {
  /** `chain` by default. */
  readonly profile?: Profile | undefined
  /** Called every few thousand rows, and at the end. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined
}

export interface LoadProgress {
  readonly doing: 'clearing' | 'reading' | 'indexing'
  /** Rows written, or positions indexed. */
  readonly done: number
}

export interface LoadReport {
  readonly profile: Profile
  readonly rows: number
  readonly pools: number
  readonly ticks: number
  readonly positions: number
  readonly drift: readonly Drift[]
}

const PROGRESS_EVERY = 10_000

const { profile: profiles, revision: revisions, loading } = liquidityAux.collections

interface Sums {
  readonly pool: Pool
  fullRange: bigint
  reserves: Reserves
}

export class Load {
  readonly #store: Store
  readonly #layout: Layout
  readonly #rows: StoreRows
  readonly #reader: StateReader
  readonly #onProgress: (progress: LoadProgress) => void
  #writer: RowWriter
  #count = 0
  readonly #counts = new Map<string, number>()
  /** Counts of the input, for the comparison; as many as pools and denoms. */
  readonly #given = new Map<string, Map<string, bigint>>()
  #highestPosition = 0n

  private constructor(store: Store, layout: Layout, onProgress: LoadOptions['onProgress']) {
    this.#store = store
    this.#layout = layout
    this.#rows = new StoreRows(store)
    this.#reader = new StateReader(layout, this.#rows)
    this.#onProgress = onProgress ?? (() => {})
    this.#writer = new RowWriter(store)
  }

  get profile(): Profile {
    return this.#layout.profile
  }

  /** Runs a load from beginning to end. */
  static async run(
    store: Store,
    kind: 'genesis' | 'raw',
    { profile, onProgress }: LoadOptions,
    fill: (load: Load) => Promise<void>
  ): Promise<LoadReport> {
    const recorded = await store.use(profiles).get()
    const isCutOff = (await store.use(loading).get()) !== undefined
    if (recorded && profile && recorded !== profile && !isCutOff)
      throw new QuoinError('ERR_LIQUIDITY_PROFILE', `the store has the profile ${recorded}, not ${profile}`, {
        asked: profile,
        recorded
      })
    if (isCutOff) await new Load(store, layoutOf(recorded!), onProgress).#clear()
    const load = new Load(store, layoutOf(profile ?? recorded ?? 'chain'), onProgress)
    await load.#begin(kind, isCutOff)
    try {
      await fill(load)
      return await load.#end(kind === 'genesis')
    } catch (error) {
      // If this fails too, the mark stays, so that the store does not open before the next load clears it.
      await load.#undo(recorded === undefined || isCutOff).catch(() => undefined)
      throw error
    }
  }

  /** Leaves the store as empty as it was. */
  async #undo(isNew: boolean): Promise<void> {
    this.#writer = new RowWriter(this.#store)
    await this.#clear()
    const last = this.#store.batch()
    last.del(loading.encode())
    if (isNew) last.del(profiles.encode())
    this.#advance(last, await this.#store.get(revisions.encode()))
    await last.commit()
  }

  async #clear(): Promise<void> {
    let removed = 0
    for (const { range, owns } of wholeRanges(this.#layout, true))
      for await (const page of this.#rows.pages(range))
        for (const { key } of page) {
          if (!owns(key)) continue
          await this.#writer.delete(key)
          this.#progress('clearing', ++removed)
        }
    await this.#writer.end()
  }

  async #begin(kind: 'genesis' | 'raw', isCutOff: boolean): Promise<void> {
    const revision = await this.#store.get(revisions.encode())
    if (!isCutOff)
      for (const { range, owns } of wholeRanges(this.#layout, true))
        for await (const page of this.#rows.pages(range))
          if (page.some(({ key }) => owns(key)))
            throw new QuoinError('ERR_LIQUIDITY_NOT_EMPTY', 'the store already has liquidity in it')
    await claimLayouts(this.#store, profileKeyspaces(this.profile))
    const batch = this.#store.batch().ifValue(revisions.encode(), revision)
    this.#advance(batch, revision)
    batch.use(profiles).at().set(this.profile)
    batch.use(loading).at().set(kind)
    await batch.commit()
  }

  #advance(batch: Batch, revision: Uint8Array | undefined): void {
    const { codec } = revisions.value
    batch.set(revisions.encode(), codec.encode((revision ? codec.decode(revision) : 0n) + 1n))
  }

  /** Adds a primary row. The caller awaits the result, if there is one. */
  put(collection: Pick<Collection, 'name'>, key: Uint8Array, value: Uint8Array): Promise<void> | undefined {
    this.#counted(collection.name)
    return this.#writer.set(key, value)
  }

  /** Notes an entry of an index, for the comparison. */
  note(collection: Pick<Collection, 'name'>): void {
    this.#counted(collection.name)
  }

  /** Keeps a count of the chain for the comparison. */
  count(collection: Pick<Collection, 'name'>, name: string, sum: bigint): void {
    const sums = this.#given.get(collection.name) ?? new Map<string, bigint>()
    this.#given.set(collection.name, sums.set(name, sum))
  }

  #counted(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    this.#progress('reading', ++this.#count)
  }

  #progress(doing: LoadProgress['doing'], done: number): void {
    if (done % PROGRESS_EVERY === 0) this.#onProgress({ doing, done })
  }

  async #end(isGenesis: boolean): Promise<LoadReport> {
    await this.#writer.end()
    this.#onProgress({ doing: 'reading', done: this.#count })
    this.#writer = new RowWriter(this.#store)
    const sums = new Map<bigint, Sums>()
    const positions = await this.#index(sums)
    const locks = await this.#indexLocks()
    const totals = await this.#writeSums(sums, isGenesis)
    const drift = driftOf(
      this.#layout,
      { entries: this.#counts, sums: this.#given },
      {
        positions,
        locks,
        fullRange: pool => sums.get(pool)?.fullRange ?? 0n,
        total: denom => totals.get(denom) ?? 0n
      }
    )
    const last = this.#store.batch()
    last.del(loading.encode())
    this.#advance(last, await this.#store.get(revisions.encode()))
    await this.#keepIdsAhead(last)
    await this.#writer.end(last)
    this.#onProgress({ doing: 'indexing', done: positions })
    const { pools, ticks } = this.#layout.collections
    return {
      profile: this.profile,
      rows: this.#count,
      pools: this.#counts.get(pools.name) ?? 0,
      ticks: this.#counts.get(ticks.name) ?? 0,
      positions,
      drift
    }
  }

  /** Writes both indexes of positions, and sums over positions. */
  async #index(sums: Map<bigint, Sums>): Promise<number> {
    const { positionsByOwner, positionsByPool } = this.#layout.collections
    let done = 0
    for await (const position of this.#reader.positions()) {
      const { id, pool, owner } = position
      await this.#writer.set(positionsByOwner.encode(parseAddress(owner).bytes, pool, id), MARK)
      await this.#writer.set(positionsByPool.encode(pool, id), MARK)
      if (id > this.#highestPosition) this.#highestPosition = id
      await this.#sum(sums, position)
      this.#progress('indexing', ++done)
    }
    return done
  }

  async #sum(sums: Map<bigint, Sums>, position: Position): Promise<void> {
    let sum = sums.get(position.pool)
    if (!sum) {
      const pool = await this.#reader.pool(position.pool)
      if (!pool)
        throw new QuoinError(
          'ERR_LIQUIDITY_IMPORT',
          `position ${position.id} is in an unknown pool ${position.pool}`,
          {
            position: `${position.id}`,
            pool: `${position.pool}`
          }
        )
      sum = { pool, fullRange: 0n, reserves: NO_RESERVES }
      sums.set(pool.id, sum)
    }
    const { pool } = sum
    if (isFullRange(pool, position)) sum.fullRange += position.liquidity
    if (pool.sqrtPrice) sum.reserves = plus(sum.reserves, worth(pool, position, pool.sqrtPrice))
  }

  async #indexLocks(): Promise<number> {
    const { positionLocks, lockPositions } = this.#layout.collections
    let done = 0
    for await (const page of this.#rows.pages(positionLocks.scan()))
      for (const { key, value } of page) {
        const [position] = positionLocks.decode(key)
        const lock = positionLocks.value.codec.decode(value)
        await this.#writer.set(lockPositions.encode(lock), lockPositions.value.codec.encode(position))
        done++
      }
    return done
  }

  /** Writes reserves, and with `isGenesis` the chain's counts. Returns the coins of each denom. */
  async #writeSums(sums: Map<bigint, Sums>, isGenesis: boolean): Promise<Map<string, bigint>> {
    const { fullRangeLiquidity, reserves: kept, totalLiquidity } = this.#layout.collections
    const totals = new Map<string, bigint>()
    for (const { pool, fullRange, reserves } of sums.values()) {
      if (isGenesis && fullRange !== 0n)
        await this.#writer.set(
          fullRangeLiquidity.encode(pool.id),
          fullRangeLiquidity.value.codec.encode(fullRange)
        )
      if (reserves.amount0 !== 0n || reserves.amount1 !== 0n)
        await this.#writer.set(kept.encode(pool.id), kept.value.codec.encode(reserves))
      for (const [denom, amount] of [
        [pool.token0, reserves.amount0],
        [pool.token1, reserves.amount1]
      ] as const)
        totals.set(denom, (totals.get(denom) ?? 0n) + wholeCoins(amount))
    }
    for (const [denom, total] of totals)
      if (isGenesis && total !== 0n)
        await this.#writer.set(totalLiquidity.encode(denom), totalLiquidity.value.codec.encode(total))
    return totals
  }

  /** Moves the next ids above every id in use, even if the dump leaves them out. */
  async #keepIdsAhead(last: Batch): Promise<void> {
    if ((await this.#reader.nextPositionId()) > this.#highestPosition) return
    last
      .use(this.#layout.collections.nextPosition)
      .at()
      .set(this.#highestPosition + 1n)
  }
}

const MARK = Uint8Array.of(1)
