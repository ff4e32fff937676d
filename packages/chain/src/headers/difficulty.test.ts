/** The three rules of difficulty: published cases of the nodes' own tests, cases by hand, and laws. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Branch } from './branch.ts'
import { contextOf, nextBits } from './difficulty.ts'
import { addMadeUp, madeUp } from './headers.testing.ts'
import { NETWORKS, type NetworkRules } from './networks.ts'
import { bitsOf, targetOf } from './target.ts'

const { main, test, regtest } = NETWORKS
const LOWEST = 0x1d00ffff
const LATE = Number.MAX_SAFE_INTEGER
const steady = (count: number, bits: number, spacing = 600) =>
  Array.from({ length: count }, (_, i) => ({ time: 1269211443 + i * spacing, bits }))
/** The time of the next header does not matter where lateness does not. */
const next = (rules: NetworkRules, branch: Branch): number | undefined =>
  nextBits(rules, branch, branch.tip.header.time + 600)
const targetAt = (bits: number): bigint => targetOf(bits)!

describe('the change every 2016 blocks', () => {
  /** A line of 2016 headers of which only the first and the last time count. */
  const interval = (lastHeight: number, first: number, last: number, bits: number): Branch =>
    madeUp(
      lastHeight - 2015,
      Array.from({ length: 2016 }, (_, i) => ({ time: i < 2015 ? first : last, bits }))
    )

  it.each([
    ['at block 32256, the first that was harder', 32255, 1261130161, 1262152739, LOWEST, 0x1d00d86a],
    ['at block 2016, not below the lowest', 2015, 1231006505, 1233061996, LOWEST, LOWEST],
    ['by a factor of 4 at most, upwards', 68543, 1279008237, 1279297671, 0x1c05a3f4, 0x1c0168fd],
    ['by a factor of 4 at most, downwards', 46367, 1263163443, 1269211443, 0x1c387f6f, 0x1d00e1fd]
  ])('%s', (_, height, first, last, bits, expected) => {
    expect(next(main, interval(height, first, last, bits))).toBe(expected)
  })

  it('happens at no other height', () => {
    for (const height of [32253, 32254, 32256]) {
      const branch = interval(height, 1261130161, 1262152739, 0x1c05a3f4)
      expect(next(main, branch)).toBe(0x1c05a3f4)
    }
  })

  it('is not known when the first of the 2016 is not', () => {
    expect(next(main, madeUp(31000, steady(32255 - 31000 + 1, 0x1c05a3f4)))).toBeUndefined()
    expect(next(main, madeUp(30240, steady(2016, 0x1c05a3f4)))).toBeDefined()
  })

  it('keeps the target within a factor of 4, and moves it with the time', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e6, max: 2e7 }), took => {
        const bits = 0x1b0404cb
        const branch = interval(32255, 1.4e9, 1.4e9 + took, bits)
        const target = targetAt(next(main, branch)!)
        const clamped = BigInt(Math.min(Math.max(took, 302400), 4838400))
        expect(bitsOf((targetAt(bits) * clamped) / 1209600n)).toBe(bitsOf(target))
        expect(target <= targetAt(bits) * 4n && target >= targetAt(bits) / 4n - targetAt(bits) / 100n).toBe(
          true
        )
      })
    )
  })
})

describe('the emergency rule of August 2017', () => {
  const HEIGHT = 478_600
  const HALF = bitsOf(main.powLimit >> 1n)

  it('lowers the difficulty by a fifth when six blocks took twelve hours, until it is the lowest', () => {
    const branch = madeUp(HEIGHT, steady(100, HALF))
    // The median of the past is five blocks behind, so two hours a block are noticed after eleven.
    for (let i = 0; i < 10; i++) {
      addMadeUp(branch, 7200, HALF)
      expect(next(main, branch)).toBe(HALF)
    }
    let target = targetAt(HALF)
    addMadeUp(branch, 7200, HALF)
    for (let i = 0; i < 3; i++) {
      target = targetAt(bitsOf(target + target / 4n))
      expect(next(main, branch)).toBe(bitsOf(target))
      addMadeUp(branch, 7200, bitsOf(target))
    }
    expect(next(main, branch)).toBe(LOWEST)
    addMadeUp(branch, 7200, LOWEST)
    expect(next(main, branch)).toBe(LOWEST)
  })

  it('needs exactly twelve hours', () => {
    const slowed = (seconds: number): Branch => {
      const branch = madeUp(HEIGHT, steady(100, HALF, 1))
      for (let i = 0; i < 17; i++) addMadeUp(branch, seconds, HALF)
      return branch
    }
    expect(next(main, slowed(7199))).toBe(HALF)
    expect(next(main, slowed(7200))).not.toBe(HALF)
  })

  it('was in force from block 478559 on, and not before', () => {
    const slow = (last: number) => madeUp(last - 99, steady(100, HALF, 7200))
    expect(next(main, slow(478_557))).toBe(HALF)
    expect(next(main, slow(478_558))).toBe(bitsOf((targetAt(HALF) * 5n) / 4n))
  })

  it('is not known without the seventeen blocks it looks at', () => {
    expect(next(main, madeUp(HEIGHT, steady(16, HALF)))).toBeUndefined()
    expect(next(main, madeUp(HEIGHT, steady(17, HALF)))).toBe(HALF)
  })
})

describe('the rule of November 2017', () => {
  const early = { ...main, daaHeight: 2016 }
  const mine = (branch: Branch, count: number, seconds: number, bits: number, rules = early): number => {
    let current = bits
    for (let i = 0; i < count; i++) {
      addMadeUp(branch, seconds, current)
      current = next(rules, branch)!
    }
    return current
  }

  it('follows the published course of fast, slow and skewed blocks', () => {
    const branch = madeUp(0, steady(2050, bitsOf(main.powLimit >> 4n)))
    const bits = next(early, branch)!
    // As long as a block comes every ten minutes nothing changes, and one false time does not count.
    for (let i = 0; i < 10; i++) expect(mine(branch, 1, 600, bits)).toBe(bits)
    expect(mine(branch, 1, 6000, bits)).toBe(bits)
    expect(mine(branch, 1, 2 * 600 - 6000, bits)).toBe(bits)
    for (let i = 0; i < 20; i++) expect(mine(branch, 1, 600, bits)).toBe(bits)
    expect(mine(branch, 1, 550, bits)).toBe(bits)
    let current = mine(branch, 10, 550, bits)
    expect(current).toBe(0x1c0fe7b1)
    current = mine(branch, 20, 10, current)
    expect(current).toBe(0x1c0db19f)
    current = mine(branch, 1, 6000, current)
    expect(current).toBe(0x1c0d9222)
    current = mine(branch, 93, 6000, current)
    expect(current).toBe(0x1c2f13b9)
    // The time that counts is bounded, so for a moment it gets harder.
    current = mine(branch, 1, 6000, current)
    expect(current).toBe(0x1c2ee9bf)
    current = mine(branch, 192, 6000, current)
    expect(current).toBe(LOWEST)
    expect(mine(branch, 5, 6000, current)).toBe(LOWEST)
  })

  it('gives the target by which 144 blocks of the same work would have taken a day', () => {
    const bits = 0x18036d7f
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3000 }), spacing => {
        const branch = madeUp(600_000, steady(147, bits, spacing))
        const expected = targetAt(bits) * BigInt(Math.min(Math.max(spacing, 300), 1200))
        const difference = targetAt(next(main, branch)!) * 600n - expected
        expect((difference < 0n ? -difference : difference) < expected / 10_000n).toBe(true)
      })
    )
  })

  it('takes the block with the middle one of three times, in whatever order they are', () => {
    const bits = 0x18036d7f
    const [before, after] = [steady(144, bits), [0, 600, 1200]]
    const start = before.at(-1)!.time + 600
    const results = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0]
    ].map(order => {
      const last = order.map(i => ({ time: start + after[i]!, bits }))
      return { at: order.indexOf(1), bits: next(main, madeUp(600_000, [...before, ...last])) }
    })
    // The middle time is the same; where its block stands decides how much work is counted.
    for (const place of [0, 1, 2]) {
      const same = results.filter(({ at }) => at === place).map(each => each.bits)
      expect(new Set(same).size).toBe(1)
    }
    expect(new Set(results.map(each => each.bits)).size).toBe(3)
  })

  it('was in force from block 504032 on, and not before', () => {
    const fast = (last: number) => madeUp(last - 199, steady(200, 0x18036d7f, 300))
    expect(next(main, fast(504_030))).toBe(0x18036d7f)
    expect(next(main, fast(504_031))).not.toBe(0x18036d7f)
  })

  it('is not known without the 147 blocks it looks at', () => {
    expect(next(main, madeUp(600_000, steady(146, 0x18036d7f)))).toBeUndefined()
    expect(next(main, madeUp(600_000, steady(147, 0x18036d7f)))).toBe(0x18036d7f)
    expect(contextOf(main, 600_147)).toBe(147)
    expect(contextOf(main, 504_032)).toBe(147)
    expect(contextOf(main, 504_031)).toBe(2016)
  })
})

describe('a network for tests', () => {
  const HARD = 0x1b0404cb
  const late = (branch: Branch): number => branch.tip.header.time + 1201

  it('lets a block be of the lowest difficulty when it comes after twenty minutes, in every era', () => {
    for (const height of [10_000, 1_160_000, 1_300_000]) {
      const branch = madeUp(height, steady(200, HARD))
      expect(nextBits(test, branch, late(branch))).toBe(LOWEST)
      expect(nextBits(test, branch, late(branch) - 1)).toBe(HARD)
      expect(nextBits({ ...test, lowestWhenLate: false }, branch, late(branch))).toBe(HARD)
    }
  })

  it('goes back to the difficulty of before such blocks, but not beyond the last change', () => {
    const branch = madeUp(10_000, steady(20, HARD))
    for (let i = 0; i < 5; i++) addMadeUp(branch, 1201, LOWEST)
    expect(next(test, branch)).toBe(HARD)
    const all = madeUp(4032, steady(100, LOWEST))
    expect(next(test, all)).toBe(LOWEST)
    const unknown = madeUp(4033, steady(100, LOWEST))
    expect(next(test, unknown)).toBeUndefined()
  })

  it('changes as ever at every 2016th block, late or not', () => {
    const branch = madeUp(4032, steady(2016, HARD))
    expect(nextBits(test, branch, LATE)).toBe(nextBits(test, branch, branch.tip.header.time + 1))
    expect(nextBits(test, branch, LATE)).not.toBe(LOWEST)
  })

  it('has no emergency rule', () => {
    expect(next(test, madeUp(1_160_000, steady(100, HARD, 7200)))).toBe(HARD)
  })
})

describe('the regression test network', () => {
  it('never changes its difficulty', () => {
    fc.assert(
      fc.property(fc.nat(3000), fc.integer({ min: 1, max: 100_000 }), (height, spacing) => {
        const branch = madeUp(height, steady(20, 0x207fffff, spacing))
        expect(nextBits(regtest, branch, LATE)).toBe(0x207fffff)
      })
    )
  })
})
