/**
 * Imports a state export of any size: the file of a chain, its part `concentratedliquidity`, or the state of the
 * module alone; in the current schema or that of 2023.
 */
import { QuoinError } from '@quoin/primitives'
import type { Store } from '@quoin/store'
import { layoutOf } from '../profile.ts'
import type { AccumulatorName } from '../reader.ts'
import { isObject, malformed, unsigned } from './form.ts'
import { type Forms, type FullPosition, formsOf, type NamedAccumulator } from './genesis-form.ts'
import { type Decision, type Taken, takeJson } from './json-stream.ts'
import { Load, type LoadOptions, type LoadReport } from './load.ts'

const MODULE = 'concentratedliquidity'
const TODAY = formsOf('today')
const FORMER = formsOf('2023')

/** The parts of the state, and the parts of a pool's data. */
const PARTS: ReadonlyMap<string, Decision> = new Map([
  ['params', 'take'],
  ['pool_data', 'enter'],
  ['positions', 'enter'],
  ['position_data', 'enter'],
  ['next_position_id', 'take'],
  ['next_incentive_record_id', 'take'],
  ['incentives_accumulator_pool_id_migration_threshold', 'take'],
  ['spread_factor_pool_id_migration_threshold', 'take']
])
const POOL_PARTS: ReadonlyMap<string, Decision> = new Map([
  ['pool', 'take'],
  ['ticks', 'enter'],
  ['fee_accumulator', 'take'],
  ['spread_reward_accumulator', 'take'],
  ['incentives_accumulators', 'enter'],
  ['incentive_records', 'enter']
])

const decideInside = ([part, item, poolPart, ...rest]: readonly string[]): Decision => {
  if (part === undefined) return 'enter'
  const decision = PARTS.get(part)
  // An unknown part would be lost.
  if (!decision) throw malformed(part, 'known here')
  if (item === undefined) return decision
  if (part !== 'pool_data') return 'take'
  if (poolPart === undefined) return 'enter'
  const inPool = POOL_PARTS.get(poolPart)
  if (!inPool) throw malformed(`${part}.${poolPart}`, 'known here')
  return rest.length === 0 ? inPool : 'take'
}

/** The depth at which the state of the module begins in a path. */
const rootOf = ([first, second]: readonly string[]): number | undefined => {
  if (first === 'app_state') return second === MODULE ? 2 : undefined
  if (first === MODULE) return 1
  return first !== undefined && PARTS.has(first) ? 0 : undefined
}

const decide = (path: readonly string[]): Decision => {
  if (path.length === 0 || (path.length === 1 && path[0] === 'app_state')) return 'enter'
  const root = rootOf(path)
  return root === undefined ? 'skip' : decideInside(path.slice(root))
}

/** Fills an empty store from a state export, and derives every index and sum from its positions. */
export const importGenesis = (
  store: Store,
  source: AsyncIterable<Uint8Array>,
  options: LoadOptions = {}
): Promise<LoadReport> =>
  Load.run(store, 'genesis', options, async load => {
    const filler = new Filler(load)
    for await (const taken of takeJson(source, decide)) await filler.take(taken)
    await filler.end()
  })

class Filler {
  readonly #load: Load
  readonly #layout
  /** The depth of the state in the document. */
  #root: number | undefined
  /** Parameters at the top of the document: the module's only if its other parts stand there too. */
  #topParams: unknown

  constructor(load: Load) {
    this.#load = load
    this.#layout = layoutOf(load.profile)
  }

  async end(): Promise<void> {
    if (this.#root === undefined)
      throw new QuoinError('ERR_LIQUIDITY_IMPORT', `the document does not contain the state of ${MODULE}`)
    if (this.#root === 0 && this.#topParams !== undefined) await this.#params(this.#topParams, 'params')
  }

  async take({ path, value }: Taken): Promise<void> {
    const where = path.join('.')
    const root = rootOf(path)!
    const [part, ...rest] = path.slice(root)
    if (root === 0 && part === 'params') {
      this.#topParams = value
      return
    }
    this.#root = root
    switch (part) {
      case 'params':
        return this.#params(value, where)
      case 'pool_data':
        return this.#poolPart(rest[1]!, value, where)
      case 'positions':
        return this.#position(FORMER.position.read(value, where))
      case 'position_data':
        return this.#position(TODAY.position.read(value, where))
      default:
        return this.#number(part!, unsigned.read(value, where))
    }
  }

  async #params(value: unknown, where: string): Promise<void> {
    if (!isObject(value)) throw malformed(where, 'an object')
    const { params } = this.#layout.collections
    const former = FORMER.names.spreadFactors
    const present = Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name === former ? TODAY.names.spreadFactors : name, each])
    )
    await this.#load.put(params, params.encode(), params.value.codec.encode(present))
  }

  async #number(part: string, value: bigint): Promise<void> {
    const { nextPosition, nextIncentive, incentiveThreshold, spreadThreshold } = this.#layout.collections
    const collections = {
      next_position_id: nextPosition,
      next_incentive_record_id: nextIncentive,
      incentives_accumulator_pool_id_migration_threshold: incentiveThreshold,
      spread_factor_pool_id_migration_threshold: spreadThreshold
    }
    const collection = collections[part as keyof typeof collections]
    await this.#load.put(collection, collection.encode(), collection.value.codec.encode(value))
  }

  async #poolPart(part: string, value: unknown, where: string): Promise<void> {
    const { pools, ticks } = this.#layout.collections
    switch (part) {
      case 'pool': {
        const pool = formsFor(value, 'swap_fee').pool.read(value, where)
        await this.#load.put(pools, pools.encode(pool.id), pools.value.codec.encode(pool))
        return
      }
      case 'ticks': {
        const info = isObject(value) ? value['info'] : undefined
        const tick = formsFor(info, 'fee_growth_outside').tick.read(value, where)
        await this.#load.put(ticks, ticks.encode(tick.pool, tick.index), ticks.value.codec.encode(tick.info))
        return
      }
      case 'incentive_records':
        return this.#incentive(value, where)
      default:
        return this.#accumulator(TODAY.accumulator.read(value, where), where)
    }
  }

  async #incentive(value: unknown, where: string): Promise<void> {
    const record = formsFor(value, 'incentive_denom').incentive.read(value, where)
    const isFitting = this.#load.profile === 'chain' ? record.id > 0n : record.creator !== ''
    if (!isFitting)
      throw new QuoinError(
        'ERR_LIQUIDITY_IMPORT',
        this.#load.profile === 'chain'
          ? 'incentive records of 2023 have no ids; import them under the profile seed'
          : 'incentive records of today have no creators; import them under the profile chain',
        { path: where }
      )
    const { encode, body } = this.#layout.incentives
    await this.#load.put({ name: 'incentives' }, encode(record), body.encode(record.body))
  }

  async #accumulator({ name, content }: NamedAccumulator, where: string): Promise<void> {
    const { spreadAccumulators, uptimeAccumulators } = this.#layout.collections
    const { pool, uptime } = parseAccumulatorName(name, where)
    const key =
      uptime === undefined ? spreadAccumulators.encode(pool) : uptimeAccumulators.encode(pool, BigInt(uptime))
    await this.#load.put(spreadAccumulators, key, spreadAccumulators.value.codec.encode(content))
  }

  async #position({ position, lock, spreadRecord, uptimeRecords }: FullPosition): Promise<void> {
    const { positions, positionLocks, spreadPositions, uptimePositions } = this.#layout.collections
    const { id, pool } = position
    const load = this.#load
    await load.put(positions, positions.encode(id), positions.value.codec.encode(position))
    if (lock !== 0n)
      await load.put(positionLocks, positionLocks.encode(id), positionLocks.value.codec.encode(lock))
    const { codec } = spreadPositions.value
    if (spreadRecord)
      await load.put(spreadPositions, spreadPositions.encode(pool, id), codec.encode(spreadRecord))
    for (const [uptime, record] of uptimeRecords.entries())
      await load.put(uptimePositions, uptimePositions.encode(pool, BigInt(uptime), id), codec.encode(record))
  }
}

/** The schema of an object, told by a name that only the schema of 2023 has. */
const formsFor = (json: unknown, formerName: string): Forms =>
  isObject(json) && formerName in json ? FORMER : TODAY

/** `\x0b/1` are the spread rewards of pool 1, `\x0c/1/0` the incentives of its first uptime. */
const parseAccumulatorName = (name: string, where: string): AccumulatorName => {
  const [, spread, incentives, uptime] =
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the names begin with these bytes
    /^(?:\x0b\/(0|[1-9][0-9]{0,19})|\x0c\/(0|[1-9][0-9]{0,19})\/(0|[1-9][0-9]{0,2}))$/.exec(name) ?? []
  if (spread !== undefined) return { pool: BigInt(spread) }
  if (incentives === undefined) throw malformed(`${where}.name`, 'the name of an accumulator')
  return { pool: BigInt(incentives), uptime: Number(uptime) }
}
