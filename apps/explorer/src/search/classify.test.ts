import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classify } from './classify.ts'

const TXID = `${'e2'.repeat(31)}0a`
const kinds = (text: string): string[] => classify(text).map(({ kind }) => kind)
const first = (text: string) => classify(text)[0]

describe('what a pasted text is taken for', () => {
  it('an outpoint in any spelling is the same output', () => {
    for (const separator of ['.', '_', ':', 'i']) {
      expect(first(`${TXID}${separator}7`)).toEqual({
        kind: 'output',
        name: `${TXID}.7`,
        href: `/explore/output/${TXID}.7`
      })
      expect(kinds(` ${TXID.toUpperCase()}${separator}7\n`)).toEqual(['output', 'token', 'transaction'])
    }
  })

  it('the 36 bytes of an outpoint are that output, and may be a raw key', () => {
    const bytes = `${TXID.match(/../g)!.reverse().join('')}00000007`
    expect(first(bytes)).toMatchObject({ kind: 'output', name: `${TXID}.7` })
    expect(kinds(bytes)).toEqual(['output', 'token', 'transaction', 'raw key'])
  })

  it('a txid is a transaction, and may be a raw key', () => {
    expect(kinds(TXID)).toEqual(['transaction', 'raw key'])
    expect(kinds(TXID.toUpperCase())).toEqual(['transaction', 'raw key'])
  })

  it('an address', () => {
    expect(first('1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa')).toMatchObject({ kind: 'address' })
    expect(first('mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn')).toMatchObject({ kind: 'address' })
    // Of the right letters, and not of 25 bytes.
    expect(kinds('1111111111111111111111111111111111')).not.toContain('address')
  })

  it('a public key is a controller', () => {
    expect(kinds(`02${TXID}`)).toEqual(['controller', 'raw key'])
    expect(first(`02${TXID}`)!.href).toBe(`/explore/kv?controller=02${TXID}`)
  })

  it('hex, with or without its mark and spaces, is a raw key', () => {
    expect(classify('0x7a 3a 74').at(0)).toMatchObject({ kind: 'raw key', name: '7a3a74' })
    expect(kinds('7a3a747')).not.toContain('raw key')
  })

  it('a number is a pool, and may be a symbol or a key', () => {
    expect(kinds('1066')).toEqual(['pool', 'symbol', 'entry key'])
    expect(kinds('007')).not.toContain('pool')
  })

  it('topics and events by their form', () => {
    expect(first('tm_hello')).toMatchObject({ kind: 'topic', href: '/explore/find?key=tp%3Atm_hello' })
    expect(first('own:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa')).toMatchObject({ kind: 'event' })
  })

  it('anything else is a symbol or the key of an entry', () => {
    expect(kinds('GOLD')).toEqual(['symbol', 'entry key'])
    expect(kinds('<script>alert(1)</script>')).toEqual(['symbol', 'entry key'])
  })

  it('nothing, and what is too long, is nothing', () => {
    expect(classify('  ')).toEqual([])
    expect(classify('x'.repeat(5001))).toEqual([])
  })

  it('whatever is pasted leads to views of this page only, each kind once', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.string({ maxLength: 6000 })),
        text => {
          const readings = classify(text)
          for (const { href } of readings) {
            const url = new URL(href, 'http://node.example')
            expect(url.origin).toBe('http://node.example')
            expect(url.pathname).toMatch(/^\/explore\/[a-z]+(\/[^/]+)?$/)
          }
          expect(new Set(readings.map(({ kind }) => kind)).size).toBe(readings.length)
        }
      )
    )
  })
})
