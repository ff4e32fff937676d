/** A batch survives being written and read, and nothing gets into one that an engine could not take. */

import { QuoinError } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BatchStep, batchOf, exampleOf } from '../../store-contract/src/steps.ts'
import { BatchDecoder } from './batch-decoder.ts'
import { ArgumentWriter, BatchEncoder, encode, keyOnly, scoreOnly } from './batch-encoder.ts'
import { MAX_KEY, MAX_VALUE } from './engine.ts'
import {
  type Conditions,
  isCondition,
  type Operations,
  STEP_NAMES,
  STEPS,
  type StepName
} from './operations.ts'
import { steps } from './random-program.testing.ts'

/** A step as it comes out: -0 is written as 0. Bytes are text, which is quicker to compare. */
const noted = (name: StepName, args: readonly (Uint8Array | number)[]): string =>
  JSON.stringify([
    name,
    ...args.map(arg => (typeof arg === 'number' ? String(arg) : Buffer.from(arg).toString('latin1')))
  ])

/** A reader's other side: notes what it is told. */
const recorder = (answer: (name: StepName) => unknown) => {
  const seen: string[] = []
  const record =
    (name: StepName) =>
    (...args: (Uint8Array | number)[]) => {
      seen.push(noted(name, args))
      return answer(name)
    }
  const all = Object.fromEntries(STEP_NAMES.map(name => [name, record(name)]))
  return { seen, to: all as unknown as Conditions & Operations<unknown> }
}

const notes = (given: readonly BatchStep[]): string[] => given.map(({ name, args }) => noted(name, args))

const errorOf = (run: () => unknown): QuoinError => {
  try {
    run()
  } catch (error) {
    if (error instanceof QuoinError) return error
    throw error
  }
  throw new Error('expected a QuoinError')
}

describe('a batch', () => {
  it('is read as it was written: checks, then operations, each in order with its arguments', () => {
    fc.assert(
      fc.property(steps(), given => {
        const program = new BatchDecoder(batchOf(given))
        const { seen, to } = recorder(() => true)
        expect(program.firstFailing(to)).toBe(-1)
        expect(seen).toStrictEqual(notes(given.filter(({ name }) => isCondition(name))))
        seen.length = 0
        program.run(to)
        expect(seen).toStrictEqual(notes(given.filter(({ name }) => !isCondition(name))))
      }),
      { numRuns: 500 }
    )
  })

  it('answers what increments and leases answer, in their order, and nothing else', () => {
    fc.assert(
      fc.property(steps(), given => {
        const answering = given.filter(({ name }) => name === 'zincrby' || name === 'lease')
        const { to } = recorder(name => name)
        expect(new BatchDecoder(batchOf(given)).run(to)).toStrictEqual(answering.map(({ name }) => name))
      })
    )
  })

  it('is read the same wherever its bytes are', () => {
    fc.assert(
      fc.property(steps(), fc.nat(9), (given, offset) => {
        const batch = batchOf(given)
        const inside = new Uint8Array(offset + batch.length + 5).fill(0xa5)
        inside.set(batch, offset)
        const read = (bytes: Uint8Array): string[] => {
          const { seen, to } = recorder(() => true)
          const program = new BatchDecoder(bytes)
          program.firstFailing(to)
          program.run(to)
          return seen
        }
        expect(read(inside.subarray(offset, offset + batch.length))).toStrictEqual(read(batch))
      })
    )
  })

  it('can be read again, operations without checks, and checks after operations', () => {
    fc.assert(
      fc.property(steps(), given => {
        const program = new BatchDecoder(batchOf(given))
        const { seen, to } = recorder(() => true)
        program.run(to)
        const operations = [...seen]
        program.firstFailing(to)
        seen.length = 0
        program.run(to)
        expect(seen).toStrictEqual(operations)
      })
    )
  })

  it('stops at the first check that fails, and names it', () => {
    fc.assert(
      fc.property(steps(), fc.nat(2), (given, failing) => {
        const made = given.filter(({ name }) => isCondition(name))
        fc.pre(failing < made.length)
        const program = new BatchDecoder(batchOf(given))
        const { seen, to } = recorder(() => seen.length <= failing)
        expect(program.firstFailing(to)).toBe(failing)
        expect(seen).toHaveLength(failing + 1)
        const { name } = made[failing]!
        const refusal = program.refusal(failing)
        expect(refusal).toBeInstanceOf(QuoinError)
        expect(refusal.code).toBe(name === 'leaseHeld' ? 'ERR_STORE_LEASE_LOST' : 'ERR_STORE_PRECONDITION')
        expect(refusal.details['check']).toBe(failing)
        if (name !== 'leaseHeld') expect(refusal.details['needs']).toBe(name)
      }),
      { numRuns: 500 }
    )
  })

  it('has its operations as bytes', () => {
    const program = new BatchDecoder(batchOf([{ name: 'del', args: [Uint8Array.of(7)] }]))
    expect([...program.operations]).toStrictEqual([STEPS.del.code, 1, 0, 0, 0, 7])
    const checked = batchOf([
      { name: 'del', args: [Uint8Array.of(7)] },
      { name: 'valueAbsent', args: [Uint8Array.of(8, 9)] }
    ])
    expect([...new BatchDecoder(checked).operations]).toStrictEqual([STEPS.del.code, 1, 0, 0, 0, 7])
    expect([...checked]).toStrictEqual([
      7,
      0,
      0,
      0,
      STEPS.valueAbsent.code,
      2,
      0,
      0,
      0,
      8,
      9,
      STEPS.del.code,
      1,
      0,
      0,
      0,
      7
    ])
  })

  it('is empty until something is written', () => {
    const program = new BatchEncoder()
    expect(program.isEmpty).toBe(true)
    encode.valueAbsent(program, new Uint8Array())
    expect(program.isEmpty).toBe(false)
    const other = new BatchEncoder()
    encode.del(other, new Uint8Array())
    expect(other.isEmpty).toBe(false)
    expect([...new BatchEncoder().take()]).toStrictEqual([0, 0, 0, 0])
  })

  it('keeps what was written before it grew', () => {
    const writer = new ArgumentWriter()
    const parts = Array.from({ length: 200 }, (_, i) => new Uint8Array(i * 7).fill(i))
    for (const part of parts) writer.bytes('value', part)
    const expected = parts.flatMap(part => [part.length & 0xff, part.length >> 8, 0, 0, ...part])
    expect([...writer.written()]).toStrictEqual(expected)
    expect(writer.length).toBe(expected.length)
  })

  it('copies its arguments', () => {
    const value = Uint8Array.of(1, 2, 3)
    const program = new BatchEncoder()
    encode.set(program, value, value)
    value.fill(0)
    const { seen, to } = recorder(() => true)
    new BatchDecoder(program.take()).run(to)
    expect(seen).toStrictEqual([noted('set', [Uint8Array.of(1, 2, 3), Uint8Array.of(1, 2, 3)])])
  })

  it('has a code of its own for each check and operation, which the reader knows', () => {
    expect(new Set(Object.values(STEPS).map(({ code }) => code)).size).toBe(STEP_NAMES.length)
    for (const name of STEP_NAMES) {
      const example = exampleOf(name)
      const { seen, to } = recorder(() => true)
      const program = new BatchDecoder(batchOf([example]))
      program.firstFailing(to)
      program.run(to)
      expect(seen).toStrictEqual([noted(name, example.args)])
    }
    for (const side of ['conditions', 'operations'] as const) {
      const program = new BatchEncoder()
      program[side].code(99).bytes('key', Uint8Array.of(65))
      const reader = new BatchDecoder(program.take())
      const { to } = recorder(() => true)
      expect(() => (side === 'conditions' ? reader.firstFailing(to) : reader.run(to))).toThrow(
        /unknown code in a batch: 99/
      )
    }
  })
})

describe('an argument', () => {
  const writer = () => new ArgumentWriter()
  const notBytes = [
    undefined,
    null,
    'text',
    7,
    [1, 2],
    {},
    new ArrayBuffer(3),
    new DataView(new ArrayBuffer(3))
  ]

  it.each(notBytes)('is bytes, not %s', given => {
    expect(errorOf(() => writer().bytes('key', given as Uint8Array)).code).toBe('ERR_STORE_KEY')
    expect(errorOf(() => keyOnly(given as unknown as Uint8Array)).code).toBe('ERR_STORE_KEY')
    expect(errorOf(() => writer().bytes('value', given as Uint8Array)).code).toBe('ERR_STORE_VALUE')
  })

  it('may be a Buffer', () => {
    expect([
      ...writer().bytes('key', Buffer.from('ab')).bytes('value', Buffer.from('c')).written()
    ]).toStrictEqual([2, 0, 0, 0, 97, 98, 1, 0, 0, 0, 99])
  })

  it(`is a key of at most ${MAX_KEY} bytes`, () => {
    for (const length of [0, 1, MAX_KEY]) {
      expect(writer().bytes('key', new Uint8Array(length)).length).toBe(4 + length)
      expect(keyOnly(new Uint8Array(length))).toHaveLength(length)
    }
    const error = errorOf(() => writer().bytes('key', new Uint8Array(MAX_KEY + 1)))
    expect(error).toMatchObject({ code: 'ERR_STORE_KEY', details: { length: MAX_KEY + 1, limit: MAX_KEY } })
    expect(error.message.length).toBeLessThan(250)
    expect(errorOf(() => keyOnly(new Uint8Array(MAX_KEY + 1))).code).toBe('ERR_STORE_KEY')
  })

  it('is an entry of a log, which is a key of at least a byte', () => {
    expect(writer().bytes('entry', new Uint8Array(MAX_KEY)).length).toBe(4 + MAX_KEY)
    for (const entry of [new Uint8Array(), new Uint8Array(MAX_KEY + 1), 'text' as never]) {
      expect(errorOf(() => writer().bytes('entry', entry)).code).toBe('ERR_STORE_KEY')
    }
  })

  it(`is a value of at most ${MAX_VALUE} bytes`, () => {
    expect(writer().bytes('value', new Uint8Array(MAX_KEY + 1)).length).toBe(4 + MAX_KEY + 1)
    expect(errorOf(() => writer().bytes('value', new Uint8Array(MAX_VALUE + 1)))).toMatchObject({
      code: 'ERR_STORE_VALUE',
      details: { length: MAX_VALUE + 1, limit: MAX_VALUE }
    })
  })

  it('is a score that is any number but NaN', () => {
    for (const score of [0, -1.5, Infinity, -Infinity, 5e-324, Number.MAX_VALUE]) {
      const written = writer().number('score', score).written()
      expect(new DataView(written.buffer, written.byteOffset).getFloat64(0, true)).toBe(score)
      expect(scoreOnly(score)).toBe(score)
    }
    for (const score of [Number.NaN, '1', 1n, null, undefined, {}, true]) {
      expect(errorOf(() => writer().number('score', score as number)).code).toBe('ERR_STORE_SCORE')
      expect(errorOf(() => scoreOnly(score as number)).code).toBe('ERR_STORE_SCORE')
    }
  })

  it('is a finite number where infinity means nothing', () => {
    for (const value of [Number.NaN, Infinity, -Infinity, '1', 1n, null, undefined]) {
      expect(errorOf(() => writer().number('finite', value as number)).code).toBe('ERR_STORE_SCORE')
    }
    expect(writer().number('finite', -1e308).length).toBe(8)
  })

  it('is 0 when it is -0', () => {
    const zeros = writer().number('score', -0).number('finite', -0).written()
    expect([...zeros]).toStrictEqual(new Array(16).fill(0))
  })

  it('that is refused leaves the batch as it was', () => {
    const before = writer().code(STEPS.set.code).bytes('key', Uint8Array.of(1))
    const length = before.length
    errorOf(() => before.bytes('value', 'x' as unknown as Uint8Array))
    errorOf(() => before.bytes('key', new Uint8Array(MAX_KEY + 1)))
    errorOf(() => before.number('score', Number.NaN))
    errorOf(() => before.number('finite', Infinity))
    expect(before.length).toBe(length)
  })
})
