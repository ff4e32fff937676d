/**
 * The work of an indexer (`../store/workload.ts`) on PostgreSQL: processor time of the server and of this process, disk and
 * WAL for each transaction. The peer is COPY of the same rows into tables with primary keys alone.
 */
import { openStore } from '@quoin/store'
import secp256k1 from 'secp256k1'
import type { Sheet } from '../case.ts'
import { median } from '../stats.ts'
import { takeDurably } from '../store/contestant.ts'
import type { Resources } from '../store/files.ts'
import { writeTransaction } from '../store/workload.ts'
import { binaryRows, copyInto, type Field } from './copy.ts'
import type { MeasuredServer } from './server.ts'

/** Transactions of one COPY, as of one group of the store. */
const GROUP = 500
/** The machine of the bar for Node: its verification of one signature, in microseconds. */
const REFERENCE_VERIFICATION = 60
const KB = 1024

export const storeWorkloadSheet = async (
  server: MeasuredServer,
  transactions: number,
  resources: Resources,
  progress: (text: string) => void
): Promise<Sheet> => {
  const store = await openStore(`${server.url}?schema=workload`)
  resources.add(() => store.close())
  await makeFloor(server)
  progress('warming up')
  const warm = Math.floor(transactions / 2)
  await takeDurably(store, 0, warm)
  await copyRows(server, 0, warm)
  const ours = { server: 0, node: 0, disk: 0, wal: 0 }
  let floor = 0
  const slices = 4
  for (let slice = 0; slice < slices; slice++) {
    const count = Math.floor(transactions / slices)
    const from = warm + slice * count
    progress(
      `${(slice * count).toLocaleString('en-US')} of ${transactions.toLocaleString('en-US')} transactions`
    )
    const before = await server.cost('workload')
    const own = process.cpuUsage()
    await takeDurably(store, from, count)
    const { user, system } = process.cpuUsage(own)
    const after = await server.cost('workload')
    ours.server += (after.processor - before.processor) / count / slices
    ours.node += (user + system) / count / slices
    ours.disk += (after.disk - before.disk) / count / slices
    ours.wal += (after.wal - before.wal) / count / slices
    const unfilled = server.processor()
    await copyRows(server, from, count)
    floor += (server.processor() - unfilled) / count / slices
  }
  const verification = verificationTime()
  const making = makingTime(warm)
  const row = (name: string, value: number, limit: number) =>
    [name, Math.round(value), Math.round(limit), value <= limit ? 'yes' : 'no'] as const
  return {
    columns: ['a transaction of 23 rows', 'measured', 'limit', 'holds'],
    rows: [
      ['COPY of the rows with primary keys, µs', Math.round(floor), null, null],
      ['one signature verified, µs', Math.round(verification), null, null],
      ['making the rows, µs; not counted', Math.round(making), null, null],
      row('processor time of PostgreSQL, µs; limit 3 × COPY', ours.server, 3 * floor),
      row(
        `processor time of Node, µs; limit 80 × verification / ${REFERENCE_VERIFICATION}`,
        ours.node - making,
        (80 * verification) / REFERENCE_VERIFICATION
      ),
      row('disk, bytes; limit 6 KB', ours.disk, 6 * KB),
      row('WAL, bytes; limit 10 KB', ours.wal, 10 * KB)
    ]
  }
}

const makeFloor = (server: MeasuredServer): Promise<unknown> =>
  server.client.query(`CREATE SCHEMA floor;
    CREATE TABLE floor.hash_fields (key bytea, field bytea, value bytea NOT NULL, PRIMARY KEY (key, field));
    CREATE TABLE floor.sorted_sets (key bytea, member bytea, score float8 NOT NULL, PRIMARY KEY (key, member))`)

const copyRows = async ({ client }: MeasuredServer, from: number, count: number): Promise<void> => {
  for (let first = from; first < from + count; first += GROUP) {
    const fields: Field[][] = []
    const members: Field[][] = []
    for (let n = first; n < Math.min(first + GROUP, from + count); n++) {
      writeTransaction(n, {
        zadd: (key, member, score) => void members.push([key, member, score]),
        hset: (key, each) => {
          for (let i = 0; i < each.length; i += 2) fields.push([key, each[i]!, each[i + 1]!])
        }
      })
    }
    await client.query('BEGIN')
    await copyInto(client, 'floor.hash_fields', binaryRows(fields))
    await copyInto(client, 'floor.sorted_sets', binaryRows(members))
    await client.query('COMMIT')
  }
}

/** Microseconds of processor time in which the rows of a transaction are made. */
const makingTime = (count: number): number => {
  let bytes = 0
  const before = process.cpuUsage()
  for (let n = 0; n < count; n++) {
    writeTransaction(n, {
      zadd: (key, member) => {
        bytes += key.length + member.length
      },
      hset: (key, fields) => {
        bytes += key.length + fields.length
      }
    })
  }
  const { user, system } = process.cpuUsage(before)
  if (bytes === 0) throw new Error('no rows were made')
  return (user + system) / count
}

/** Disk of a transaction, by table and index: as it is, and with pages that are 90 % full as after REINDEX. */
export const diskSheet = async ({ client }: MeasuredServer): Promise<Sheet> => {
  const sizes = async (): Promise<ReadonlyMap<string, number>> => {
    const { rows } = await client.query<{ name: string; bytes: number }>(
      `SELECT c.relname AS name, pg_relation_size(c.oid)::float8 / (SELECT count(*) FROM workload.sorted_sets) * 14 AS bytes
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = 'workload' AND pg_relation_size(c.oid) > 100000 ORDER BY c.relname`
    )
    return new Map(rows.map(({ name, bytes }) => [name, bytes]))
  }
  const grown = await sizes()
  await client.query('REINDEX SCHEMA workload')
  const dense = await sizes()
  const sum = (all: ReadonlyMap<string, number>): number => [...all.values()].reduce((a, b) => a + b, 0)
  return {
    columns: ['table or index', 'bytes', 'after REINDEX'],
    rows: [
      ...[...grown].map(([name, bytes]) => [name, Math.round(bytes), Math.round(dense.get(name)!)]),
      ['all', Math.round(sum(grown)), Math.round(sum(dense))]
    ]
  }
}

/** Microseconds of processor time of one ECDSA verification. */
const verificationTime = (): number => {
  const [secret, digest] = [new Uint8Array(32).fill(7), new Uint8Array(32).fill(9)]
  const [publicKey, { signature }] = [secp256k1.publicKeyCreate(secret), secp256k1.ecdsaSign(digest, secret)]
  const times = Array.from({ length: 9 }, () => {
    const before = process.cpuUsage()
    for (let i = 0; i < 500; i++) secp256k1.ecdsaVerify(signature, digest, publicKey)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 500
  })
  return median(times)
}
