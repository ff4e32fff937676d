import { buildScript, formatOutpoint, OP } from '@quoin/primitives'
import { describe, expect, it } from 'vitest'
import { decodeInscription } from './envelope.ts'
import { decodeOwner } from './locking.ts'
import {
  bitcom,
  countingLooks,
  found,
  foundIn,
  hex,
  inscription,
  joined,
  OUTPOINT,
  payTo,
  person,
  repeated,
  scriptOf,
  utf8,
  wireOutpoint
} from './scripts.testing.ts'

const alice = person(1)
const hello = inscription({ type: 'text/plain', content: 'hello' })
const ord = (...parts: (number | Uint8Array)[]): Uint8Array =>
  buildScript([OP.FALSE, OP.IF, utf8('ord'), ...parts])
const textOf = (bytes: Uint8Array | undefined): string | undefined =>
  bytes && Buffer.from(bytes).toString('utf8')

describe('an envelope', () => {
  it('has a media type and content', () => {
    expect(decodeInscription(hello)).toEqual({
      type: 'text/plain',
      content: utf8('hello'),
      parent: undefined,
      fields: [],
      start: 0,
      end: hello.length,
      closed: true
    })
  })

  it('stands before a lock or behind it', () => {
    const before = decodeInscription(joined(hello, payTo(alice)))
    expect([before?.start, before?.end]).toEqual([0, hello.length])
    const behind = decodeInscription(joined(payTo(alice), hello))
    expect([behind?.start, behind?.end]).toEqual([25, 25 + hello.length])
  })

  it('names a parent, as an outpoint or by its txid alone', () => {
    const parent = (value: Uint8Array): string | undefined => {
      const outpoint = decodeInscription(ord(OP.N3, value, OP.N0, utf8('x'), OP.ENDIF))?.parent
      return outpoint && formatOutpoint(outpoint)
    }
    expect(parent(wireOutpoint(OUTPOINT))).toBe(formatOutpoint(OUTPOINT))
    expect(parent(OUTPOINT.subarray(0, 32))).toBe(formatOutpoint(OUTPOINT).replace(/3$/, '0'))
    expect(parent(OUTPOINT.subarray(0, 35))).toBeUndefined()
  })

  it('has fields with numbers and with names', () => {
    const { fields } = decodeInscription(
      inscription({
        content: 'x',
        fields: [
          [5, utf8('five')],
          [200, utf8('')],
          ['meta', utf8('data')]
        ]
      })
    )!
    expect(fields).toEqual([
      { field: 5, value: utf8('five') },
      { field: 200, value: utf8('') },
      { field: utf8('meta'), value: utf8('data') }
    ])
  })

  it('may say its numbers as pushes, and then zero is the content too', () => {
    const script = hex('00 63 03 6f7264 01 01 03 612f62 01 00 01 78 68')
    expect(decodeInscription(script)).toMatchObject({ type: 'a/b', content: utf8('x') })
  })

  it('takes the last of two types, and none that is no text or too long', () => {
    const type = (...values: Uint8Array[]): string | undefined =>
      decodeInscription(ord(...values.flatMap(value => [OP.N1, value]), OP.N0, utf8('x'), OP.ENDIF))?.type
    expect(type(utf8('a'), utf8('b'))).toBe('b')
    expect(type()).toBe('')
    expect(type(Uint8Array.of(0xff, 0xfe))).toBe('')
    expect(type(utf8('x'.repeat(255)))).toHaveLength(255)
    expect(type(utf8('x'.repeat(256)))).toBe('')
  })

  it('is a chunk of the script and not bytes within a push', () => {
    expect(decodeInscription(buildScript([hello]))).toBeUndefined()
    const second = buildScript([hello, OP.DROP])
    expect(decodeInscription(joined(second, hello))?.start).toBe(second.length)
  })

  it('goes by the two bytes before the push, whatever put them there', () => {
    // A push of one zero byte is as false as OP_FALSE.
    expect(decodeInscription(hex('01 00 63 03 6f7264 00 01 78 68'))).toMatchObject({
      start: 1,
      content: utf8('x')
    })
    for (const script of [
      '63 03 6f7264 00 01 78 68',
      '03 6f7264 00 01 78 68',
      '51 63 03 6f7264 00 01 78 68'
    ]) {
      expect(decodeInscription(hex(script))).toBeUndefined()
    }
  })

  it('needs its content, and ends behind it', () => {
    expect(decodeInscription(ord(OP.N1, utf8('a/b'), OP.ENDIF))).toBeUndefined()
    expect(decodeInscription(ord(OP.N1, utf8('a/b')))).toBeUndefined()
    expect(decodeInscription(ord(OP.N0, OP.ENDIF))).toBeUndefined()
    expect(decodeInscription(ord(OP.N0, utf8('x'), OP.NOP))).toBeUndefined()
    expect(decodeInscription(ord(OP.N0, utf8('x')))).toMatchObject({ closed: false, content: utf8('x') })
    expect(decodeInscription(joined(ord(OP.N0, utf8('x')), hex('4c')))).toBeUndefined()
  })

  it('gives way to the next one where it is broken', () => {
    const script = joined(ord(OP.N0, utf8('first'), OP.NOP, OP.ENDIF), hello)
    expect(textOf(decodeInscription(script)?.content)).toBe('hello')
    expect(textOf(decodeInscription(joined(hello, inscription({ content: 'second' })))?.content)).toBe(
      'hello'
    )
  })

  it('is looked for among a hundred thousand that are none without going back', () => {
    const broken = ord(OP.N0, utf8('x'), OP.NOP)
    for (const script of [
      repeated(broken, 100_000),
      repeated(hex('0063036f7264'), 100_000),
      repeated(hex('0063036f7264 51'), 100_000),
      repeated(buildScript([repeated(hello, 1000)]), 100),
      joined(hex('0063036f7264'), repeated(hex('5151'), 100_000))
    ]) {
      const { looks, result } = countingLooks(() => decodeInscription(script))
      expect(result).toBeUndefined()
      expect(looks).toBeLessThanOrEqual(script.length)
    }
  })
})

describe('the owner of an inscription', () => {
  it.each<[string, Uint8Array]>([
    ['before a P2PKH', joined(hello, payTo(alice))],
    ['behind a P2PKH', joined(payTo(alice), hello)],
    ['before a P2PKH and data', joined(hello, bitcom([['x']], payTo(alice)))],
    ['behind a P2PKH and before data', joined(payTo(alice), bitcom([['x']], hello))]
  ])('is paid %s', (_, script) => {
    expect(decodeOwner(script)).toBe(alice.address)
    expect(found(script)['insc']!.owners).toEqual([alice.address])
  })

  it.each<[string, Uint8Array]>([
    ['nobody is paid', hello],
    ['more is asked for', joined(hello, payTo(alice), buildScript([OP.NOP]))],
    ['the lock stands on both sides', joined(buildScript([OP.NOP]), hello, payTo(alice))],
    ['two are paid', joined(payTo(alice), hello, payTo(alice))],
    ['the envelope does not end', joined(payTo(alice), ord(OP.N0, utf8('x')))]
  ])('is nobody where %s', (_, script) => {
    expect(decodeOwner(script)).toBeUndefined()
    expect(found(script)['insc']!.owners).toEqual([])
  })
})

describe('insc', () => {
  it('keeps the hash and the size of what is inscribed', () => {
    expect(foundIn('opns', 2)['insc']!.data).toEqual({
      file: {
        hash: 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb',
        size: 1,
        type: 'application/op-ns'
      }
    })
    expect(foundIn('musashi', 0)['insc']!.data).toMatchObject({ file: { size: 13750, type: 'image/webp' } })
  })

  it('wants exactly one satoshi', () => {
    for (const satoshis of [0, 2, 1000]) expect(found(hello, { satoshis })['insc']).toBeUndefined()
  })

  it('says the type without its parameters, and the parent', () => {
    const parent = formatOutpoint(OUTPOINT, '_')
    const script = inscription({ type: ' Text/HTML ; charset=utf-8', content: 'x', parent: OUTPOINT })
    expect(found(script)['insc']).toMatchObject({
      data: { file: { type: ' Text/HTML ; charset=utf-8' }, parent },
      events: ['insc:type:text/html', `insc:parent:${parent}`]
    })
    expect(found(inscription({ type: ';charset=utf-8', content: 'x' }))['insc']!.events).toEqual([])
  })

  it('keeps other fields, short ones whole', () => {
    const fields = [
      [9, new Uint8Array(1024)],
      [10, new Uint8Array(1025)],
      ['meta', utf8('x')],
      ['x'.repeat(1025), utf8('y')]
    ] as const
    expect(found(inscription({ content: 'x', fields }))['insc']!.data).toMatchObject({
      fields: [
        { field: 9, size: 1024, value: '00'.repeat(1024) },
        { field: 10, size: 1025 },
        { field: '6d657461', size: 1, value: '78' }
      ]
    })
  })

  it('is not mistaken for the envelope that a contract pushes', () => {
    // The contract of BAMBOO carries pieces of envelopes for the outputs that it demands.
    expect(decodeInscription(scriptOf('bamboo'))?.start).toBe(0)
  })
})
