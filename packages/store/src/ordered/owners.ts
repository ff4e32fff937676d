/**
 * Owners of leases. Each lease names the process that took it, so that a process which is gone is found out and another
 * gets its items at once. A process is known by its host and process id namespace, its id, and when it began: ids are
 * given again. One of another host or namespace cannot be judged, and its leases last until they end.
 */

import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { equalBytes } from '@quoin/primitives'
import { OWNER_LENGTH } from './rows.ts'

/** The owners of leases, as a writer distinguishes them. */
export interface LeaseOwners {
  /** Named in the leases of this writer. */
  readonly own: Uint8Array
  /** Whether it has ended for certain. */
  isGone(owner: Uint8Array): boolean
}

/** An owner has its place, its process id, and when the process began. */
const PLACE_LENGTH = 8
const PID_AT = 8
const BEGAN_AT = 12

/** For files that one process at a time has open: every other owner is gone. */
export const soleOwner = (): LeaseOwners => {
  const own = new Uint8Array(randomBytes(OWNER_LENGTH))
  return { own, isGone: owner => !equalBytes(owner, own) }
}

/** Of files that several processes of a machine may write. */
export const processOwners = (): LeaseOwners => {
  const own = ownerOf(process.pid)
  return { own, isGone: owner => isOfPlace(owner, own) && !isRunning(owner) }
}

/** A process of this host and namespace. */
export const ownerOf = (pid: number, began = beginningOf(pid) ?? 0): Uint8Array => {
  const owner = Buffer.alloc(OWNER_LENGTH)
  createHash('sha256').update(`${hostname()} ${namespace()}`).digest().copy(owner, 0, 0, PLACE_LENGTH)
  owner.writeUInt32BE(pid, PID_AT)
  owner.writeDoubleBE(began, BEGAN_AT)
  return new Uint8Array(owner)
}

const isOfPlace = (owner: Uint8Array, other: Uint8Array): boolean =>
  equalBytes(owner.subarray(0, PLACE_LENGTH), other.subarray(0, PLACE_LENGTH))

const isRunning = (owner: Uint8Array): boolean => {
  const view = new DataView(owner.buffer, owner.byteOffset)
  const pid = view.getUint32(PID_AT)
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    // Anything else says that the process is there, and not ours.
  }
  const began = beginningOf(pid)
  return began === undefined || began === view.getFloat64(BEGAN_AT)
}

/** After the name of the command, which may have spaces and brackets itself: the state, and 18 fields on the beginning. */
const BEGINNING = 19
/** States of a process that has ended and that its parent has not asked for. */
const ENDED = ['Z', 'X']

/** In ticks since the machine began. Undefined where it cannot be read: only Linux tells, and not of every process. */
const beginningOf = (pid: number): number | undefined => {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return undefined
  }
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return ENDED.includes(fields[0]!) ? Number.NaN : Number(fields[BEGINNING])
}

/** Empty where there are no namespaces. */
const namespace = (): string => {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}
