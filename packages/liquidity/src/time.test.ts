import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatTime, NEVER, parseTime, TIME_END } from './time.ts'

describe('moments', () => {
  it.each([
    ['1970-01-01T00:00:00Z', 0n],
    ['1969-12-31T23:59:59.999999999Z', -1n],
    ['0001-01-01T00:00:00Z', NEVER],
    ['2023-04-13T04:30:20.485083198Z', 1681360220485083198n],
    ['2024-02-29T00:00:00.100Z', 1709164800100000000n],
    ['9999-12-31T23:59:59.999999999Z', TIME_END - 1n]
  ])('%s', (text, time) => {
    expect(parseTime(text)).toBe(time)
    expect(formatTime(time)).toBe(text)
  })

  it.each([
    '',
    '2023-04-13',
    '2023-02-30T00:00:00Z',
    '2023-04-13T24:00:00Z',
    '2023-04-13T00:00:60Z',
    '0000-12-31T23:59:59Z',
    '2023-04-13T00:00:00+01:00',
    '2023-04-13T00:00:00.1234567890Z',
    '2023-13-01T00:00:00Z'
  ])('are not %j', text => {
    expect(() => parseTime(text)).toThrow(expect.objectContaining({ code: 'ERR_LIQUIDITY_VALUE' }))
  })

  it('are read as they are written', () => {
    fc.assert(
      fc.property(fc.bigInt(NEVER, TIME_END - 1n), time => {
        expect(parseTime(formatTime(time))).toBe(time)
      })
    )
  })
})
