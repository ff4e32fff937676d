import { describe, expect, it } from 'vitest'
import {
  ago,
  bytes,
  decimals,
  digits,
  duration,
  heightOf,
  outpointOf,
  short,
  shortOutpoint
} from './format.ts'

describe('numbers and names', () => {
  it('whole numbers of any length keep every digit', () => {
    expect(digits('18446744073709551615')).toBe('18,446,744,073,709,551,615')
    expect(digits('-1')).toBe('-1')
  })

  it('amounts of tokens have their decimals', () => {
    expect(decimals('1234567', 2)).toBe('12,345.67')
    expect(decimals('5', 8)).toBe('0.00000005')
    expect(decimals('100', 2)).toBe('1')
    expect(decimals('18446744073709551615', 0)).toBe('18,446,744,073,709,551,615')
  })

  it('sizes and times', () => {
    expect([bytes(999), bytes(1500), bytes(35_000), bytes(12e9)]).toEqual([
      '999 bytes',
      '1.5 kB',
      '35 kB',
      '12 GB'
    ])
    expect([ago(100, 100), ago(40, 100), ago(0, 7300)]).toEqual(['now', '1 minute ago', '2 hours ago'])
    expect([duration(900), duration(61_000), duration(7.3e6)]).toEqual(['0 seconds', '1 minute', '2 hours'])
  })

  it('scores are heights when mined, and times when not', () => {
    expect(heightOf(800_000.000000012)).toBe(800_000)
    expect(heightOf(1_790_000_000)).toBe(undefined)
  })

  it('long names are cut in the middle', () => {
    const txid = `${'a'.repeat(32)}${'b'.repeat(32)}`
    expect(short(txid)).toBe('aaaaaaaa…bbbbbbbb')
    expect(shortOutpoint(`${txid}.12`)).toBe('aaaaaaaa…bbbbbbbb.12')
    expect(short('short')).toBe('short')
  })

  it('outpoints end at 2^32', () => {
    const txid = 'a'.repeat(64)
    expect(outpointOf(`${txid}_4294967295`)).toEqual({ txid, vout: 4294967295 })
    expect(outpointOf(`${txid}_4294967296`)).toBe(undefined)
    expect(outpointOf(`${txid}_01`)).toBe(undefined)
  })
})
