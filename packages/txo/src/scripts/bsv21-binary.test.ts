/** Binary BSV21 tokens (BRC-162): the prefix, its one form, and what is behind it. */
import {
  buildScript,
  formatOutpoint,
  formatTxid,
  makeOutpoint,
  OP,
  type Txid,
  txidOf,
  writeScriptNumber
} from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Bsv21, decodeBsv21 } from './bsv21.ts'
import { readBinaryToken } from './bsv21-binary.ts'
import { cborMap } from './dag-cbor.testing.ts'
import {
  binaryToken,
  bsv21,
  cosign,
  found,
  hex,
  inscription,
  joined,
  ordLock,
  payTo,
  person,
  pushDrop,
  shrug,
  utf8,
  wireOutpoint
} from './scripts.testing.ts'
import { ScriptView } from './view.ts'

const alice = person(1)
const SELF = makeOutpoint(new Uint8Array(32).fill(9) as Txid, 0)
const TOKEN = makeOutpoint(Uint8Array.from({ length: 32 }, (_, i) => i) as Txid, 0)
const OTHER = makeOutpoint(txidOf(TOKEN), 258)
const MAX = 2n ** 64n - 1n

const decode = (script: Uint8Array): Bsv21 | undefined => decodeBsv21(script, SELF)
const idText = (outpoint = TOKEN): string => formatOutpoint(outpoint, '_')

describe('the roles', () => {
  it.each([
    ['deploy+mint', undefined, 21_000_000n],
    ['deploy+auth', undefined, 0n],
    ['auth', TOKEN, 0n],
    ['value', TOKEN, 5000n],
    ['auth', OTHER, 0n],
    ['value', OTHER, 1n]
  ] as const)('%s', (op, token, amount) => {
    expect(decode(binaryToken(token, amount))).toEqual({
      op,
      id: idText(token ?? SELF),
      amt: amount > 0n ? amount : undefined,
      sym: undefined,
      dec: undefined,
      icon: undefined,
      encoding: 'binary'
    })
  })

  it('are a deployment at output 0 alone', () => {
    const at = (vout: number): Bsv21 | undefined =>
      decodeBsv21(binaryToken(undefined, 5n), makeOutpoint(txidOf(SELF), vout))
    expect(at(0)?.op).toBe('deploy+mint')
    expect(at(1)).toBeUndefined()
    expect(decodeBsv21(binaryToken(TOKEN, 5n), makeOutpoint(txidOf(SELF), 1))?.op).toBe('value')
  })

  it('have the bytes of the text', () => {
    expect(decode(hex(`20${'11'.repeat(32)} 04406f4001 6d 51`))).toMatchObject({
      id: `${'11'.repeat(32)}_0`,
      amt: 21_000_000n
    })
    expect(decode(hex(`00 09ffffffffffffffff00 6d`))?.amt).toBe(MAX)
  })
})

describe('amounts', () => {
  it('are minimal script numbers up to 2^64 − 1', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: MAX }), amount => {
        expect(readBinaryToken(new ScriptView(binaryToken(TOKEN, amount)))?.amt).toBe(amount)
      })
    )
  })

  it.each([
    ['one more than fits', '0900000000000000 0001'],
    ['negative', '0185'],
    ['negative one as an opcode', '4f'],
    ['zero as a byte', '0100'],
    ['negative zero', '0180'],
    ['longer than needed', '020500'],
    ['nothing by another push', '4c00'],
    ['of ten bytes', '0a01020304050607080901'],
    ['no push', '61']
  ])('are not %s', (_, amount) => {
    expect(decode(hex(`20${'11'.repeat(32)} ${amount} 6d 51`))).toBeUndefined()
  })

  it('and ids count with any push of their bytes', () => {
    expect(decode(hex(`20${'11'.repeat(32)} 55 6d 51`))?.amt).toBe(5n)
    expect(decode(hex(`20${'11'.repeat(32)} 0105 6d 51`))?.amt).toBe(5n)
    expect(decode(hex(`4c20${'11'.repeat(32)} 4c0105 6d 51`))?.amt).toBe(5n)
  })
})

describe('ids', () => {
  const withId = (id: Uint8Array): Uint8Array => joined(buildScript([id, OP.N5, OP['2DROP']]), payTo(alice))

  it('have one form each', () => {
    expect(decode(withId(wireOutpoint(OTHER)))?.id).toBe(idText(OTHER))
    expect(decode(withId(txidOf(TOKEN)))?.id).toBe(idText())
    expect(decode(withId(wireOutpoint(TOKEN)))).toBeUndefined()
  })

  it.each([0, 1, 31, 33, 35, 37, 64])('are not %d bytes', length => {
    const script = joined(Uint8Array.of(0x4c, length), new Uint8Array(length).fill(7), hex('55 6d 51'))
    expect(decode(script)).toBeUndefined()
  })
})

describe('payloads', () => {
  const deployed = (payload: Uint8Array): Bsv21 | undefined => decode(binaryToken(undefined, 7n, { payload }))

  it('have the attributes of a deployment', () => {
    expect(
      deployed(cborMap({ sym: 'GOLD', dec: 8n, icon: wireOutpoint(OTHER), req: new Map(), x: [1n] }))
    ).toMatchObject({
      sym: 'GOLD',
      dec: 8,
      icon: idText(OTHER)
    })
    expect(deployed(cborMap({ icon: Uint8Array.of(3, 0, 0, 0) }))?.icon).toBe(`${formatTxid(txidOf(SELF))}_3`)
  })

  it('have none beside a deployment', () => {
    const script = binaryToken(TOKEN, 7n, { payload: cborMap({ sym: 'GOLD', dec: 8n }) })
    expect(decode(script)).toEqual(decode(binaryToken(TOKEN, 7n)))
  })

  it.each([
    ['no map', utf8('GOLD')],
    ['bytes behind the map', joined(cborMap({ sym: 'GOLD' }), Uint8Array.of(0))],
    ['nothing', new Uint8Array()],
    ['a number for text', cborMap({ sym: 7n })],
    ['too many decimals', cborMap({ dec: 19n })],
    ['negative decimals', cborMap({ dec: -1n })],
    ['decimals that are a float', cborMap({ dec: 8 })],
    ['an icon of another length', cborMap({ icon: new Uint8Array(32) })],
    ['an icon that is text', cborMap({ icon: '_3' })]
  ])('never make a deployment invalid: %s', (_, payload) => {
    expect(deployed(payload)).toEqual(decode(binaryToken(undefined, 7n)))
  })

  it.each([
    ['OP_0', OP.N0],
    ['OP_1NEGATE', OP.N1NEGATE],
    ['OP_16', OP.N16],
    ['a push of a byte', Uint8Array.of(0x99)]
  ])('are any push before an OP_DROP: %s', (_, pushed) => {
    const prefix = buildScript([txidOf(TOKEN), OP.N5, OP['2DROP'], pushed, OP.DROP])
    const token = readBinaryToken(new ScriptView(joined(prefix, payTo(alice))))!
    expect(token.lock).toBe(prefix.length)
    expect(token.payload).toBeDefined()
    expect(found(joined(prefix, payTo(alice)))['bsv21']!.owners).toEqual([alice.address])
  })

  it('are not a push before anything else', () => {
    const lock = joined(buildScript([utf8('x'), OP['2DROP']]), payTo(alice))
    expect(readBinaryToken(new ScriptView(binaryToken(TOKEN, 5n, { lock })))?.payload).toBeUndefined()
  })
})

describe('the lock behind the prefix', () => {
  const listed = found(binaryToken(TOKEN, 5n, { lock: ordLock(alice, 700) }))
  it('is read as that of the output', () => {
    expect(found(binaryToken(TOKEN, 5n, { payload: utf8('x') }))['bsv21']!.owners).toEqual([alice.address])
    expect(found(binaryToken(TOKEN, 5n, { lock: cosign(alice, person(2)) }))['cosign']!.owners).toEqual([
      alice.address
    ])
    expect(listed['ordlock']!.data).toMatchObject({ seller: alice.address, price: 700 })
    expect(listed['bsv21']!.owners).toEqual([])
  })

  it('may be behind an inscription too', () => {
    const image = inscription({ type: 'image/png', content: 'x' })
    const script = binaryToken(TOKEN, 5n, { lock: joined(image, payTo(alice)) })
    expect(found(script)['bsv21']!.owners).toEqual([alice.address])
    expect(found(script)['insc']!.owners).toEqual([alice.address])
  })
})

describe('one script is one token', () => {
  const json = bsv21({ op: 'transfer', id: idText(OTHER), amt: '900' })

  it('binary, if it begins with the prefix', () => {
    expect(decode(binaryToken(TOKEN, 5n, { lock: json }))).toMatchObject({ id: idText(), amt: 5n })
  })

  it('and none where the prefix deploys at another output than 0', () => {
    const script = binaryToken(undefined, 5n, { lock: json })
    expect(decodeBsv21(script, makeOutpoint(txidOf(SELF), 1))).toBeUndefined()
  })

  it('in JSON, if what is before the inscription is not the prefix', () => {
    expect(decode(joined(hex('0102 55 6d'), json))).toMatchObject({ id: idText(OTHER), amt: 900n })
  })

  it('of another protocol, if there is a tag', () => {
    expect(decode(shrug(TOKEN, 5n))).toBeUndefined()
    expect(decode(pushDrop(alice.key, [txidOf(TOKEN), writeScriptNumber(5)]))).toBeUndefined()
    expect(
      decode(
        joined(
          buildScript([utf8('BSV21'), wireOutpoint(TOKEN), OP['2DROP'], OP.N5, OP.N0, OP['2DROP']]),
          payTo(alice)
        )
      )
    ).toBeUndefined()
  })

  it('that says so in its data', () => {
    expect(found(binaryToken(TOKEN, 5n))['bsv21']).toEqual({
      tag: 'bsv21',
      data: { id: idText(), op: 'value', amt: '5', encoding: 'binary' },
      events: [`bsv21:id:${idText()}`],
      owners: [alice.address]
    })
  })
})
