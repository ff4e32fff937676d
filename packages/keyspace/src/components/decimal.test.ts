import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decimal } from './decimal.ts'
import {
  accepts,
  byNumber,
  codecLaws,
  errorOf,
  latin1,
  refusal,
  textOver,
  utf8,
  wordOf
} from './laws.testing.ts'

const MAX_64 = 2n ** 64n - 1n

/** Values of every number of digits, and the ones where the number of digits changes. */
const upTo = (max: bigint): fc.Arbitrary<bigint> => {
  const digits = max.toString().length
  const turns = Array.from({ length: digits }, (_, i) => 10n ** BigInt(i)).flatMap(power => [
    power - 1n,
    power
  ])
  return fc.oneof(
    fc.bigInt(0n, max),
    fc.nat(digits - 1).chain(n => fc.bigInt(0n, 10n ** BigInt(n)).map(value => (value > max ? max : value))),
    fc.constantFrom(0n, max, ...turns.filter(turn => turn <= max))
  )
}

for (const [title, max, { codec }] of [
  ['decimal, 64 bits unless told otherwise', MAX_64, decimal('n')],
  ['decimal of 32 bits', 2n ** 32n - 1n, decimal('n', { bits: 32 })],
  ['decimal of 128 bits', 2n ** 128n - 1n, decimal('n', { bits: 128 })],
  ['decimal of one bit', 1n, decimal('n', { bits: 1 })],
  ['decimal up to 0', 0n, decimal('n', { max: 0n })],
  ['decimal up to 9', 9n, decimal('n', { max: 9n })],
  ['decimal up to 10', 10n, decimal('n', { max: 10n })],
  ['decimal up to 255', 255n, decimal('n', { max: 255n })],
  ['decimal up to 1000', 1000n, decimal('n', { max: 1000n })]
] as const) {
  codecLaws(title, {
    codec,
    kind: 'bigint',
    values: upTo(max),
    pairs: upTo(max).map(value => [value, value < max ? value + 1n : value] as const),
    near: fc.oneof(
      fc.bigInt(-3n, 3n).map(step => utf8(`${max + step}`)),
      textOver('0123456789', 0, max.toString().length + 1).map(utf8)
    ),
    encode: value => utf8(`${value}`),
    isWord: bytes => /^(0|[1-9]\d*)$/.test(latin1(bytes)) && BigInt(latin1(bytes)) <= max,
    order: 'shortlex',
    compare: byNumber
  })
}

describe('decimal', () => {
  const { codec } = decimal('n')

  it.each([
    [0n, '0'],
    [1n, '1'],
    [10n, '10'],
    [MAX_64, '18446744073709551615']
  ])('writes %d as its digits', (value, word) => {
    expect(latin1(wordOf(codec, value))).toBe(word)
  })

  it.each(['', '00', '007', '01', '+1', '-1', ' 1', '1 ', '1\n', '0x1', '1e3', '1.0', '1_000', '१'])(
    'has no second spelling of a number: %j',
    text => {
      expect(accepts(codec, utf8(text))).toBe(false)
    }
  )

  it('ends at the largest number of its width', () => {
    expect(accepts(codec, utf8('18446744073709551615'))).toBe(true)
    expect(accepts(codec, utf8('18446744073709551616'))).toBe(false)
    expect(accepts(codec, utf8('99999999999999999999'))).toBe(false)
    expect(accepts(codec, utf8('100000000000000000000'))).toBe(false)
  })

  it('refuses what is not a number from 0 to its maximum', () => {
    for (const value of [-1n, 2n ** 64n, 10n ** 40n]) {
      expect(refusal(codec, value), `${value}`).toMatchObject({ code: 'ERR_KEY_VALUE' })
    }
    expect(refusal(decimal('n', { max: 9n }).codec, 10n)).toMatchObject({ code: 'ERR_KEY_VALUE' })
    expect(refusal(decimal('n', { bits: 32 }).codec, 2n ** 32n)).toMatchObject({ code: 'ERR_KEY_VALUE' })
  })

  it('does not sort by bytes: 10 comes before 9', () => {
    expect(latin1(wordOf(codec, 10n)) < latin1(wordOf(codec, 9n))).toBe(true)
    expect(codec.order).not.toBe('bytes')
  })

  it('may be as wide as 256 bits', () => {
    const max = 2n ** 256n - 1n
    const { codec: wide } = decimal('n', { bits: 256 })
    expect(latin1(wordOf(wide, max))).toBe(`${max}`)
    expect(accepts(wide, utf8(`${max + 1n}`))).toBe(false)
  })

  it('refuses a width or a bound that makes no sense', () => {
    for (const bits of [0, 257, 1.5, -1, Number.NaN]) {
      expect(
        errorOf(() => decimal('n', { bits })),
        `${bits}`
      ).toMatchObject({ code: 'ERR_KEY_VALUE' })
    }
    for (const max of [-1n, 2n ** 64n]) {
      expect(
        errorOf(() => decimal('n', { max })),
        `${max}`
      ).toMatchObject({ code: 'ERR_KEY_VALUE' })
    }
  })
})
