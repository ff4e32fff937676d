/** Refusals of operations, by reason. */
import { QuoinError } from '@quoin/primitives'
import type { Reader } from '../reader.ts'
import type { Pool, Position } from '../values.ts'

export type Reason =
  | 'pool-exists'
  | 'pool-unknown'
  | 'pool-empty'
  | 'pool-former'
  | 'denoms'
  | 'spread-factor'
  | 'tick-spacing'
  | 'tick-range'
  | 'amount'
  | 'amount-limit'
  | 'position-unknown'
  | 'position-owner'
  | 'position-last'
  | 'position-locked'
  | 'position-unlocked'
  | 'position-range'
  | 'lock-taken'
  | 'liquidity'
  | 'price-limit'
  | 'no-progress'
  | 'no-ticks'
  | 'uptime'
  | 'incentive-exists'
  | 'time'

export const refusal = (reason: Reason, message: string, details: Record<string, unknown> = {}): QuoinError =>
  new QuoinError('ERR_LIQUIDITY_REFUSED', message, {
    reason,
    ...Object.fromEntries(
      Object.entries(details).map(([name, value]) => [name, typeof value === 'bigint' ? `${value}` : value])
    )
  })

export const poolOf = async (reader: Reader, id: bigint): Promise<Pool> => {
  const pool = await reader.pool(id)
  if (!pool) throw refusal('pool-unknown', `unknown pool ${id}`, { pool: id })
  return pool
}

/** A position that its owner may change. */
export const positionOf = async (reader: Reader, id: bigint, owner: string): Promise<Position> => {
  const position = await reader.position(id)
  if (!position) throw refusal('position-unknown', `unknown position ${id}`, { position: id })
  if (position.owner !== owner)
    throw refusal('position-owner', `position ${id} belongs to another owner`, { position: id, owner })
  return position
}

export const mustBeUnlocked = async (reader: Reader, position: bigint): Promise<void> => {
  const lock = await reader.lockOf(position)
  if (lock !== undefined)
    throw refusal('position-locked', `position ${position} is under lock ${lock}`, { position, lock })
}

/** Refuses the last position of a pool. */
export const assertNotLast = async (reader: Reader, { pool, id }: Position): Promise<void> => {
  for await (const position of reader.positionsIn(pool)) if (position.id !== id) return
  throw refusal('position-last', `position ${id} is the last of its pool`, { position: id, pool })
}
