/**
 * The binary form of BSV21 tokens, BRC-162 ("1Color") as of bsv-blockchain/BRCs 0e7cd42: fields that are pushed and
 * dropped before the lock. There is no tag; a script that begins like this is a token output:
 *
 *     ‹id, or OP_0› ‹amount, or OP_0› OP_2DROP [‹payload› OP_DROP] ‹lock›
 *
 * The id is the txid of the deployment, in hash order, or txid and little-endian output number of a JSON deployment at
 * another output than 0. The amount is a minimal script number up to 2^64 − 1. Without an id it is a deployment, and
 * without an amount an authority. A push directly before an OP_DROP is the payload: it never decides on validity, and a
 * deployment has its attributes in it, as a map in DAG-CBOR.
 *
 * The text fixes the bytes of id and amount and not the opcode that pushes them, so any push of them counts; that of
 * nothing is OP_0.
 */
import {
  formatOutpoint,
  makeOutpoint,
  OP,
  pushedBy,
  readScriptNumber,
  ScriptCursor,
  type TokenId,
  type Txid
} from '@quoin/primitives'
import { readDagCborMap } from './dag-cbor.ts'
import { outpointOf } from './envelope.ts'
import type { ScriptView } from './view.ts'

export interface BinaryToken {
  /** Undefined for a deployment. */
  readonly id: TokenId | undefined
  /** 0 for an authority. */
  readonly amt: bigint
  readonly payload: Uint8Array | undefined
  /** The offset of the lock in the script. */
  readonly lock: number
}

export interface BinaryAttributes {
  readonly sym: string | undefined
  readonly dec: number | undefined
  /** `txid_vout`, or `_vout` of the same transaction. */
  readonly icon: string | undefined
}

const MAX_AMOUNT = 2n ** 64n - 1n
const MAX_AMOUNT_BYTES = 9
const MAX_DECIMALS = 18n

/** The first opcodes of a script with the prefix: a push of nothing, of 32 or 36 bytes. */
const FIRST: readonly number[] = [OP.N0, 32, 36, OP.PUSHDATA1, OP.PUSHDATA2, OP.PUSHDATA4]

export const readBinaryToken = ({ script }: ScriptView): BinaryToken | undefined => {
  // Most scripts begin otherwise.
  if (!FIRST.includes(script[0]!)) return undefined
  const cursor = new ScriptCursor(script)
  const token = nextValue(cursor)
  const number = token && nextValue(cursor)
  if (!number || number.length > MAX_AMOUNT_BYTES) return undefined
  if (!cursor.nextIs(OP['2DROP'])) return undefined
  const id = token.length > 0 ? idOf(token) : undefined
  const amt = readScriptNumber(number, { minimal: true })
  if ((token.length > 0 && !id) || amt === undefined || amt < 0n || amt > MAX_AMOUNT) return undefined
  const lock = cursor.end
  const payload = cursor.next() ? pushedBy(cursor) : undefined
  const isPayload = payload !== undefined && cursor.nextIs(OP.DROP)
  return isPayload ? { id, amt, payload, lock: cursor.end } : { id, amt, payload: undefined, lock }
}

/** The value of a push; that of nothing has one opcode. */
const nextValue = (cursor: ScriptCursor): Uint8Array | undefined => {
  const value = cursor.next() ? pushedBy(cursor) : undefined
  return value?.length === 0 && cursor.op !== OP.N0 ? undefined : value
}

/** One form for each id: 32 bytes for output 0, 36 for the others. */
const idOf = (bytes: Uint8Array): TokenId | undefined => {
  const outpoint = outpointOf(bytes)
  if (!outpoint) return undefined
  const id = formatOutpoint(outpoint, '_') as TokenId
  return bytes.length === 36 && id.endsWith('_0') ? undefined : id
}

/** The attributes in a payload; none of one that is not a map in strict DAG-CBOR. */
export const binaryAttributes = (payload: Uint8Array | undefined): BinaryAttributes => {
  const map = payload && readDagCborMap(payload)
  const [sym, dec, icon] = ['sym', 'dec', 'icon'].map(key => map?.get(key))
  return {
    sym: typeof sym === 'string' ? sym : undefined,
    dec: typeof dec === 'bigint' && dec >= 0n && dec <= MAX_DECIMALS ? Number(dec) : undefined,
    icon: icon instanceof Uint8Array ? iconOf(icon) : undefined
  }
}

const iconOf = (bytes: Uint8Array): string | undefined => {
  if (bytes.length === 4) return `_${new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true)}`
  if (bytes.length !== 36) return undefined
  const vout = new DataView(bytes.buffer, bytes.byteOffset, 36).getUint32(32, true)
  return formatOutpoint(makeOutpoint(bytes.subarray(0, 32) as Txid, vout), '_')
}
