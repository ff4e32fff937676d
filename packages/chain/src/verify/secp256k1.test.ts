import { createHmac } from 'node:crypto'
import { createRequire } from 'node:module'
import { BigNumber, ECDSA, PrivateKey, PublicKey, TransactionSignature } from '@bsv/sdk'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sha256 } from '../hash.ts'
import { withHighS } from './mutations.testing.ts'
import {
  isPublicKeyForm,
  readSignature,
  signatureBackend,
  tweakPublicKey,
  verifierBy,
  verifySignature
} from './secp256k1.ts'
import { ALL, makeKey, signDigest } from './test-chain.testing.ts'

const require = createRequire(import.meta.url)
const key = makeKey('signer')
const digest = sha256(Uint8Array.of(1, 2, 3))
const signature = signDigest(digest, key)
const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const fromHex = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'))

test('the native library is in use where its binary loads, as here', () => {
  expect(signatureBackend()).toBe('native')
})

describe('a number added to a key', () => {
  test('makes the key that BRC-42 derives for anyone', () => {
    const invoice = '2-tweaked keys-1'
    const hmac = createHmac('sha256', key.publicKey).update(invoice).digest()
    const derived = PublicKey.fromString(toHex(key.publicKey)).deriveChild(new PrivateKey(1), invoice)
    expect(toHex(tweakPublicKey(key.publicKey, hmac)!)).toBe(derived.encode(false, 'hex'))
  })

  test('is none for keys off the curve, numbers above the order, and what adds up to nothing', () => {
    const order = fromHex('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141')
    const one = makeKey('one')
    const secret = BigInt(`0x${toHex(one.secret)}`)
    const negated = fromHex((BigInt(`0x${toHex(order)}`) - secret).toString(16).padStart(64, '0'))
    expect(tweakPublicKey(fromHex(`02${'ff'.repeat(32)}`), digest)).toBeUndefined()
    expect(tweakPublicKey(one.publicKey, order)).toBeUndefined()
    expect(tweakPublicKey(one.publicKey, negated)).toBeUndefined()
  })
})

describe.each(['bindings', 'elliptic'])('signatures checked by secp256k1/%s.js', name => {
  const verifyBy = verifierBy(require(`secp256k1/${name}.js`))
  const verify = (bytes: Uint8Array, of = digest, by = key.publicKey): boolean =>
    verifyBy(readSignature(bytes)!, of, by)

  test('hold for the digest and the key that made them, in either form', () => {
    expect(verify(signature)).toBe(true)
    expect(verify(signature, digest, key.uncompressed)).toBe(true)
    expect(verify(signature, sha256(digest))).toBe(false)
    expect(verify(signature, digest, makeKey('another').publicKey)).toBe(false)
  })

  test('hold with the higher of the two possible s too', () => {
    expect(readSignature(signature)?.isHigh).toBe(false)
    expect(readSignature(withHighS(signature))?.isHigh).toBe(true)
    expect(verify(withHighS(signature))).toBe(true)
    expect(verify(withHighS(signature), sha256(digest))).toBe(false)
  })

  test('do not hold with numbers above the order, or keys off the curve', () => {
    const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
    const above = fromHex(`30260221${`00${order}`}02010141`)
    expect(readSignature(above)?.type).toBe(0x41)
    expect(verify(above)).toBe(false)
    expect(verify(fromHex(`3026020101022100${order}41`))).toBe(false)
    expect(verify(signature, digest, Uint8Array.of(2, ...new Uint8Array(32)))).toBe(false)
    expect(verify(signature, digest, Uint8Array.of(2, ...new Uint8Array(32).fill(0xff)))).toBe(false)
  })
})

describe('a signature in a script', () => {
  test('is r and s in strict DER, and what was signed', () => {
    const bytes = fromHex(`3008${'0202010a'}${'02020b0c'}c3`)
    expect(readSignature(bytes)).toEqual({
      compact: fromHex(`${'010a'.padStart(64, '0')}${'0b0c'.padStart(64, '0')}`),
      isHigh: false,
      type: 0xc3
    })
  })

  test.each([
    ['nothing', ''],
    ['too short', '300502010102014'],
    ['another tag', '310602010102010141'],
    ['a wrong length', '300702010102010141'],
    ['a byte too many', '30060201010201010041'],
    ['r is no integer', '300603010102010141'],
    ['s is no integer', '300602010103010141'],
    ['r of nothing', '30050200020201014141'],
    ['s of nothing', '3006020201010200'],
    ['a negative r', '300602018102010141'],
    ['a negative s', '300602010102018141'],
    ['a padded r', '30070202000102010141'],
    ['a padded s', '30070201010202000141'],
    ['r is zero', '300602010002010141'],
    ['s is zero', '300602010102010041'],
    ['r of 33 bytes', `3026022101${'11'.repeat(32)}02010141`],
    ['s of 33 bytes', `3026020101022101${'11'.repeat(32)}41`],
    ['r longer than all', '300602ff0102010141'],
    ['s longer than all', '3006020101 02ff0141'.replace(' ', '')]
  ])('is none with %s', (_, hex) => {
    expect(readSignature(fromHex(hex))).toBeUndefined()
  })

  test('is read as @bsv/sdk reads it, or not at all', () => {
    // Mutations of real ones, and of the shape with anything in it.
    const mutated = fc
      .tuple(fc.nat(signature.length - 1), fc.nat(255))
      .map(([at, byte]) => signature.with(at, byte))
    const shaped = fc
      .tuple(fc.uint8Array({ maxLength: 34 }), fc.uint8Array({ maxLength: 34 }), fc.nat(255))
      .map(([r, s, type]) =>
        Uint8Array.of(0x30, r.length + s.length + 4, 2, r.length, ...r, 2, s.length, ...s, type)
      )
    fc.assert(
      fc.property(fc.oneof(mutated, shaped, fc.uint8Array({ maxLength: 80 })), bytes => {
        const read = readSignature(bytes)
        if (!read) return
        const { r, s, scope } = TransactionSignature.fromChecksigFormat([...bytes])
        expect(toHex(read.compact)).toBe(r.toHex(32) + s.toHex(32))
        expect(read.type).toBe(scope)
        expect(read.isHigh).toBe(!new TransactionSignature(r, s, scope).hasLowS())
      }),
      { numRuns: 2000 }
    )
  })

  test('is exactly as valid as @bsv/sdk says', () => {
    const theirs = (bytes: Uint8Array, of: Uint8Array): boolean =>
      ECDSA.verify(
        new BigNumber([...of]),
        TransactionSignature.fromChecksigFormat([...bytes]),
        PublicKey.fromDER([...key.publicKey])
      )
    for (let i = 0; i < 20; i++) {
      const of = sha256(Uint8Array.of(i))
      const good = signDigest(of, key, ALL)
      for (const bytes of [good, withHighS(good), signDigest(sha256(of), key)]) {
        expect(verifySignature(readSignature(bytes)!, of, key.publicKey)).toBe(theirs(bytes, of))
      }
    }
  })
})

test('a public key is 33 bytes, or 65 that say so', () => {
  expect([key.publicKey, key.uncompressed].map(isPublicKeyForm)).toEqual([true, true])
  const hybrid = Uint8Array.of(6, ...key.uncompressed.subarray(1))
  const wrong = [
    hybrid,
    key.publicKey.subarray(1),
    Uint8Array.of(4, ...key.publicKey.subarray(1)),
    new Uint8Array()
  ]
  expect(wrong.map(isPublicKeyForm)).toEqual([false, false, false, false])
})
