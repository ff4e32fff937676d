/** Layout files: strictly parsed, proved like our own, and never a crash. */
import { readFileSync } from 'node:fs'
import { fromHex, QuoinError } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { outpoint, txid } from '../../chain/src/components.ts'
import { denom, tick9 } from '../../liquidity/src/components.ts'
import { auditLayout } from './audit.ts'
import { parseLayout } from './file/parse.ts'
import type { Subject } from './proof/findings.ts'

const COMPONENTS = { denom, tick9, outpoint, txid }
const EXAMPLE = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/example-layout.json', import.meta.url), 'utf8')
)
const audit = (layout: unknown) => auditLayout(parseLayout(JSON.stringify(layout), COMPONENTS))
const one = (key: unknown, scans: unknown = []) => ({ name: 'x', collections: [{ name: 'c', key, scans }] })

describe('the example of the command', () => {
  it('is unsound in one way: asked for pool 1, the last scan also catches pool 10', () => {
    const report = audit(EXAMPLE)
    expect(report).toMatchObject({
      name: 'example',
      sound: false,
      findings: [
        {
          property: 'P2',
          collections: ['positions'],
          witness: ['027c613162327c31', '027c613162327c3130'],
          prefix: '027c613162327c31'
        }
      ],
      collections: [
        { name: 'ticks', key: '{0x01}{pool}|{tick}', sound: true, order: 'pool numeric, then tick as text' },
        { name: 'positions', sound: false }
      ],
      pairs: { checked: 1, overlapping: [] }
    })
    expect(report.findings[0]!.message).toContain('pool=1 ')
    expect(report.findings[0]!.message).toContain('pool=10')
  })

  it('is sound without that scan', () => {
    const [ticks, positions] = EXAMPLE.collections
    expect(audit({ ...EXAMPLE, collections: [ticks, { ...positions, scans: [['owner']] }] }).sound).toBe(true)
  })
})

describe('scans', () => {
  const key = [{ raw: '02' }, '|', { decimal: 'a' }, '|', { decimal: 'b' }, '|']

  it('run to the start of the next component, unless the trailing separator is left out', () => {
    expect(audit(one(key, [['a'], ['a', 'b']])).sound).toBe(true)
    expect(audit(one(key, [{ prefix: ['a'], trailing: true }])).sound).toBe(true)
    expect(audit(one(key, [{ prefix: ['a'], trailing: false }])).findings).toMatchObject([
      { property: 'P2', prefix: '027c31' }
    ])
    expect(audit(one(key, [[], { prefix: [], trailing: false }])).sound).toBe(true)
  })

  it('may name the leading components in any order, but not leave one out', () => {
    expect(audit(one(key, [['b', 'a']])).sound).toBe(true)
    expect(audit(one(key, [['b']])).findings).toMatchObject([{ property: 'P7', collections: ['c'] }])
  })

  it('may claim an order', () => {
    expect(audit(one(key, [{ prefix: ['a'], order: 'value' }])).findings).toMatchObject([{ property: 'P4' }])
    expect(
      audit(one([{ raw: '02' }, { u64be: 'a' }, { i64be: 'b' }], [{ prefix: [], order: 'value' }])).sound
    ).toBe(true)
  })
})

describe('the same codec with other options', () => {
  it('is another one, whatever the options look like when joined', () => {
    const layout = {
      name: 'x',
      collections: [
        { name: 'first', key: ['A', { text: 't', except: '|,max,5' }] },
        { name: 'c', key: ['B', { text: 't', except: '|', max: 5 }, 'm', { u8: 'n' }], scans: [['t']] }
      ]
    }
    expect(audit(layout).findings).toMatchObject([{ property: 'P2', collections: ['c'] }])
  })

  it('is another one when only a value differs', () => {
    const key = (max: number) => ['A', { u8: 'n', max }]
    const { subjects } = parseLayout(
      JSON.stringify({ name: 'x', collections: [5, 6].map(max => ({ name: `c${max}`, key: key(max) })) })
    )
    const accepts = subjects.map(
      ({ layout }) => layout.parts[1]!.language.matcher.departs(Uint8Array.of(6), 0, 1) === -1
    )
    expect(accepts).toEqual([false, true])
  })
})

describe('every codec', () => {
  it.each([
    [{ u8: 'x' }, 1],
    [{ u8: 'x', max: 5 }, 1],
    [{ u16be: 'x' }, 2],
    [{ u32be: 'x', max: 70000 }, 4],
    [{ u64be: 'x', max: '18446744073709551614' }, 8],
    [{ i64be: 'x' }, 8],
    [{ tick9: 'x' }, 9],
    [{ f64: 'x' }, 8],
    [{ bytes: 'x', length: 20 }, 20],
    [{ bytes: 'x', max: 20 }, undefined],
    [{ hex: 'x', length: 20 }, 40],
    [{ hex: 'x', max: 32 }, undefined],
    [{ decimal: 'x', bits: 8 }, undefined],
    [{ decimal: 'x', max: 9 }, 1],
    [{ text: 'x', except: ':|', max: 10 }, undefined],
    [{ escaped: 'x' }, undefined],
    [{ escaped: 'x', except: '/' }, undefined],
    [{ bech32: 'x' }, undefined],
    [{ base58: 'x', max: 40 }, undefined],
    [{ denom: 'x' }, undefined],
    [{ txid: 'x' }, 32],
    [{ outpoint: 'x' }, 36]
  ])('%j is taken', (part, width) => {
    const { subjects } = parseLayout(JSON.stringify(one(['k', part])), COMPONENTS)
    expect(subjects[0]!.layout.parts[1]!.language.fixedLength).toBe(width)
    expect(audit(one(['k', part], [[]])).sound).toBe(true)
  })
})

describe('a malformed file', () => {
  it.each([
    ['', '$'],
    ['{', '$'],
    ['[]', '$'],
    ['null', '$'],
    ['{"name":"x"}', '$.collections'],
    ['{"collections":[]}', '$.name'],
    ['{"name":"","collections":[]}', '$.name'],
    ['{"name":"\\u001b[2J","collections":[]}', '$.name'],
    ['{"name":"a\\u202eb","collections":[]}', '$.name'],
    ['{"name":"x","collections":[],"more":1}', '$.more'],
    ['{"name":"x","collections":[1]}', '$.collections[0]'],
    ['{"name":"x","collections":[{"key":["a"]}]}', '$.collections[0].name'],
    ['{"name":"x","collections":[{"name":"a"}]}', '$.collections[0].key'],
    ['{"name":"x","collections":[{"name":"a","key":[]}]}', '$.collections[0].key'],
    ['{"name":"x","collections":[{"name":"a","key":["a"],"scan":[]}]}', '$.collections[0].scan'],
    [
      '{"name":"x","collections":[{"name":"a","key":["a"]},{"name":"a","key":["b"]}]}',
      '$.collections[1].name'
    ]
  ])('%s is refused at %s', (source, path) => {
    expect(() => parseLayout(source)).toThrow(
      expect.objectContaining({
        code: 'ERR_AUDIT_FORMAT',
        details: { path },
        message: expect.stringContaining(path)
      })
    )
  })

  it.each([
    [[5], '[0]'],
    [[{}], '[0]'],
    [[{ nonsense: 'a' }], '[0]'],
    [[{ u8: 'a', u16be: 'b' }], '[0]'],
    [[{ u8: '' }], '[0].u8'],
    [[{ u8: 5 }], '[0].u8'],
    [[{ u8: 'a', bits: 5 }], '[0].bits'],
    [[{ u8: 'a', max: 256 }], '[0]'],
    [[{ u8: 'a', max: -1 }], '[0].max'],
    [[{ u64be: 'a', max: '18446744073709551616' }], '[0]'],
    [[{ decimal: 'a', bits: 0 }], '[0].bits'],
    [[{ decimal: 'a', bits: 257 }], '[0].bits'],
    [[{ decimal: 'a', bits: 8, max: 256 }], '[0]'],
    [[{ hex: 'a', length: 1.5 }], '[0].length'],
    [[{ bytes: 'a', length: 100000 }], '[0].length'],
    [[{ text: 'a', except: 5 }], '[0].except'],
    [[{ text: 'a', except: 'é' }], '[0]'],
    [[{ text: 'a', max: 100000 }], '[0]'],
    [[{ raw: '0' }], '[0].raw'],
    [[{ raw: 'zz' }], '[0].raw'],
    [[{ raw: '' }], '[0].raw'],
    [[{ raw: '01', length: 1 }], '[0]'],
    [[{ bytes: 'a', length: 2, max: 1 }], '[0]'],
    [[{ u64be: 'a', max: 1e20 }], '[0].max'],
    [['\ud800'], ''],
    [[{ u8: 'a' }, { u8: 'a' }], ''],
    [['x'.repeat(300)], '']
  ])('a key %j is refused at key%s', (key, where) => {
    expect(() => parseLayout(JSON.stringify(one(key)))).toThrow(
      expect.objectContaining({ code: 'ERR_AUDIT_FORMAT', details: { path: `$.collections[0].key${where}` } })
    )
  })

  it.each([
    [[5], '[0]'],
    [['a'], '[0]'],
    [[['b']], '[0][0]'],
    [[['a', 'a']], '[0]'],
    [[{ prefix: ['a'], trailing: 1 }], '[0].trailing'],
    [[{ prefix: ['a'], order: 'up' }], '[0].order'],
    [[{ prefix: ['b'] }], '[0].prefix[0]'],
    [[{ trailing: true }], '[0].prefix'],
    [{}, '']
  ])('scans %j are refused at scans%s', (scans, where) => {
    expect(() => parseLayout(JSON.stringify(one([{ u8: 'a' }], scans)))).toThrow(
      expect.objectContaining({
        code: 'ERR_AUDIT_FORMAT',
        details: { path: `$.collections[0].scans${where}` }
      })
    )
  })

  it('of any kind is a coded error with a path, never anything else', () => {
    const fuzz = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .jsonValue()
        .map(value => JSON.stringify({ name: 'x', collections: [{ name: 'c', key: value, scans: value }] })),
      fc.array(fc.jsonValue()).map(key => JSON.stringify(one(key)))
    )
    fc.assert(
      fc.property(fuzz, source => {
        try {
          auditLayout(parseLayout(source))
        } catch (error) {
          expect(error).toBeInstanceOf(QuoinError)
          expect(error).toMatchObject({
            code: 'ERR_AUDIT_FORMAT',
            details: { path: expect.stringMatching(/^\$/) }
          })
        }
      }),
      { numRuns: 1000 }
    )
  })
})

describe('layouts of all codecs at random', () => {
  const component = fc.constantFrom(
    { u8: '' },
    { u16be: '', max: 300 },
    { u64be: '' },
    { tick9: '' },
    { f64: '' },
    { bytes: '', length: 2 },
    { bytes: '' },
    { hex: '', length: 1 },
    { hex: '' },
    { decimal: '' },
    { decimal: '', bits: 4 },
    { text: '' },
    { text: '', except: ':|/' },
    { escaped: '' },
    { bech32: '' },
    { base58: '' },
    { denom: '' }
  )
  const part = fc.oneof(component, component, fc.constantFrom('|', '/', ':', 'a', '1', { raw: '00' }))
  const collections = fc.array(
    fc.tuple(fc.array(part, { minLength: 1, maxLength: 5 }), fc.boolean()).map(([parts, trailing]) => {
      const names: string[] = []
      const key = parts.map((given, i) => {
        if (typeof given === 'string' || 'raw' in given) return given
        const [[codec], ...options] = Object.entries(given) as [[string, string], ...[string, unknown][]]
        names.push(`c${i}`)
        return { [codec]: `c${i}`, ...Object.fromEntries(options) }
      })
      return { key, scans: names.map((_, i) => ({ prefix: names.slice(0, i + 1), trailing })) }
    }),
    { minLength: 1, maxLength: 3 }
  )

  /** Every way to cut a key into words of the parts, found by trying each cut. */
  const readings = ({ layout: { parts } }: Subject, key: Uint8Array, from = 0, start = 0): number[][] => {
    const part = parts[from]
    if (!part) return start === key.length ? [[]] : []
    const found: number[][] = []
    for (let end = start; end <= key.length; end++) {
      if (part.language.matcher.departs(key, start, end) !== -1) continue
      for (const rest of readings({ layout: { parts } } as Subject, key, from + 1, end))
        found.push([end, ...rest])
    }
    return found
  }

  it('are refused only with witnesses that hold', () => {
    const seen = new Map<string, number>()
    fc.assert(
      fc.property(collections, given => {
        const { subjects } = parseLayout(
          JSON.stringify({
            name: 'random',
            collections: given.map((each, i) => ({ name: `n${i}`, ...each }))
          }),
          COMPONENTS
        )
        const { findings } = auditLayout({ name: 'random', subjects })
        for (const { property, collections: names, witness, prefix, message } of findings) {
          seen.set(property, (seen.get(property) ?? 0) + 1)
          const of = names.map(name => subjects.find(subject => subject.name === name)!)
          const [first, second] = witness.map(fromHex)
          const [a, b] = [readings(of[0]!, first!), readings(of.at(-1)!, second!)]
          if (property === 'P1') expect(a.length, message).toBeGreaterThan(1)
          else {
            expect(a.length, message).toBeGreaterThan(0)
            expect(b.length, message).toBeGreaterThan(0)
          }
          if (prefix === undefined) expect(witness[0]).toBe(witness[1])
          else {
            const stem = fromHex(prefix)
            expect(witness[0].startsWith(prefix) && witness[1].startsWith(prefix), message).toBe(true)
            // The prefix is that of a scan: some cut of the asked key ends there.
            expect(
              a.some(cuts => cuts.includes(stem.length) || stem.length === 0),
              message
            ).toBe(true)
          }
          if (property === 'P2') {
            // One of the scans finds both, and they do not have the same components.
            const holds = of[0]!.scans.some(({ parts = 0 }) =>
              a.some(
                cuts =>
                  (cuts[parts - 1] ?? 0) === fromHex(prefix!).length &&
                  b.some(other => cuts.slice(0, parts).some((cut, i) => cut !== other[i]))
              )
            )
            expect(holds, message).toBe(true)
          }
        }
      }),
      { numRuns: 600 }
    )
    for (const property of ['P1', 'P2', 'P3', 'P6']) expect(seen.get(property), property).toBeGreaterThan(10)
  })
})
