/**
 * The envelope of 1Sat Ordinals, which never runs:
 *
 *     OP_FALSE OP_IF "ord" ‹field› ‹value› … OP_0 ‹content› OP_ENDIF
 *
 * Fields are numbers, or names of two bytes and more: 1 is the media type, 3 the parent (a txid and a little-endian
 * output number, or a txid alone), 0 the content, which is one push and comes last. The rules are those of other
 * indexers, because indexers have to agree on token outputs: the first envelope with content that ends behind it
 * counts, the two bytes before the push of `ord` decide, and envelopes after an OP_RETURN count. An envelope without
 * content does not.
 *
 * The reader is linear: it reads each chunk once.
 */

import { makeOutpoint, OP, type Outpoint, pushedBy, ScriptCursor, type Txid } from '@quoin/primitives'
import { textOf } from './text.ts'
import { type ScriptView, viewOf } from './view.ts'

export interface Inscription {
  /** The media type as written; empty if it is missing, or not text below 256 bytes. */
  readonly type: string
  readonly content: Uint8Array
  readonly parent: Outpoint | undefined
  /** The other fields, the first few of them. */
  readonly fields: readonly InscriptionField[]
  /** The offsets of the envelope and of its end in the script. */
  readonly start: number
  readonly end: number
  /** Whether the envelope has its OP_ENDIF. Without it the output is unspendable. */
  readonly closed: boolean
}

export interface InscriptionField {
  readonly field: number | Uint8Array
  readonly value: Uint8Array
}

const TYPE = 1
const PARENT = 3
const MAX_FIELDS = 32

const ENVELOPE = Uint8Array.of(OP.FALSE, OP.IF, 3, ...Buffer.from('ord'))
/** The offset of the push of `ord` in the envelope. */
const MARKER = 2

export const decodeInscription = (script: Uint8Array | ScriptView): Inscription | undefined =>
  viewOf(script).once(readInscription)

export const readInscription = ({ script }: ScriptView): Inscription | undefined => {
  // Most scripts lack the bytes of the marker.
  const { buffer, byteOffset, byteLength } = script
  if (Buffer.from(buffer, byteOffset, byteLength).indexOf(ENVELOPE) === -1) return undefined
  const cursor = new ScriptCursor(script)
  while (cursor.next()) {
    if (isMarker(script, cursor)) {
      const inscription = readFields(cursor, cursor.start - MARKER)
      if (inscription) return inscription
    }
  }
  return undefined
}

const isMarker = (script: Uint8Array, { dataLength, start }: ScriptCursor): boolean =>
  dataLength === 3 && start >= MARKER && ENVELOPE.every((byte, i) => script[start - MARKER + i] === byte)

/** Reads the fields behind `ord`. If they are not an inscription, the cursor stays at the chunk that shows it. */
const readFields = (cursor: ScriptCursor, start: number): Inscription | undefined => {
  let type = ''
  let parent: Outpoint | undefined
  const fields: InscriptionField[] = []
  for (;;) {
    const field = nextPush(cursor)
    const value = field && nextPush(cursor)
    if (!value) return undefined
    if (field.length === 0 || (field.length === 1 && field[0] === 0)) {
      const closed = cursor.next()
      if (closed ? cursor.op !== OP.ENDIF : cursor.truncated) return undefined
      return { type, content: value, parent, fields, start, end: cursor.end, closed }
    }
    const number = field.length === 1 ? field[0]! : undefined
    if (number === TYPE) type = textOf(value, 255) ?? ''
    else if (number === PARENT) parent = outpointOf(value)
    else if (fields.length < MAX_FIELDS) fields.push({ field: number ?? field, value })
  }
}

const nextPush = (cursor: ScriptCursor): Uint8Array | undefined =>
  cursor.next() && cursor.op !== OP.N1NEGATE ? pushedBy(cursor) : undefined

export const outpointOf = (bytes: Uint8Array): Outpoint | undefined => {
  if (bytes.length !== 32 && bytes.length !== 36) return undefined
  const vout = bytes.length === 36 ? new DataView(bytes.buffer, bytes.byteOffset, 36).getUint32(32, true) : 0
  return makeOutpoint(bytes.subarray(0, 32) as Txid, vout)
}
