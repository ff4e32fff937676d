import { expect, it } from 'vitest'
import type { SourceStatus } from '../source/source.ts'
import { Progress } from './progress.ts'

const status = (
  at: number | undefined,
  transactions: number,
  end: number | undefined = 1000
): SourceStatus => ({
  state: 'reading',
  at,
  end,
  transactions,
  lastError: undefined
})

it('says how fast a source goes, and how long it will take', () => {
  let now = 0
  const progress = new Progress(() => now)
  progress.note(status(100, 0))
  now = 10
  progress.note(status(150, 2000))
  expect(progress.of('a', status(150, 2000))).toMatchObject({ source: 'a', rate: 200, left: 850 / 5 })
})

it('forgets what was longer ago than a minute', () => {
  let now = 0
  const progress = new Progress(() => now)
  for (; now <= 200; now += 10) progress.note(status(now <= 100 ? now * 100 : 10_000 + now, now, 20_000))
  const { rate, left } = progress.of('a', status(10_200, 200, 20_000))
  expect(rate).toBeCloseTo(1, 0)
  expect(left).toBeGreaterThan(5000)
})

it('says nothing of what it cannot know', () => {
  const progress = new Progress(() => 0)
  expect(progress.of('a', status(undefined, 5, undefined))).toMatchObject({ rate: 0, left: undefined })
  progress.note(status(10, 5))
  expect(progress.of('a', status(10, 5))).toMatchObject({ rate: 0, left: undefined })
  expect(progress.of('a', status(1000, 5))).toMatchObject({ left: 0 })
})
