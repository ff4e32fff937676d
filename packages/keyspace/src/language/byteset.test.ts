import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteSet } from './byteset.ts'

const RUNS = { numRuns: 500 }
const ALL = Array.from({ length: 256 }, (_, byte) => byte)

/** Bytes at random, in runs, and around the edges of the words that the set is kept in. */
const members = fc
  .oneof(
    fc.array(fc.nat(255), { maxLength: 40 }),
    fc.array(fc.constantFrom(0, 1, 31, 32, 33, 63, 64, 127, 128, 224, 254, 255), { maxLength: 12 }),
    fc
      .array(fc.tuple(fc.nat(255), fc.nat(70)), { maxLength: 3 })
      .map(runs => runs.flatMap(([low, more]) => ALL.slice(low, low + more + 1))),
    fc.constantFrom([], ALL)
  )
  .map(list => new Set(list))
const sorted = (set: Set<number>): number[] => [...set].sort((a, b) => a - b)

describe('a set of bytes', () => {
  it('has the bytes it was made from and no others, in order', () => {
    fc.assert(
      fc.property(members, bytes => {
        for (const set of [ByteSet.from(bytes), ByteSet.of(...bytes)]) {
          expect([...set]).toStrictEqual(sorted(bytes))
          expect(ALL.filter(byte => set.has(byte))).toStrictEqual(sorted(bytes))
        }
      }),
      RUNS
    )
  })

  it('has no number that is not a byte', () => {
    for (const number of [-1, 256, 257, 1000]) expect(ByteSet.all.has(number), `${number}`).toBe(false)
  })

  it('can be a range, both ends included', () => {
    fc.assert(
      fc.property(fc.nat(255), fc.nat(255), (low, high) => {
        expect([...ByteSet.range(low, high)]).toStrictEqual(ALL.slice(low, high + 1))
      }),
      RUNS
    )
    expect([...ByteSet.all]).toStrictEqual(ALL)
  })

  it('can be the characters of a text', () => {
    expect([...ByteSet.chars('ba:')]).toStrictEqual([0x3a, 0x61, 0x62])
    expect(ByteSet.chars('').isEmpty).toBe(true)
  })

  it('knows whether it is empty, its least and its greatest byte', () => {
    fc.assert(
      fc.property(members, bytes => {
        const set = ByteSet.from(bytes)
        expect(set.isEmpty).toBe(bytes.size === 0)
        expect(set.min).toBe(bytes.size ? Math.min(...bytes) : -1)
        expect(set.max).toBe(bytes.size ? Math.max(...bytes) : -1)
      }),
      RUNS
    )
  })

  it('has union, difference and intersection, which leave it as it was', () => {
    fc.assert(
      fc.property(members, members, (a, b) => {
        const [one, other] = [ByteSet.from(a), ByteSet.from(b)]
        expect([...one.union(other)]).toStrictEqual(sorted(new Set([...a, ...b])))
        expect([...one.minus(other)]).toStrictEqual(sorted(a).filter(byte => !b.has(byte)))
        expect([...(one.meet(other) ?? [])]).toStrictEqual(sorted(a).filter(byte => b.has(byte)))
        expect([...one]).toStrictEqual(sorted(a))
        expect([...other]).toStrictEqual(sorted(b))
      }),
      RUNS
    )
  })

  it('meets another set exactly when they share a byte', () => {
    fc.assert(
      fc.property(members, members, (a, b) => {
        expect(ByteSet.from(a).meet(ByteSet.from(b)) === undefined).toBe(
          sorted(a).every(byte => !b.has(byte))
        )
      }),
      RUNS
    )
  })

  it('meets itself exactly when it is not empty', () => {
    fc.assert(
      fc.property(members, bytes => {
        const set = ByteSet.from(bytes)
        expect(set.meet(set) === undefined).toBe(bytes.size === 0)
      }),
      RUNS
    )
  })

  it('equals a set with the same bytes and no other', () => {
    fc.assert(
      fc.property(members, members, fc.nat(255), (a, b, byte) => {
        const set = ByteSet.from(a)
        expect(set.equals(ByteSet.from([...a].reverse()))).toBe(true)
        expect(set.equals(ByteSet.from(b))).toBe(sorted(a).join() === sorted(b).join())
        expect(set.equals(set.union(ByteSet.of(byte)))).toBe(a.has(byte))
      }),
      RUNS
    )
  })

  it('has a sample that is one of its bytes', () => {
    fc.assert(
      fc.property(members, bytes => {
        const { sample } = ByteSet.from(bytes)
        expect(bytes.size ? bytes.has(sample) : sample === -1).toBe(true)
      }),
      RUNS
    )
  })

  it.each([
    ['00 among raw bytes', ByteSet.all, 0x00],
    ['0 among digits', ByteSet.chars('0123456789'), 0x30],
    ['0 among hexadecimal digits', ByteSet.chars('0123456789abcdef'), 0x30],
    ['a among letters and digits', ByteSet.chars('0123456789abcxyz'), 0x61],
    ['the least where nothing is familiar', ByteSet.of(0x9f, 0x81), 0x81]
  ])('samples %s', (_, set, sample) => {
    expect(set.sample).toBe(sample)
  })
})

describe('a set of bytes as text', () => {
  const shown = (text: string): number =>
    text.startsWith("'") ? text.charCodeAt(1) : Number.parseInt(text, 16)
  /** The bytes that a text such as `'0'-'9' 80-ff` names. */
  const named = (text: string): number[] =>
    text === 'any byte'
      ? ALL
      : [...text.matchAll(/('.'|[0-9a-f]{2})(?:-('.'|[0-9a-f]{2}))?(?: |$)/g)].flatMap(([, low, high]) =>
          ALL.slice(shown(low!), shown(high ?? low!) + 1)
        )

  it('names exactly its bytes', () => {
    fc.assert(
      fc.property(members, bytes => {
        expect(named(`${ByteSet.from(bytes)}`)).toStrictEqual(sorted(bytes))
      }),
      RUNS
    )
  })

  it.each([
    ['any byte', ByteSet.all],
    [`'|'`, ByteSet.chars('|')],
    [`'0'-'9' 'a'-'f'`, ByteSet.chars('0123456789abcdef')],
    ['80-ff', ByteSet.range(0x80, 0xff)],
    [`00-20 'a'`, ByteSet.range(0x00, 0x20).union(ByteSet.chars('a'))],
    ['', ByteSet.of()]
  ])('is %j', (text, set) => {
    expect(`${set}`).toBe(text)
  })
})
