/**
 * Layouts of components with few values, whose keys are all enumerated: the verdict of the prover on every property is
 * that of the enumeration, both ways, for each kind of scan.
 */
import { compareBytes, startsWith, toHex } from '@quoin/primitives'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Codec } from '../codec.ts'
import type { Layout } from '../layout.ts'
import { prove } from '../proof/prove.ts'
import { copyWritten } from '../scratch-buffer.ts'
import { stepsOf, writeKey } from '../step.ts'
import { layoutOf } from './parse.ts'

/** Components with their values in order, in the order that the component declares. */
const FINITE: readonly (readonly [object, readonly unknown[]])[] = [
  [{ u8: '', max: 2 }, [0n, 1n, 2n]],
  [{ u8: '', min: 96, max: 98, descending: true }, [98n, 97n, 96n]],
  [{ u16le: '', min: 254, max: 258 }, [254n, 255n, 256n, 257n, 258n]],
  [{ i8: '', flipped: false, min: -2, max: 1 }, [-2n, -1n, 0n, 1n]],
  [{ leb128: '', max: 3 }, [0n, 1n, 2n, 3n]],
  [{ compactSize: '', max: 2 }, [0n, 1n, 2n]],
  [{ decimal: '', max: 11 }, Array.from({ length: 12 }, (_, n) => BigInt(n))],
  [{ decimal: '', max: 2, signed: true }, [-2n, -1n, 0n, 1n, 2n]],
  [{ decimal: '', max: 11, width: 2 }, Array.from({ length: 12 }, (_, n) => BigInt(n))],
  [{ decimal: '', max: 10, descending: true }, Array.from({ length: 11 }, (_, n) => BigInt(10 - n))],
  [{ word: '', words: ['a', 'ab', 'b'] }, ['a', 'ab', 'b']],
  [{ word: '', words: ['a', 'ab', 'b'], descending: true }, ['b', 'ab', 'a']],
  [{ word: '', words: ['', 'a', 'a1'] }, ['', 'a', 'a1']],
  [{ enum: '', values: { low: '61', high: '31' } }, ['low', 'high']],
  [{ alphabet: '', characters: 'a|', min: 0, max: 2 }, ['', 'a', 'aa', 'a|', '|', '|a', '||']],
  [{ optional: '', of: ['|', { u8: 'n', min: 97, max: 98 }] }, [null, 97n, 98n]],
  [{ optional: '', of: { word: 'w', words: ['', 'a'] } }, [null, '', 'a']],
  [
    { repeated: '', of: { alphabet: 'x', characters: 'a1', max: 1 }, separator: '|', max: 2 },
    [[], ['1'], ['1', '1'], ['1', 'a'], ['a'], ['a', '1'], ['a', 'a']]
  ],
  [
    { repeated: '', of: { word: 'x', words: ['a', 'aa'] }, min: 1, max: 2 },
    [['a'], ['a', 'a'], ['a', 'aa'], ['aa'], ['aa', 'a'], ['aa', 'aa']]
  ],
  [
    {
      group: '',
      of: [
        { word: 'x', words: ['a', 'a1'] },
        { word: 'y', words: ['', '1', 'b'] }
      ]
    },
    [
      ['a', ''],
      ['a', '1'],
      ['a', 'b'],
      ['a1', ''],
      ['a1', '1'],
      ['a1', 'b']
    ]
  ]
]

interface Chosen {
  readonly key: readonly unknown[]
  readonly values: readonly (readonly unknown[])[]
}

const keyOf = (collection: string): fc.Arbitrary<Chosen> =>
  fc
    .array(fc.oneof(fc.constantFrom(...FINITE), fc.constantFrom('|', 'a', '1')), {
      minLength: 1,
      maxLength: 4
    })
    .map(parts => {
      let names = 0
      const key = parts.map(part => {
        if (typeof part === 'string') return part
        const [[codec], ...options] = Object.entries(part[0] as Record<string, unknown>) as [
          [string],
          ...[string, unknown][]
        ]
        return { [codec]: `${collection}${names++}`, ...Object.fromEntries(options) }
      })
      return { key, values: parts.flatMap(part => (typeof part === 'string' ? [] : [part[1]])) }
    })
    .filter(({ values }) => values.reduce((count, list) => count * list.length, 1) <= 200)

const LIMIT = 2

/** All keys as their values' numbers, and as bytes. */
const enumerate = (
  layout: Layout,
  values: readonly (readonly unknown[])[]
): { tuple: number[]; bytes: Uint8Array }[] => {
  const steps = stepsOf(layout)
  const tuples = values.reduce<number[][]>(
    (all, list) => all.flatMap(tuple => list.map((_, i) => [...tuple, i])),
    [[]]
  )
  return tuples.map(tuple => ({
    tuple,
    bytes: copyWritten(target =>
      writeKey(
        steps,
        tuple.map((n, i) => values[i]![n]),
        target,
        0
      )
    )
  }))
}

const prefixBytes = (
  layout: Layout,
  parts: number,
  key: { tuple: number[] },
  values: Chosen['values']
): Uint8Array => {
  let seen = 0
  return copyWritten(target => {
    let at = 0
    for (const part of layout.parts.slice(0, parts)) {
      if (part.kind === 'literal') {
        for (const byte of part.bytes) target[at++] = byte
      } else {
        const codec = part.component.codec as Codec<unknown>
        at = codec.write(values[seen]![key.tuple[seen]!], target, at)
        seen++
      }
    }
    return at
  })
}

const SCANS = ['prefix', 'bare', 'order', 'from', 'down', 'delete', 'seek', 'get', 'all'] as const

const scanOf = (kind: (typeof SCANS)[number], names: readonly string[], count: number): object => {
  const prefix = names.slice(0, count)
  switch (kind) {
    case 'prefix':
      return prefix
    case 'bare':
      return { prefix, trailing: false }
    case 'order':
      return { prefix, order: 'value' }
    case 'from':
      return { prefix, from: [names[count]] }
    case 'down':
      return { prefix, from: [names[count]], reverse: true }
    case 'delete':
      return { prefix, delete: true }
    case 'seek':
      return { prefix, reverse: true, seek: '61' }
    case 'get':
      return { get: prefix }
    case 'all':
      return { all: true }
  }
}

it('the prover says what the enumeration of all keys says', () => {
  const seen = new Map<string, number>()
  const tally = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1)
  fc.assert(
    fc.property(keyOf('c'), fc.constantFrom(...SCANS), fc.nat(3), ({ key, values }, kind, at) => {
      const names = values.map((_, i) => `c${i}`)
      const needed = kind === 'from' || kind === 'down' ? 1 : 0
      fc.pre(names.length >= needed)
      const count = at % (names.length - needed + 1)
      // A descending component without an end cannot bound a range, and is refused with its place.
      const bound = key.filter(part => typeof part === 'object')[count] as {
        word?: string
        descending?: boolean
      }
      fc.pre(needed === 0 || !(bound.descending && bound.word))
      const { subjects } = layoutOf({
        name: 'x',
        collections: [{ name: 'c', key, scans: [scanOf(kind, names, count)] }]
      })
      const [subject] = subjects
      const { layout } = subject!
      const keys = enumerate(layout, values)
      const { findings } = prove(subjects)
      const found = (property: string): boolean => findings.some(each => each.property === property)
      const texts = keys.map(({ bytes }) => toHex(bytes))
      const label = JSON.stringify({ key, kind, count })

      const ambiguous = new Set(texts).size < texts.length
      expect(found('P1'), `P1 ${label}`).toBe(ambiguous)
      tally(`P1 ${ambiguous}`)
      if (ambiguous) return

      const scan = subject!.scans[0]!
      const same = (a: { tuple: number[] }, b: { tuple: number[] }, length: number): boolean =>
        a.tuple.slice(0, length).every((n, i) => n === b.tuple[i])
      const sorted = [...keys].sort((a, b) => compareBytes(a.bytes, b.bytes))
      const inexact = (parts: number, components: number): boolean =>
        keys.some(a => {
          const prefix = prefixBytes(layout, parts, a, values)
          return keys.some(b => startsWith(b.bytes, prefix) && !same(a, b, components))
        })
      if (kind === 'get') {
        expect(found('P7'), `P7 ${label}`).toBe(count < names.length)
        tally(`P7 ${count < names.length}`)
        return
      }
      const components = scan.components.length
      let broken = inexact(scan.parts!, components)
      if (kind === 'down') broken ||= inexact(scan.from!.parts, components + 1)
      if (kind === 'seek') {
        const missed = keys.some(a => {
          const prefix = prefixBytes(layout, scan.parts!, a, values)
          return compareBytes(a.bytes, Uint8Array.of(...prefix, 0x61)) > 0
        })
        broken ||= missed
      }
      expect(found('P2'), `P2 ${label}`).toBe(broken)
      tally(`P2 ${kind} ${broken}`)

      const claimed =
        kind === 'order' ? names.length : kind === 'from' || kind === 'down' ? components + 1 : 0
      const disorder = sorted.some((a, i) =>
        sorted.slice(i + 1).some(b => {
          const first = a.tuple.findIndex((n, k) => n !== b.tuple[k])
          return first >= components && first < claimed && a.tuple[first]! > b.tuple[first]!
        })
      )
      expect(found('P4'), `P4 ${label}`).toBe(disorder)
      if (claimed > 0) tally(`P4 ${disorder}`)
      // With an exact prefix and the order of the bound, a range from a value is exactly the values from there on.
      if (kind === 'from' || kind === 'down') {
        if (broken || disorder) return
        for (const a of keys) {
          const bytes = prefixBytes(layout, scan.from!.parts, a, values)
          for (const b of keys) {
            if (!same(a, b, components)) continue
            const isFrom = b.tuple[components]! >= a.tuple[components]!
            if (kind === 'from') expect(compareBytes(b.bytes, bytes) >= 0, label).toBe(isFrom)
            else {
              const isTo = b.tuple[components]! <= a.tuple[components]!
              expect(compareBytes(b.bytes, bytes) < 0 || startsWith(b.bytes, bytes), label).toBe(isTo)
            }
          }
        }
        tally(`${kind} exact`)
      }
    }),
    { numRuns: 1500 }
  )
  for (const what of [
    'P1 true',
    'P1 false',
    'P4 true',
    'P4 false',
    'P7 true',
    'P7 false',
    'from exact',
    'down exact'
  ])
    expect(seen.get(what), what).toBeGreaterThan(LIMIT)
  for (const kind of ['prefix', 'bare', 'from', 'down', 'delete', 'seek']) {
    for (const verdict of [true, false])
      expect(seen.get(`P2 ${kind} ${verdict}`), `${kind} ${verdict}`).toBeGreaterThan(LIMIT)
  }
})

it('two collections are disjoint exactly when no key is of both, or under a scan or deletion of the other', () => {
  const seen = { sound: 0, unsound: 0 }
  fc.assert(
    fc.property(keyOf('a'), keyOf('b'), fc.constantFrom('none', 'scan', 'delete', 'all'), (a, b, reads) => {
      const scans = { none: [], scan: [[]], delete: [{ prefix: [], delete: true }], all: [{ all: true }] }[
        reads
      ]
      const { subjects } = layoutOf({
        name: 'x',
        collections: [
          { name: 'a', key: a.key, scans },
          { name: 'b', key: b.key }
        ]
      })
      const [xs, ys] = [a, b].map(({ values }, i) =>
        enumerate(subjects[i]!.layout, values).map(({ bytes }) => bytes)
      )
      const prefix =
        subjects[0]!.scans[0] &&
        prefixBytes(subjects[0]!.layout, subjects[0]!.scans[0].parts!, { tuple: [] }, [])
      const shared = xs!.some(x => ys!.some(y => compareBytes(x, y) === 0))
      const caught = prefix !== undefined && ys!.some(y => startsWith(y, prefix))
      const found = prove(subjects).findings.filter(({ property }) => property === 'P3' || property === 'P6')
      expect(found.length > 0, JSON.stringify([a.key, b.key, reads])).toBe(shared || caught)
      expect(found.some(({ property }) => property === 'P6')).toBe(shared)
      if (found.length > 0) seen.unsound++
      else seen.sound++
    }),
    { numRuns: 500 }
  )
  expect(Math.min(seen.sound, seen.unsound)).toBeGreaterThan(40)
})

it('a little-endian or unflipped signed integer that is claimed to walk in order is refused with two numbers', () => {
  const claim = (part: object) =>
    prove(
      layoutOf({
        name: 'x',
        collections: [{ name: 'c', key: ['k', part], scans: [{ prefix: [], order: 'value' }] }]
      }).subjects
    ).findings.map(({ property, message }) => `${property} ${message}`)
  expect(claim({ u32le: 'file' })).toEqual([
    'P4 c: claims to walk in the order of file, but file=256 comes before file=1: it walks as text'
  ])
  expect(claim({ i64be: 'handle', flipped: false })).toEqual([
    'P4 c: claims to walk in the order of handle, but handle=1 comes before handle=-1: it walks as text'
  ])
  expect(claim({ i64be: 'handle' })).toEqual([])
})
