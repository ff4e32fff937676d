/** Accumulators in the state, and the records that positions have in them. */
import type { Dec } from '../decimal.ts'
import type { Draft } from '../draft.ts'
import type { AccumulatorName, Reader, Threshold } from '../reader.ts'
import type { AccumulatorContent, AccumulatorRecord, DecCoins, Position } from '../values.ts'
import { NOTHING } from './coins.ts'
import { newRecord, owed } from './growth.ts'
import { refusal } from './refusal.ts'

/** The scale of values per unit of liquidity in pools above a threshold, for precision. */
const SCALE = 10n ** 27n

export const scaleOf = async (reader: Reader, of: Threshold, pool: bigint): Promise<bigint> =>
  pool > ((await reader.threshold(of)) ?? 0n) ? SCALE : 1n

export const accumulatorOf = async (reader: Reader, name: AccumulatorName): Promise<AccumulatorContent> => {
  const content = await reader.accumulator(name)
  if (!content)
    throw refusal('pool-unknown', `pool ${name.pool} has no such accumulator`, { uptime: name.uptime })
  return content
}

const recordOf = async (
  reader: Reader,
  name: AccumulatorName,
  position: bigint
): Promise<AccumulatorRecord> => {
  const record = await reader.accumulatorRecord(name, position)
  if (!record)
    throw refusal('position-unknown', `position ${position} has no part in it`, { uptime: name.uptime })
  return record
}

/** Records a new position in an accumulator. */
export const join = (
  draft: Draft,
  name: AccumulatorName,
  { value, totalShares }: AccumulatorContent,
  { id, liquidity }: Position,
  inside: DecCoins
): void => {
  // The chain writes empty options with the records of uptimes, and none with those of spread rewards.
  draft.setAccumulatorRecord(name, id, newRecord(liquidity, inside, name.uptime !== undefined))
  draft.setAccumulator(name, { value, totalShares: totalShares + liquidity })
}

/** Removes shares of a position and keeps its claims. A record without shares or claims is removed. */
export const leave = async (
  draft: Draft,
  name: AccumulatorName,
  position: bigint,
  shares: Dec,
  inside: DecCoins
): Promise<void> => {
  const { value, totalShares } = await accumulatorOf(draft, name)
  const record = await recordOf(draft, name, position)
  draft.setAccumulator(name, { value, totalShares: totalShares - shares })
  if (record.shares === shares) draft.removeAccumulatorRecord(name, position)
  else {
    draft.setAccumulatorRecord(name, position, {
      ...record,
      shares: record.shares - shares,
      valuePerShare: inside,
      unclaimed: owed(record, inside)
    })
  }
}

/** Pays the claims of a position, and resets them. */
export const claim = async (
  draft: Draft,
  name: AccumulatorName,
  position: bigint,
  inside: DecCoins
): Promise<DecCoins> => {
  const record = await recordOf(draft, name, position)
  draft.setAccumulatorRecord(name, position, { ...record, valuePerShare: inside, unclaimed: NOTHING })
  return owed(record, inside)
}
