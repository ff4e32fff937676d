/**
 * The power fails: at any event of a run, what was not synced is dropped, kept in part, or out of order. QUOIN_FAULTS
 * says at how many points of each engine; `npm run test:faults` at 300.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Disk, type Image, writeImage } from './disk.ts'
import { newRandom, type Random } from './random.ts'
import { startSimulator, writer } from './simulator.ts'
import type { Event } from './trace.ts'

const POINTS = Number(process.env['QUOIN_FAULTS'] ?? 16)
const SEED = Number(process.env['QUOIN_SEED'])
/** Then the store is opened as one of the crashes left it, and written to again. */
const POINTS_OF_RUN = POINTS > 100 ? 25 : 4
const STORE = 'parents/that/lack/store'
/** Batches of larger numbers are larger, up to 3,000. */
const FIRST = 2000
const NEVER_TRIED = 1_000_000

const simulator = startSimulator()
afterAll(() => simulator.close())

interface Case {
  readonly name: string
  readonly kind: 'lmdb' | 'level'
  readonly writers: number
  /** Of each writer in a run. */
  readonly batches: number
  readonly preload?: string
}

const CASES: readonly Case[] = [
  { name: 'lmdb', kind: 'lmdb', writers: 1, batches: 16 },
  { name: 'lmdb with two writer processes', kind: 'lmdb', writers: 2, batches: 16 },
  { name: 'level', kind: 'level', writers: 1, batches: 16 },
  { name: 'level with small buffers', kind: 'level', writers: 1, batches: 60, preload: 'small-level.mjs' }
]

/** A disk after a crash. */
interface Survivor {
  readonly image: Image
  readonly acknowledged: readonly number[]
  readonly tried: readonly number[]
}

/** A quarter of the points are where the store is made or opened, a quarter around syncs and acknowledgements. */
const crashPoints = (events: readonly Event[], count: number, random: Random): number[] => {
  const opened = events.findIndex(({ type }) => type === 'line')
  const edges = events.flatMap(({ type }, i) => (type === 'sync' || type === 'line' ? [i, i + 1] : []))
  const points = Array.from({ length: count }, (_, i) => {
    if (i % 4 === 0) return random.below(opened)
    return i % 4 === 1 ? random.pick(edges) : random.below(events.length + 1)
  })
  return points.sort((a, b) => a - b)
}

/** Records a run that begins with what a crash left, and crashes it. */
const crashRun = async (
  { name, kind, writers, batches, preload }: Case,
  before: Survivor,
  run: number,
  count: number,
  random: Random
): Promise<{ readonly survivors: readonly Survivor[]; readonly problems: readonly string[] }> => {
  const folder = simulator.newFolder()
  writeImage(before.image, folder)
  const names = random.pick(['journal', 'strict'] as const)
  const disk = new Disk(folder, names, random)
  const firsts = Array.from({ length: writers }, (_, w) => FIRST + (run * writers + w) * batches)
  const inFlight = random.pick([1, 3, 8])
  const { events } = await simulator.record(
    folder,
    firsts.map(first => writer(`${kind}:${join(folder, STORE)}`, first, batches, inFlight, preload))
  )
  const tried = [
    ...before.tried,
    ...firsts.flatMap(first => Array.from({ length: batches }, (_, i) => first + i))
  ]
  const acknowledged = [...before.acknowledged]
  const survivors: Survivor[] = []
  const problems: string[] = []
  let at = 0
  for (const point of crashPoints(events, count, random)) {
    for (; at < point; at++) {
      const event = events[at]!
      disk.apply(event)
      if (event.type === 'line') acknowledged.push(Number(event.text))
    }
    const survivor = { image: disk.crash(), acknowledged: [...acknowledged], tried }
    const found = await look(kind, survivor)
    const where = `seed ${SEED}, ${name}, run ${run}, event ${point} of ${events.length}, names ${names}`
    problems.push(...found.map(problem => `${where}: ${problem}`))
    if (found.length === 0) survivors.push(survivor)
  }
  rmSync(folder, { recursive: true })
  return { survivors, problems }
}

const look = async (kind: string, { image, acknowledged, tried }: Survivor): Promise<string[]> => {
  const folder = simulator.newFolder()
  writeImage(image, folder)
  const url = `${kind}:${join(folder, STORE)}`
  const problems = await simulator.check({ url, acknowledged, tried, next: NEVER_TRIED })
  if (problems.length === 0) rmSync(folder, { recursive: true })
  return problems
}

describe.each(CASES)('$name', each => {
  const points = Math.ceil(POINTS / 2)
  it(
    `is whole after a power loss at ${points} points, restarts included`,
    async () => {
      const random = newRandom(SEED)
      let before: Survivor = { image: new Map(), acknowledged: [], tried: [] }
      const problems: string[] = []
      for (let run = 0, left = points; left > 0; run++, left -= POINTS_OF_RUN) {
        const crashed = await crashRun(each, before, run, Math.min(left, POINTS_OF_RUN), random)
        problems.push(...crashed.problems)
        before = crashed.survivors.length > 0 ? random.pick(crashed.survivors) : before
      }
      expect(problems).toEqual([])
    },
    60_000 + POINTS * 2_000
  )
})
