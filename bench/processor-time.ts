/** The processor time of our side of each case, for `--compare`: it hardly depends on other load. */

import type { Case } from './case.ts'
import { type Clock, measure, processorClock, takeTurns } from './measure.ts'
import { costSamples, share, type Time } from './schedule.ts'
import { mean, median } from './stats.ts'

export type CaseTime = { readonly case: string; readonly microseconds: number }

const TIMED: readonly Case['kind'][] = ['repeated', 'race', 'cost']

/**
 * Figures are left out, since they are not times. A sheet counts as one work, and only in a benchmark of sheets
 * alone.
 */
export async function processorTimes(cases: readonly Case[], time: Time, clock: Clock): Promise<CaseTime[]> {
  const works = cases.filter(({ kind }) => TIMED.includes(kind))
  const timed = works.length > 0 ? works : cases.filter(({ kind }) => kind === 'sheet')
  const times: CaseTime[] = []
  for (const [index, each] of timed.entries()) {
    if (clock() >= time.deadline) break
    const budget = share(time, clock(), timed.length - index)
    times.push({ case: each.name, microseconds: 1000 * (await millisecondsOf(each, budget, time, clock)) })
  }
  return times
}

async function millisecondsOf(
  each: Case,
  budget: number,
  { minRounds }: Time,
  clock: Clock
): Promise<number> {
  if (each.kind === 'sheet') {
    const before = processorClock()
    await each.make()
    return processorClock() - before
  }
  if (each.kind === 'race') {
    try {
      const [ours] = await each.works()
      const [samples] = await takeTurns([ours!], each.slices, processorClock)
      return mean(samples!) / each.ops
    } finally {
      await each.after()
    }
  }
  if (each.kind === 'cost') return median((await costSamples(each)).ours)
  if (each.kind === 'figure') throw new Error(`case "${each.name}" is a figure, not a work`)
  const [ours] = await each.works()
  const [samples] = await measure([ours!], { budget, minRounds }, clock, processorClock)
  return median(samples!) / each.ops
}
