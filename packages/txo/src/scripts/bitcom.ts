/**
 * `bitcom`: the data behind the first OP_RETURN of a script. By the Bitcom convention it is a sequence of protocols,
 * separated by the push of a `|`. Each begins with the push of its name, usually an address:
 *
 *     OP_RETURN ‹name› ‹field› … | ‹name› ‹field› …
 *
 * A name is text of 1 to 256 bytes without control characters. A segment without a name counts for signatures only.
 *
 * The first 128 segments of a script are read, and fields when a protocol asks for them.
 */
import { OP, pushedBy, ScriptCursor } from '@quoin/primitives'
import { NONE, type ScriptParser } from './parser.ts'
import { textOf } from './text.ts'
import { type ScriptView, viewOf } from './view.ts'

export interface Segment {
  /** The name of the protocol; undefined for a segment without one. */
  readonly protocol: string | undefined
  /** The offset of the OP_RETURN or the `|` before the segment. */
  readonly separator: number
  /** The offsets of the segment and of the next separator or the end of the script. */
  readonly start: number
  readonly end: number
}

export interface Bitcom {
  readonly script: Uint8Array
  readonly segments: readonly Segment[]
}

const PIPE = 0x7c
const MAX_SEGMENTS = 128

export const decodeBitcom = (script: Uint8Array | ScriptView): Bitcom | undefined =>
  viewOf(script).once(readBitcom)

export const readBitcom = ({ script }: ScriptView): Bitcom | undefined => {
  if (!script.includes(OP.RETURN)) return undefined
  const cursor = new ScriptCursor(script)
  do if (!cursor.next()) return undefined
  while (cursor.op !== OP.RETURN)
  const segments: Segment[] = []
  let goesOn = true
  while (goesOn && segments.length < MAX_SEGMENTS) {
    const { start: separator, end: start } = cursor
    goesOn = cursor.next()
    const protocol = goesOn ? nameOf(cursor.data) : undefined
    while (goesOn && !isSeparator(script, cursor)) goesOn = cursor.next()
    segments.push({ protocol, separator, start, end: goesOn ? cursor.start : cursor.end })
  }
  return segments.some(({ protocol }) => protocol !== undefined) ? { script, segments } : undefined
}

const isSeparator = (script: Uint8Array, cursor: ScriptCursor): boolean =>
  cursor.dataLength === 1 && script[cursor.end - 1] === PIPE

const nameOf = (bytes: Uint8Array | undefined): string | undefined => {
  const name = bytes && bytes.length > 0 ? textOf(bytes) : undefined
  return name === undefined || name === '|' || /\p{Cc}/u.test(name) ? undefined : name
}

/** The segments of a protocol, with their numbers. */
export const segmentsOf = ({ segments }: Bitcom, protocol: string): [number, Segment][] =>
  [...segments.entries()].filter(([, segment]) => segment.protocol === protocol)

/** The fields of a segment behind its name, at most `most`; an opcode that pushes no data ends them. */
export const fieldsOf = ({ script }: Bitcom, { start, end }: Segment, most: number): Uint8Array[] => {
  const cursor = new ScriptCursor(script.subarray(0, end), start)
  const fields: Uint8Array[] = []
  if (!cursor.next()) return fields
  while (fields.length < most && cursor.next()) {
    const field = pushedBy(cursor)
    if (!field) break
    fields.push(field)
  }
  return fields
}

export const bitcomParser: ScriptParser = {
  tag: 'bitcom',
  about: 'Protocols behind an OP_RETURN.',
  parse(view) {
    const bitcom = view.once(readBitcom)
    return (
      bitcom && {
        data: {
          protocols: bitcom.segments
            .filter(({ protocol }) => protocol !== undefined)
            .map(({ protocol, start, end }) => ({ protocol, start, end }))
        },
        events: NONE,
        owners: NONE
      }
    )
  }
}
