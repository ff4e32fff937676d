/** Costs of a node in a process of its own: open live streams, the start, idleness. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Metered, Sheet } from '../../../../../bench/case.ts'
import { processorClock, takeTurns } from '../../../../../bench/measure.ts'
import { processorOf, writtenBy } from '../../../../../bench/process.ts'
import { makeBeefs } from '../../../../../bench/scale/submissions.ts'
import { median } from '../../../../../bench/stats.ts'
import { TestChain } from '../../../../chain/src/verify/test-chain.testing.ts'
import { serve, type TestServer } from '../served.testing.ts'
import type { Counts } from './submissions.testing.ts'

export interface NodeCosts {
  readonly folder: () => Promise<string>
  readonly after: (close: () => unknown) => void
  readonly progress: (text: string) => void
}

/** Live streams that match no change, and streams that match all. */
const STREAMS = [
  [0, 'none'],
  [50, 'none'],
  [1000, 'none'],
  [50, 'all']
] as const

/** Submissions over HTTP to nodes with open streams, in turn. */
export const streamsSheet = async (
  base: Metered,
  { warm, slice, slices }: Counts,
  { folder, after, progress }: NodeCosts
): Promise<Sheet> => {
  progress('making transactions')
  const beefs = await makeBeefs(new TestChain(), 0, warm + slice * slices)
  const nodes: TestServer[] = []
  for (const [count, matching] of STREAMS) {
    progress(`${count} streams`)
    const node = await serve(await folder(), 'sources')
    after(() => node.close())
    nodes.push(node)
    await node.submit(beefs.slice(0, warm))
    await node.openStreams(count, matching)
  }
  const before = nodes.map(({ events }) => events)
  const works = nodes.map(node => {
    let at = warm
    return async () => {
      await node.submit(beefs.slice(at, at + slice))
      at += slice
      await eventsOf(node, before[nodes.indexOf(node)]!, at - warm)
    }
  })
  const eventsOf = async (node: TestServer, from: number, submitted: number): Promise<void> => {
    const [count, matching] = STREAMS[nodes.indexOf(node)]!
    const expected = matching === 'none' ? 0 : count * submitted
    while (node.events - from < expected) await sleep(5)
  }
  const meters = nodes.map(
    ({ pid }) =>
      () =>
        processorOf(pid).self
  )
  const samples = await takeTurns([base.work, ...works], slices, processorClock, [processorClock, ...meters])
  const [ofBase, ...ofNodes] = samples.map((calls, i) => calls.map(ms => ms / (i === 0 ? base.ops : slice)))
  const rows = ofNodes.map((times, i): (string | number)[] => {
    const [count, matching] = STREAMS[i]!
    const change = times.map((ms, round) => ms / ofNodes[0]![round]! - 1)
    const perEvent = times.map((ms, round) => (ms - ofNodes[0]![round]!) / Math.max(1, count))
    return [
      count,
      matching === 'none' ? 'no change' : 'all changes',
      Math.round(1000 * median(times)),
      Number(median(times.map((ms, round) => ms / ofBase![round]!)).toFixed(2)),
      Number((100 * median(change)).toFixed(1)),
      matching === 'none' ? '' : (1000 * median(perEvent)).toFixed(1)
    ]
  })
  return { columns: ['streams', 'match', 'us/submit', 'verifications', '% more than none', 'us/event'], rows }
}

const LISTENING_MS = 800
const RESIDENT_MB = 100

/** The start of `quoin serve` as it is shipped, and its idleness. */
export const serveSheet = async (
  runs: number,
  seconds: number,
  { folder, progress }: NodeCosts
): Promise<Sheet> => {
  const starts: number[] = []
  const resident: number[] = []
  const written: number[] = []
  const idle: number[] = []
  for (let run = 0; run < runs; run++) {
    progress(`start ${run + 1} of ${runs}`)
    const node = await serve(await folder())
    starts.push(processorOf(node.pid).self)
    if (run === runs - 1) {
      progress('idle')
      await sleep(2000)
      const [bytes, milliseconds] = [writtenBy(node.pid), processorOf(node.pid).self]
      await sleep(seconds * 1000)
      written.push(writtenBy(node.pid) - bytes)
      idle.push((processorOf(node.pid).self - milliseconds) / seconds)
      resident.push(await node.memory())
    }
    await node.close()
  }
  const row = (name: string, value: number, most: number | null): (string | number | null)[] => [
    name,
    value,
    most,
    most === null ? null : value <= most ? 'yes' : 'no'
  ]
  return {
    columns: ['', 'median', 'at most', 'holds'],
    rows: [
      row('ms of processor time until it listens', median(starts), LISTENING_MS),
      row('MB resident, idle', median(resident), RESIDENT_MB),
      row(`bytes written in ${seconds} idle seconds`, median(written), 0),
      row('ms of processor time in an idle second', median(idle), null)
    ]
  }
}
