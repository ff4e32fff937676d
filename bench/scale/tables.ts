/** The tables of several processes on one store: the measured ones, and the extrapolation to more. */
import type { Sheet } from '../case.ts'
import { LOGS, type ProcessesResult } from './processes.ts'

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
const total = ({ node, server }: ProcessesResult): number => node + server

export const processesTable = (results: readonly ProcessesResult[]): Sheet => ({
  columns: [
    'processes',
    'process µs/submission',
    'PostgreSQL µs/submission',
    'sum, against one process',
    'aborted transactions',
    'submissions in a transaction',
    'WAL bytes/submission'
  ],
  rows: results.map(result => [
    result.processes,
    Math.round(result.node),
    Math.round(result.server),
    percent(total(result) / total(results[0]!)),
    percent(result.aborted),
    Math.round(result.group),
    Math.round(result.wal)
  ])
})

/** Of transactions that write, the mean number that wait for each event at a moment. */
export const waitsTable = (results: readonly ProcessesResult[]): Sheet => {
  const events = [...new Set(results.flatMap(({ waits }) => [...waits.keys()]))].sort()
  return {
    columns: [
      'event of transactions that write',
      ...results.map(({ processes }) => `${processes} processes`)
    ],
    rows: [
      ...events.map(event => [event, ...results.map(({ waits }) => (waits.get(event) ?? 0).toFixed(2))]),
      ...Object.entries(LOGS).map(([name, key]) => [
        `time in which the last position of the ${name} is locked`,
        ...results.map(({ locked }) => percent(locked.get(key) ?? 0))
      ])
    ]
  }
}

/** Batches of one transaction, at most. */
const FULL_GROUP = 500
const CORES = 16

/**
 * A core for each process, and one topic for all submissions. Costs grow with each doubling as they were measured to; the
 * last position of the topic is locked as long as on the machine of the measurement, where the server waits for its cores
 * too. Commits do not wait for the journal.
 */
export const extrapolationTable = (
  results: readonly ProcessesResult[],
  processes: readonly number[]
): Sheet => {
  const [first, last] = [results[0]!, results.at(-1)!]
  const doublings = Math.log2(last.processes / first.processes)
  const growth = (total(last) / total(first)) ** (1 / doublings)
  const share = last.locked.get(LOGS.topic) ?? 0
  const lockSeconds = (share * last.group) / last.perSecond
  return {
    columns: [
      'processes',
      'submissions/s of the processes',
      'cores of PostgreSQL',
      'use of the last position of one topic',
      'WAL MB/s',
      'saturates first'
    ],
    rows: processes.map(count => {
      const factor = growth ** Math.log2(count / first.processes)
      const rate = (count * 1e6) / (first.node * factor)
      const cores = (rate * first.server * factor) / 1e6
      const lock = (rate * lockSeconds) / FULL_GROUP
      const most = [
        { name: 'the processes', use: 1 },
        { name: `PostgreSQL with ${CORES} cores`, use: cores / CORES },
        { name: 'the last position of one topic', use: lock }
      ].reduce((a, b) => (b.use > a.use ? b : a))
      return [
        count,
        Math.round(rate),
        Number(cores.toFixed(1)),
        percent(lock),
        Number(((rate * last.wal) / 1e6).toFixed(1)),
        most.use > 1 ? `${most.name}, at ${Math.round(rate / most.use)} submissions/s` : most.name
      ]
    })
  }
}
