/**
 * Contracts: long scripts that differ in a few pushes. Their fixed parts are compared by length and hash; their bytes
 * would be larger than this package.
 */

import { sha256 } from '@quoin/chain'
import { fromHex, pushedBy, readScriptNumber, ScriptCursor } from '@quoin/primitives'
import { readLocking } from './locking.ts'
import { hexOf } from './text.ts'
import { type ScriptView, viewOf } from './view.ts'

/** The maximum of a token amount (BRC-161). */
const MAX_AMOUNT = 2n ** 64n - 1n
/** A script number of 64 bits, with its sign. */
const AMOUNT_BYTES = 9

export class FixedPart {
  readonly length: number
  readonly #begins: Uint8Array
  readonly #sha256: string

  /** Other scripts are told by `begins`, without hashing them. */
  constructor({ begins, length, sha256 }: { begins: string; length: number; sha256: string }) {
    this.length = length
    this.#begins = fromHex(begins)
    this.#sha256 = sha256
  }

  isAt(script: Uint8Array, at: number): boolean {
    const begins = this.#begins
    if (at + this.length > script.length) return false
    for (let i = 0; i < begins.length; i++) if (script[at + i] !== begins[i]) return false
    return hexOf(sha256(script.subarray(at, at + this.length))) === this.#sha256
  }
}

export interface Pushes {
  readonly values: readonly Uint8Array[]
  /** The offset behind the pushes. */
  readonly end: number
}

/** `count` pushes at an offset; undefined for fewer. */
export const readPushes = (script: Uint8Array, at: number, count: number): Pushes | undefined => {
  const cursor = new ScriptCursor(script, at)
  const values: Uint8Array[] = []
  while (values.length < count) {
    const value = cursor.next() ? pushedBy(cursor) : undefined
    if (!value) return undefined
    values.push(value)
  }
  return { values, end: cursor.end }
}

export interface Contract extends Pushes {
  readonly lock: Uint8Array
}

/** The lock of a contract: a fixed part, `count` pushes, and another fixed part, behind which it `end`s. */
export const readContract = (
  script: Uint8Array | ScriptView,
  before: FixedPart,
  count: number,
  after: FixedPart
): Contract | undefined => {
  const lock = viewOf(script).once(readLocking)
  const pushes = lock && before.isAt(lock, 0) ? readPushes(lock, before.length, count) : undefined
  if (!lock || !pushes || !after.isAt(lock, pushes.end)) return undefined
  return { lock, values: pushes.values, end: pushes.end + after.length }
}

/** A script number in the range of amounts. The state of a contract has numbers that are not minimal: zero is a byte. */
export const amountOf = (bytes: Uint8Array, { minimal = true } = {}): bigint | undefined => {
  if (bytes.length > AMOUNT_BYTES) return undefined
  const value = readScriptNumber(bytes, { minimal })
  return value !== undefined && value >= 0n && value <= MAX_AMOUNT ? value : undefined
}

/** A script number from 0 to `most`, for a height, a count or a number of digits. */
export const smallNumberOf = (bytes: Uint8Array, most: number): number | undefined => {
  const value = amountOf(bytes)
  return value !== undefined && value <= BigInt(most) ? Number(value) : undefined
}
