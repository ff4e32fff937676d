/** Entries of membership logs: every change comes back as it was written, in entries of bounded size. */

import { makeOutpoint, type Txid } from '@quoin/primitives'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  changeCursor,
  changePlace,
  MAX_CHANGES,
  type MembershipChange,
  membershipEntries,
  OUTPUT_KINDS,
  readMembershipEntry,
  TRANSACTION_KINDS
} from './membership.ts'

const txid = fc.constantFrom(1, 2, 3).map(byte => new Uint8Array(32).fill(byte) as Txid)
const outpoint = fc
  .tuple(txid, fc.integer({ min: 0, max: 2 ** 32 - 1 }))
  .map(([id, vout]) => makeOutpoint(id, vout))
const plainKinds = OUTPUT_KINDS.filter(kind => kind !== 'spent' && kind !== 'restored')
const change: fc.Arbitrary<MembershipChange> = fc.oneof(
  fc.record({ kind: fc.constantFrom(...plainKinds), outpoint }),
  fc.record({ kind: fc.constant('spent' as const), outpoint, spender: txid }),
  fc.record({
    kind: fc.constant('restored' as const),
    outpoint,
    spender: fc.option(txid, { nil: undefined })
  }),
  fc.record({ kind: fc.constantFrom(...TRANSACTION_KINDS), txid })
) as fc.Arbitrary<MembershipChange>

const plain = (changes: readonly MembershipChange[]) =>
  changes.map(each =>
    Object.fromEntries(
      Object.entries(each).map(([name, value]) => [name, value instanceof Uint8Array ? [...value] : value])
    )
  )

describe('entries', () => {
  it('hold the changes of a commit in their order', () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 200 }), changes => {
        const entries = membershipEntries(changes)
        const read = entries.flatMap((bytes, i) => readMembershipEntry(i + 1, bytes).changes)
        expect(plain(read)).toEqual(plain(changes))
        for (const bytes of entries) expect(bytes.length).toBeLessThanOrEqual(1800)
      })
    )
  })

  it('have at most as many changes as a cursor counts', () => {
    const id = new Uint8Array(32).fill(9) as Txid
    const changes = Array.from({ length: 2000 }, (): MembershipChange => ({ kind: 'rescored', txid: id }))
    const entries = membershipEntries(changes)
    expect(entries.length).toBeGreaterThan(2000 / MAX_CHANGES)
    for (const [i, bytes] of entries.entries()) {
      expect(readMembershipEntry(i, bytes).changes.length).toBeLessThanOrEqual(MAX_CHANGES)
    }
  })

  it('are distinct, also for the same changes', () => {
    const again = [{ kind: 'proved' as const, txid: new Uint8Array(32) as Txid }]
    const [first, second] = [membershipEntries(again)[0]!, membershipEntries(again)[0]!]
    expect([...first]).not.toEqual([...second])
  })

  it('that are cut short or have an unknown kind are damaged', () => {
    const [bytes] = membershipEntries([
      { kind: 'admitted', outpoint: makeOutpoint(new Uint8Array(32).fill(1) as Txid, 7) }
    ])
    for (let end = 0; end < bytes!.length; end++) {
      expect(() => readMembershipEntry(5, bytes!.subarray(0, end))).toThrow(
        expect.objectContaining({ code: 'ERR_STORE_CORRUPT', message: expect.stringContaining('entry 5') })
      )
    }
    const wrong = bytes!.slice()
    wrong[48] = 0x0f
    expect(() => readMembershipEntry(5, wrong)).toThrow(
      expect.objectContaining({ code: 'ERR_STORE_CORRUPT' })
    )
  })
})

it('a cursor of changes names an entry and a change in it', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 40), fc.nat(MAX_CHANGES - 1), (position, index) => {
      expect(changePlace(changeCursor(position, index))).toEqual({ position, index })
    })
  )
})
