import { toHex } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatAddress, parseAddress } from './bech32.ts'

describe('addresses', () => {
  it.each([
    ['osmo1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqruwfv6g3', 'osmo', `${'00'.repeat(19)}7c`],
    // The examples of BIP-173, as far as they hold whole bytes.
    [
      'split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w',
      'split',
      'c5f38b70305f519bf66d85fb6cf03058f3dde463ecd7918f2dc743918f2d'
    ],
    ['abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw', 'abcdef', '00443214c74254b635cf84653a56d7c675be77df']
  ])('%s', (text, prefix, hex) => {
    const { prefix: read, bytes } = parseAddress(text)
    expect([read, toHex(bytes)]).toEqual([prefix, hex])
    expect(formatAddress({ prefix, bytes })).toBe(text)
  })

  it.each([
    ['nothing', ''],
    ['another checksum', 'osmo1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqruwfv6g4'],
    ['another prefix', 'asmo1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqruwfv6g3'],
    ['upper case', 'OSMO1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQRUWFV6G3'],
    ['a character that is none', 'osmo1bqqqqqqqqqqqqqqqqqqqqqqqqqqqqqruwfv6g3'],
    ['no bytes', 'a12uel5l']
  ])('are not %s', (_, text) => {
    expect(() => parseAddress(text)).toThrow(expect.objectContaining({ code: 'ERR_LIQUIDITY_VALUE' }))
  })

  it('are read as they are written, and a changed character is noticed', () => {
    const prefix = fc.constantFrom('osmo', 'cosmos', 'a1b')
    fc.assert(
      fc.property(
        prefix,
        fc.uint8Array({ minLength: 1, maxLength: 32 }),
        fc.nat(),
        fc.nat(31),
        (hrp, bytes, at, to) => {
          const text = formatAddress({ prefix: hrp, bytes })
          expect(parseAddress(text)).toEqual({ prefix: hrp, bytes })
          const place = hrp.length + 1 + (at % (text.length - hrp.length - 1))
          const changed = `${text.slice(0, place)}${'qpzry9x8gf2tvdw0s3jn54khce6mua7l'[to]}${text.slice(place + 1)}`
          if (changed !== text) expect(() => parseAddress(changed)).toThrow()
        }
      )
    )
  })
})
