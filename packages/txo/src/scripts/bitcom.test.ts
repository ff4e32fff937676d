/** What stands behind an OP_RETURN: the protocols, and B and MAP among them. */

import { buildScript, OP } from '@quoin/primitives'
import { describe, expect, it } from 'vitest'
import { decodeB } from './b.ts'
import { type Bitcom, decodeBitcom } from './bitcom.ts'
import { decodeMap } from './map.ts'
import {
  B,
  bitcom,
  countingLooks,
  found,
  foundIn,
  hex,
  inscription,
  joined,
  MAP,
  payTo,
  person,
  repeated,
  scriptOf,
  utf8
} from './scripts.testing.ts'

const names = (decoded: Bitcom | undefined): (string | undefined)[] | undefined =>
  decoded?.segments.map(({ protocol }) => protocol)
const pipe = hex('01 7c')

describe('bitcom', () => {
  it('is a list of protocols, each with its place', () => {
    const script = bitcom([['one', 'x'], ['two'], ['three', 'y', 'z']])
    expect(names(decodeBitcom(script))).toEqual(['one', 'two', 'three'])
    expect(found(script)['bitcom']!.data).toEqual({
      protocols: [
        { protocol: 'one', start: 2, end: 8 },
        { protocol: 'two', start: 10, end: 14 },
        { protocol: 'three', start: 16, end: 26 }
      ]
    })
  })

  it('follows the first OP_RETURN, whatever stands before it', () => {
    for (const before of [new Uint8Array(), hex('00'), payTo(person(1)), inscription({ content: 'x' })]) {
      expect(names(decodeBitcom(bitcom([['one']], before)))).toEqual(['one'])
    }
    expect(decodeBitcom(buildScript([Uint8Array.of(OP.RETURN, OP.RETURN)]))).toBeUndefined()
    expect(decodeBitcom(payTo(person(1)))).toBeUndefined()
  })

  it('knows protocols by names that are text', () => {
    for (const name of [hex('ff'), utf8('a\nb'), utf8('\0'), hex('01'), utf8('x'.repeat(257))]) {
      expect(decodeBitcom(bitcom([[name, 'x']]))).toBeUndefined()
      expect(names(decodeBitcom(bitcom([[name, 'x'], ['one']])))).toEqual([undefined, 'one'])
    }
    expect(names(decodeBitcom(bitcom([['x'.repeat(256)], ['日本']])))).toEqual(['x'.repeat(256), '日本'])
    expect(decodeBitcom(hex('6a'))).toBeUndefined()
    expect(decodeBitcom(hex('6a 00 00'))).toBeUndefined()
    expect(decodeBitcom(hex('6a 76 a9'))).toBeUndefined()
  })

  it('has empty segments where separators follow each other', () => {
    const script = joined(hex('6a'), pipe, pipe, hex('03 6f6e65'), pipe)
    expect(names(decodeBitcom(script))).toEqual([undefined, undefined, 'one', undefined])
  })

  it('ends where a push breaks off', () => {
    const script = joined(bitcom([['one', 'x']]), hex('4e ff ff ff ff 00'))
    expect(found(script)['bitcom']!.data).toEqual({ protocols: [{ protocol: 'one', start: 2, end: 8 }] })
  })

  it('is not what the state of a contract looks like', () => {
    for (const name of ['bamboo', 'buidl'] as const) expect(decodeBitcom(scriptOf(name))).toBeUndefined()
  })

  it('has at most 128 segments, however many separators there are', () => {
    const script = joined(hex('6a'), repeated(joined(hex('03 6f6e65'), pipe), 1_000_000))
    const { looks, result } = countingLooks(() => found(script))
    expect(decodeBitcom(script)?.segments).toHaveLength(128)
    expect(Object.keys(result)).toEqual(['bitcom'])
    expect(looks).toBeLessThan(1000)
  })
})

describe('b', () => {
  it('is a file of a real transaction, kept by its hash', () => {
    expect(foundIn('twetch', 0)['b']!.data).toEqual({
      hash: 'fad32d7fd39f83ded1d737379d62de5316f4780b48a9274b6e49443e1013fa9f',
      size: 85,
      mediaType: 'text/plain',
      encoding: 'text',
      filename: 'twetch_twtext_1688957098720.txt'
    })
    // The file name is a zero byte.
    expect(foundIn('twoAuthors', 0)['b']!.data).toEqual({
      hash: 'c0535e4be2b79ffd93291305436bf889314e4a3faec05ecffcbb7df31ad9e51a',
      size: 12,
      mediaType: 'text/plain',
      encoding: 'utf-8'
    })
  })

  it('needs content and a media type', () => {
    expect(decodeB(bitcom([[B, 'x', 'text/plain']]))).toEqual({
      content: utf8('x'),
      mediaType: 'text/plain',
      encoding: undefined,
      filename: undefined
    })
    for (const fields of [[], ['x'], ['x', ''], ['x', hex('ff')], ['x', 'y'.repeat(257)]]) {
      expect(decodeB(bitcom([[B, ...fields]]))).toBeUndefined()
    }
    expect(decodeB(bitcom([['other', 'x', 'text/plain']]))).toBeUndefined()
    expect(decodeB(bitcom([[B], [B, 'x', 'text/plain']]))?.content).toEqual(utf8('x'))
  })

  it('says its type in lower case and without parameters', () => {
    expect(found(bitcom([[B, 'x', 'Text/HTML; charset=utf-8']]))['b']!.events).toEqual(['b:type:text/html'])
    expect(found(bitcom([[B, 'x', ' ;']]))['b']!.events).toEqual([])
  })

  it('leaves out names that are no text', () => {
    const { data } = found(bitcom([[B, 'x', 'a/b', hex('ff'), hex('fe')]]))['b']!
    expect(Object.keys(data as object)).toEqual(['hash', 'size', 'mediaType'])
  })
})

describe('map', () => {
  it('is the metadata of a real transaction', () => {
    expect(foundIn('map', 2)['map']!.data).toEqual({
      cmd: 'SET',
      data: {
        app: 'retrofeed.me',
        type: 'like',
        context: 'tx',
        tx: '95d15919f7f44fc29b5371f527b140416e9124d0ed220c0d5d461c8edf045d9e',
        emoji: '🗺️'
      }
    })
  })

  it('puts several SETs together, and takes the later value', () => {
    const script = bitcom([
      [MAP, 'SET', 'a', '1', 'b', '2'],
      [MAP, 'SET', 'b', '3', 'c', '4'],
      [MAP, 'ADD', 'tags', 'x']
    ])
    expect(decodeMap(script)).toEqual({ cmd: 'SET', data: { a: '1', b: '3', c: '4' } })
  })

  it('knows ADD and DEL, and of others the name', () => {
    const decode = (...fields: (string | Uint8Array)[]): unknown => decodeMap(bitcom([[MAP, ...fields]]))
    expect(decode('ADD', 'tags', 'x', hex('ff'), 'y')).toEqual({
      cmd: 'ADD',
      data: {},
      key: 'tags',
      adds: ['x', 'y']
    })
    expect(decode('ADD')).toEqual({ cmd: 'ADD', data: {} })
    expect(decode('DEL', 'a', 'b')).toEqual({ cmd: 'DEL', data: {}, deletes: ['a', 'b'] })
    expect(decode('SELECT', 'x')).toEqual({ cmd: 'SELECT', data: {} })
    for (const fields of [[], [''], ['set', 'a', 'b'], ['X'.repeat(17)], [hex('ff')]]) {
      expect(decode(...fields)).toBeUndefined()
    }
  })

  it('leaves out pairs that are not text, or too long, and a key without a value', () => {
    const data = (...fields: (string | Uint8Array)[]): unknown =>
      decodeMap(bitcom([[MAP, 'SET', ...fields]]))?.data
    expect(data(hex('ff'), 'x', 'a', hex('ff'), 'b', '1', 'c')).toEqual({ b: '1' })
    expect(data('x'.repeat(257), '1', 'a', 'y'.repeat(16_385), 'b', 'z'.repeat(16_384))).toEqual({
      b: 'z'.repeat(16_384)
    })
    expect(
      Object.keys(data(...[1, 2, 3, 4, 5].flatMap(i => [`${i}`, 'z'.repeat(16_000)])) as object)
    ).toEqual(['1', '2', '3', '4'])
    expect(Object.keys(data(...Array.from({ length: 1000 }, (_, i) => `${i}`)) as object)).toHaveLength(256)
  })

  it('has keys that mean something else to JavaScript', () => {
    const parsed = found(bitcom([[MAP, 'SET', '__proto__', 'x', 'toString', 'y', 'constructor', 'z']]))[
      'map'
    ]!
    expect(JSON.parse(JSON.stringify(parsed.data)).data).toEqual(
      JSON.parse('{"__proto__":"x","toString":"y","constructor":"z"}')
    )
    expect(parsed.events).toEqual([])
    expect(found(bitcom([[MAP, 'SET', '__proto__', 'type']]))['map']!.events).toEqual([])
  })

  it('says type and app as events, escaped', () => {
    expect(found(bitcom([[MAP, 'SET', 'type', 'a:b', 'app', 'x\0y']]))['map']!.events).toEqual([
      'map:type:a;0b',
      'map:app:x\x010y'
    ])
    expect(found(bitcom([[MAP, 'SET', 'type', 'x'.repeat(257), 'app', '']]))['map']!.events).toEqual([])
  })
})
