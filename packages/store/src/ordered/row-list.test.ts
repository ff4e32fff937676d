import { compareBytes } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rowKey } from './layout.ts'
import { RowList } from './row-list.ts'

/** Members of all lengths, many of which begin alike, with bytes on both sides of a sign bit. */
const member = fc
  .tuple(fc.nat(7), fc.array(fc.constantFrom(0, 0x7f, 0x80, 0xff), { maxLength: 5 }))
  .map(([alike, rest]) => Uint8Array.of(...new Array(alike).fill(7), ...rest))
const row = fc.record({ member, score: fc.constantFrom(-1, 0, 1, 2 ** 40) })
const keysOf = (id: number, rows: readonly { member: Uint8Array; score: number }[]): Uint8Array[] => {
  const keys = new Map(
    rows.map(each => [`${each.score} ${each.member}`, rowKey(id, each.score, each.member)])
  )
  return [...keys.values()].sort(compareBytes)
}

describe('rows of one set beside those of another', () => {
  it('are marked where the other has the same, in both directions, wherever the keys lie in memory', () => {
    const sets = fc.record({
      one: fc.array(row),
      other: fc.array(row),
      reverse: fc.boolean(),
      gap: fc.nat(7)
    })
    fc.assert(
      fc.property(sets, ({ one, other, reverse, gap }) => {
        const [rows, others] = [keysOf(1, one), keysOf(2, other)]
        if (reverse) for (const keys of [rows, others]) keys.reverse()
        const list = new RowList(1)
        const memory = new Uint8Array(64)
        const pass = (key: Uint8Array, read: typeof list.gather): void => {
          memory.set(key, gap)
          read(memory, gap, gap + key.length)
        }
        for (const key of rows) pass(key, list.gather)
        const marks = new Uint8Array(rows.length)
        const { read, passed } = list.marking(marks, reverse)
        for (const key of others) pass(key, read)

        const rest = (key: Uint8Array): string => key.subarray(7).join()
        const known = new Set(others.map(rest))
        expect([...marks]).toEqual(rows.map(key => (known.has(rest(key)) ? 1 : 0)))
        expect(rows.map((_, i) => list.keyIn(1, i))).toEqual(rows)
        const last = others.at(-1)
        const isPast = (key: Uint8Array): boolean => {
          const order = last ? compareBytes(key.subarray(7), last.subarray(7)) : 1
          return reverse ? order >= 0 : order <= 0
        }
        expect(passed()).toBe(last ? rows.filter(isPast).length : 0)
      })
    )
  })
})
