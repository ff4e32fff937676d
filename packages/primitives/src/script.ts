/**
 * Scripts as bytes: reading them chunk by chunk and writing them. A chunk is one opcode with its data. Nothing
 * here runs a script, and reading never throws: a push that wants more bytes than there are ends it, and is told.
 * Bytes behind an OP_RETURN are read like the rest.
 */
import { OP } from './opcodes.ts'
import { Writer } from './writer.ts'

export interface Chunk {
  readonly op: number
  /** The data of opcodes 0x01 to 0x4e, as a view of the script; undefined for all others, OP_0 to OP_16 too. */
  readonly data: Uint8Array | undefined
  /** Where the chunk begins in the script, and where the next one does. */
  readonly start: number
  readonly end: number
}

export interface Chunks {
  readonly chunks: readonly Chunk[]
  /** Whether the script breaks off within a push. */
  readonly truncated: boolean
  /** Where reading stopped: the length of the script, the broken push, or the chunk after `limit` chunks. */
  readonly end: number
}

/**
 * Walks a script without making anything of it. After `next` answers true, the fields are those of one chunk.
 *
 * ```ts
 * const cursor = new ScriptCursor(script)
 * while (cursor.next()) if (cursor.op === OP.RETURN) return script.subarray(cursor.end)
 * ```
 */
export class ScriptCursor {
  readonly #script: Uint8Array
  op = 0
  start = 0
  end: number
  truncated = false
  /** Where the data begins; data ends where the chunk does. */
  #dataStart = 0

  constructor(script: Uint8Array, offset = 0) {
    this.#script = script
    this.end = offset
  }

  /** Moves to the next chunk, or answers false at the end of the script and before a push that breaks off. */
  next(): boolean {
    const script = this.#script
    const start = this.end
    if (start >= script.length || this.truncated) return false
    const op = script[start]!
    const dataStart = start + (op < OP.PUSHDATA1 || op > OP.PUSHDATA4 ? 1 : 1 + (1 << (op - OP.PUSHDATA1)))
    // A length that is itself cut off reads as NaN, which is not within the script either.
    const end = dataStart + (op > OP.PUSHDATA4 ? 0 : op < OP.PUSHDATA1 ? op : this.#length(op, start + 1))
    if (!(end <= script.length)) {
      this.truncated = true
      return false
    }
    this.op = op
    this.start = start
    this.#dataStart = dataStart
    this.end = end
    return true
  }

  /** Moves to the next chunk, and answers whether that is this opcode. */
  nextIs(op: number): boolean {
    return this.next() && this.op === op
  }

  /** As `Chunk.data`. */
  get data(): Uint8Array | undefined {
    return this.op > OP.N0 && this.op <= OP.PUSHDATA4
      ? this.#script.subarray(this.#dataStart, this.end)
      : undefined
  }

  /** How many bytes of data this chunk has. */
  get dataLength(): number {
    return this.op > OP.N0 && this.op <= OP.PUSHDATA4 ? this.end - this.#dataStart : 0
  }

  #length(op: number, at: number): number {
    const script = this.#script
    if (op === OP.PUSHDATA1) return script[at]!
    const low = script[at]! + script[at + 1]! * 0x100
    return op === OP.PUSHDATA2 ? low : low + script[at + 2]! * 0x10000 + script[at + 3]! * 0x1000000
  }
}

/** The chunks of a script, the first `limit` of them if it is given. */
export const chunksOf = (script: Uint8Array, { limit = Number.POSITIVE_INFINITY } = {}): Chunks => {
  const cursor = new ScriptCursor(script)
  const chunks: Chunk[] = []
  while (chunks.length < limit && cursor.next()) {
    chunks.push({ op: cursor.op, data: cursor.data, start: cursor.start, end: cursor.end })
  }
  return { chunks, truncated: cursor.truncated, end: cursor.end }
}

const EMPTY = new Uint8Array()
const NUMBERS = Array.from({ length: 17 }, (_, n) => (n === 0 ? EMPTY : Uint8Array.of(n)))
const MINUS_ONE = Uint8Array.of(0x81)

/** The bytes that a chunk leaves on the stack, also for OP_0 to OP_16 and OP_1NEGATE; undefined when it pushes nothing. */
export const pushedBy = ({ op, data }: Pick<Chunk, 'op' | 'data'>): Uint8Array | undefined => {
  if (data !== undefined) return data
  if (op === OP.N0) return EMPTY
  if (op === OP.N1NEGATE) return MINUS_ONE
  return op >= OP.N1 && op <= OP.N16 ? NUMBERS[op - OP.N1 + 1] : undefined
}

/** The shortest script that pushes these bytes: one of OP_0 to OP_16 and OP_1NEGATE where there is one. */
export const push = (data: Uint8Array): Uint8Array => buildScript([data])

/**
 * A script of opcodes, given as numbers, and of pushes, given as the bytes to push.
 *
 * @example
 * toHex(buildScript([OP.FALSE, OP.RETURN, new TextEncoder().encode('hi')])) // '006a026869'
 */
export const buildScript = (parts: Iterable<number | Uint8Array>): Uint8Array => {
  const writer = new Writer(64)
  for (const part of parts) {
    if (typeof part === 'number') writer.u8(part)
    else writePush(writer, part)
  }
  return writer.finish()
}

/** The opcode that pushes these bytes all by itself, if there is one. */
const opcodeFor = (data: Uint8Array): number | undefined => {
  if (data.length === 0) return OP.N0
  if (data.length > 1) return undefined
  const byte = data[0]!
  return byte >= 1 && byte <= 16 ? OP.N1 + byte - 1 : byte === 0x81 ? OP.N1NEGATE : undefined
}

const writePush = (writer: Writer, data: Uint8Array): void => {
  const { length } = data
  const op = opcodeFor(data)
  if (op !== undefined) {
    writer.u8(op)
    return
  }
  if (length < OP.PUSHDATA1) writer.u8(length)
  else if (length <= 0xff) {
    writer.u8(OP.PUSHDATA1)
    writer.u8(length)
  } else if (length <= 0xffff) {
    writer.u8(OP.PUSHDATA2)
    writer.u16(length)
  } else {
    writer.u8(OP.PUSHDATA4)
    writer.u32(length)
  }
  writer.bytes(data)
}

/**
 * A script number: little-endian, the highest bit is the sign, nothing is zero. With `minimal`, one that is longer than
 * needed is undefined; without, it is read as well.
 */
export const readScriptNumber = (bytes: Uint8Array, { minimal = false } = {}): bigint | undefined => {
  const { length } = bytes
  if (length === 0) return 0n
  const last = bytes[length - 1]!
  // The last byte may hold nothing but the sign only where the bit below is taken.
  if (minimal && (last & 0x7f) === 0 && (length === 1 || bytes[length - 2]! < 0x80)) return undefined
  let digits = (last & 0x7f).toString(16)
  for (let i = length - 2; i >= 0; i--) digits += bytes[i]!.toString(16).padStart(2, '0')
  const value = BigInt(`0x${digits}`)
  return last & 0x80 ? -value : value
}

/** The shortest script number, for `push`. */
export const writeScriptNumber = (value: number | bigint): Uint8Array => {
  let rest = BigInt(value)
  if (rest === 0n) return EMPTY
  const negative = rest < 0n
  if (negative) rest = -rest
  const bytes: number[] = []
  for (; rest > 0n; rest >>= 8n) bytes.push(Number(rest & 0xffn))
  if (bytes.at(-1)! & 0x80) bytes.push(0)
  if (negative) bytes[bytes.length - 1]! |= 0x80
  return Uint8Array.from(bytes)
}
