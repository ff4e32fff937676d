/** The measurements of `npm run bench -- scale`, with few transactions: whether they measure, not what. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Resources } from '../store/files.ts'
import { LOGS, type ProcessesResult, runProcesses } from './processes.ts'
import { MeasuredServer } from './server.ts'
import { storeWorkloadSheet } from './store-workload.ts'
import { extrapolationTable, processesTable, waitsTable } from './tables.ts'

const resources = new Resources()
let server: MeasuredServer
beforeAll(async () => {
  server = await MeasuredServer.start(resources)
})
afterAll(resources.close)

describe('the store workload', () => {
  it('copies the rows that the store has', async () => {
    const { rows } = await storeWorkloadSheet(server, 200, resources, () => {})
    expect(rows.every(([, measured]) => Number(measured) >= 0)).toBe(true)
    const tables = ['hash_fields', 'sorted_sets']
    for (const table of tables) {
      const counts = await Promise.all(['floor', 'workload'].map(schema => count(`${schema}.${table}`)))
      expect(counts[0]).toBe(counts[1])
    }
  })
})

describe('submissions through processes', () => {
  it('are all in the store, and their costs are counted', async () => {
    const result = await runProcesses(server, 2, { submissions: 40, warm: 20 }, resources)
    expect(await count(`processes_2.sorted_sets WHERE key = '${LOGS.topic}' AND member <> ''`)).toBe(120)
    expect(result.node).toBeGreaterThan(0)
    expect(result.wal).toBeGreaterThan(1000)
    expect(result.group).toBeGreaterThan(1)
    expect(result.aborted).toBeLessThan(0.5)
  }, 60_000)
})

const count = async (from: string): Promise<number> => {
  const { rows } = await server.client.query<{ count: string }>(`SELECT count(*) FROM ${from}`)
  return Number(rows[0]!.count)
}

describe('the tables', () => {
  const result = (processes: number, server: number, locked: number): ProcessesResult => ({
    processes,
    node: 600,
    server,
    wal: 10_000,
    perSecond: 1000,
    group: 100,
    aborted: 0.01,
    waits: new Map([['IO: WALSync', processes / 10]]),
    locked: new Map([[LOGS.topic, locked]])
  })
  const results = [result(1, 200, 0.01), result(4, 288, 0.1)]

  it('show growth and waits', () => {
    expect(processesTable(results).rows.map(row => row.slice(0, 5))).toEqual([
      [1, 600, 200, '100.0 %', '1.0 %'],
      [4, 600, 288, '111.0 %', '1.0 %']
    ])
    expect(waitsTable(results).rows).toEqual([
      ['IO: WALSync', '0.10', '0.40'],
      ['time in which the last position of the journal is locked', '0.0 %', '0.0 %'],
      ['time in which the last position of the topic is locked', '1.0 %', '10.0 %']
    ])
  })

  it('name the first part that saturates', () => {
    const last = extrapolationTable(results, [4, 1024]).rows.map(row => row.at(-1))
    expect(last[0]).toBe('the processes')
    expect(last[1]).toMatch(/^PostgreSQL with 16 cores, at \d+ submissions\/s$/)
    const slow = [result(1, 2, 0.01), result(4, 2, 0.9)]
    expect(extrapolationTable(slow, [1024]).rows[0]!.at(-1)).toMatch(/^the last position of one topic, at/)
  })
})
