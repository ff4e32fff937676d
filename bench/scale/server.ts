/** A PostgreSQL server with an operator's settings, and its costs: processor time of all its processes, WAL, disk. */
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { type PostgresServer, startPostgres } from '../../packages/store/src/postgres/server.testing.ts'
import { processorOf } from '../process.ts'
import type { Resources } from '../store/files.ts'

/** Durable. Checkpoints are so rare that none falls into one measurement and not into the other. */
const SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  shared_buffers: '1GB',
  max_wal_size: '16GB',
  checkpoint_timeout: '1h'
}

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
    const own = processorOf(pid)
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? []
    const sum = children.reduce((sum, child) => sum + processorOf(Number(child)).self, own.self + own.ended)
    return sum * 1000
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
