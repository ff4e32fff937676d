/**
 * The prover against brute force, both ways: what it accepts, no short key contradicts; what it refuses, its
 * witness shows, and no shorter key would. Seeds are printed by fast-check on failure.
 */

import { fromHex } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decimal } from '../components/decimal.ts'
import { u8 } from '../components/integer.ts'
import { word } from '../components/text.ts'
import { type KeyPart, partsOf } from '../declaration.ts'
import { Layout } from '../layout.ts'
import { layouts, type ModelLayout, readings, shortKeys } from './bruteforce.testing.ts'
import type { Finding } from './findings.ts'
import { prove } from './prove.ts'

const MOST_KEYS = 400
const RUNS = 2000

const text = (hexadecimal: string): string => new TextDecoder().decode(fromHex(hexadecimal))
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const same = (a: readonly string[], b: readonly string[]): boolean => a.every((piece, i) => piece === b[i])

/** Pieces of the first `count` components: what a scan asks for. */
const asked = ({ models }: ModelLayout, pieces: readonly string[], count: number): string[] =>
  pieces.filter((_, i) => models[i]!.component).slice(0, count)

const componentPart = ({ models }: ModelLayout, name: string): number =>
  models.findIndex(({ component }) => component?.name === name)

describe('P1: unique decoding', () => {
  it('agrees with brute force, and the witness is a shortest key with two readings', () => {
    const seen = { sound: 0, unsound: 0 }
    fc.assert(
      fc.property(layouts('a'), layout => {
        const finding = prove([layout.subject]).findings.find(({ property }) => property === 'P1')
        const keys = shortKeys(layout, MOST_KEYS)?.map(pieces => pieces.join('')) ?? []
        const ambiguous = keys.filter((key, i) => keys.indexOf(key) !== i)
        if (finding) {
          seen.unsound++
          const [first, second] = finding.witness.map(text)
          expect(first).toBe(second)
          expect(readings(layout, first!).length).toBeGreaterThan(1)
          for (const key of ambiguous) expect(key.length).toBeGreaterThanOrEqual(first!.length)
        } else {
          seen.sound++
          expect(ambiguous).toEqual([])
        }
      }),
      { numRuns: RUNS }
    )
    expect(Math.min(seen.sound, seen.unsound)).toBeGreaterThan(RUNS / 40)
  })
})

describe('P2: exact scans', () => {
  it('agrees with brute force, and the witness is a stray key under the prefix', () => {
    const seen = { sound: 0, unsound: 0 }
    fc.assert(
      fc.property(layouts('a'), layout => {
        const { scans } = layout.subject
        const proof = prove([layout.subject])
        const keys = shortKeys(layout, MOST_KEYS) ?? []
        const stray = new Map<number, number>()
        scans.forEach(({ components, parts = 0 }) => {
          for (const pieces of keys) {
            const prefix = pieces.slice(0, parts).join('')
            const wanted = asked(layout, pieces, components.length)
            for (const other of keys) {
              const key = other.join('')
              if (!key.startsWith(prefix) || same(wanted, asked(layout, other, components.length))) continue
              stray.set(
                components.length,
                Math.min(key.length, stray.get(components.length) ?? Number.POSITIVE_INFINITY)
              )
            }
          }
        })
        const findings = proof.findings.filter(({ property }) => property === 'P2')
        const refused = new Map<number, number>()
        for (const finding of findings) {
          const scan = scans.find(each => {
            // A finding does not name its scan by number: it is the one whose words the message has.
            const [askedKey, caughtKey] = finding.witness.map(text)
            const prefix = text(finding.prefix!)
            return readings(layout, askedKey!).some(
              pieces =>
                pieces.slice(0, each.parts).join('') === prefix &&
                caughtKey!.startsWith(prefix) &&
                readings(layout, caughtKey!).some(
                  other =>
                    !same(
                      asked(layout, pieces, each.components.length),
                      asked(layout, other, each.components.length)
                    )
                ) &&
                !refused.has(each.components.length)
            )
          })
          expect(scan, finding.message).toBeDefined()
          refused.set(scan!.components.length, finding.witness[1].length / 2)
        }
        for (const [count, shortest] of stray) {
          expect([...refused.keys()], `scan of ${count}`).toContain(count)
          expect(refused.get(count)!).toBeLessThanOrEqual(shortest)
        }
        if (findings.length > 0) seen.unsound++
        else seen.sound++
      }),
      { numRuns: RUNS }
    )
    expect(Math.min(seen.sound, seen.unsound)).toBeGreaterThan(RUNS / 40)
  })
})

describe('P3 and P6: disjoint collections', () => {
  const holds = (finding: Finding, a: ModelLayout, b: ModelLayout): boolean => {
    const [first, second] = finding.witness.map(text)
    const by = (name: string): ModelLayout => (name === a.name ? a : b)
    const [x, y] = finding.collections.map(by)
    const bothOwn = readings(x!, first!).length > 0 && readings(y!, second!).length > 0
    if (finding.prefix === undefined) return bothOwn && first === second
    return bothOwn && first!.startsWith(text(finding.prefix)) && second!.startsWith(text(finding.prefix))
  }

  it('agrees with brute force, and the witness is a key of both or a key under the other scan', () => {
    const seen = { sound: 0, unsound: 0 }
    fc.assert(
      fc.property(layouts('a'), layouts('b'), (a, b) => {
        const narrow = (layout: ModelLayout, from: number): ModelLayout => ({
          ...layout,
          subject: { ...layout.subject, scans: layout.subject.scans.slice(from) }
        })
        const [x, y] = [narrow(a, 1), narrow(b, 2)]
        const findings = prove([x.subject, y.subject]).findings.filter(
          ({ property }) => property === 'P3' || property === 'P6'
        )
        for (const finding of findings) expect(holds(finding, x, y), finding.message).toBe(true)
        const [xs, ys] = [x, y].map(layout => shortKeys(layout, 200))
        if (!xs || !ys) return
        const shared = xs.some(key => ys.some(other => key.join('') === other.join('')))
        const strays = [
          [x, xs, ys],
          [y, ys, xs]
        ] as const
        const caught = strays.some(([layout, own, others]) =>
          layout.subject.scans.some(({ parts = 0 }) =>
            own.some(key => others.some(other => other.join('').startsWith(key.slice(0, parts).join(''))))
          )
        )
        if (shared) expect(findings.map(({ property }) => property)).toContain('P6')
        if (shared || caught) expect(findings.length).toBeGreaterThan(0)
        if (findings.length > 0) seen.unsound++
        else seen.sound++
      }),
      { numRuns: RUNS }
    )
    expect(Math.min(seen.sound, seen.unsound)).toBeGreaterThan(RUNS / 40)
  })
})

describe('P3: a scan over everything', () => {
  it('of a key without a literal in front catches every key of a neighbour', () => {
    fc.assert(
      fc.property(layouts('a'), layouts('b'), (a, b) => {
        const scans = [{ components: [], parts: 0, order: undefined }]
        const { findings } = prove([
          { ...a.subject, scans },
          { ...b.subject, scans: [] }
        ])
        expect(findings.some(({ property, prefix }) => property === 'P3' && prefix === '')).toBe(true)
      }),
      { numRuns: 200 }
    )
  })
})

describe('P4: order', () => {
  it('agrees with brute force on whether keys sort by value, by word or by neither, with a witness for each no', () => {
    const seen = { value: 0, word: 0, neither: 0 }
    fc.assert(
      fc.property(layouts('a'), layout => {
        const order = prove([layout.subject]).orders.get(layout.subject)!
        const keys = shortKeys(layout, 70) ?? []
        layout.models.forEach(({ component, compare }, part) => {
          if (!component) return
          const verdict = order[part]!
          seen[verdict.by]++
          for (const [why, smaller] of [
            [verdict.value, compare],
            [verdict.word, byText]
          ] as const) {
            if (!why) continue
            // The witness: equal up to the component, the first smaller there, and yet after the other.
            const [small, large] = why.map(reading =>
              reading.spans.map(({ start, end }) => text(hexOf(reading.key.subarray(start, end))))
            )
            for (const pieces of [small!, large!]) {
              expect(pieces.every((piece, i) => layout.models[i]!.isWord(piece))).toBe(true)
            }
            expect(same(small!.slice(0, part), large!)).toBe(true)
            expect(smaller(small![part]!, large![part]!)).toBeLessThan(0)
            expect(byText(small!.join(''), large!.join(''))).toBeGreaterThan(0)
          }
          for (const a of keys) {
            for (const b of keys) {
              if (!same(a.slice(0, part), b) || a[part] === b[part]) continue
              const bytes = byText(a.join(''), b.join(''))
              if (bytes === 0) continue
              if (!verdict.value) expect(Math.sign(compare(a[part]!, b[part]!))).toBe(bytes)
              if (!verdict.word) expect(byText(a[part]!, b[part]!)).toBe(bytes)
            }
          }
        })
      }),
      { numRuns: RUNS }
    )
    expect(Math.min(seen.value, seen.word, seen.neither)).toBeGreaterThan(RUNS / 50)
  })

  const orderOf = (...key: KeyPart[]): string[] => {
    const layout = new Layout(partsOf(key))
    const order = prove([{ name: 'x', layout, scans: [] }]).orders
    return [...order.values()][0]!.map(({ by }) => by)
  }

  it('of decimals is that of their values only while they have one digit', () => {
    expect(orderOf(decimal('n', { max: 9n }))).toEqual(['value'])
    for (const max of [10n, 19n, 99n, 100n, 255n, 999n, 2n ** 64n - 1n]) {
      expect(orderOf(decimal('n', { max })), `${max}`).toEqual(['word'])
      expect(orderOf(decimal('n', { max }), '/', u8('m')), `${max}/`).toEqual(['word', 'value', 'value'])
      expect(orderOf(decimal('n', { max }), '|', u8('m')), `${max}|`).toEqual(['neither', 'value', 'value'])
    }
  })

  it('is lost when the key of a longer word may be the beginning of the key of a shorter one', () => {
    // (a, bb) is abb, (ab, empty) is ab: the smaller first word has the greater key.
    expect(orderOf(word('c', 'a', 'ab'), word('d', '', 'bb'))[0]).toBe('neither')
    expect(orderOf(word('c', 'a', 'ab'), word('d', ''))[0]).toBe('value')
  })

  it('is what scans claim: a scan by value is refused exactly when a component after its prefix is not by value', () => {
    fc.assert(
      fc.property(layouts('a'), layout => {
        const { findings, orders } = prove([layout.subject])
        const broken = orders.get(layout.subject)!.some(({ by }) => by !== 'value')
        expect(findings.some(({ property }) => property === 'P4')).toBe(broken)
      }),
      { numRuns: 500 }
    )
  })
})

describe('P7: leading components', () => {
  it('are named when they are left out, even those that have one word only', () => {
    const layout = new Layout(partsOf([decimal('a', { max: 0n }), u8('b'), u8('c')]))
    const finding = (components: string[]) =>
      prove([{ name: 'x', layout, scans: [{ components, parts: undefined, order: undefined }] }]).findings[0]!
    expect(finding(['b'])).toMatchObject({
      property: 'P7',
      message: expect.stringContaining('leaves out a,')
    })
    expect(finding(['c'])).toMatchObject({ message: expect.stringContaining('leaves out a, b,') })
    expect(finding(['c']).witness[0]).not.toBe(finding(['c']).witness[1])
  })

  it('refuses a scan that skips a component, with two keys that no prefix brings together', () => {
    fc.assert(
      fc.property(layouts('a'), layout => {
        const names = layout.models.flatMap(({ component }) => (component ? [component.name] : []))
        fc.pre(names.length > 1)
        const scans = [{ components: names.slice(1), parts: undefined, order: undefined }]
        const finding = prove([{ ...layout.subject, scans }]).findings.find(
          ({ property }) => property === 'P7'
        )!
        const skipped = componentPart(layout, names[0]!)
        const [first, second] = finding.witness.map(witness => readings(layout, text(witness)))
        expect(
          first!.some(a =>
            second!.some(
              b =>
                a.every((piece, i) => i === skipped || piece === b[i]) &&
                (a[skipped] !== b[skipped] || layout.models[skipped]!.words.length === 1)
            )
          )
        ).toBe(true)
      }),
      { numRuns: 500 }
    )
  })
})

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
