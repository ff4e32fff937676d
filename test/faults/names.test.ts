/** The power fails and takes everything that was not synced: the names of files, too. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Disk, writeImage } from './disk.ts'
import { newRandom } from './random.ts'
import { startSimulator, writer } from './simulator.ts'
import type { Event } from './trace.ts'

const simulator = startSimulator()
afterAll(() => simulator.close())

const STORE = 'parents/that/lack/store'
const FIRST = 2000

/** What is wrong after the events at which the power is to fail, and at how many it did. */
const loseAt = async (
  kind: string,
  batches: number,
  preload: string | undefined,
  fails: (event: Event, acknowledged: number) => boolean
): Promise<{ readonly losses: number; readonly problems: readonly string[] }> => {
  const folder = simulator.newFolder()
  const disk = new Disk(folder, 'strict', newRandom(1))
  const url = `${kind}:${join(folder, STORE)}`
  const { events } = await simulator.record(folder, [writer(url, FIRST, batches, 1, preload)])
  const tried = Array.from({ length: batches }, (_, i) => FIRST + i)
  const acknowledged: number[] = []
  const problems: string[] = []
  let losses = 0
  for (const [i, event] of events.entries()) {
    disk.apply(event)
    if (event.type === 'line') acknowledged.push(Number(event.text))
    if (!fails(event, acknowledged.length)) continue
    losses++
    const left = simulator.newFolder()
    writeImage(disk.durable(), left)
    const found = await simulator.check({
      url: `${kind}:${join(left, STORE)}`,
      acknowledged,
      tried,
      next: 1
    })
    problems.push(...found.map(problem => `after event ${i} of ${events.length}, ${event.type}: ${problem}`))
    rmSync(left, { recursive: true })
  }
  return { losses, problems }
}

describe.each(['lmdb', 'level'])('%s', kind => {
  it('leaves a store that opens, or none, at every moment while it is made', async () => {
    const { losses, problems } = await loseAt(kind, 1, undefined, (_, acknowledged) => acknowledged === 0)
    expect(problems).toEqual([])
    expect(losses).toBeGreaterThan(15)
  })
})

describe('level', () => {
  it('keeps what was acknowledged in a log that it had just begun', async () => {
    let isNew = false
    const { losses, problems } = await loseAt('level', 150, 'small-level.mjs', event => {
      if (event.type === 'create' && event.name.endsWith('.log')) isNew = true
      const isFirst = isNew && event.type === 'line'
      if (isFirst) isNew = false
      return isFirst
    })
    expect(problems).toEqual([])
    expect(losses).toBeGreaterThan(3)
  })
})
