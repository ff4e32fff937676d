/**
 * What a store on PostgreSQL costs, by process, and how the cost grows with processes that share it: processor time from
 * /proc, which two cores can show for more.
 *
 *     npm run bench -- scale                       40,000 transactions, 2,000 submissions of each process
 *     npm run bench -- scale --only 'the store'    or submission, processes
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sheet } from '../../../../bench/case.ts'
import { type Scale, suite } from '../../../../bench/harness.ts'
import { type ProcessesResult, runProcesses } from '../../../../bench/scale/processes.ts'
import { MeasuredServer } from '../../../../bench/scale/server.ts'
import { diskSheet, storeWorkloadSheet } from '../../../../bench/scale/store-workload.ts'
import { makeBeefs, openSubmissions, submitAll } from '../../../../bench/scale/submissions.ts'
import { extrapolationTable, processesTable, waitsTable } from '../../../../bench/scale/tables.ts'
import { Resources } from '../../../../bench/store/files.ts'
import { TestChain } from '../../../chain/src/verify/test-chain.testing.ts'

interface Sizes {
  /** Of the store workload. */
  readonly transactions: number
  /** Of each process. */
  readonly submissions: number
  /** Submissions before the measured ones: the compiler of Node is done with most after a few thousand. */
  readonly warm: number
}

const sizes: Readonly<Record<Scale, Sizes>> = {
  quick: { transactions: 4000, submissions: 500, warm: 200 },
  normal: { transactions: 40_000, submissions: 2000, warm: 2500 },
  full: { transactions: 400_000, submissions: 20_000, warm: 6000 }
}
const SLICES = 6
/** Of the processor time on LMDB. */
const LIMIT = 1.3

export default suite(({ sheet, after, note, progress, scale }) => {
  const { transactions, submissions, warm } = sizes[scale]
  const group = (): Resources => {
    const resources = new Resources()
    after(resources.close)
    return resources
  }
  /** Every sheet has a server of its own, which is stopped when the sheet is made. */
  const onServer = async <T>(
    run: (server: MeasuredServer, resources: Resources) => Promise<T>
  ): Promise<T> => {
    const resources = group()
    const result = await run(await MeasuredServer.start(resources), resources)
    await resources.close()
    return result
  }
  note('PostgreSQL on loopback, durable, with 1 GB of shared buffers. Times are of processors, from /proc.')

  let workload: Promise<readonly [costs: Sheet, disk: Sheet]> | undefined
  const workloadSheets = (): Promise<readonly [costs: Sheet, disk: Sheet]> => {
    workload ??= onServer(async (server, resources) => {
      const costs = await storeWorkloadSheet(server, transactions, resources, progress)
      return [costs, await diskSheet(server)]
    })
    return workload
  }
  sheet('the store workload on PostgreSQL', async () => (await workloadSheets())[0])
  sheet('the store workload: disk of a transaction', async () => (await workloadSheets())[1])

  sheet('a submission through Engine.submit', () =>
    onServer(async (server, resources) => {
      const folder = await mkdtemp(join(tmpdir(), 'quoin-bench-'))
      resources.add(() => rm(folder, { recursive: true, force: true }))
      const chain = new TestChain()
      const slice = Math.floor((2 * submissions) / SLICES)
      progress('making transactions')
      const beefs = await makeBeefs(chain, 0, warm + slice * SLICES)
      const times = { postgres: 0, lmdb: 0, server: 0 }
      const urls = { postgres: server.url, lmdb: `lmdb:${folder}` }
      const engines = new Map<keyof typeof urls, Awaited<ReturnType<typeof openSubmissions>>>()
      for (const name of ['postgres', 'lmdb'] as const) {
        const opened = await openSubmissions(urls[name], chain)
        resources.add(opened.close)
        engines.set(name, opened)
        await submitAll(opened.engine, beefs.slice(0, warm))
      }
      for (let i = 0; i < SLICES; i++) {
        progress(`slice ${i + 1} of ${SLICES}`)
        for (const [name, { engine }] of engines) {
          const from = warm + i * slice
          const before = server.processor()
          times[name] += (await submitAll(engine, beefs.slice(from, from + slice))) / SLICES
          if (name === 'postgres') times.server += (server.processor() - before) / slice / SLICES
        }
      }
      const ratio = times.postgres / times.lmdb
      return {
        columns: [
          'store',
          'process µs/submission',
          'server µs/submission',
          'against LMDB',
          `at most ${LIMIT}`
        ],
        rows: [
          ['lmdb:', Math.round(times.lmdb), null, null, null],
          [
            'postgres:',
            Math.round(times.postgres),
            Math.round(times.server),
            Number(ratio.toFixed(2)),
            ratio <= LIMIT ? 'yes' : 'no'
          ]
        ]
      }
    })
  )

  let measured: Promise<readonly ProcessesResult[]> | undefined
  const results = (): Promise<readonly ProcessesResult[]> => {
    measured ??= onServer(async (server, resources) => {
      const all: ProcessesResult[] = []
      for (const processes of [1, 2, 4]) {
        progress(`${processes} processes`)
        all.push(await runProcesses(server, processes, { submissions, warm }, resources))
      }
      return all
    })
    return measured
  }
  sheet('submissions through processes on one store', async () => processesTable(await results()))
  sheet('processes on one store: waits', async () => waitsTable(await results()))
  sheet('processes on one store: extrapolation', async () => extrapolationTable(await results(), [4, 8, 32]))
})
