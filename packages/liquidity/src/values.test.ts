/** Values to the byte: what the chain's encoder writes, and nothing else is read. */

import type { ValueCodec } from '@quoin/keyspace'
import { fromHex, toHex } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyValue } from './arbitrary.testing.ts'
import { DEC } from './decimal.ts'
import { NEVER, parseTime } from './time.ts'
import {
  accumulatorCodec,
  accumulatorRecordCodec,
  decProtoCodec,
  incentiveCodec,
  intCodec,
  markValue,
  poolCodec,
  positionCodec,
  tickInfoCodec,
  u64Value,
  uint64Codec
} from './values.ts'

const ascii = (text: string): string => Buffer.from(text, 'latin1').toString('hex')
/** A tag, a length of one byte, and what is behind them. */
const field = (tag: string, hex: string): string =>
  `${tag}${(hex.length / 2).toString(16).padStart(2, '0')}${hex}`

const NEVER_HEX = field('6a', `0880${'92b8c398feffffff01'}`)

describe('values', () => {
  it.each<[string, ValueCodec<unknown>, unknown, string]>([
    [
      'a tick of zeros: fields that cannot be null are there',
      tickInfoCodec,
      { liquidityGross: 0n, liquidityNet: 0n, spreadRewardGrowth: [], uptimeGrowth: [] },
      '0a01301201302200'
    ],
    [
      'an upper tick, whose net liquidity is negative',
      tickInfoCodec,
      {
        liquidityGross: 15n * (DEC / 10n),
        liquidityNet: -15n * (DEC / 10n),
        spreadRewardGrowth: [{ denom: 'uosmo', amount: 7n }],
        uptimeGrowth: [[], [{ denom: 'uion', amount: -3n }]]
      },
      field('0a', ascii('1500000000000000000')) +
        field('12', ascii('-1500000000000000000')) +
        field('1a', field('0a', ascii('uosmo')) + field('12', ascii('7'))) +
        field('22', `0a00${field('0a', field('0a', field('0a', ascii('uion')) + field('12', ascii('-3'))))}`)
    ],
    [
      'a pool that was never touched: numbers that are 0 are left out, its moment is in year 1',
      poolCodec,
      {
        address: '',
        incentivesAddress: '',
        spreadRewardsAddress: '',
        id: 1n,
        liquidity: 0n,
        token0: 'uatom',
        token1: 'uosmo',
        sqrtPrice: 0n,
        tick: 0n,
        tickSpacing: 100n,
        exponentAtPriceOne: -6n,
        spreadFactor: 0n,
        lastLiquidityUpdate: NEVER
      },
      `2001${field('2a', '30')}${field('32', ascii('uatom'))}${field('3a', ascii('uosmo'))}${field('42', '30')}5064` +
        `58faffffffffffffffff01${field('62', '30')}${NEVER_HEX}`
    ],
    [
      'a position with a negative tick and nanoseconds',
      positionCodec,
      {
        id: 300n,
        owner: 'osmo1x',
        pool: 1n,
        lowerTick: -200n,
        upperTick: 0n,
        joinTime: 1_000_000_005n,
        liquidity: DEC
      },
      `08ac02${field('12', ascii('osmo1x'))}180120b8feffffffffffffff01${field('32', '08011005')}${field('3a', ascii('1000000000000000000'))}`
    ],
    [
      'an incentive record at the beginning of 1970: an empty moment is there',
      incentiveCodec,
      { remaining: { denom: 'uosmo', amount: 0n }, emissionRate: 1n, startTime: 0n },
      `${field('0a', field('0a', ascii('uosmo')) + field('12', '30'))}${field('12', '31')}1a00`
    ],
    ['an accumulator', accumulatorCodec, { value: [], totalShares: 0n }, field('12', '30')],
    [
      'a position in spread rewards, without options',
      accumulatorRecordCodec,
      { shares: 5n, valuePerShare: [{ denom: 'uion', amount: -1n }], unclaimed: [], options: false },
      field('0a', '35') + field('12', field('0a', ascii('uion')) + field('12', ascii('-1')))
    ],
    [
      'a position in an uptime, with options',
      accumulatorRecordCodec,
      { shares: 5n, valuePerShare: [], unclaimed: [], options: true },
      `${field('0a', '35')}2200`
    ],
    ['the first id', uint64Codec, 1n, '0801'],
    ['an id of 0, which has no bytes', uint64Codec, 0n, ''],
    ['the last id', uint64Codec, 2n ** 64n - 1n, '08ffffffffffffffffff01'],
    ['full-range liquidity', decProtoCodec, 0n, '0a0130'],
    ['total liquidity', intCodec, 1200n, '31323030'],
    ['a lock', u64Value.codec, 258n, '0000000000000102'],
    ['an index entry', markValue.codec, true, '01']
  ])('%s', (_, codec, value, hex) => {
    expect(toHex(codec.encode(value))).toBe(hex)
    expect(codec.decode(fromHex(hex))).toEqual(value)
  })

  it('of more than 127 bytes have their length in two', () => {
    const value = { denom: `u${'x'.repeat(126)}`, amount: 10n ** 30n }
    const bytes = accumulatorCodec.encode({ value: [value], totalShares: 0n })
    expect(toHex(bytes.subarray(0, 6))).toBe('0aa2010a7f75')
    expect(accumulatorCodec.decode(bytes).value).toEqual([value])
  })

  const CODECS: readonly [string, ValueCodec<unknown>, fc.Arbitrary<unknown>][] = [
    ['Pool', poolCodec, anyValue.pool],
    ['TickInfo', tickInfoCodec, anyValue.tick],
    ['Position', positionCodec, anyValue.position],
    ['IncentiveRecordBody', incentiveCodec, anyValue.incentive],
    ['AccumulatorContent', accumulatorCodec, anyValue.accumulator],
    ['Record', accumulatorRecordCodec, anyValue.record],
    ['DecProto', decProtoCodec, anyValue.integer],
    ['Int', intCodec, anyValue.integer],
    ['UInt64Value', uint64Codec, anyValue.id]
  ]

  it.each(CODECS)('%s: decoding undoes encoding', (_, codec, any) => {
    fc.assert(
      fc.property(any, value => {
        expect(codec.decode(codec.encode(value))).toEqual(value)
      })
    )
  })

  it.each(CODECS)(
    '%s: what decodes encodes to the same bytes, and what does not has a code',
    (_, codec, any) => {
      const mutated = fc
        .tuple(any, fc.array(fc.tuple(fc.nat(), fc.nat(255), fc.nat(2)), { minLength: 1, maxLength: 3 }))
        .map(([value, edits]) => {
          let bytes = [...codec.encode(value)]
          for (const [at, byte, kind] of edits) {
            const place = at % (bytes.length + 1)
            bytes = [
              ...bytes.slice(0, place),
              ...(kind < 2 ? [byte] : []),
              ...bytes.slice(kind === 0 ? place : place + 1)
            ]
          }
          return Uint8Array.from(bytes)
        })
      let refused = 0
      fc.assert(
        fc.property(fc.oneof(mutated, fc.uint8Array({ maxLength: 40 })), bytes => {
          let value: unknown
          try {
            value = codec.decode(bytes)
          } catch (error) {
            refused++
            expect(error).toMatchObject({ code: 'ERR_VALUE_DECODE' })
            return
          }
          expect(toHex(codec.encode(value))).toBe(toHex(bytes))
        }),
        { numRuns: 500 }
      )
      expect(refused).toBeGreaterThan(0)
    }
  )

  it.each([
    ['a number that is 0 and there', positionCodec, '0800'],
    ['a varint that is longer than needed', uint64Codec, '088100'],
    ['a varint of 65 bits', uint64Codec, '08ffffffffffffffffff03'],
    ['minus zero', decProtoCodec, `0a02${ascii('-0')}`],
    ['a leading zero', intCodec, ascii('01')],
    ['no digits', intCodec, ''],
    ['a plus', intCodec, ascii('+1')],
    ['more digits than a number may have', intCodec, '31'.repeat(400)],
    ['a field that cannot be null and is not there', decProtoCodec, ''],
    ['a field twice', decProtoCodec, '0a01300a0130'],
    ['an unknown field', decProtoCodec, '0a01301a00'],
    ['a length beyond the end', decProtoCodec, '0a0530'],
    ['options with something in them', accumulatorRecordCodec, '0a013022021000'],
    [
      'a moment after year 9999',
      incentiveCodec,
      `${field('0a', field('12', '30'))}${field('12', '30')}1a0708ffffffffff7f`
    ],
    [
      'a billion nanoseconds',
      incentiveCodec,
      `${field('0a', field('12', '30'))}${field('12', '30')}1a06108094ebdc03`
    ],
    ['text that is not UTF-8', positionCodec, '1201ff']
  ])('are refused: %s', (_, codec, hex) => {
    expect(() => codec.decode(fromHex(hex))).toThrow(expect.objectContaining({ code: 'ERR_VALUE_DECODE' }))
  })

  it('that do not fit are not written', () => {
    const refusal = expect.objectContaining({ code: 'ERR_LIQUIDITY_VALUE' })
    expect(() => uint64Codec.encode(2n ** 64n)).toThrow(refusal)
    expect(() => uint64Codec.encode(-1n)).toThrow(refusal)
    const start = parseTime('9999-12-31T23:59:59.999999999Z')
    const record = { remaining: { denom: 'uosmo', amount: 0n }, emissionRate: 1n, startTime: start }
    expect(incentiveCodec.decode(incentiveCodec.encode(record))).toEqual(record)
    expect(() => incentiveCodec.encode({ ...record, startTime: start + 1n })).toThrow(refusal)
  })
})
