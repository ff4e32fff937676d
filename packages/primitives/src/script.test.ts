/** Scripts: what is read is all of the script, in pieces; what is written pushes what it should, and no longer. */
import { BigNumber, Script } from '@bsv/sdk'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from './bytes.ts'
import { OP } from './opcodes.ts'
import {
  buildScript,
  chunksOf,
  push,
  pushedBy,
  readScriptNumber,
  ScriptCursor,
  writeScriptNumber
} from './script.ts'

const RUNS = { numRuns: 1000 }

/** Mostly pushes, with lengths that fit or just do not. */
const scripts = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 90 }).map(data => [...push(data)]),
      fc.constantFrom(
        [0x4c],
        [0x4c, 0],
        [0x4c, 3, 1, 2, 3],
        [0x4d, 2, 0, 9, 9],
        [0x4d, 2],
        [0x4e, 1, 0, 0, 0, 7]
      ),
      fc.constantFrom([0x4e, 0, 0], [0x4e, 0xff, 0xff, 0xff, 0xff], [0x05, 1], [OP.DUP], [OP.RETURN], [0]),
      fc.nat(255).map(op => [op])
    ),
    { maxLength: 8 }
  )
  .map(parts => Uint8Array.from(parts.flat()))

describe('chunksOf', () => {
  it('divides a script without gaps, up to where it ends or breaks off', () => {
    fc.assert(
      fc.property(scripts, script => {
        const { chunks, truncated, end } = chunksOf(script)
        let at = 0
        for (const chunk of chunks) {
          expect(chunk.start).toBe(at)
          expect(chunk.op).toBe(script[at])
          at = chunk.end
          if (chunk.data) expect(toHex(script.subarray(0, at)).endsWith(toHex(chunk.data))).toBe(true)
        }
        expect(end).toBe(at)
        expect(truncated).toBe(at < script.length)
      }),
      RUNS
    )
  })

  it('agrees with the SDK on scripts that neither break off nor return', () => {
    const whole = scripts.filter(script => {
      const { chunks, truncated } = chunksOf(script)
      return !truncated && chunks.every(({ op }) => op !== OP.RETURN)
    })
    fc.assert(
      fc.property(whole, script => {
        const theirs = Script.fromBinary([...script]).chunks
        expect(chunksOf(script).chunks.map(({ op, data }) => [op, data && [...data]])).toStrictEqual(
          theirs.map(({ op, data }) => [op, data && [...data]])
        )
      }),
      RUNS
    )
  })

  it.each([
    ['', [], false],
    ['76a9', [[0x76], [0xa9]], false],
    ['0003010203', [[0], [3, '010203']], false],
    ['4c00', [[0x4c, '']], false],
    ['4c02aabb', [[0x4c, 'aabb']], false],
    ['4d0200aabb', [[0x4d, 'aabb']], false],
    ['4e02000000aabb51', [[0x4e, 'aabb'], [0x51]], false],
    ['4b', [], true],
    ['51024c', [[0x51]], true],
    ['4c', [], true],
    ['4d01', [], true],
    ['4e010000', [], true],
    ['4effffffff00', [], true],
    ['6a03aabb', [[0x6a]], true]
  ])('of %s', (hex, expected, truncated) => {
    const read = chunksOf(fromHex(hex))
    expect(read.chunks.map(({ op, data }) => (data ? [op, toHex(data)] : [op]))).toStrictEqual(expected)
    expect(read.truncated).toBe(truncated)
  })

  it('stops after as many as are asked for', () => {
    const script = fromHex('515253034c')
    expect(chunksOf(script, { limit: 2 })).toMatchObject({
      chunks: [{ op: 0x51 }, { op: 0x52 }],
      truncated: false,
      end: 2
    })
    expect(chunksOf(script, { limit: 9 })).toMatchObject({ truncated: true, end: 3 })
  })
})

describe('ScriptCursor', () => {
  it('visits the same chunks, from wherever it is told to begin', () => {
    fc.assert(
      fc.property(scripts, fc.nat(3), (script, skipped) => {
        const { chunks, truncated } = chunksOf(script)
        const rest = chunks.slice(skipped)
        const cursor = new ScriptCursor(script, chunks[skipped]?.start ?? chunks.at(-1)?.end ?? 0)
        for (const { op, data, start, end } of rest) {
          expect(cursor.next()).toBe(true)
          expect([cursor.op, cursor.start, cursor.end]).toStrictEqual([op, start, end])
          expect(cursor.data).toStrictEqual(data)
          expect(cursor.dataLength).toBe(data?.length ?? 0)
        }
        expect(cursor.next()).toBe(false)
        expect(cursor.next()).toBe(false)
        expect(cursor.truncated).toBe(truncated)
      })
    )
  })
})

describe('push', () => {
  it('is read back as what it pushes, in one chunk', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), data => {
        const { chunks, truncated } = chunksOf(push(data))
        expect(truncated).toBe(false)
        expect(chunks.length).toBe(1)
        expect(pushedBy(chunks[0]!)).toStrictEqual(new Uint8Array(data))
      }),
      RUNS
    )
  })

  it.each([
    ['', '00'],
    ['00', '0100'],
    ['01', '51'],
    ['10', '60'],
    ['11', '0111'],
    ['81', '4f'],
    ['80', '0180'],
    ['aabb', '02aabb']
  ])('of %s is %s', (data, script) => {
    expect(toHex(push(fromHex(data)))).toBe(script)
  })

  it.each([
    [75, '4b'],
    [76, '4c4c'],
    [255, '4cff'],
    [256, '4d0001'],
    [65535, '4dffff'],
    [65536, '4e00000100']
  ])('of %d bytes begins with %s', (length, head) => {
    const script = push(new Uint8Array(length))
    expect(toHex(script.subarray(0, script.length - length))).toBe(head)
  })
})

describe('pushedBy', () => {
  it('is nothing for opcodes that do not push', () => {
    for (let op = 0x61; op <= 0xff; op++) expect(pushedBy({ op, data: undefined })).toBeUndefined()
    expect(pushedBy({ op: OP.RESERVED, data: undefined })).toBeUndefined()
  })

  it('is a number for OP_0 to OP_16 and OP_1NEGATE', () => {
    expect(pushedBy({ op: OP.N0, data: undefined })).toStrictEqual(Uint8Array.of())
    expect(pushedBy({ op: OP.N1, data: undefined })).toStrictEqual(Uint8Array.of(1))
    expect(pushedBy({ op: OP.N16, data: undefined })).toStrictEqual(Uint8Array.of(16))
    expect(pushedBy({ op: OP.N1NEGATE, data: undefined })).toStrictEqual(Uint8Array.of(0x81))
  })
})

describe('buildScript', () => {
  it('is its opcodes and pushes one after the other', () => {
    expect(toHex(buildScript([OP.FALSE, OP.IF, Buffer.from('ord'), OP.N1, fromHex('aa'), OP.ENDIF]))).toBe(
      '0063036f72645101aa68'
    )
    expect(buildScript([])).toStrictEqual(new Uint8Array())
  })
})

describe('script numbers', () => {
  const numbers = fc.oneof(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), fc.integer().map(BigInt))

  it('are read as they were written', () => {
    fc.assert(
      fc.property(numbers, value => {
        const bytes = writeScriptNumber(value)
        expect(readScriptNumber(bytes)).toBe(value)
        expect(readScriptNumber(bytes, { minimal: true })).toBe(value)
        expect([...bytes]).toStrictEqual(new BigNumber(value.toString()).toSm('little'))
      }),
      RUNS
    )
  })

  it('may be longer than needed unless that is forbidden', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 6 }), bytes => {
        const value = readScriptNumber(bytes)!
        const shortest = toHex(writeScriptNumber(value)) === toHex(bytes)
        expect(value.toString()).toBe(BigNumber.fromSm([...bytes], 'little').toString())
        expect(readScriptNumber(bytes, { minimal: true })).toBe(shortest ? value : undefined)
      }),
      RUNS
    )
  })

  it.each([
    ['', 0n, 0n],
    ['00', 0n, undefined],
    ['80', 0n, undefined],
    ['7f', 127n, 127n],
    ['8000', 128n, 128n],
    ['8080', -128n, -128n],
    ['0100', 1n, undefined],
    ['ffffff7f', 2147483647n, 2147483647n]
  ])('%s', (hex, value, minimal) => {
    expect(readScriptNumber(fromHex(hex))).toBe(value)
    expect(readScriptNumber(fromHex(hex), { minimal: true })).toBe(minimal)
  })
})
