/** Locks of full-range positions. A locked position cannot change. */
import type { Draft } from '../draft.ts'
import { isFullRange } from '../reserves.ts'
import { mustBeUnlocked, poolOf, positionOf, refusal } from './refusal.ts'

export interface Locking {
  readonly position: bigint
  readonly owner: string
  readonly lock: bigint
}

export const lockPosition = async (draft: Draft, { position: id, owner, lock }: Locking): Promise<void> => {
  const position = await positionOf(draft, id, owner)
  if (!isFullRange(await poolOf(draft, position.pool), position))
    throw refusal('position-range', 'only positions of the whole range are locked', { position: id })
  await mustBeUnlocked(draft, id)
  if ((await draft.positionOfLock(lock)) !== undefined)
    throw refusal('lock-taken', `lock ${lock} is of another position`, { lock })
  await draft.setLock(id, lock)
}

/** Returns the id of the removed lock. */
export const unlockPosition = async (
  draft: Draft,
  { position: id, owner }: Omit<Locking, 'lock'>
): Promise<bigint> => {
  const position = await positionOf(draft, id, owner)
  const lock = await draft.lockOf(position.id)
  if (lock === undefined) throw refusal('position-unlocked', `position ${id} is not locked`, { position: id })
  await draft.removeLock(id)
  return lock
}
