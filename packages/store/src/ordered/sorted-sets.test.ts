/** What the rows of sorted sets say of each other, after any changes in any groups. */
import { bytesKey, bytesOfKey } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BatchEncoder, encode } from '../batch-encoder.ts'
import { GroupWriter } from './group-writer.ts'
import type { RowWrites } from './kv.ts'
import { MEMBER_AT, readId, scoreOfRow, TAG } from './layout.ts'
import { scoresIn, scoreUnder, unpackCounts, unpackNumber } from './rows.ts'

const newRows = () => {
  const rows = new Map<string, Uint8Array>()
  const writes: RowWrites = {
    get: key => rows.get(bytesKey(key)),
    keys: (start, end, limit) =>
      [...rows.keys()]
        .filter(name => name >= bytesKey(start) && name < bytesKey(end))
        .sort()
        .slice(0, limit)
        .map(bytesOfKey),
    put: (key, value) => rows.set(bytesKey(key), value.slice()),
    del: key => rows.delete(bytesKey(key))
  }
  return { rows, writes }
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

type Change = readonly [set: number, member: number, score: number | undefined]

const batchOf = (changes: readonly Change[]): Uint8Array => {
  const program = new BatchEncoder()
  for (const [set, member, score] of changes) {
    const [key, item] = [bytes(`z${set}`), bytes(`m${member}`)]
    if (score === undefined) encode.zrem(program, key, item)
    else encode.zadd(program, key, item, score)
  }
  return program.take()
}

/** From the rows alone: members and misaligned of each set, by its id. */
const countsOf = (rows: ReadonlyMap<string, Uint8Array>): Map<number, [card: number, misaligned: number]> => {
  const counts = new Map<number, [number, number]>()
  for (const name of rows.keys()) {
    const key = bytesOfKey(name)
    if (key[0] !== TAG.row || key.length < MEMBER_AT) continue
    const id = readId(key, 1)
    const score = scoreOfRow(key, 0)
    const row = rows.get(`m${name.slice(MEMBER_AT)}`)!
    const further = rows.get(`o${name.slice(1, 7)}${name.slice(MEMBER_AT)}`)
    expect(scoreUnder(row, id) ?? unpackNumber(further!)).toBe(score)
    const [card, misaligned] = counts.get(id) ?? [0, 0]
    const scores: number[] = []
    scoresIn(row, (_, each) => scores.push(each))
    const isStray = further !== undefined || scores[0] !== score
    counts.set(id, [card + 1, misaligned + (isStray ? 1 : 0)])
  }
  return counts
}

const storedCounts = (rows: ReadonlyMap<string, Uint8Array>): Map<number, readonly [number, number]> =>
  new Map(
    [...rows]
      .filter(([name]) => name.charCodeAt(0) === TAG.row && name.length === 8)
      .map(([name, row]) => [readId(bytesOfKey(name), 1), unpackCounts(row)])
  )

describe('the counts of sorted sets', () => {
  const change = fc.tuple(fc.nat(5), fc.nat(4), fc.option(fc.constantFrom(1, 1, 1, 2, 3), { nil: undefined }))
  it('are what their rows and members say, whatever was done in whatever groups', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.array(change, { maxLength: 12 }), { maxLength: 4 }), { maxLength: 8 }),
        groups => {
          const { rows, writes } = newRows()
          const writer = new GroupWriter(writes)
          for (const group of groups) {
            writer.begin()
            for (const changes of group) writer.run(batchOf(changes))
            writer.flush()
            expect(storedCounts(rows)).toEqual(countsOf(rows))
          }
        }
      )
    )
  })

  it('count a member of more sets than its row takes as a stray in the sets beyond', () => {
    const { rows, writes } = newRows()
    const writer = new GroupWriter(writes)
    const sets = Array.from({ length: 80 }, (_, i) => i)
    const run = (changes: readonly Change[]): void => {
      writer.begin()
      writer.run(batchOf(changes))
      writer.flush()
      expect(storedCounts(rows)).toEqual(countsOf(rows))
    }
    run(sets.map(set => [set, 0, 5]))
    run(sets.map(set => [set, 0, 6]))
    run(sets.filter(set => set % 3 > 0).map(set => [set, 0, undefined]))
    run(sets.map(set => [set, 0, undefined]))
    expect([...rows.keys()].filter(name => !name.startsWith('n'))).toEqual(['mm0'])
  })

  it('are right again after another writer', () => {
    const { rows, writes } = newRows()
    const writers = [new GroupWriter(writes), new GroupWriter(writes)]
    for (let turn = 0; turn < 6; turn++) {
      const writer = writers[turn % 2]!
      writer.begin()
      writer.run(
        batchOf([
          [0, turn, 1],
          [1, turn, turn]
        ])
      )
      writer.flush()
      expect(storedCounts(rows)).toEqual(countsOf(rows))
    }
    expect([...storedCounts(rows).values()]).toEqual([
      [6, 0],
      [6, 5]
    ])
  })
})

describe('the rows of a group', () => {
  /** How often each row was put, and how often deleted. */
  const counting = () => {
    const { writes } = newRows()
    const [puts, deletes] = [new Map<string, number>(), new Map<string, number>()]
    const count = (counts: Map<string, number>, key: Uint8Array): void => {
      counts.set(bytesKey(key), (counts.get(bytesKey(key)) ?? 0) + 1)
    }
    const counted: RowWrites = {
      ...writes,
      put: (key, value) => {
        count(puts, key)
        writes.put(key, value)
      },
      del: key => {
        count(deletes, key)
        writes.del(key)
      }
    }
    const again = (): void => {
      puts.clear()
      deletes.clear()
    }
    return { writer: new GroupWriter(counted), puts, deletes, again }
  }
  const most = (counts: ReadonlyMap<string, number>): number => Math.max(0, ...counts.values())

  it('are put once and deleted once, however often they change', () => {
    const change = fc.tuple(fc.nat(1), fc.nat(1), fc.option(fc.constantFrom(1, 2, 3), { nil: undefined }))
    const group = fc.array(fc.array(change, { maxLength: 12 }), { maxLength: 4 })
    fc.assert(
      fc.property(fc.array(group, { maxLength: 4 }), groups => {
        const { writer, puts, deletes, again } = counting()
        for (const batches of groups) {
          again()
          writer.begin()
          for (const changes of batches) writer.run(batchOf(changes))
          writer.flush()
          expect(Math.max(most(puts), most(deletes))).toBeLessThanOrEqual(1)
        }
      })
    )
  })

  it('have the last position of a log once', () => {
    const { writer, puts, deletes, again } = counting()
    for (const part of ['first', 'second']) {
      again()
      writer.begin()
      for (let i = 0; i < 10; i++) {
        const program = new BatchEncoder()
        encode.append(program, bytes('l'), bytes(`${part} ${i}`))
        writer.run(program.take())
      }
      writer.flush()
      const isRow = (name: string): boolean => name.charCodeAt(0) === TAG.row && name.length >= MEMBER_AT
      expect([...puts.keys()].filter(isRow)).toHaveLength(11)
      expect([...deletes.keys()].filter(isRow)).toHaveLength(part === 'first' ? 0 : 1)
    }
  })
})
