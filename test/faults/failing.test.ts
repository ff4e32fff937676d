/**
 * A sync or a write fails. After a failed sync the store takes no further write, and acknowledges nothing that a power loss
 * could take. `npm run test:faults` lets every sync and every write of a run fail; `npm test` some of them.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Disk, writeImage } from './disk.ts'
import { newRandom, type Random } from './random.ts'
import { failing, startSimulator } from './simulator.ts'
import type { Event } from './trace.ts'

const EVERY = Number(process.env['QUOIN_FAULTS'] ?? 0) >= 300
const SEED = Number(process.env['QUOIN_SEED'])
/** `npm test` lets one in so many writes fail. */
const STEP = 5
const FIRST = 2000
const BATCHES = 6
const TRIED = Array.from({ length: BATCHES }, (_, i) => FIRST + i)
const { EIO, ENOSPC } = constants.errno

const simulator = startSimulator()
afterAll(() => simulator.close())

/** What the process saw. */
interface Seen {
  readonly opened: string
  readonly codes: readonly string[]
  readonly closed?: string
}

interface Outcome extends Seen {
  readonly fault: string
  readonly struck: boolean
  readonly acknowledged: readonly number[]
  /** With the store as the processes left it, and as a power loss at some moment after the fault would. */
  readonly problems: readonly string[]
}

/** Whether lmdb was compiled with the repairs of scripts/native.mjs; without, a failed write may take the process down. */
const isRepaired = (): boolean => {
  const lmdb = dirname(dirname(createRequire(import.meta.url).resolve('lmdb')))
  const stamp = join(lmdb, 'build/Release/quoin.json')
  return existsSync(stamp) && 'repairs' in JSON.parse(readFileSync(stamp, 'utf8'))
}

/** The events of each fault. A process that died has not finished the last. */
const runsOf = (events: readonly Event[], died: boolean): Event[][] => {
  const runs: Event[][] = [[]]
  for (const event of events) {
    runs.at(-1)!.push(event)
    if (event.type === 'line' && event.text.startsWith('{')) runs.push([])
  }
  if (!died) runs.pop()
  return runs
}

const record = async (kind: string, faults: readonly string[], random: Random) => {
  const folder = simulator.newFolder()
  for (const run of faults.keys()) mkdirSync(join(folder, String(run)))
  const disk = new Disk(folder, random.pick(['journal', 'strict'] as const), random)
  const mayDie = kind === 'lmdb' && !isRepaired()
  const program = failing(kind, folder, FIRST, BATCHES, faults)
  const { events, deaths } = await simulator.record(folder, [program], { mayDie })
  return { folder, disk, runs: runsOf(events, deaths.length > 0) }
}

const outcomesOf = async (kind: string, faults: readonly string[], random: Random): Promise<Outcome[]> => {
  const { folder, disk, runs } = await record(kind, faults, random)
  const outcomes: Outcome[] = []
  for (const [run, events] of runs.entries()) {
    const acknowledged: number[] = []
    const problems: string[] = []
    const look = async (left: string, when: string): Promise<void> => {
      const url = `${kind}:${join(left, 'parent/store')}`
      const found = await simulator.check({ url, acknowledged: [...acknowledged], tried: TRIED, next: 1 })
      problems.push(...found.map(problem => `${when}: ${problem}`))
    }
    const fault = events.findIndex(({ type }) => type === 'fault')
    const crash = fault + random.below(events.length - fault)
    let seen: Seen = { opened: 'died', codes: [] }
    for (const [i, event] of events.entries()) {
      disk.apply(event)
      const isLast = i === events.length - 1
      if (event.type === 'line') {
        if (event.text.startsWith('{')) seen = JSON.parse(event.text)
        else acknowledged.push(Number(event.text))
      }
      if (i !== crash && !isLast) continue
      const left = simulator.newFolder()
      writeImage(disk.crash(String(run)), left)
      await look(left, `a power loss at event ${i} of ${events.length}, fault at ${fault}`)
    }
    await look(join(folder, String(run)), 'without a power loss')
    outcomes.push({ ...seen, fault: faults[run]!, struck: fault !== -1, acknowledged, problems })
  }
  // What is left when a process died.
  const rest = faults.slice(runs.length)
  return rest.length === 0 ? outcomes : [...outcomes, ...(await outcomesOf(kind, rest, random))]
}

/** How many syncs and writes a run without faults has. */
const countOf = async (kind: string) => {
  const { runs } = await record(kind, ['none'], newRandom(SEED))
  const count = (type: string): number => runs[0]!.filter(event => event.type === type).length
  return { syncs: count('sync'), writes: count('write') }
}

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)

/** Batches are acknowledged until the first that is refused; of what follows, each has one of the codes. */
const expectRefusals = ({ fault, codes, acknowledged }: Outcome, allowed: readonly string[]): void => {
  const refused = codes.findIndex(code => code !== 'ok')
  const until = refused === -1 ? codes.length : refused
  expect(acknowledged.slice(0, until), fault).toEqual(TRIED.slice(0, until))
  for (const code of codes.slice(until)) expect(allowed, fault).toContain(code)
  const failed = codes.indexOf('ERR_STORE_FAILED')
  if (failed !== -1) expect(new Set(codes.slice(failed)), fault).toEqual(new Set(['ERR_STORE_FAILED']))
}

describe.each(['lmdb', 'level'])('%s', kind => {
  it('refuses all writes after any sync that failed, and is whole when it is opened again', async () => {
    const { syncs } = await countOf(kind)
    const faults = numbers(1, syncs).flatMap(n => [
      `sync ${n} ${EIO} once`,
      ...(EVERY ? [`sync ${n} ${EIO} on`] : [])
    ])
    const outcomes = await outcomesOf(kind, faults, newRandom(SEED))
    for (const outcome of outcomes) {
      const { fault, struck, opened, codes, closed, problems } = outcome
      expect({ fault, problems }).toEqual({ fault, problems: [] })
      // LevelDB's directory is synced when it has changed, which takes one sync more or less.
      if (!struck) continue
      if (opened !== 'ok') expect(opened, fault).toBe('ERR_STORE_ENGINE')
      else
        expect({ fault, closed, last: codes.at(-1) }).toEqual({
          fault,
          closed: 'ok',
          last: 'ERR_STORE_FAILED'
        })
      expectRefusals(outcome, ['ERR_STORE_FAILED'])
    }
    const struck = outcomes.filter(({ struck }) => struck)
    expect(struck.length).toBeGreaterThanOrEqual(outcomes.length - BATCHES)
    expect(struck.filter(({ opened }) => opened === 'ok').length).toBeGreaterThanOrEqual(BATCHES)
  }, 600_000)

  it('is whole after any write that failed, or a disk that was full', async () => {
    const { writes } = await countOf(kind)
    const first = 1 + Math.floor(newRandom(SEED).real() * STEP)
    const faults = numbers(1, writes)
      .filter(n => EVERY || n === 1 || (n + first) % STEP === 0)
      .flatMap(n => [
        `write ${n} ${ENOSPC} on`,
        `cut ${n} ${ENOSPC} on`,
        `write ${n} ${EIO} once`,
        `write ${n} ${ENOSPC} once`
      ])
    const outcomes = await outcomesOf(kind, faults, newRandom(SEED))
    for (const outcome of outcomes) {
      const { fault, opened, problems } = outcome
      expect({ fault, problems }).toEqual({ fault, problems: [] })
      const died = kind === 'lmdb' && !isRepaired() ? ['died'] : []
      expect(['ok', 'ERR_STORE_FULL', 'ERR_STORE_ENGINE', 'ERR_STORE_FAILED', ...died], fault).toContain(
        opened
      )
      if (opened !== 'died') expectRefusals(outcome, ['ok', 'ERR_STORE_FULL', 'ERR_STORE_FAILED'])
    }
    expect(outcomes.filter(({ struck }) => struck).length).toBe(outcomes.length)
  }, 600_000)
})
