/** Several processes that submit to one store: processor time for each submission, aborted transactions, waits. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { exitOf } from '../../packages/store/src/server-process.testing.ts'
import type { Resources } from '../store/files.ts'
import type { MeasuredServer } from './server.ts'
import { TOPIC } from './submissions.ts'
import type { Report } from './submitter.ts'

const SUBMITTER = fileURLToPath(new URL('./submitter.ts', import.meta.url))
const TYPESCRIPT = new URL('../../scripts/typescript.mjs', import.meta.url).href
/** As `npm run bench` runs this process. */
const EXEC_ARGV = ['--max-semi-space-size=64', '--import', TYPESCRIPT]
const SAMPLE_MS = 25

export interface ProcessesResult {
  readonly processes: number
  /** Microseconds of processor time for each submission. */
  readonly node: number
  readonly server: number
  /** Bytes for each submission. */
  readonly wal: number
  readonly perSecond: number
  /** Submissions of one transaction of the database. */
  readonly group: number
  /** Share of transactions of the database that PostgreSQL rolled back. */
  readonly aborted: number
  /** By wait event, the mean number of connections that wait for it. Only those inside a transaction that writes. */
  readonly waits: ReadonlyMap<string, number>
  /** For each log, the share of the time for which its last position is locked. */
  readonly locked: ReadonlyMap<string, number>
}

export const LOGS = { journal: 'z:journal', topic: `l:tp:${TOPIC}` }

export const runProcesses = async (
  server: MeasuredServer,
  processes: number,
  { submissions, warm }: { readonly submissions: number; readonly warm: number },
  resources: Resources
): Promise<ProcessesResult> => {
  const schema = `processes_${processes}`
  const children = Array.from({ length: processes }, (_, i) => {
    const seed = 1e6 * (10 * processes + i)
    const args = [`${server.url}?schema=${schema}`, `${seed}`, `${submissions}`, `${warm}`]
    const child = fork(SUBMITTER, args, { execArgv: EXEC_ARGV })
    resources.add(() => child.kill('SIGKILL'))
    return child
  })
  await Promise.all(children.map(messageOf))
  const before = await server.cost(schema)
  const start = performance.now()
  const sampler = new Sampler(server.url, schema)
  for (const child of children) child.send('go')
  const reports = (await Promise.all(children.map(messageOf))) as Report[]
  const elapsed = performance.now() - start
  const { waits, locked } = await sampler.stop()
  const after = await server.cost(schema)
  for (const child of children) child.send('stop')
  await Promise.all(children.map(exitOf))
  const count = submissions * processes
  const sum = (of: (report: Report) => number): number => reports.reduce((total, one) => total + of(one), 0)
  return {
    processes,
    node: sum(one => one.processor) / processes,
    server: (after.processor - before.processor) / count,
    wal: (after.wal - before.wal) / count,
    perSecond: (count * 1000) / elapsed,
    group: count / sum(one => one.groups),
    aborted: sum(one => one.aborted) / sum(one => one.begun),
    waits,
    locked
  }
}

const messageOf = async (child: ChildProcess): Promise<unknown> => {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`a process that submits ended with ${code}`)
  })
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [unknown]
  return message
}

/** Looks at `pg_stat_activity`, and at the locks of logs, every 25 milliseconds. */
class Sampler {
  readonly #url: string
  readonly #schema: string
  readonly #waits = new Map<string, number>()
  readonly #locked = new Map<string, number>()
  readonly #running: Promise<void>
  #samples = 0
  #isDone = false

  constructor(url: string, schema: string) {
    this.#url = url
    this.#schema = schema
    this.#running = this.#run()
  }

  async stop(): Promise<Pick<ProcessesResult, 'waits' | 'locked'>> {
    this.#isDone = true
    await this.#running
    const share = (counts: ReadonlyMap<string, number>) =>
      new Map([...counts].map(([name, count]) => [name, count / this.#samples] as const))
    return { waits: share(this.#waits), locked: share(this.#locked) }
  }

  async #run(): Promise<void> {
    const client = new pg.Client(this.#url)
    await client.connect()
    while (!this.#isDone) {
      await this.#sample(client)
      await sleep(SAMPLE_MS)
    }
    await client.end()
  }

  async #sample(client: pg.Client): Promise<void> {
    this.#samples++
    const activity = await client.query<{ event: string }>(
      `SELECT coalesce(wait_event_type || ': ' || wait_event, 'processor') AS event FROM pg_stat_activity
       WHERE application_name = 'quoin' AND (state = 'active' OR state = 'idle in transaction')
         AND backend_xid IS NOT NULL`
    )
    for (const { event } of activity.rows) this.#waits.set(event, (this.#waits.get(event) ?? 0) + 1)
    for (const log of Object.values(LOGS)) {
      const free = await client.query(
        `SELECT FROM ${this.#schema}.sorted_sets WHERE key = $1 AND member = '' FOR UPDATE SKIP LOCKED`,
        [Buffer.from(log)]
      )
      if (free.rowCount === 0) this.#locked.set(log, (this.#locked.get(log) ?? 0) + 1)
    }
  }
}
