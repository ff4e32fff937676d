import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ChangeIndex, filterOf, passes } from './change-index.ts'
import type { LiveChange } from './journal-changes.ts'

const names = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 })
const some = fc.option(names, { nil: undefined })
const change: fc.Arbitrary<LiveChange> = fc.record({
  kind: fc.constant('saved' as const),
  txid: fc.constant(''),
  score: fc.constant(1),
  position: fc.constant(1),
  outputs: fc.array(
    fc.record(
      { vout: fc.constant(0), events: names, topics: names, left: names },
      { requiredKeys: ['vout', 'events', 'topics'] }
    ),
    { maxLength: 2 }
  ),
  spends: fc.array(fc.record({ outpoint: fc.constant(''), events: names, topics: names }), { maxLength: 2 })
})
const filters = fc.array(fc.tuple(some, some), { maxLength: 6 })

describe('the index of followers', () => {
  it('finds the followers whose filters a change passes, and no other', () => {
    fc.assert(
      fc.property(filters, fc.nat(5), change, (given, gone, each) => {
        const index = new ChangeIndex<number>()
        const all = given.map(([events, topics]) => filterOf(events, topics))
        for (const [follower, filter] of all.entries()) index.add(follower, filter)
        index.delete(gone, all[gone])
        const expected = [...all.keys()].filter(follower => follower !== gone && passes(each, all[follower]))
        expect([...index.touchedBy(each)].sort()).toEqual(expected)
        expect(index.size).toBe(all.length - (gone < all.length ? 1 : 0))
      })
    )
  })

  it('does not look at followers of other events and topics', () => {
    const index = new ChangeIndex<number>()
    for (let follower = 0; follower < 1000; follower++)
      index.add(follower, filterOf([`${follower}`], undefined))
    const outputs = [{ vout: 0, events: ['7', '1001'], topics: ['7'] }]
    const found = index.touchedBy({ kind: 'saved', txid: '', score: 1, position: 1, outputs, spends: [] })
    expect([...found]).toEqual([7])
  })

  it('has a change pass with any of the events or topics that its outputs have, left or had when spent', () => {
    const output = { vout: 0, events: ['e'], topics: ['t'], left: ['l'] }
    const spend = { outpoint: '', events: ['se'], topics: ['st'] }
    const each: LiveChange = {
      kind: 'saved',
      txid: '',
      score: 1,
      position: 1,
      outputs: [output],
      spends: [spend]
    }
    expect(passes(each, undefined)).toBe(true)
    for (const event of ['e', 'se']) expect(passes(each, filterOf([event], undefined))).toBe(true)
    for (const topic of ['t', 'l', 'st']) expect(passes(each, filterOf(undefined, [topic]))).toBe(true)
    expect(passes(each, filterOf(['t', 'l', 'st'], ['e', 'se']))).toBe(false)
    expect(passes(each, filterOf([], undefined))).toBe(false)
  })
})
