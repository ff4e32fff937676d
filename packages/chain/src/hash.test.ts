import { Hash } from '@bsv/sdk'
import { bytesKey, fromHex, toHex } from '@quoin/primitives'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { hash160, ripemd160, sha256, sha256d } from './hash.ts'

it.each([
  [sha256, '', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  [sha256, '616263', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [sha256d, '68656c6c6f', '9595c9df90075148eb06860365df33584b75bff782a510c6cd4883a419833d50'],
  [ripemd160, '616263', '8eb208f7e05d987a9b044a8e98c6b087f15a0bfc'],
  [hash160, '68656c6c6f', 'b6a9c8c230722b7c748331a8b450f05566dc7d0f']
])('%o of %s', (hash, input, output) => {
  expect(toHex(hash(fromHex(input)))).toBe(output)
})

it('agrees with the SDK, in plain bytes of its own', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), data => {
      const before = toHex(data)
      expect(sha256(data)).toStrictEqual(Uint8Array.from(Hash.sha256([...data])))
      expect(sha256d(data)).toStrictEqual(Uint8Array.from(Hash.hash256([...data])))
      expect(ripemd160(data)).toStrictEqual(Uint8Array.from(Hash.ripemd160([...data])))
      expect(hash160(data)).toStrictEqual(Uint8Array.from(Hash.hash160([...data])))
      expect(toHex(data)).toBe(before)
    })
  )
})

it('gives different bytes different keys, wherever they lie in memory', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), fc.nat(9), (a, b, offset) => {
      expect(bytesKey(a) === bytesKey(b)).toBe(toHex(a) === toHex(b))
      const room = new Uint8Array(offset + a.length)
      room.set(a, offset)
      expect(bytesKey(room.subarray(offset))).toBe(bytesKey(a))
    })
  )
})
