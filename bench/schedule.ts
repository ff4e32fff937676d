/** Runs cases one after another within the time there is, and turns their samples into rows. */

import type { Case } from './harness.ts'
import { type Clock, measure } from './measure.ts'
import { median, spread } from './stats.ts'
import { fromNanoseconds, ratio, type Unit } from './unit.ts'

/** Ours against one peer; a case without peers has one row, where all that concerns the peer is `null`. */
export type Row = {
  readonly case: string
  readonly ours: number
  readonly peer: number | null
  readonly peerName: string | null
  readonly ratio: number | null
  readonly unit: Unit
  /** Of the noisier side, in percent. */
  readonly spread: number | null
}

export type Time = {
  /** Milliseconds that one case gets at most. */
  readonly perCase: number
  /** Rounds that even a slow case gets. */
  readonly minRounds: number
  /** The moment on the clock at which no further case starts. */
  readonly deadline: number
}

export type Listener = {
  readonly started: (name: string, index: number) => void
  readonly finished: (rows: readonly Row[]) => void
}

/** An equal part of what is left, so that a slow case takes from all that follow and not from the last. */
export function share(
  { perCase, deadline }: Pick<Time, 'perCase' | 'deadline'>,
  now: number,
  casesLeft: number
): number {
  return Math.min(perCase, Math.max(0, deadline - now) / casesLeft)
}

export function rowsOf({ name, unit, ops, peerNames }: Case, samples: readonly number[][]): Row[] {
  const [ours, ...peers] = samples.map(calls => {
    const values = calls.map(milliseconds => fromNanoseconds(unit, (milliseconds * 1e6) / ops))
    return { median: median(values), spread: spread(values) }
  })
  if (ours === undefined) throw new RangeError(`case "${name}" was not measured`)
  const common = { case: name, ours: ours.median, unit }
  if (peers.length === 0) return [{ ...common, peer: null, peerName: null, ratio: null, spread: ours.spread }]
  return peers.map((peer, index) => ({
    ...common,
    peer: peer.median,
    peerName: peerNames[index]!,
    ratio: ratio(unit, ours.median, peer.median),
    spread: ours.spread === null || peer.spread === null ? null : Math.max(ours.spread, peer.spread)
  }))
}

/** Returns the names of the cases for which no time was left. */
export async function runCases(
  cases: readonly Case[],
  time: Time,
  clock: Clock,
  { started, finished }: Listener
): Promise<string[]> {
  for (const [index, each] of cases.entries()) {
    if (clock() >= time.deadline) return cases.slice(index).map(({ name }) => name)
    started(each.name, index)
    try {
      const works = await each.works()
      const limits = { budget: share(time, clock(), cases.length - index), minRounds: time.minRounds }
      finished(rowsOf(each, await measure(works, limits, clock)))
    } catch (cause) {
      throw new Error(`case "${each.name}" failed`, { cause })
    }
  }
  return []
}
