import { describe, expect, it } from 'vitest'
import { Rates } from './rates.ts'

describe('submissions over time', () => {
  it('are the growth of the totals, from the second look on', () => {
    const rates = new Rates()
    rates.add(1, { submits: 10, admitted: 5 })
    expect(rates.points).toEqual([[], [], []])
    rates.add(3, { submits: 14, admitted: 6 })
    rates.add(5, { submits: 14, admitted: 6 })
    expect(rates.points).toEqual([
      [3, 5],
      [4, 0],
      [1, 0]
    ])
  })

  it('begin again with a process that did', () => {
    const rates = new Rates()
    rates.add(1, { submits: 10, admitted: 5 })
    rates.add(3, { submits: 2, admitted: 1 })
    expect(rates.points).toEqual([[3], [2], [1]])
  })

  it('do not grow without end', () => {
    const rates = new Rates()
    for (let i = 0; i < 2000; i++) rates.add(i, { submits: i, admitted: i })
    expect(rates.points.map(each => each.length)).toEqual([300, 300, 300])
    expect(rates.points[0].at(-1)).toBe(1999)
  })
})
