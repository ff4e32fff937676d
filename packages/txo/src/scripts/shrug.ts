/**
 * `shrug`: tokens that are pushed and dropped before the lock:
 *
 *     "¯\_(ツ)_/¯" ‹outpoint of the deployment, or OP_0› OP_2DROP ‹amount› OP_DROP ‹lock›
 *
 * The outpoint is a txid and a little-endian output number; the amount is a minimal script number that is not negative.
 * Without an outpoint it is a deployment, which mints the amount or, with none, the right to mint. With an outpoint, no
 * amount passes that right on, and an amount is a transfer or a mint, which the script does not tell apart.
 */

import {
  formatOutpoint,
  OP,
  type Outpoint,
  pushedBy,
  readScriptNumber,
  ScriptCursor,
  type TokenId
} from '@quoin/primitives'
import { outpointOf } from './envelope.ts'
import { scriptEvents } from './events.ts'
import { ownersAt } from './locking.ts'
import type { ScriptParser } from './parser.ts'
import { type ScriptView, viewOf } from './view.ts'

export type ShrugOperation = 'deploy+mint' | 'deploy+auth' | 'auth' | 'transfer'

export interface Shrug {
  readonly op: ShrugOperation
  /** The token; for a deployment the output itself. */
  readonly id: TokenId
  readonly amt: bigint
  /** The offset of the lock in the script. */
  readonly lock: number
}

const TAG = Uint8Array.from(Buffer.from('¯\\_(ツ)_/¯'))
/** The protocol has no bound for amounts. This one keeps decimal texts short. */
const MAX_AMOUNT_BYTES = 32

export const decodeShrug = (script: Uint8Array | ScriptView, outpoint: Outpoint): Shrug | undefined => {
  const bytes = viewOf(script).script
  if (bytes[0] !== TAG.length || !TAG.every((byte, i) => bytes[i + 1] === byte)) return undefined
  const cursor = new ScriptCursor(bytes, 1 + TAG.length)
  const token = cursor.next() ? pushedBy(cursor) : undefined
  if (!token || (token.length !== 0 && token.length !== 36)) return undefined
  if (!cursor.nextIs(OP['2DROP'])) return undefined
  const number = cursor.next() ? pushedBy(cursor) : undefined
  if (!number || number.length > MAX_AMOUNT_BYTES) return undefined
  const amt = readScriptNumber(number, { minimal: true })
  if (amt === undefined || amt < 0n || !cursor.nextIs(OP.DROP)) return undefined
  const deployment = token.length === 0
  return {
    op: deployment ? (amt > 0n ? 'deploy+mint' : 'deploy+auth') : amt > 0n ? 'transfer' : 'auth',
    id: formatOutpoint(deployment ? outpoint : outpointOf(token)!, '_') as TokenId,
    amt,
    lock: cursor.end
  }
}

const { shrugOp, shrugId } = scriptEvents.types

export const shrugParser: ScriptParser = {
  tag: 'shrug',
  about: 'Claims to SHRUG tokens.',
  parse(view, { outpoint }) {
    const token = decodeShrug(view, outpoint)
    if (!token) return undefined
    const { op, id, amt, lock } = token
    return {
      data: { id, op, ...(amt > 0n && { amt: amt.toString() }) },
      events: [shrugId.text(id), ...(op === 'deploy+mint' || op === 'deploy+auth' ? [shrugOp.text(op)] : [])],
      owners: ownersAt(view.script, lock)
    }
  }
}
