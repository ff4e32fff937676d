/** Records of transactions, as bytes. */

import { makeOutpoint, type Topic, type Txid } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { heightScore, scoreOf } from './position.ts'
import { recordPlace, type TransactionRecord, transactionRecord } from './record.ts'

const { codec } = transactionRecord
const u32 = fc.integer({ min: 0, max: 0xffffffff })
const records: fc.Arbitrary<TransactionRecord> = fc.record({
  revision: u32,
  seen: fc.double({ noNaN: true }),
  position: fc.option(fc.record({ height: u32, index: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) }), {
    nil: undefined
  }),
  vouts: u32,
  topics: fc.array(
    fc.stringMatching(/^[a-z_]{1,128}$/).map(text => text as Topic),
    { maxLength: 4 }
  ),
  spends: fc.array(
    fc.record({
      outpoint: fc
        .tuple(fc.uint8Array({ minLength: 32, maxLength: 32 }), u32)
        .map(([txid, vout]) => makeOutpoint(new Uint8Array(txid) as Txid, vout)),
      events: fc.array(fc.string({ unit: 'binary', maxLength: 300 }), { maxLength: 4 })
    }),
    { maxLength: 4 }
  )
})

describe('a record', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(records, record => {
        expect(codec.decode(codec.encode(record))).toEqual(record)
      })
    )
  })

  it('tells when and where without the rest, unless it ends before', () => {
    fc.assert(
      fc.property(records, fc.nat(), (record, at) => {
        const bytes = codec.encode(record)
        const { seen, position } = record
        const head = position ? 29 : 17
        expect(recordPlace(bytes)).toEqual({ seen, position })
        expect(recordPlace(bytes.subarray(0, head))).toEqual({ seen, position })
        expect(() => recordPlace(bytes.subarray(0, at % head))).toThrow(
          expect.objectContaining({ code: 'ERR_VALUE_DECODE' })
        )
      })
    )
  })

  it('that is cut short, or longer, is refused', () => {
    fc.assert(
      fc.property(records, fc.nat(), (record, at) => {
        const bytes = codec.encode(record)
        const damaged = expect.objectContaining({ code: 'ERR_VALUE_DECODE' })
        expect(() => codec.decode(bytes.subarray(0, at % bytes.length))).toThrow(damaged)
        expect(() => codec.decode(Uint8Array.of(...bytes, 0))).toThrow(damaged)
      })
    )
  })
})

describe('a score', () => {
  it('is by height and index when mined, by time when not, and what is not mined comes last', () => {
    expect(heightScore({ height: 850_000, index: 123n })).toBe(850_000.000000123)
    expect(scoreOf({ seen: 1_703_097_600.5 })).toBe(1_703_097_600.5)
    expect(scoreOf({ seen: 1_703_097_600.5, position: { height: 7, index: 0n } })).toBe(7)
  })

  it('keeps the order of the chain', () => {
    const position = fc.record({
      height: fc.integer({ min: 0, max: 2_000_000 }),
      index: fc.bigInt({ min: 0n, max: 10_000_000n })
    })
    fc.assert(
      fc.property(position, position, (a, b) => {
        const order = a.height - b.height || Number(a.index - b.index)
        expect(Math.sign(heightScore(a) - heightScore(b))).toBe(Math.sign(order))
      })
    )
  })

  it('of an index that would reach into the next height is refused', () => {
    expect(() => heightScore({ height: 1, index: 1_000_000_000n })).toThrow(
      expect.objectContaining({ code: 'ERR_KEY_VALUE' })
    )
  })
})
