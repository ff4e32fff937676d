import fc from 'fast-check'
import { expect, it } from 'vitest'
import { admissionsValue } from './admission-value.ts'

const { codec } = admissionsValue
const TOKEN = `tm_${'ab'.repeat(32)}_0`

it('has the admissions of every topic', () => {
  const indexes = fc.array(fc.nat())
  const admission = fc.record(
    {
      outputsToAdmit: indexes,
      coinsToRetain: indexes,
      coinsRemoved: indexes,
      previousCoins: indexes,
      forgotten: fc.array(fc.stringMatching(/^[0-9a-f]{64}\.\d{1,3}$/)),
      refused: fc.dictionary(fc.nat(999).map(String), fc.string({ unit: 'grapheme' }))
    },
    { requiredKeys: ['outputsToAdmit', 'coinsToRetain', 'coinsRemoved', 'previousCoins'] }
  )
  const topic = fc.oneof(fc.constant(TOKEN), fc.stringMatching(/^tm_[a-z0-9_]{0,40}$/))
  fc.assert(
    fc.property(fc.dictionary(topic, admission), admissions => {
      expect(codec.decode(codec.encode(admissions))).toEqual(admissions)
    })
  )
})

it('takes a tenth of a kilobyte less than JSON for a token, and differs from it in the first byte', () => {
  const admissions = {
    [TOKEN]: { outputsToAdmit: [0, 1], coinsToRetain: [0], coinsRemoved: [], previousCoins: [0] }
  }
  const bytes = codec.encode(admissions)
  expect(bytes.length).toBeLessThan(JSON.stringify(admissions).length - 100)
  expect(bytes[0]).toBeLessThan(0x20)
})

it('refuses bytes that are cut off, followed by others, or of another form', () => {
  const bytes = codec.encode({
    [TOKEN]: {
      outputsToAdmit: [300],
      coinsToRetain: [],
      coinsRemoved: [],
      previousCoins: [],
      refused: { 1: 'no' }
    }
  })
  const refusal = expect.objectContaining({ code: 'ERR_VALUE_DECODE' })
  for (let length = 0; length < bytes.length; length++) {
    expect(() => codec.decode(bytes.subarray(0, length))).toThrow(refusal)
  }
  expect(() => codec.decode(Uint8Array.from([...bytes, 0]))).toThrow(refusal)
  expect(() => codec.decode(new TextEncoder().encode('{}'))).toThrow(refusal)
})
