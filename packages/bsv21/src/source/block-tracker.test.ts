import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BlockTracker } from './block-tracker.ts'

describe('the block to go on from', () => {
  it('is the one after the last that is done', () => {
    const blocks = new BlockTracker(100)
    expect(blocks.next).toBe(100)
    blocks.saw(100, 'a')
    expect(blocks.next).toBe(100)
    blocks.done(100, 1, 0)
    blocks.done(101, 0, 0)
    expect(blocks.next).toBe(102)
  })

  it('is not passed while transactions of it are missing, whatever comes after', () => {
    const blocks = new BlockTracker(1)
    blocks.saw(1, 'a')
    blocks.done(1, 2, 0)
    blocks.saw(2, 'c')
    blocks.done(2, 1, 0)
    expect(blocks.next).toBe(1)
    blocks.saw(1, 'b')
    expect(blocks.next).toBe(3)
  })

  it('does not count a transaction twice', () => {
    const blocks = new BlockTracker(1)
    blocks.saw(1, 'a')
    blocks.saw(1, 'a')
    blocks.done(1, 2, 0)
    expect(blocks.next).toBe(1)
  })

  it('is not passed when its end was not told', () => {
    const blocks = new BlockTracker(1)
    blocks.saw(1, 'a')
    blocks.done(2, 1, 0)
    blocks.saw(2, 'b')
    expect(blocks.next).toBe(1)
  })

  it('is a block that was passed over, until it turns out that the server does not tell of all', () => {
    const blocks = new BlockTracker(1)
    blocks.done(1, 0, 0)
    blocks.done(3, 0, 0)
    expect(blocks.next).toBe(2)
    blocks.done(2, 0, 0)
    expect(blocks.next).toBe(4)
    blocks.saw(9, 'a')
    blocks.done(9, 1, 0)
    expect(blocks.next).toBe(4)
    blocks.accept(4)
    expect([blocks.next, blocks.reportsAll]).toEqual([10, false])
    blocks.saw(20, 'b')
    blocks.done(20, 1, 0)
    expect(blocks.next).toBe(21)
  })

  it('is not passed even if nothing at all has come of it', () => {
    const blocks = new BlockTracker(29)
    for (const txid of ['a', 'b']) blocks.saw(30, txid)
    blocks.done(30, 2, 0)
    expect(blocks.next).toBe(29)
    blocks.done(29, 1, 0)
    expect(blocks.next).toBe(29)
    blocks.saw(29, 'c')
    expect(blocks.next).toBe(31)
  })

  it('does not go back when what is complete comes again', () => {
    const blocks = new BlockTracker(1)
    blocks.done(1, 0, 0)
    blocks.saw(1, 'a')
    blocks.done(1, 1, 0)
    expect(blocks.next).toBe(2)
  })
})

describe('what is incomplete', () => {
  it('is so from when it could have been complete, and anew after it was asked for again', () => {
    const blocks = new BlockTracker(1)
    blocks.saw(1, 'a')
    expect(blocks.incomplete(Number.POSITIVE_INFINITY)).toBeUndefined()
    blocks.done(1, 2, 1000)
    expect(blocks.incomplete(999)).toBeUndefined()
    expect(blocks.incomplete(1000)).toEqual({ height: 1, seen: 1 })
    blocks.again()
    expect(blocks.incomplete(1000)).toBeUndefined()
    blocks.done(1, 2, 5000)
    expect(blocks.incomplete(5000)).toEqual({ height: 1, seen: 1 })
    blocks.accept(1)
    expect([blocks.incomplete(5000), blocks.next]).toEqual([undefined, 2])
  })

  it('is given from the lowest block on', () => {
    const blocks = new BlockTracker(1)
    for (const height of [3, 2, 4]) blocks.saw(height, 'a')
    blocks.done(5, 0, 0)
    expect(blocks.incomplete(0)).toEqual({ height: 1, seen: 0 })
    blocks.accept(1)
    expect(blocks.incomplete(0)).toEqual({ height: 2, seen: 1 })
    blocks.accept(2)
    expect(blocks.incomplete(0)).toEqual({ height: 3, seen: 1 })
  })

  it('is bounded: the ends of so many blocks cannot all be missing', () => {
    const blocks = new BlockTracker(0)
    for (let height = 0; height < 10_000; height++) blocks.saw(height, 'a')
    expect(() => blocks.saw(10_000, 'a')).toThrow(expect.objectContaining({ code: 'ERR_SOURCE_FORMAT' }))
  })
})

describe('messages in any order, some of them again and some lost', () => {
  it('never move on past a block of which something is missing, and always to the end when nothing is', () => {
    const counts = fc.array(fc.nat(3), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(counts, fc.infiniteStream(fc.nat(99)), (sizes, dice) => {
        const messages = sizes.flatMap((size, i) => [
          ...Array.from({ length: size }, (_, n) => ({ height: i + 1, txid: `${i}.${n}` })),
          { height: i + 1, sent: size }
        ])
        const roll = (): number => dice.next().value
        const sent = messages
          .filter(() => roll() > 10)
          .flatMap(each => (roll() > 20 ? [each] : [each, each]))
          .map((each, i) => ({ each, at: i + (roll() > 20 ? 0 : 3) }))
          .sort((a, b) => a.at - b.at)
          .map(({ each }) => each)
        const blocks = new BlockTracker(1)
        const came = new Set<string>()
        const isWhole = (height: number): boolean =>
          Array.from({ length: sizes[height - 1]! }).every((_, n) => came.has(`${height - 1}.${n}`))
        const play = (list: readonly (typeof messages)[number][]): void => {
          for (const message of list) {
            if ('txid' in message) {
              came.add(message.txid)
              blocks.saw(message.height, message.txid)
            } else blocks.done(message.height, message.sent, 0)
            for (let height = 1; height < blocks.next; height++) expect(isWhole(height)).toBe(true)
          }
        }
        play(sent)
        blocks.again()
        play(messages.filter(({ height }) => height >= blocks.next))
        expect(blocks.next).toBe(sizes.length + 1)
      })
    )
  })
})
