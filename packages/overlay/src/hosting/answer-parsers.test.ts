/** Messages of a plug-in process may be anything: they are parsed into a value of the right form, or refused. */
import { serialize } from 'node:v8'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  InvalidAnswer,
  parseAdmittance,
  parseAnswer,
  parseBoolean,
  parseDescription,
  parseFormula,
  parseOutputs
} from './answer-parsers.ts'
import { FrameReader, FrameTooLong, frameHead } from './frames.ts'
import { LineBuffer } from './output-log.ts'

const selectorOf = () => async () => true

/** A parser either gives a value that passes the check, or throws `InvalidAnswer`. */
const holds = <T>(parse: () => T, check: (value: T) => boolean): boolean => {
  let value: T
  try {
    value = parse()
  } catch (error) {
    if (error instanceof InvalidAnswer) return error.message.length < 500
    throw error
  }
  return check(value)
}

const index = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0
const txid = (value: unknown): boolean => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)

/** Values near the forms that are expected. */
const near = (names: readonly string[]): fc.Arbitrary<unknown> =>
  fc.letrec(tie => ({
    leaf: fc.oneof(
      fc.jsonValue({ maxDepth: 1 }),
      fc.integer({ min: -2, max: 5 }),
      fc.constantFrom(
        'topic',
        'lookup',
        'quoin',
        'hosted',
        'ab'.repeat(32),
        'whole-tx',
        'none',
        2 ** 32,
        1.5,
        null
      )
    ),
    value: fc.oneof({ maxDepth: 4 }, tie('leaf'), fc.array(tie('value'), { maxLength: 4 }), tie('object')),
    object: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 8 })
  })).value

describe('an answer', () => {
  it('of any bytes is an answer, or refused', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.uint8Array({ maxLength: 200 }), near(['started', 'value', 'error', 'message', 'stack'])),
        given => {
          const body =
            given instanceof Uint8Array ? Buffer.from(given) : Buffer.from(JSON.stringify(given) ?? '')
          return holds(
            () => parseAnswer(body),
            ({ started }) => index(started)
          )
        }
      ),
      { numRuns: 2000 }
    )
    expect(
      holds(
        () => parseAnswer(serialize({ started: 1 })),
        () => false
      )
    ).toBe(true)
  })

  it('of a topic has indexes alone', () => {
    fc.assert(
      fc.property(near(['outputsToAdmit', 'coinsToRetain', 'refused', '0', 'x']), given =>
        holds(
          () => parseAdmittance(given),
          ({ outputsToAdmit, coinsToRetain, refused = {} }) =>
            [...outputsToAdmit, ...coinsToRetain].every(index) &&
            Object.entries(refused).every(([key, reason]) => index(Number(key)) && typeof reason === 'string')
        )
      ),
      { numRuns: 2000 }
    )
  })

  it('of a lookup has outpoints alone', () => {
    fc.assert(
      fc.property(near(['txid', 'outputIndex', 'history', 'context', 'base64', 'selector']), given =>
        holds(
          () => [...parseFormula(given, selectorOf), ...parseOutputs(given)],
          found => found.every(each => txid(each.txid) && index(each.outputIndex))
        )
      ),
      { numRuns: 2000 }
    )
    expect(
      holds(
        () => parseBoolean(1),
        () => false
      )
    ).toBe(true)
  })

  it('that describes a module has services of known kinds', () => {
    const names = [
      'form',
      'services',
      'migrations',
      'warnings',
      'kind',
      'name',
      'documentation',
      'metaData',
      'shortDescription'
    ]
    fc.assert(
      fc.property(fc.array(near(names), { maxLength: 2 }), given =>
        holds(
          () => parseDescription(given, 1),
          ([described]) => described!.services.every(({ kind }) => kind === 'topic' || kind === 'lookup')
        )
      ),
      { numRuns: 2000 }
    )
  })
})

describe('frames', () => {
  const framed = (bodies: readonly Uint8Array[]): Buffer =>
    Buffer.concat(bodies.flatMap((body, i) => [frameHead(i, body.length), body]))
  /** The same bytes in pieces. */
  const pieces = (bytes: Buffer, sizes: readonly number[]): Buffer[] => {
    const found: Buffer[] = []
    for (let at = 0, i = 0; at < bytes.length; i++) {
      const size = sizes[i % sizes.length]!
      found.push(bytes.subarray(at, at + size))
      at += size
    }
    return found
  }
  const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 10 })

  it('are read as they were written, in whatever pieces they come', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 12 }), cuts, (bodies, sizes) => {
        const reader = new FrameReader(60)
        const read = pieces(framed(bodies), sizes).flatMap(piece =>
          [...reader.push(piece)].map(({ id, body }) => [id, [...body]])
        )
        expect(read).toEqual(bodies.map((body, i) => [i, [...body]]))
      })
    )
  })

  it('longer than the limit are refused by their heads', () => {
    fc.assert(
      fc.property(fc.integer({ min: 61, max: 0xffffffff }), cuts, (length, sizes) => {
        const reader = new FrameReader(60)
        const bytes = Buffer.concat([framed([Uint8Array.of(1)]), frameHead(7, length)])
        expect(() => {
          for (const piece of pieces(bytes, sizes)) for (const _ of reader.push(piece));
        }).toThrow(FrameTooLong)
      })
    )
  })
})

it('lines are split as they were printed, and cut at their limit', () => {
  const line = fc.string({ maxLength: 30 }).filter(each => !/[\n\r]|\s$/.test(each))
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 10 }),
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }),
      (lines, sizes) => {
        const bytes = Buffer.from(lines.map(each => `${each}\n`).join(''))
        const buffer = new LineBuffer(100)
        const found: string[] = []
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = sizes[i % sizes.length]!
          for (const { text } of buffer.push(bytes.subarray(at, at + size))) found.push(text)
          at += size
        }
        expect(found).toEqual(lines)
        expect(buffer.end()).toBeUndefined()
      }
    )
  )
  const short = new LineBuffer(4)
  expect([...short.push(Buffer.from('abcdefg\nxy'))]).toEqual([{ text: 'abcd', omitted: 3 }])
  expect(short.end()).toEqual({ text: 'xy', omitted: 0 })
})
