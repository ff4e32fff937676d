/** Accumulators in the state, and the records that positions have in them. */
import type { Dec } from '../decimal.ts'
import type { Draft } from '../draft.ts'
import type { AccumulatorName, Reader, Threshold } from '../reader.ts'
import type { AccumulatorContent, AccumulatorRecord, DecCoins, Position } from '../values.ts'
import { NOTHING } from './coins.ts'
import { newRecord, owed } from './growth.ts'
import { refusal } from './refusal.ts'

/** Values per unit of liquidity are so much larger in pools above a threshold, so that less is cut off. */
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

/** Gives a new position its part. */
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

/** Takes shares from a position; what is owed to it stays owed. One without shares or claims is gone. */
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

/** Takes what is owed to a position. */
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
