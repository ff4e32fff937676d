/**
 * `lock`: satoshis that their owner cannot spend before a height, under an sCrypt contract:
 *
 *     ‹prefix, 102 bytes› ‹hash of the owner's key› ‹height› ‹suffix, 807 bytes›
 *
 * The contract demands a height below 500,000,000: a greater lock time is seconds. A script with a greater number is
 * unspendable, and not a lock. OrdLock has the same prefix, and the lock-to-mint contract carries both parts.
 */

import { addressAt } from './addresses.ts'
import { scriptEvents } from './events.ts'
import { endsAt } from './locking.ts'
import type { ScriptParser } from './parser.ts'
import { FixedPart, readContract, smallNumberOf } from './template.ts'
import type { ScriptView } from './view.ts'

export interface Lock {
  /** The owner. */
  readonly address: string
  /** The first height at which it can be spent. */
  readonly until: number
}

export const SCRYPT_PREFIX = new FixedPart({
  begins: '2097dfd7',
  length: 102,
  sha256: '86b0f291096403ced87b8256a0575475143f5ed94646ad5e1f4fdf704c88679e'
})

const SUFFIX = new FixedPart({
  begins: '61007904',
  length: 807,
  sha256: '796bff900a8e0777555109d9860f769317ef05cf5ca1416eb955400674bdd272'
})

const MAX_HEIGHT = 499_999_999

export const decodeLock = (script: Uint8Array | ScriptView): Lock | undefined => {
  const contract = readContract(script, SCRYPT_PREFIX, 2, SUFFIX)
  if (!contract || !endsAt(contract.lock, contract.end)) return undefined
  const [owner, height] = contract.values as [Uint8Array, Uint8Array]
  const until = smallNumberOf(height, MAX_HEIGHT)
  return owner.length === 20 && until !== undefined ? { address: addressAt(owner, 0), until } : undefined
}

export const lockParser: ScriptParser = {
  tag: 'lock',
  about: 'Satoshis locked until a height.',
  parse(view) {
    const lock = decodeLock(view)
    return (
      lock && {
        data: lock,
        events: [scriptEvents.types.lockUntil.text(BigInt(lock.until))],
        owners: [lock.address]
      }
    )
  }
}
