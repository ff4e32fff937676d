/** Runs cases one after another within the available time, and turns their samples into rows. */

import type { Case, Cost, Figure, Race, RepeatedCase, Row, Sheet } from './case.ts'
import { type Clock, measure, processorClock, takeTurns } from './measure.ts'
import { mean, median, spread } from './stats.ts'
import { fromNanoseconds, ratio, type Unit } from './unit.ts'

export type Time = {
  /** The limit on milliseconds of one case. */
  readonly perCase: number
  /** The least number of rounds, also of a slow case. */
  readonly minRounds: number
  /** The moment on the clock at which no further case starts. */
  readonly deadline: number
}

export type Listener = {
  readonly started: (name: string, index: number) => void
  readonly finished: (rows: readonly Row[]) => void
  readonly sheet: (name: string, sheet: Sheet) => void
}

/** An equal part of the remaining time, so that a slow case takes from all later ones and not from the last. */
export function share(
  { perCase, deadline }: Pick<Time, 'perCase' | 'deadline'>,
  now: number,
  casesLeft: number
): number {
  return Math.min(perCase, Math.max(0, deadline - now) / casesLeft)
}

type Side = { readonly value: number; readonly spread: number | null }

function compared(name: string, unit: Unit, peerNames: readonly string[], sides: readonly Side[]): Row[] {
  const [ours, ...peers] = sides
  if (ours === undefined) throw new RangeError(`case "${name}" was not measured`)
  const common = { case: name, ours: ours.value, unit }
  if (peers.length === 0) return [{ ...common, peer: null, peerName: null, ratio: null, spread: ours.spread }]
  return peers.map((peer, index) => ({
    ...common,
    peer: peer.value,
    peerName: peerNames[index]!,
    ratio: ratio(unit, ours.value, peer.value),
    spread: ours.spread === null || peer.spread === null ? null : Math.max(ours.spread, peer.spread)
  }))
}

/**
 * Repeated work counts by its median, which a pause of the machine does not move. A race counts by its mean: a
 * contestant's own pauses are part of its cost.
 */
export function rowsOf(
  { kind, name, unit, ops, peerNames }: RepeatedCase | Race,
  samples: number[][]
): Row[] {
  const perOp = (milliseconds: number): number => fromNanoseconds(unit, (milliseconds * 1e6) / ops)
  const sides = samples.map(calls => ({
    value: perOp(kind === 'race' ? mean(calls) : median(calls)),
    spread: spread(calls.map(perOp))
  }))
  return compared(name, unit, peerNames, sides)
}

function figureRows({ name, unit, peerNames }: Figure, values: readonly number[]): Row[] {
  const sides = values.map(value => ({ value, spread: null }))
  return compared(name, unit, peerNames, sides)
}

export type CostSamples = { readonly base: readonly number[]; readonly ours: readonly number[] }

/** Milliseconds of processor time of each operation, by round. */
export async function costSamples(
  { base, ours, rounds }: Cost,
  clock = processorClock
): Promise<CostSamples> {
  const sides = [base, await ours()]
  const works = sides.map(({ work }) => work)
  const meters = sides.map(({ meter = clock }) => meter)
  const samples = await takeTurns(works, rounds, clock, meters)
  const [ofBase, ofOurs] = samples.map((calls, i) => calls.map(each => each / sides[i]!.ops))
  return { base: ofBase!, ours: ofOurs! }
}

/** The median over rounds of the multiple in each: a change of the processor's frequency falls on both sides of a round. */
export async function costRows(cost: Cost, clock = processorClock): Promise<Row[]> {
  const { base, ours } = await costSamples(cost, clock)
  const multiples = ours.map((each, round) => each / base[round]!)
  const side = { value: median(multiples), spread: spread(multiples) }
  const bar = cost.most === undefined ? [] : [{ value: cost.most, spread: side.spread }]
  return compared(cost.name, cost.unit, cost.peerNames, [side, ...bar])
}

async function raceRows(race: Race, clock: Clock): Promise<Row[]> {
  try {
    return rowsOf(race, await takeTurns(await race.works(), race.slices, clock))
  } finally {
    await race.after()
  }
}

/** Returns the names of the cases for which no time remained. */
export async function runCases(
  cases: readonly Case[],
  time: Time,
  clock: Clock,
  { started, finished, sheet }: Listener
): Promise<string[]> {
  for (const [index, each] of cases.entries()) {
    if (clock() >= time.deadline) return cases.slice(index).map(({ name }) => name)
    started(each.name, index)
    try {
      if (each.kind === 'sheet') sheet(each.name, await each.make())
      else if (each.kind === 'figure') finished(figureRows(each, await each.values()))
      else if (each.kind === 'cost') finished(await costRows(each))
      else if (each.kind === 'race') finished(await raceRows(each, clock))
      else {
        const works = await each.works()
        const budget = share(time, clock(), cases.length - index)
        const most = (each.seconds ?? Number.POSITIVE_INFINITY) * 1000
        const limits = { budget: Math.min(budget, most), minRounds: time.minRounds }
        finished(rowsOf(each, await measure(works, limits, clock)))
      }
    } catch (cause) {
      throw new Error(`case "${each.name}" failed`, { cause })
    }
  }
  return []
}
