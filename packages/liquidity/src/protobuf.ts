/**
 * Protobuf messages, to the byte as the chain's encoder (gogoproto) writes them. It differs from plain proto3: a
 * field that cannot be null (a decimal, a time, an embedded message) is written even when it is zero. Decoding is
 * strict: fields in order, shortest varints, no unknown fields, so that decoded bytes encode to themselves.
 */

import type { ValueCodec } from '@quoin/keyspace'
import { QuoinError } from '@quoin/primitives'
import { NEVER, SECOND, TIME_END, type Time } from './time.ts'
import { decodeUtf8, Sink, Source } from './wire.ts'

/** Digits of the longest decimal: the chain holds at most 1,144 bits. */
const MAX_DIGITS = 345

const SINK = new Sink()

/** One field of a message. */
export interface Field<T> {
  write(value: T, sink: Sink): void
  /** Reads the field; where it is absent, returns its default or refuses. */
  read(source: Source): T
}

const VARINT = 0
const BYTES = 2
const tagOf = (number: number, wire: number): number => (number << 3) | wire

/** An unsigned number, omitted when 0. */
export const uint64 = (number: number): Field<bigint> => varint(number, value => BigInt.asUintN(64, value))
/** A signed number in two's complement, omitted when 0. */
export const int64 = (number: number): Field<bigint> => varint(number, value => BigInt.asIntN(64, value))

const varint = (number: number, wrap: (value: bigint) => bigint): Field<bigint> => {
  const tag = tagOf(number, VARINT)
  return {
    write(value, sink) {
      if (wrap(value) !== value) throw tooLarge(number, value)
      if (value === 0n) return
      sink.byte(tag)
      sink.varint(value)
    },
    read(source) {
      if (!source.tag(tag)) return 0n
      const value = wrap(source.varint())
      if (value === 0n) throw source.error(`field ${number} is 0, which is left out`)
      return value
    }
  }
}

const tooLarge = (number: number, value: bigint): QuoinError =>
  new QuoinError('ERR_LIQUIDITY_VALUE', `field ${number} does not hold ${value}`, { value: `${value}` })

/** Text, omitted when empty. */
export const string = (number: number): Field<string> => {
  const tag = tagOf(number, BYTES)
  return {
    write(value, sink) {
      if (value === '') return
      sink.byte(tag)
      sink.delimited(() => sink.utf8(value))
    },
    read(source) {
      if (!source.tag(tag)) return ''
      const size = source.size()
      if (size === 0) throw source.error(`field ${number} is empty, which is left out`)
      const ascii = source.ascii(size)
      if (ascii !== undefined) return ascii
      try {
        const text = decodeUtf8(source.bytes.subarray(source.at, source.at + size))
        source.at += size
        return text
      } catch {
        throw source.error(`field ${number} is not UTF-8`)
      }
    }
  }
}

/** Bytes, omitted when empty. */
export const bytes = (number: number): Field<Uint8Array> => {
  const tag = tagOf(number, BYTES)
  return {
    write(value, sink) {
      if (value.length === 0) return
      sink.byte(tag)
      sink.delimited(() => sink.raw(value))
    },
    read(source) {
      if (!source.tag(tag)) return new Uint8Array()
      const size = source.size()
      if (size === 0) throw source.error(`field ${number} is empty, which is left out`)
      source.at += size
      return source.bytes.slice(source.at - size, source.at)
    }
  }
}

const ZERO = 0x30
const MINUS = 0x2d
/** Digits that a JavaScript number holds exactly; they are converted together before they become part of a bigint. */
const CHUNK = 15
const CHUNKS = Array.from({ length: CHUNK + 1 }, (_, digits) => 10n ** BigInt(digits))

/** An integer as digits. The chain writes decimals so too: their number times 10^18 or 10^36. */
export const integerText = (source: Source, size: number): bigint => {
  if (size > MAX_DIGITS + 1) throw source.error(`a number of ${size} digits`)
  const { bytes, at } = source
  const end = at + size
  const isNegative = size > 0 && bytes[at] === MINUS
  const first = isNegative ? at + 1 : at
  // Only the number zero begins with a zero.
  if (first === end || (bytes[first] === ZERO && size > 1)) throw notInteger(source)
  let value = 0n
  let chunk = 0
  let digits = 0
  for (let i = first; i < end; i++) {
    const digit = bytes[i]! - ZERO
    if (digit < 0 || digit > 9) throw notInteger(source)
    chunk = chunk * 10 + digit
    if (++digits < CHUNK) continue
    value = value * CHUNKS[CHUNK]! + BigInt(chunk)
    chunk = 0
    digits = 0
  }
  if (digits > 0) value = value * CHUNKS[digits]! + BigInt(chunk)
  source.at = end
  return isNegative ? -value : value
}

const notInteger = (source: Source): QuoinError => source.error('not an integer in its shortest form')

/** A decimal, always written. */
export const decimal = (number: number): Field<bigint> => {
  const tag = tagOf(number, BYTES)
  return {
    write(value, sink) {
      sink.byte(tag)
      sink.delimited(() => sink.ascii(value.toString()))
    },
    read(source) {
      if (!source.tag(tag)) throw source.error(`field ${number} is missing`)
      return integerText(source, source.size())
    }
  }
}

/** A `google.protobuf.Timestamp`, always written. */
export const time = (number: number): Field<Time> => {
  const tag = tagOf(number, BYTES)
  const seconds = int64(1)
  const nanos = int64(2)
  return {
    write(value, sink) {
      if (value < NEVER || value >= TIME_END) throw tooLarge(number, value)
      const rest = ((value % SECOND) + SECOND) % SECOND
      sink.byte(tag)
      sink.delimited(() => {
        seconds.write((value - rest) / SECOND, sink)
        nanos.write(rest, sink)
      })
    },
    read(source) {
      if (!source.tag(tag)) throw source.error(`field ${number} is missing`)
      return within(source, source.size(), () => {
        const whole = seconds.read(source)
        const rest = nanos.read(source)
        const value = whole * SECOND + rest
        if (rest < 0n || rest >= SECOND || value < NEVER || value >= TIME_END)
          throw source.error(`field ${number} is not a time from year 1 to 9999`)
        return value
      })
    }
  }
}

/** Reads a value that must end exactly `size` bytes further on. */
const within = <T>(source: Source, size: number, read: () => T): T => {
  const outer = source.end
  source.end = source.at + size
  const value = read()
  if (source.at !== source.end) throw source.error('a field that is unknown, doubled or out of order')
  source.end = outer
  return value
}

/** A message: a codec of whole values, and a body that other messages embed. */
export interface Message<T> extends ValueCodec<T> {
  readonly body: Field<T>
}

/** Declares a message by its fields, in the order of their numbers. */
export const message = <T extends object>(
  name: string,
  fields: { readonly [K in keyof T]: Field<T[K]> }
): Message<T> => {
  const names = Object.keys(fields) as (keyof T)[]
  const body: Field<T> = {
    write(value, sink) {
      for (const each of names) fields[each].write(value[each], sink)
    },
    read(source) {
      const value: Partial<T> = {}
      for (const each of names) value[each] = fields[each].read(source)
      return value as T
    }
  }
  return { ...wholeOf(name, body), body }
}

/** A codec whose bytes are one body alone. */
export const wholeOf = <T>(name: string, body: Field<T>): ValueCodec<T> => ({
  name,
  encode(value) {
    // Encoding is synchronous and not reentrant, so all messages share one buffer.
    SINK.length = 0
    body.write(value, SINK)
    return SINK.bytes.slice(0, SINK.length)
  },
  decode(bytes) {
    const source = new Source(name, bytes)
    return within(source, bytes.length, () => body.read(source))
  }
})

/** Decodes the beginning of a message and ignores the rest. */
export const partOf =
  <T>(name: string, { read }: Pick<Field<T>, 'read'>): ((bytes: Uint8Array) => T) =>
  bytes =>
    read(new Source(name, bytes))

/** An embedded message, always written. */
export const embedded = <T>(number: number, { body }: Message<T>): Field<T> => {
  const tag = tagOf(number, BYTES)
  return {
    write(value, sink) {
      sink.byte(tag)
      sink.delimited(() => body.write(value, sink))
    },
    read(source) {
      if (!source.tag(tag)) throw source.error(`field ${number} is missing`)
      return within(source, source.size(), () => body.read(source))
    }
  }
}

export const repeated = <T>(number: number, { body }: { body: Field<T> }): Field<readonly T[]> => {
  const tag = tagOf(number, BYTES)
  return {
    write(values, sink) {
      for (const value of values) {
        sink.byte(tag)
        sink.delimited(() => body.write(value, sink))
      }
    },
    read(source) {
      const values: T[] = []
      while (source.tag(tag)) values.push(within(source, source.size(), () => body.read(source)))
      return values
    }
  }
}

/** An embedded message without fields that may be null; its presence is the value. */
export const presence = (number: number): Field<boolean> => {
  const tag = tagOf(number, BYTES)
  return {
    write(value, sink) {
      if (!value) return
      sink.byte(tag)
      sink.byte(0)
    },
    read(source) {
      if (!source.tag(tag)) return false
      if (source.size() !== 0) throw source.error(`field ${number} has contents`)
      return true
    }
  }
}
