/**
 * The work of an indexer (`../store/workload.ts`) on PostgreSQL: processor time of the server and of this process, disk and
 * WAL for each transaction. The peer is COPY of the same rows into tables with primary keys alone.
 */
import { openStore } from '@quoin/store'
import secp256k1 from 'secp256k1'
import type { Sheet } from '../case.ts'
import { median } from '../stats.ts'
import { IN_FLIGHT, takeDurably } from '../store/contestant.ts'
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
  const warm = IN_FLIGHT
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
  const row = (name: string, value: number, limit: number) =>
    [name, Math.round(value), Math.round(limit), value <= limit ? 'yes' : 'no'] as const
  return {
    columns: ['a transaction of 23 rows', 'measured', 'limit', 'holds'],
    rows: [
      ['COPY of the rows with primary keys, µs', Math.round(floor), null, null],
      ['one signature verified, µs', Math.round(verification), null, null],
      row('processor time of PostgreSQL, µs; limit 3 × COPY', ours.server, 3 * floor),
      row(
        `processor time of Node, µs; limit 80 × verification / ${REFERENCE_VERIFICATION}`,
        ours.node,
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
