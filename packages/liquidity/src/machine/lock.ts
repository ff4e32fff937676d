/** Locks of full-range positions. A locked position cannot change. */

import { isFullRange } from '../reserves.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { mustBeUnlocked, poolOf, positionOf, refusal } from './refusal.ts'

export interface LockRequest {
  readonly position: bigint
  readonly owner: string
  readonly lock: bigint
}

export const lockPosition = async (
  unit: UnitOfWork,
  { position: id, owner, lock }: LockRequest
): Promise<void> => {
  const position = await positionOf(unit, id, owner)
  if (!isFullRange(await poolOf(unit, position.pool), position))
    throw refusal('position-range', 'only full-range positions can be locked', { position: id })
  await mustBeUnlocked(unit, id)
  if ((await unit.positionOfLock(lock)) !== undefined)
    throw refusal('lock-taken', `lock ${lock} belongs to another position`, { lock })
  await unit.setLock(id, lock)
}

/** Returns the id of the removed lock. */
export const unlockPosition = async (
  unit: UnitOfWork,
  { position: id, owner }: Omit<LockRequest, 'lock'>
): Promise<bigint> => {
  const position = await positionOf(unit, id, owner)
  const lock = await unit.lockOf(position.id)
  if (lock === undefined) throw refusal('position-unlocked', `position ${id} is not locked`, { position: id })
  await unit.removeLock(id)
  return lock
}
