/** A PostgreSQL server with an operator's settings, and its costs: processor time of all its processes, WAL, disk. */
import { existsSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { type PostgresServer, startPostgres } from '../../packages/store/src/postgres/server.testing.ts'
import type { Resources } from '../store/files.ts'

/** Durable. Checkpoints are so rare that none falls into one measurement and not into the other. */
const SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  shared_buffers: '1GB',
  max_wal_size: '16GB',
  checkpoint_timeout: '1h'
}
const MICROSECONDS_PER_TICK = 10_000

interface ServerCost {
  /** Microseconds of processor time of all processes of the server. */
  readonly processor: number
  /** Bytes. */
  readonly wal: number
  /** Bytes of the tables and indexes of one schema. */
  readonly disk: number
}

export class MeasuredServer {
  readonly #server: PostgresServer
  readonly client: pg.Client

  private constructor(server: PostgresServer, client: pg.Client) {
    this.#server = server
    this.client = client
  }

  static async start(resources: Resources): Promise<MeasuredServer> {
    const server = await startPostgres({ settings: SETTINGS })
    resources.add(() => server.stop())
    const client = new pg.Client(server.url)
    await client.connect()
    resources.add(() => client.end())
    return new MeasuredServer(server, client)
  }

  get url(): string {
    return this.#server.url
  }

  async version(): Promise<string> {
    const { rows } = await this.client.query<{ server_version: string }>('SHOW server_version')
    return rows[0]!.server_version
  }

  /** Processor time of the postmaster, of its children, and of its children that have ended. */
  processor(): number {
    const pid = this.#server.process.pid!
    const own = ticksOf(pid)
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? []
    const ticks = children.reduce((sum, child) => sum + ticksOf(Number(child)).self, own.self + own.ended)
    return ticks * MICROSECONDS_PER_TICK
  }

  async cost(schema: string): Promise<ServerCost> {
    const { rows } = await this.client.query<{ wal: number; disk: number }>(
      `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS wal,
         (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 FROM pg_class c
          JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r') AS disk`,
      [schema]
    )
    return { processor: this.processor(), ...rows[0]! }
  }
}

/** proc(5): utime, stime, cutime and cstime are fields 14 to 17. Those of an ended child are in its parent's. */
const ticksOf = (pid: number): { readonly self: number; readonly ended: number } => {
  const file = `/proc/${pid}/stat`
  if (!existsSync(file)) return { self: 0, ended: 0 }
  const text = readFileSync(file, 'utf8')
  const [utime, stime, cutime, cstime] = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number) as [number, number, number, number]
  return { self: utime + stime, ended: cutime + cstime }
}
