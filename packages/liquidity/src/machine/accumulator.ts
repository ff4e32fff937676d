/** Accumulators in the state, and the records that positions have in them. */
import type { Dec } from '../decimal.ts'
import type { AccumulatorName, Reader, Threshold } from '../reader.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { AccumulatorContent, AccumulatorRecord, DecCoins, Position } from '../values.ts'
import { NOTHING } from './coins.ts'
import { newRecord, owed } from './growth.ts'
import { refusal } from './refusal.ts'

/** The scale of values per unit of liquidity, for precision, in pools above a threshold and in migrated pools. */
const SCALE = 10n ** 27n

/** Pools below the thresholds whose accumulators the chain scaled in its upgrades 23 to 25. */
const MIGRATED: Readonly<Record<Threshold, ReadonlySet<bigint>>> = {
  incentive: new Set([1213n, 1260n, 1275n, 1276n, 1281n, 1292n, 1297n, 1298n, 1423n, 1431n]),
  spread: new Set([1134n, 1260n, 1261n, 1264n, 1281n, 1423n, 1477n])
}

export const scaleOf = async (reader: Reader, of: Threshold, pool: bigint): Promise<bigint> =>
  MIGRATED[of].has(pool) || pool > ((await reader.threshold(of)) ?? 0n) ? SCALE : 1n

export const accumulatorOf = async (reader: Reader, name: AccumulatorName): Promise<AccumulatorContent> => {
  const content = await reader.accumulator(name)
  if (!content)
    throw refusal('pool-unknown', `pool ${name.pool} does not have the accumulator`, { uptime: name.uptime })
  return content
}

const recordOf = async (
  reader: Reader,
  name: AccumulatorName,
  position: bigint
): Promise<AccumulatorRecord> => {
  const record = await reader.accumulatorRecord(name, position)
  if (!record)
    throw refusal('position-unknown', `position ${position} has no record in the accumulator`, {
      uptime: name.uptime
    })
  return record
}

/** Records a new position in an accumulator. */
export const join = (
  unit: UnitOfWork,
  name: AccumulatorName,
  { value, totalShares }: AccumulatorContent,
  { id, liquidity }: Position,
  inside: DecCoins
): void => {
  // The chain writes empty options with the records of uptimes, and none with those of spread rewards.
  unit.setAccumulatorRecord(name, id, newRecord(liquidity, inside, name.uptime !== undefined))
  unit.setAccumulator(name, { value, totalShares: totalShares + liquidity })
}

/** Removes shares of a position and keeps its claims. The record stays until they are claimed. */
export const leave = async (
  unit: UnitOfWork,
  name: AccumulatorName,
  position: bigint,
  shares: Dec,
  inside: DecCoins
): Promise<void> => {
  const { value, totalShares } = await accumulatorOf(unit, name)
  const record = await recordOf(unit, name, position)
  unit.setAccumulator(name, { value, totalShares: totalShares - shares })
  unit.setAccumulatorRecord(name, position, {
    ...record,
    shares: record.shares - shares,
    valuePerShare: inside,
    unclaimed: owed(record, inside)
  })
}

/** Pays the claims of a position, and resets them. A record without shares is removed. */
export const claim = async (
  unit: UnitOfWork,
  name: AccumulatorName,
  position: bigint,
  inside: DecCoins
): Promise<DecCoins> => {
  const record = await recordOf(unit, name, position)
  if (record.shares === 0n) unit.removeAccumulatorRecord(name, position)
  else unit.setAccumulatorRecord(name, position, { ...record, valuePerShare: inside, unclaimed: NOTHING })
  return owed(record, inside)
}

/** Pays the claims of a position and then removes shares of it; the record stays. */
export const claimAndLeave = async (
  unit: UnitOfWork,
  name: AccumulatorName,
  position: bigint,
  shares: Dec,
  inside: DecCoins
): Promise<DecCoins> => {
  const record = await recordOf(unit, name, position)
  unit.setAccumulatorRecord(name, position, {
    ...record,
    shares: record.shares - shares,
    valuePerShare: inside,
    unclaimed: NOTHING
  })
  return owed(record, inside)
}
