import { P2PKH, Utils } from '@bsv/sdk'
import { fromHex, hasCode, QuoinError, toHex } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  formatAddress,
  fromBase58,
  isP2pkh,
  p2pkh,
  p2pkhHash,
  parseAddress,
  startsP2pkh,
  toBase58
} from './address.ts'

const hashes = fc
  .oneof(
    fc.uint8Array({ minLength: 20, maxLength: 20 }),
    fc.constantFrom(new Uint8Array(20), new Uint8Array(20).fill(0xff))
  )
  .map(bytes => new Uint8Array(bytes))

const refused = (text: string): boolean => {
  try {
    parseAddress(text)
    return false
  } catch (error) {
    if (hasCode(error, 'ERR_KEY_VALUE')) return true
    throw error
  }
}

describe('addresses', () => {
  it('are those of the SDK, on both networks, and lead back to the hash', () => {
    fc.assert(
      fc.property(hashes, fc.constantFrom('main' as const, 'test' as const), (hash, network) => {
        const text = formatAddress(hash, network)
        expect(text).toBe(Utils.toBase58Check([...hash], [network === 'main' ? 0 : 0x6f]))
        expect(parseAddress(text)).toStrictEqual({ hash, network })
      })
    )
  })

  it('are of the main network unless said otherwise', () => {
    expect(formatAddress(new Uint8Array(20))).toBe('1111111111111111111114oLvT2')
    const hash = fromHex('62e907b15cbf27d5425399ebf6f0fb50ebb88f18')
    expect(formatAddress(hash)).toBe('1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa')
  })

  it('are refused with any one character wrong, missing or added', () => {
    const chars = fc.constantFrom(...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0OIl é')
    fc.assert(
      fc.property(
        hashes,
        fc.nat(33),
        chars,
        fc.constantFrom(0, 1),
        fc.boolean(),
        (hash, at, char, cut, add) => {
          const text = formatAddress(hash)
          const wrong = text.slice(0, at) + (add ? char : '') + text.slice(at + cut)
          expect(refused(wrong)).toBe(wrong !== text)
        }
      ),
      { numRuns: 1000 }
    )
  })

  it.each([
    ['nothing', ''],
    ['one of a script hash', '3P14159f73E4gFr7JterCCQh9QjiTjiZrG'],
    ['one of another length', Utils.toBase58Check(Array(21).fill(7), [0])],
    ['something long', '1'.repeat(100_000)]
  ])('are refused: %s', (_, text) => {
    expect(refused(text)).toBe(true)
  })
})

describe('base58', () => {
  it('is that of the SDK, in both directions', () => {
    const bytes = fc.tuple(fc.nat(4), fc.uint8Array({ maxLength: 60 })).map(([zeros, rest]) => {
      const all = new Uint8Array(zeros + rest.length)
      all.set(rest, zeros)
      return all
    })
    fc.assert(
      fc.property(bytes, data => {
        const text = toBase58(data)
        expect(text).toBe(Utils.toBase58([...data]))
        expect(fromBase58(text)).toStrictEqual(data)
      })
    )
  })

  it('has no 0, O, I and l', () => {
    for (const text of ['0', 'O', 'I', 'l', '1 ', 'é']) expect(fromBase58(text)).toBeUndefined()
  })
})

describe('P2PKH', () => {
  it('is the script of the SDK, and is recognised', () => {
    fc.assert(
      fc.property(hashes, hash => {
        const script = p2pkh(hash)
        expect(toHex(script)).toBe(new P2PKH().lock([...hash]).toHex())
        expect(isP2pkh(script)).toBe(true)
        expect(p2pkhHash(script)).toStrictEqual(hash)
      })
    )
  })

  it('is nothing but that', () => {
    const script = p2pkh(new Uint8Array(20).fill(7))
    for (const at of [0, 1, 2, 23, 24]) {
      const wrong = script.slice()
      wrong[at]!++
      expect(isP2pkh(wrong)).toBe(false)
      expect(p2pkhHash(wrong)).toBeUndefined()
    }
    expect(isP2pkh(script.subarray(0, 24))).toBe(false)
    expect(isP2pkh(Uint8Array.of(...script, 0x61))).toBe(false)
  })

  it('is found within a longer script, too', () => {
    const script = Uint8Array.of(0x61, 0x61, ...p2pkh(new Uint8Array(20)), 0x6a)
    expect([0, 1, 2, 3, 26, 27, 99].map(at => startsP2pkh(script, at))).toStrictEqual([
      false,
      false,
      true,
      false,
      false,
      false,
      false
    ])
    expect(startsP2pkh(script.subarray(0, 26), 2)).toBe(false)
  })

  it('has a hash of 20 bytes', () => {
    expect(() => p2pkh(new Uint8Array(19))).toThrow(QuoinError)
    expect(() => formatAddress(new Uint8Array(21))).toThrow(QuoinError)
  })
})
