/**
 * The value of a collection's keys: one encoded value, or a structure of a store (a hash with declared fields, a set,
 * a sorted set, a log, a queue). A declaration only records it; a store binds to it.
 */
import { encodeText, QuoinError, readText, reasonOf, toHex, valueError } from '@quoin/primitives'
import type { Codec, Component } from './codec.ts'
import { copyWritten } from './scratch-buffer.ts'

export interface ValueCodec<T> {
  readonly name: string
  encode(value: T): Uint8Array
  decode(bytes: Uint8Array): T
}

export type Shape =
  | { readonly kind: 'value'; readonly codec: ValueCodec<unknown> }
  | { readonly kind: 'hash'; readonly fields: { readonly name: string } }
  | { readonly kind: MembersKind; readonly member: Codec<unknown> }

/** The structures whose members are words of one component. */
type MembersKind = 'set' | 'sorted set' | 'log' | 'queue'

export interface Value<T> {
  readonly kind: 'value'
  readonly codec: ValueCodec<T>
}
export interface Hash<Fields extends { readonly name: string }> {
  readonly kind: 'hash'
  readonly fields: Fields
}
export interface Members<Kind extends MembersKind, T> {
  readonly kind: Kind
  readonly member: Codec<T>
}

export const value = <T>(codec: ValueCodec<T>): Value<T> => ({ kind: 'value', codec })
/** A hash whose fields are the keys of a keyspace. */
export const hash = <F extends { readonly name: string }>(fields: F): Hash<F> => ({ kind: 'hash', fields })
export const setOf = <T>({ codec }: Component<string, T>): Members<'set', T> => ({
  kind: 'set',
  member: codec
})
export const sortedSetOf = <T>({ codec }: Component<string, T>): Members<'sorted set', T> => ({
  kind: 'sorted set',
  member: codec
})
export const logOf = <T>({ codec }: Component<string, T>): Members<'log', T> => ({
  kind: 'log',
  member: codec
})
export const queueOf = <T>({ codec }: Component<string, T>): Members<'queue', T> => ({
  kind: 'queue',
  member: codec
})

/** The value in documentation. */
export const describeShape = (shape: Shape): string => {
  if (shape.kind === 'value') return shape.codec.name
  if (shape.kind === 'hash') return `hash of ${shape.fields.name}`
  return `${shape.kind} of ${shape.member.name}`
}

const decodeError = (name: string, bytes: Uint8Array, reason: string): QuoinError =>
  new QuoinError('ERR_VALUE_DECODE', `${name}: ${reason}`, { bytes: toHex(bytes.subarray(0, 64)) })

/** Plain bytes, with a name for documentation. */
export const rawValue = (name = 'bytes'): Value<Uint8Array> =>
  value({ name, encode: bytes => bytes, decode: bytes => bytes })

/** One component's value, alone. */
export const single = <T>({ codec }: Component<string, T>): Value<T> => value(wordCodec(codec))

/** Values of one width, one after the other: `listOf(u64('id'))` is N × 8 bytes. */
export const listOf = <T>({ codec }: Component<string, T>): Value<readonly T[]> => {
  const width = codec.language.fixedLength
  if (!width)
    throw new QuoinError(
      'ERR_KEYSPACE_DECLARATION',
      `a list needs items of one width; ${codec.name} has several`
    )
  const item = wordCodec(codec)
  const name = `list of ${codec.name}`
  return value({
    name,
    encode(items) {
      const bytes = new Uint8Array(items.length * width)
      items.forEach((each, i) => {
        codec.write(each, bytes, i * width)
      })
      return bytes
    },
    decode(bytes) {
      if (bytes.length % width)
        throw decodeError(name, bytes, `${bytes.length} bytes are not a multiple of ${width}`)
      return Array.from({ length: bytes.length / width }, (_, i) =>
        item.decode(bytes.subarray(i * width, (i + 1) * width))
      )
    }
  })
}

/** JSON as UTF-8. The caller checks its content. */
export const json = <T>(): Value<T> =>
  value({
    name: 'JSON',
    encode(item) {
      let text: string | undefined
      try {
        text = JSON.stringify(item)
      } catch {
        // A bigint or a cycle: refused below, like any value without a JSON text.
      }
      if (text === undefined) throw valueError('JSON', item, 'something JSON can say')
      return encodeText(text)
    },
    decode(bytes) {
      try {
        return JSON.parse(readText(bytes, 0, bytes.length)) as T
      } catch (error) {
        throw decodeError('JSON', bytes, reasonOf(error))
      }
    }
  })

/** A component's codec for a value that stands alone: all bytes must be one word. */
export const wordCodec = <T>(codec: Codec<T>): ValueCodec<T> => ({
  name: codec.name,
  encode: item => copyWritten(target => codec.write(item, target, 0)),
  decode(bytes) {
    const offset = codec.language.matcher.departs(bytes, 0, bytes.length)
    if (offset !== -1) throw decodeError(codec.name, bytes, `not one: byte ${offset}`)
    return codec.read(bytes, 0, bytes.length)
  }
})
