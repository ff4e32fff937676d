/**
 * The state of concentrated liquidity in a store, under one profile, which the store records. Reads are those of
 * `Reader`. `change` runs one change at a time: its writes are one atomic batch, and a change that throws writes
 * nothing.
 *
 * @example
 * import { openStore } from '@quoin/store'
 * const liquidity = await Liquidity.open(await openStore('memory:'))
 * const address = 'osmo1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqruwfv6g3'
 * await liquidity.change(unit =>
 *   createPool(unit, {
 *     id: 1n,
 *     token0: 'uatom',
 *     token1: 'uosmo',
 *     tickSpacing: 100n,
 *     spreadFactor: dec.parse('0.002'),
 *     address,
 *     incentivesAddress: address,
 *     spreadRewardsAddress: address,
 *     now: parseTime('2024-01-01T00:00:00Z')
 *   })
 * )
 * (await liquidity.pool(1n))!.tickSpacing // 100n
 */
import { equalBytes, QuoinError } from '@quoin/primitives'
import { checkLayouts, claimLayouts, type Store } from '@quoin/store'
import { type Layout, layoutOf, liquidityAux, type Profile, profileKeyspaces } from './profile.ts'
import { type Reader, StateReader } from './reader.ts'
import { StoreRows } from './rows.ts'
import { StateUnitOfWork, type UnitOfWork } from './unit-of-work.ts'
import { type Difference, differences } from './verify.ts'

export interface LiquidityOptions {
  /** By default the profile of the store, or `chain` in a new one. */
  readonly profile?: Profile | undefined
}

/** The limit on attempts of a change beside concurrent writers. */
const ATTEMPTS = 100

const { profile: profiles, revision: revisions, loading } = liquidityAux.collections

export class Liquidity extends StateReader {
  readonly #store: Store
  #turn: Promise<unknown> = Promise.resolve()
  /** The revision of the last check of profile and completeness. */
  #checkedRevision: Uint8Array | undefined

  private constructor(store: Store, layout: Layout) {
    super(layout, new StoreRows(store))
    this.#store = store
  }

  /** Opens without writing: a new store gets its profile with the first change. */
  static async open(store: Store, { profile }: LiquidityOptions = {}): Promise<Liquidity> {
    const recorded = await store.use(profiles).get()
    if (recorded) await checkLayouts(store, profileKeyspaces(recorded))
    const liquidity = new Liquidity(store, layoutOf(recorded ?? profile ?? 'chain'))
    if (profile && profile !== liquidity.profile) throw otherProfile(profile, liquidity.profile)
    await liquidity.#checkWhole()
    return liquidity
  }

  /**
   * Runs a change. The function may run again after a concurrent write, and must not call `change`. The promise
   * resolves with its result when the writes are durable.
   */
  change<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    const done = this.#turn.then(() => this.#change(work))
    // A failed change does not fail the next one; its caller gets the error.
    this.#turn = done.catch(() => undefined)
    return done
  }

  /** Reads of one snapshot. */
  snapshot<T>(read: (reader: Reader) => Promise<T>): Promise<T> {
    return this.#store.snapshot(reads => read(new StateReader(this.layout, new StoreRows(reads))))
  }

  /** Derives every index and every sum again, and yields the differences. */
  async *verify({ limit = 1000 }: { readonly limit?: number } = {}): AsyncGenerator<Difference> {
    yield* await this.#store.snapshot(async reads => {
      const found: Difference[] = []
      for await (const difference of differences(this.layout, new StoreRows(reads))) {
        found.push(difference)
        if (found.length >= limit) break
      }
      return found
    })
  }

  async #change<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const revision = await this.#store.get(revisions.encode())
      if (!isSame(revision, this.#checkedRevision)) await this.#check(revision)
      const unit = new StateUnitOfWork(this.layout, this.rows)
      try {
        const result = await work(unit)
        await unit.updateReserves()
        unit.end()
        if (!unit.isEmpty) await this.#commit(unit, revision)
        return result
      } catch (error) {
        // A concurrent write may be the cause of the failure.
        const isStale = !isSame(await this.#store.get(revisions.encode()), revision)
        if (!isStale || attempt === ATTEMPTS) throw error
      }
    }
  }

  async #commit(unit: StateUnitOfWork, revision: Uint8Array | undefined): Promise<void> {
    if (!revision) await claimLayouts(this.#store, profileKeyspaces(this.profile))
    const batch = this.#store.batch().ifValue(revisions.encode(), revision)
    const { codec } = revisions.value
    const next = codec.encode((revision ? codec.decode(revision) : 0n) + 1n)
    batch.set(revisions.encode(), next)
    if (!revision) batch.use(profiles).at().set(this.profile)
    unit.writeTo(batch)
    await batch.commit()
    this.#checkedRevision = next
  }

  /** After a foreign write: checks its profile, and that its import is complete. */
  async #check(revision: Uint8Array | undefined): Promise<void> {
    const recorded = await this.#store.use(profiles).get()
    if (recorded && recorded !== this.profile) throw otherProfile(this.profile, recorded)
    await this.#checkWhole()
    this.#checkedRevision = revision
  }

  async #checkWhole(): Promise<void> {
    const begun = await this.#store.use(loading).get()
    if (begun) {
      throw new QuoinError('ERR_LIQUIDITY_LOADING', 'an import has not ended; import again', {
        import: begun
      })
    }
  }
}

const isSame = (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean =>
  a && b ? equalBytes(a, b) : a === b

const otherProfile = (asked: Profile, recorded: Profile): QuoinError =>
  new QuoinError('ERR_LIQUIDITY_PROFILE', `the store has the profile ${recorded}, not ${asked}`, {
    asked,
    recorded
  })
