/** Headers as bytes and as what people see. */

import { fromHex, toHex } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  formatHash,
  type HeaderParts,
  headerJson,
  parseHash,
  parseHeader,
  readHeaders,
  writeHeader
} from './header.ts'
import { MAIN_1, MAIN_2 } from './headers.testing.ts'
import { NETWORKS } from './networks.ts'

const FORMAT = { name: 'QuoinError', code: 'ERR_HEADER_FORMAT' }
const u32 = fc.integer({ min: 0, max: 0xffffffff })
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })

describe('a header', () => {
  it('of the main network says what everyone knows of it', () => {
    expect(headerJson({ header: parseHeader(fromHex(MAIN_1)), height: 1 })).toStrictEqual({
      height: 1,
      hash: '00000000839a8e6886ab5951d76f411475428afc90947ee320161bbf18eb6048',
      version: 1,
      prevHash: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
      merkleRoot: '0e3e2357e806b6cdb1f70b54c3a3a17b6714ee1f0e68bebb44a74b1efd512098',
      time: 1231469665,
      bits: 0x1d00ffff,
      nonce: 2573394689
    })
    expect(parseHeader(fromHex(MAIN_2)).hasProofOfWork).toBe(true)
  })

  it.each([
    ['main', '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f'],
    ['test', '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943'],
    ['regtest', '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206']
  ] as const)('is the first one of %s', (network, expected) => {
    const header = parseHeader(NETWORKS[network].genesis)
    expect(formatHash(header.hash)).toBe(expected)
    expect(header.hasProofOfWork).toBe(true)
  })

  it('is written and read again', () => {
    const parts = fc.record(
      {
        version: u32,
        previous: hash,
        merkleRoot: hash,
        time: u32,
        bits: u32,
        nonce: u32
      },
      { noNullPrototype: true }
    )
    fc.assert(
      fc.property(parts, given => {
        const { raw } = writeHeader(given)
        const { version, previous, merkleRoot, time, bits, nonce } = parseHeader(raw)
        expect({ version, previous, merkleRoot, time, bits, nonce }).toStrictEqual(given)
        expect(parseHeader(Buffer.from(raw)).raw).toStrictEqual(raw)
      })
    )
  })

  it('has 80 bytes, and so has each of many', () => {
    for (const length of [0, 79, 81, 160]) {
      expect(() => parseHeader(new Uint8Array(length))).toThrow(expect.objectContaining(FORMAT))
    }
    expect(() => parseHeader('header' as never)).toThrow(expect.objectContaining(FORMAT))
    expect(() => readHeaders(new Uint8Array(81))).toThrow(expect.objectContaining(FORMAT))
    expect(readHeaders(fromHex(MAIN_1 + MAIN_2)).map(({ raw }) => toHex(raw))).toStrictEqual([MAIN_1, MAIN_2])
    expect(readHeaders(new Uint8Array())).toStrictEqual([])
  })

  it('is not written of numbers and hashes that have no room in it', () => {
    const { version, previous, merkleRoot, time, bits, nonce } = parseHeader(fromHex(MAIN_1))
    const good: HeaderParts = { version, previous, merkleRoot, time, bits, nonce }
    for (const wrong of [
      { time: 2 ** 32 },
      { nonce: -1 },
      { version: 0.5 },
      { previous: new Uint8Array(31) }
    ]) {
      expect(() => writeHeader({ ...good, ...wrong })).toThrow(expect.objectContaining(FORMAT))
    }
  })

  it('has no proof of work when its bits are no target', () => {
    const raw = fromHex(MAIN_1)
    raw.set([0xff, 0xff, 0xff, 0x22], 72)
    expect(parseHeader(raw).hasProofOfWork).toBe(false)
    raw.set([0, 0, 0, 0], 72)
    expect(parseHeader(raw).hasProofOfWork).toBe(false)
  })

  it('has no proof of work after any change', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 71 }), fc.integer({ min: 1, max: 255 }), (at, by) => {
        const raw = fromHex(MAIN_1)
        raw[at]! ^= by
        expect(parseHeader(raw).hasProofOfWork).toBe(false)
      })
    )
  })
})

describe('a hash', () => {
  it('is shown in reverse, and read in either case', () => {
    fc.assert(
      fc.property(hash, bytes => {
        const shown = formatHash(bytes)
        expect(shown).toBe(Buffer.from(bytes).reverse().toString('hex'))
        expect(parseHash(shown)).toStrictEqual(bytes)
        expect(parseHash(shown.toUpperCase())).toStrictEqual(bytes)
      })
    )
  })

  it.each(['', '00', 'g'.repeat(64), '0'.repeat(63), '0'.repeat(66)])('is not %j', text => {
    expect(() => parseHash(text)).toThrow(expect.objectContaining(FORMAT))
  })
})
