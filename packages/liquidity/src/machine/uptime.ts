/**
 * Incentives by uptime. Each record of a pool emits an amount per second to the liquidity at the current tick, into
 * the accumulator of its uptime. A position may claim from an accumulator after as much time in the pool.
 */
import { DEC, type Dec, dec } from '../decimal.ts'
import { SECOND, type Time } from '../time.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { AccumulatorContent, DecCoins, IncentiveRecordBody, Pool } from '../values.ts'
import { accumulatorOf, scaleOf } from './accumulator.ts'
import { NOTHING, plus } from './coins.ts'
import { refusal } from './refusal.ts'

const MINUTE = 60n * SECOND
const HOUR = 60n * MINUTE
const DAY = 24n * HOUR

/** Uptimes in nanoseconds, by index. */
export const UPTIMES: readonly Time[] = [1n, MINUTE, HOUR, DAY, 7n * DAY, 14n * DAY]

/** The chain's limit on the bits of a decimal; a larger emission is skipped. */
const DEC_LIMIT = 2n ** 316n

interface Emission {
  readonly perShare: Dec
  readonly body: IncentiveRecordBody
}

/** The emission of a record over a duration to an amount of liquidity, and the rest of the record. */
export const emit = (
  body: IncentiveRecordBody,
  elapsed: Time,
  liquidity: Dec,
  scale: bigint
): Emission | undefined => {
  const { remaining, emissionRate } = body
  const due = dec.mulDown(emissionRate, elapsed * (DEC / SECOND))
  if (due * scale >= DEC_LIMIT) return undefined
  const emitted = due < remaining.amount ? due : remaining.amount
  return {
    perShare: dec.quoDown(emitted * scale, liquidity),
    body: { ...body, remaining: { ...remaining, amount: remaining.amount - emitted } }
  }
}

/** The accumulators of a pool, one for each uptime. */
const uptimeAccumulators = (unit: UnitOfWork, pool: bigint): Promise<AccumulatorContent[]> =>
  Promise.all(UPTIMES.map((_, uptime) => accumulatorOf(unit, { pool, uptime })))

export const valuesOf = (accumulators: readonly AccumulatorContent[]): DecCoins[] =>
  accumulators.map(({ value }) => value)

interface UptimeSync {
  readonly pool: Pool
  readonly uptimes: AccumulatorContent[]
}

/**
 * Emits all incentives due until `now`. Every operation that changes the liquidity at the current tick does this
 * first.
 */
export const syncUptimes = async (unit: UnitOfWork, pool: Pool, now: Time): Promise<UptimeSync> => {
  const uptimes = await uptimeAccumulators(unit, pool.id)
  const elapsed = now - pool.lastLiquidityUpdate
  if (elapsed < 0n)
    throw refusal('time', 'the pool was changed at a later time', { now, last: pool.lastLiquidityUpdate })
  if (elapsed === 0n) return { pool, uptimes }
  // Less than one unit of liquidity counts as none.
  if (pool.liquidity >= DEC) await emitAll(unit, pool, now, elapsed, uptimes)
  const synced = { ...pool, lastLiquidityUpdate: now }
  unit.setPool(synced)
  return { pool: synced, uptimes }
}

const emitAll = async (
  unit: UnitOfWork,
  pool: Pool,
  now: Time,
  elapsed: Time,
  uptimes: AccumulatorContent[]
): Promise<void> => {
  const scale = await scaleOf(unit, 'incentive', pool.id)
  const grown: DecCoins[] = UPTIMES.map(() => NOTHING)
  for await (const record of unit.incentives(pool.id)) {
    // A record that has started emits for all of the time since the pool's last change, as on the chain.
    if (record.body.startTime >= now) continue
    const emission = emit(record.body, elapsed, pool.liquidity, scale)
    if (!emission) continue
    unit.setIncentive({ ...record, body: emission.body })
    if (emission.perShare === 0n) continue
    const { denom } = record.body.remaining
    grown[record.uptime] = plus(grown[record.uptime]!, [{ denom, amount: emission.perShare }])
  }
  for (const [uptime, growth] of grown.entries()) {
    if (growth.length === 0) continue
    uptimes[uptime] = { ...uptimes[uptime]!, value: plus(uptimes[uptime]!.value, growth) }
    unit.setAccumulator({ pool: pool.id, uptime }, uptimes[uptime])
  }
}
