/** Partitions and their slots. */
import { describe, expect, it } from 'vitest'
import { partitionOf, slotOf, tagsOf } from './slots.ts'

const bytes = (text: string): Uint8Array => Uint8Array.from(text, char => char.charCodeAt(0))

describe('slots', () => {
  it('are those of the cluster specification', () => {
    expect(slotOf('123456789')).toBe(0x31c3)
    expect(slotOf('foo')).toBe(12182)
    expect(slotOf('user1000')).toBe(3443)
  })

  it.each([1, 2, 3, 16, 64, 1000, 1024])('of %i partitions are spread evenly, and no two are one', count => {
    const slots = tagsOf(count).map(slotOf)
    expect(new Set(slots).size).toBe(count)
    const width = 16384 / count
    slots.forEach((slot, i) => {
      expect(Math.floor(slot / width)).toBe(i)
    })
  })

  it('of 16 partitions never change: stores are named by them', () => {
    expect(tagsOf(16).join(' ')).toMatchInlineSnapshot(`"18 3 1a j 19 2 64 k 6n 1 1c h 6o 0 1b i"`)
  })
})

describe('partitions', () => {
  it('are decided by the first 34 bytes', () => {
    const key = (tail: string): Uint8Array => bytes(`h:${'x'.repeat(32)}${tail}`)
    expect(partitionOf(key('1'), 16)).toBe(partitionOf(key('2'), 16))
  })

  it('of short and similar keys are spread evenly', () => {
    const counts = new Array<number>(16).fill(0)
    for (let i = 0; i < 16_000; i++) counts[partitionOf(bytes(`key ${i}`), 16)]!++
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150)
  })

  it('of keys never change: stores are found by them', () => {
    expect(
      ['', 'a', 'b', 'key 1', `h:${'\xff'.repeat(40)}`].map(key => partitionOf(bytes(key), 16))
    ).toMatchInlineSnapshot(`
      [
        12,
        15,
        12,
        1,
        10,
      ]
    `)
  })
})
