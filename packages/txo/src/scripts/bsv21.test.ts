import { formatOutpoint, formatTxid, txidOf } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Bsv21, decodeBsv21 } from './bsv21.ts'
import {
  bsv21,
  FIXTURES,
  found,
  foundIn,
  inscription,
  OUTPOINT,
  payTo,
  person,
  scriptOf
} from './scripts.testing.ts'

const SELF = formatOutpoint(OUTPOINT, '_')
const ID = `${FIXTURES.mnee}_0`
const decode = (fields: Record<string, unknown> | string): Bsv21 | undefined =>
  decodeBsv21(bsv21(fields), OUTPOINT)
const deploy = { op: 'deploy+mint', amt: '1000' }
const transfer = { op: 'transfer', id: ID, amt: '5' }

describe('BSV21 of real transactions', () => {
  it('deploys MNEE', () => {
    expect(decodeBsv21(scriptOf('mnee'), OUTPOINT)).toEqual({
      op: 'deploy+mint',
      id: SELF,
      amt: 18446744073709500000n,
      sym: 'MNEE',
      dec: 5,
      icon: '9c7f7f1788c6382d5ac737a4052334cf150b52d1e46c484ecfb1d6e00184f263_0',
      encoding: 'json'
    })
    expect(foundIn('mnee', 0)['bsv21']!.data).toEqual({
      id: ID,
      op: 'deploy+mint',
      amt: '18446744073709500000',
      sym: 'MNEE',
      dec: 5,
      icon: '9c7f7f1788c6382d5ac737a4052334cf150b52d1e46c484ecfb1d6e00184f263_0'
    })
  })

  it('transfers it to two holders', () => {
    expect(foundIn('mneeTransfer', 0)['bsv21']!.data).toEqual({ id: ID, op: 'transfer', amt: '10000000' })
    expect(foundIn('mneeTransfer', 1)['bsv21']!.data).toEqual({
      id: ID,
      op: 'transfer',
      amt: '18446744073699500000'
    })
  })
})

describe('the operations', () => {
  it.each([
    [{ op: 'deploy+mint', amt: '7' }, SELF, 7n],
    [{ op: 'deploy+auth' }, SELF, undefined],
    [{ op: 'mint', id: ID, amt: '7' }, ID, 7n],
    [{ op: 'auth', id: ID }, ID, undefined],
    [{ op: 'transfer', id: ID, amt: '7' }, ID, 7n],
    [{ op: 'burn', id: ID, amt: '7' }, ID, 7n]
  ])('%j', (fields, id, amt) => {
    expect(decode(fields)).toEqual({
      op: fields.op,
      id,
      amt,
      sym: undefined,
      dec: undefined,
      icon: undefined,
      encoding: 'json'
    })
  })

  it('are read without regard to case', () => {
    expect(decode({ ...transfer, op: 'TRANSFER' })?.op).toBe('transfer')
    expect(decode({ ...deploy, op: 'Deploy+Mint' })?.op).toBe('deploy+mint')
    expect(decode({ ...transfer, op: 'M\u0130NT' })?.op).toBe('mint')
  })

  it.each([
    { op: 'deploy', amt: '7' },
    { op: 'mint', amt: '7', tick: 'ORDI' },
    { op: 'transfer', amt: '7' },
    { op: 'transfer', id: ID },
    { op: 'deploy+mint' },
    { op: 'deploy+auth', amt: '7' },
    { op: 'auth', id: ID, amt: '7' },
    { op: 'auth', id: ID, amt: null },
    { amt: '7', id: ID },
    { op: 'value', id: ID, amt: '7' },
    { op: ' transfer', id: ID, amt: '7' }
  ])('%j is none', fields => {
    expect(decode(fields)).toBeUndefined()
  })

  it('ignore what they have no use for', () => {
    expect(decode({ ...transfer, sym: 5, icon: {}, dec: '99', more: [[]] })).toEqual(decode(transfer))
    expect(decode({ ...transfer, sym: 'X', dec: '8' })).toEqual(decode(transfer))
    expect(decode({ ...deploy, id: 7 })).toMatchObject({ id: SELF })
  })
})

describe('there is one way to write', () => {
  it.each([
    '0',
    '',
    '00',
    '+1',
    '-1',
    ' 1',
    '1 ',
    '1.0',
    '1e3',
    '0x1',
    '１',
    '18446744073709551616',
    '9'.repeat(20),
    '1_000',
    '0018446744073709551616',
    '9'.repeat(5000),
    `${'0'.repeat(5000)}x`
  ])('an amount, which is not %s', amt => {
    expect(decode({ ...transfer, amt })).toBeUndefined()
    expect(decode({ ...deploy, amt })).toBeUndefined()
  })

  it.each(['5', '05', '005', `${'0'.repeat(5000)}5`])('an amount, where %s is 5', amt => {
    expect(decode({ ...transfer, amt })?.amt).toBe(5n)
    expect(decode({ ...deploy, amt })?.amt).toBe(5n)
  })

  it('an amount, which is text', () => {
    for (const amt of [5, 5n.toString, null, true, ['5'], { amt: '5' }]) {
      expect(decode({ ...transfer, amt })).toBeUndefined()
    }
  })

  it('an amount, and every one from 1 to 2^64 − 1 is written so', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), amt => {
        expect(decode({ ...transfer, amt: amt.toString() })?.amt).toBe(amt)
      })
    )
    expect(decode({ ...transfer, amt: '18446744073709551615' })?.amt).toBe(2n ** 64n - 1n)
  })

  it.each([
    FIXTURES.mnee,
    `${FIXTURES.mnee}_`,
    `${FIXTURES.mnee}_00`,
    `${FIXTURES.mnee}_01`,
    `${FIXTURES.mnee}.0`,
    `${FIXTURES.mnee}i0`,
    `${FIXTURES.mnee}:0`,
    `${FIXTURES.mnee.toUpperCase()}_0`,
    `${FIXTURES.mnee}_4294967296`,
    `${FIXTURES.mnee}_-1`,
    `${FIXTURES.mnee}_0 `,
    `${FIXTURES.mnee}_0\n`,
    ` ${FIXTURES.mnee}_0`,
    `${FIXTURES.mnee.slice(1)}_0`,
    `x${FIXTURES.mnee.slice(1)}_0`,
    7,
    null,
    [`${FIXTURES.mnee}_0`]
  ])('a token, which is not %j', id => {
    expect(decode({ ...transfer, id })).toBeUndefined()
  })

  it('a token with a large output number', () => {
    expect(decode({ ...transfer, id: `${FIXTURES.mnee}_4294967295` })?.id).toMatch(/_4294967295$/)
  })

  it('decimals, from 0 to 18', () => {
    for (let dec = 0; dec <= 18; dec++) {
      expect(decode({ ...deploy, dec: `${dec}` })?.dec).toBe(dec)
      expect(decode({ ...deploy, dec: `0${dec}` })?.dec).toBe(dec)
    }
  })
})

describe('malformed attributes count as absent', () => {
  it.each(['19', '-1', '', '1.0', ' 1', '9'.repeat(30), 5, 0, null, ['5']])('decimals %j', dec => {
    expect(decode({ ...deploy, dec })).toEqual(decode(deploy))
  })

  it.each([5, null, {}, '', 'x'.repeat(1025)])('the symbol %.20j', sym => {
    expect(decode({ ...deploy, sym })).toEqual(decode(deploy))
  })

  it.each([5, ['x'], null, '', '_', '_x', '_01', '_4294967296', 'https://x/y.png', `${FIXTURES.mnee}.0`])(
    'the icon %j',
    icon => {
      expect(decode({ ...deploy, icon })).toEqual(decode(deploy))
    }
  )

  it('and leave the others', () => {
    expect(decode({ ...deploy, sym: 'GOLD', dec: 8, icon: {} })).toMatchObject({
      sym: 'GOLD',
      dec: undefined
    })
  })
})

describe('hostile JSON', () => {
  it.each([
    { ...deploy, op: 5 },
    { ...deploy, op: null },
    { ...deploy, op: ['deploy+mint'] },
    { ...deploy, p: 'bsv-21' },
    { ...deploy, p: ['bsv-20'] }
  ])('%j is not BSV21, and nothing breaks', fields => {
    expect(decode(fields)).toBeUndefined()
  })

  it.each([
    '',
    'null',
    '5',
    '"bsv-20"',
    '[]',
    '[{"p":"bsv-20","op":"deploy+mint","amt":"1"}]',
    '{"p":"bsv-20","op":"deploy+mint","amt":"1"',
    '{"p":"bsv-20","op":"deploy+mint","amt":"1"}x',
    '\ufeff{"p":"bsv-20","op":"deploy+mint","amt":"1"}',
    "{'p':'bsv-20','op':'deploy+mint','amt':'1'}",
    '{"__proto__":{"p":"bsv-20","op":"deploy+mint","amt":"1"}}',
    `${'['.repeat(60_000)}`,
    `${'{"a":'.repeat(10_000)}`
  ])('%.60s is not BSV21', content => {
    expect(decode(content)).toBeUndefined()
  })

  it('takes the last of equal keys', () => {
    expect(decode('{"p":"x","p":"bsv-20","op":"deploy+mint","amt":"1","amt":"2"}')?.amt).toBe(2n)
  })

  it('is read with white space around it', () => {
    expect(decode('\n\t {"p":"bsv-20","op":"deploy+mint","amt":"2"} \r\n')?.amt).toBe(2n)
  })

  it('may be long, and deep up to 10,000 brackets', () => {
    const padded = (more: string): string => `{"p":"bsv-20","op":"deploy+mint","more":${more},"amt":"1000"}`
    expect(decode(padded(`"${'x'.repeat(2_000_000)}"`))?.amt).toBe(1000n)
    expect(decode(padded('['.repeat(9_999) + ']'.repeat(9_999)))?.amt).toBe(1000n)
    expect(decode(padded('['.repeat(10_000) + ']'.repeat(10_000)))).toBeUndefined()
    // A number beyond a float64 is JSON all the same.
    expect(decode(padded('1e999'))?.amt).toBe(1000n)
  })

  it('may have bytes that are not UTF-8, in a field without a use', () => {
    const broken = bsv21({ ...deploy, more: '~' })
    broken[broken.lastIndexOf(0x7e)] = 0xff
    expect(decodeBsv21(broken, OUTPOINT)?.amt).toBe(1000n)
    const outside = bsv21(deploy)
    outside[outside.indexOf(0x7b) + 2] = 0xff
    expect(decodeBsv21(outside, OUTPOINT)).toBeUndefined()
  })

  it('needs the media type, as it is', () => {
    const content = JSON.stringify({ p: 'bsv-20', ...deploy })
    for (const type of [
      'application/bsv-20;',
      'Application/bsv-20',
      'application/bsv-21',
      'text/plain',
      ''
    ]) {
      expect(decodeBsv21(inscription({ type, content }), OUTPOINT)).toBeUndefined()
    }
  })
})

describe('bsv21', () => {
  it('finds claims on outputs of any satoshis', () => {
    expect(found(bsv21(deploy), { satoshis: 1000 })['bsv21']!.data).toEqual({ ...deploy, id: SELF })
  })

  it('says who holds it, where that is plain', () => {
    expect(found(bsv21(transfer, payTo(person(7))))['bsv21']!.owners).toEqual([person(7).address])
    expect(found(bsv21(transfer, new Uint8Array()))['bsv21']!.owners).toEqual([])
  })

  it('says symbols as events only where they are text of at most 256 bytes', () => {
    const symbols = (sym: string): string[] =>
      found(bsv21(JSON.stringify({ p: 'bsv-20', ...deploy, sym })))['bsv21']!.events.filter(event =>
        event.startsWith('bsv21:sym:')
      )
    expect(symbols('PEPE')).toEqual(['bsv21:sym:PEPE'])
    expect(symbols('X:spnd')).toEqual(['bsv21:sym:X;0spnd'])
    expect(symbols('x'.repeat(256))).toHaveLength(1)
    for (const sym of ['', 'x'.repeat(257), 'é'.repeat(129), '\ud800', 'a\udc00b']) {
      expect(symbols(sym)).toEqual([])
    }
  })

  it('writes out an icon of the same transaction', () => {
    const icon = (value: string): string | undefined => decode({ ...deploy, icon: value })?.icon
    expect(icon('_3')).toBe(`${formatTxid(txidOf(OUTPOINT))}_3`)
    expect(icon(`${FIXTURES.mnee}_4`)).toBe(`${FIXTURES.mnee}_4`)
  })
})
