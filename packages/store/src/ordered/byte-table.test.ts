/** A table of byte strings does what a `Map` from their names to numbers does. */

import { bytesKey, compareBytes } from '@quoin/primitives'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ByteTable } from './byte-table.ts'

const PREFIX = Uint8Array.of(0x6d)
/** Many that differ only in zeros at their ends, or in their last byte. */
const entry = fc.oneof(
  fc.uint8Array({ maxLength: 12 }),
  fc.nat(9).map(length => new Uint8Array(length)),
  fc.nat(255).map(last => Uint8Array.of(...new Array(36).fill(7), last))
)
const joined = (bytes: Uint8Array): Uint8Array => Uint8Array.of(...PREFIX, ...bytes)

it('finds each entry under its own number, and nothing that was not added', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 2000 }), entry, (entries, other) => {
      const table = new ByteTable()
      const numbers = new Map<string, number>()
      for (const bytes of entries) {
        const known = numbers.get(bytesKey(bytes))
        expect(table.find(PREFIX, bytes)).toBe(known ?? -1)
        if (known === undefined) numbers.set(bytesKey(bytes), table.add(PREFIX, bytes))
      }
      expect(table.count).toBe(numbers.size)
      for (const bytes of entries) {
        const number = numbers.get(bytesKey(bytes))!
        expect(table.find(PREFIX, bytes)).toBe(number)
        expect(bytesKey(table.at(number))).toBe(bytesKey(joined(bytes)))
      }
      expect(table.find(PREFIX, other)).toBe(numbers.get(bytesKey(other)) ?? -1)
      table.clear()
      expect(table.find(PREFIX, entries[0] ?? other)).toBe(-1)
    })
  )
})

it('compares entries by their bytes', () => {
  fc.assert(
    fc.property(entry, entry, (a, b) => {
      const table = new ByteTable()
      const add = (bytes: Uint8Array): number => {
        const found = table.find(PREFIX, bytes)
        return found === -1 ? table.add(PREFIX, bytes) : found
      }
      const [left, right] = [add(a), add(b)]
      expect(Math.sign(table.compare(left, right))).toBe(Math.sign(compareBytes(a, b)))
    })
  )
})

it('copies an entry behind its first bytes, and touches nothing after it', () => {
  fc.assert(
    fc.property(entry, fc.nat(5), (bytes, offset) => {
      const table = new ByteTable()
      expect(table.find(PREFIX, bytes)).toBe(-1)
      const target = new Uint8Array(64).fill(0xaa)
      const end = table.copy(table.add(PREFIX, bytes), PREFIX.length, target, offset)
      expect(bytesKey(target.subarray(offset, end))).toBe(bytesKey(bytes))
      expect(target.subarray(end).every(byte => byte === 0xaa)).toBe(true)
    })
  )
})
