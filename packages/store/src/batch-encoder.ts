/** Encodes batches (`operations.ts`). Every argument is checked here, once, before an engine sees it. */
import { QuoinError, shortHex } from '@quoin/primitives'
import { MAX_KEY, MAX_VALUE } from './engine.ts'
import {
  ARGUMENTS,
  type ArgumentsOf,
  ENCODING,
  HAS_SCAN,
  isCondition,
  type Kind,
  STEP_NAMES,
  STEPS,
  type StepName,
  type StepSpec
} from './operations.ts'

type BytesKind = { [K in Kind]: (typeof ENCODING)[K] extends 'bytes' ? K : never }[Kind]
type NumberKind = Exclude<Kind, BytesKind>

const isBytesKind = (kind: Kind | undefined): kind is BytesKind =>
  kind !== undefined && ENCODING[kind] === 'bytes'

/** A batch that is being encoded. It can be taken once. */
export class BatchEncoder {
  readonly conditions = new ArgumentWriter()
  readonly operations = new ArgumentWriter()
  hasScan = false

  get isEmpty(): boolean {
    return this.conditions.length === 0 && this.operations.length === 0
  }

  take(): Uint8Array {
    if (this.conditions.refused || this.operations.refused) {
      throw new QuoinError('ERR_STORE_OPTION', 'an argument of this batch was refused; make a new one')
    }
    const conditions = this.conditions.written()
    const operations = this.operations.written()
    const batch = new Uint8Array(4 + conditions.length + operations.length)
    new DataView(batch.buffer).setUint32(0, conditions.length + (this.hasScan ? HAS_SCAN : 0), true)
    batch.set(conditions, 4)
    batch.set(operations, 4 + conditions.length)
    this.conditions.release()
    this.operations.release()
    return batch
  }
}

interface Memory {
  readonly bytes: Uint8Array
  readonly view: DataView
}

const newMemory = (length: number): Memory => {
  const bytes = new Uint8Array(length)
  return { bytes, view: new DataView(bytes.buffer) }
}

const NO_MEMORY = newMemory(0)
const FIRST_LENGTH = 4096
/** Buffers of taken batches, reused: allocation would be half of the cost of a batch. */
const spare: Memory[] = []
const SPARE_LIMIT = 1000
const SPARE_LENGTH = 16 * 1024

/** Appends arguments, each checked against the limits of engines. */
export class ArgumentWriter {
  #memory = NO_MEMORY
  #length = 0
  /** Whether an argument was refused: the last step is incomplete then. */
  refused = false

  get length(): number {
    return this.#length
  }

  written(): Uint8Array {
    return this.#memory.bytes.subarray(0, this.#length)
  }

  /** Gives its memory back. Nothing can be appended any more. */
  release(): void {
    const { bytes } = this.#memory
    if (bytes.length > 0 && bytes.length <= SPARE_LENGTH && spare.length < SPARE_LIMIT)
      spare.push(this.#memory)
    this.#memory = NO_MEMORY
    this.#length = 0
  }

  code(code: number): this {
    this.#reserve(1)
    this.#memory.bytes[this.#length++] = code
    return this
  }

  bytes(kind: BytesKind, value: Uint8Array): this {
    try {
      if (kind === 'key') keyOnly(value)
      else if (kind === 'value') valueOnly(value)
      else entryOnly(value)
    } catch (error) {
      this.refused = true
      throw error
    }
    return this.#append(value)
  }

  number(kind: NumberKind, value: number): this {
    try {
      if (kind === 'score') scoreOnly(value)
      else finiteOnly(value)
    } catch (error) {
      this.refused = true
      throw error
    }
    return this.#number(value)
  }

  #append(bytes: Uint8Array): this {
    this.#reserve(4 + bytes.length)
    this.#memory.view.setUint32(this.#length, bytes.length, true)
    this.#memory.bytes.set(bytes, this.#length + 4)
    this.#length += 4 + bytes.length
    return this
  }

  #number(value: number): this {
    this.#reserve(8)
    this.#memory.view.setFloat64(this.#length, value === 0 ? 0 : value, true)
    this.#length += 8
    return this
  }

  #reserve(more: number): void {
    const needed = this.#length + more
    const { length } = this.#memory.bytes
    if (needed <= length) return
    const larger =
      needed <= FIRST_LENGTH && spare.length > 0
        ? spare.pop()!
        : newMemory(Math.max(needed, length * 2, FIRST_LENGTH))
    larger.bytes.set(this.written())
    this.#memory = larger
  }
}

/** A key, field, member or item as an engine may be asked for: bytes, and not too long. */
export const keyOnly = (key: Uint8Array): Uint8Array => {
  if (!(key instanceof Uint8Array)) {
    throw new QuoinError('ERR_STORE_KEY', `a key, field or member is bytes, not ${typeof key}`)
  }
  if (key.length > MAX_KEY) {
    throw new QuoinError(
      'ERR_STORE_KEY',
      `a key, field or member has at most ${MAX_KEY} bytes; this one has ${key.length}: ${shortHex(key)}`,
      { length: key.length, limit: MAX_KEY }
    )
  }
  return key
}

const entryOnly = (entry: Uint8Array): Uint8Array => {
  if (keyOnly(entry).length === 0)
    throw new QuoinError('ERR_STORE_KEY', 'an entry of a log has at least a byte')
  return entry
}

const valueOnly = (bytes: Uint8Array): Uint8Array => {
  if (!(bytes instanceof Uint8Array)) {
    throw new QuoinError('ERR_STORE_VALUE', `a value is bytes, not ${typeof bytes}`)
  }
  if (bytes.length > MAX_VALUE) {
    throw new QuoinError(
      'ERR_STORE_VALUE',
      `a value has at most ${MAX_VALUE} bytes; this one has ${bytes.length}`,
      { length: bytes.length, limit: MAX_VALUE }
    )
  }
  return bytes
}

const finiteOnly = (value: number): number => {
  if (!Number.isFinite(value)) {
    throw new QuoinError('ERR_STORE_SCORE', `must be a finite number: ${value}`, { value: String(value) })
  }
  return value
}

export const scoreOnly = (score: number): number => {
  if (typeof score !== 'number' || Number.isNaN(score)) {
    throw new QuoinError('ERR_STORE_SCORE', `a score is a number other than NaN, not ${String(score)}`)
  }
  return score
}

type Encode = (to: BatchEncoder, ...args: never[]) => void

/** Encodes one step. Most operations have two or three arguments, and are unrolled. */
const encoderOf = (name: StepName): Encode => {
  const { code, args, hasScan = false }: StepSpec = STEPS[name]
  const kinds = args.map(each => ARGUMENTS[each])
  const [first, second, third] = kinds
  if (!isCondition(name) && !hasScan && isBytesKind(first) && isBytesKind(second)) {
    if (kinds.length === 2) {
      return (to, a, b) => void to.operations.code(code).bytes(first, a).bytes(second, b)
    }
    if (kinds.length === 3 && third) {
      return isBytesKind(third)
        ? (to, a, b, c) => void to.operations.code(code).bytes(first, a).bytes(second, b).bytes(third, c)
        : (to, a, b, c) => void to.operations.code(code).bytes(first, a).bytes(second, b).number(third, c)
    }
  }
  return (to, ...values) => {
    if (hasScan) to.hasScan = true
    const writer = (isCondition(name) ? to.conditions : to.operations).code(code)
    for (const [i, kind] of kinds.entries()) {
      if (isBytesKind(kind)) writer.bytes(kind, values[i]!)
      else writer.number(kind, values[i]!)
    }
  }
}

/** Appends a step to a batch: `encode.zadd(encoder, key, member, score)`. */
export const encode = Object.fromEntries(STEP_NAMES.map(name => [name, encoderOf(name)])) as unknown as {
  readonly [Name in StepName]: (to: BatchEncoder, ...args: ArgumentsOf<Name>) => void
}
