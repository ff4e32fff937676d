/** Reads as commands and scripts of Redis. */

import type { KeyRange } from '@quoin/keyspace'
import { compareBytes, equalBytes, QuoinError } from '@quoin/primitives'
import type {
  FieldPage,
  FieldValue,
  HashEntry,
  KeyValue,
  ListedItem,
  QueueCounts,
  QueueState,
  Reads,
  Rows,
  ScoredMember
} from '../engine.ts'
import { type Kind, nameOf } from './names.ts'
import { inRange, keysIn } from './ranges.ts'
import { queueItem } from './record.ts'
import type { Command, Reply } from './resp.ts'
import { allRows, scoreFrom } from './rows.ts'
import { countsScript } from './scripts/counts.ts'

/** Sends a read to the server. */
export interface Caller {
  /**
   * `names` are the Redis keys that the command reads, `found` the keys that only its reply names: a snapshot must watch
   * them.
   */
  read(names: readonly Uint8Array[], command: Command, found?: (reply: Reply) => Uint8Array[]): Promise<Reply>
  /** Commands on one structure each, all on their way at once. */
  readAll(names: readonly Uint8Array[], command: (name: Uint8Array) => Command): Promise<readonly Reply[]>
}

/** Members whose scores one command asks for. */
const SCORES_PAGE = 5000

const ZERO = new TextEncoder().encode('0')
const COUNT = new TextEncoder().encode('COUNT')

const STATE_KINDS: Readonly<Record<QueueState, Kind>> = { due: 'd', leased: 'l', waiting: 'w', dead: 'x' }

export class RedisReads implements Reads {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return bytesOrNothing(await this.#one('v', key, 'GET'))
  }

  async mget(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return this.#each('v', keys, 'GET', bytesOrNothing)
  }

  async range(range: KeyRange, limit?: number): Promise<KeyValue[]> {
    const rows = await inRange(this.#caller, 'v', range, limit)
    return rows.map(({ key, value }) => ({ key, value: value as Uint8Array }))
  }

  async hget(key: Uint8Array, field: Uint8Array): Promise<Uint8Array | undefined> {
    return bytesOrNothing(await this.#one('h', key, 'HGET', [field]))
  }

  async hmget(key: Uint8Array, fields: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    if (fields.length === 0) return []
    const values = await this.#one('h', key, 'HMGET', fields)
    return (values as Reply[]).map(bytesOrNothing)
  }

  async hgetall(key: Uint8Array): Promise<FieldValue[]> {
    return fieldValues(await this.#one('h', key, 'HGETALL'))
  }

  /** A hash that Redis packs comes whole, however few fields are asked for. */
  async hscan(key: Uint8Array, cursor: Uint8Array | undefined, count: number): Promise<FieldPage> {
    const rest = [cursor ?? ZERO, COUNT, new TextEncoder().encode(String(count))]
    const [next, fields] = (await this.#one('h', key, 'HSCAN', rest)) as [Uint8Array, Reply]
    return { fields: fieldValues(fields), cursor: equalBytes(next, ZERO) ? undefined : next }
  }

  async mhgetall(keys: readonly Uint8Array[]): Promise<FieldValue[][]> {
    return this.#each('h', keys, 'HGETALL', fieldValues)
  }

  async mhexists(keys: readonly Uint8Array[]): Promise<boolean[]> {
    return this.#each('h', keys, 'EXISTS', reply => reply === 1)
  }

  async hrange(range: KeyRange, limit?: number): Promise<HashEntry[]> {
    const rows = await inRange(this.#caller, 'h', range, limit)
    return rows.map(({ key, value }) => ({ key, fields: fieldValues(value) }))
  }

  async sismember(key: Uint8Array, member: Uint8Array): Promise<boolean> {
    return (await this.#one('s', key, 'SISMEMBER', [member])) === 1
  }

  async smembers(key: Uint8Array): Promise<Uint8Array[]> {
    return ((await this.#one('s', key, 'SMEMBERS')) as Uint8Array[]).sort(compareBytes)
  }

  async zscore(key: Uint8Array, member: Uint8Array): Promise<number | undefined> {
    return scoreOrNothing(await this.#one('z', key, 'ZSCORE', [member]))
  }

  async zscores(
    keys: readonly Uint8Array[],
    members: readonly Uint8Array[]
  ): Promise<(number | undefined)[][]> {
    const columns = await Promise.all(keys.map(key => this.#scoresIn(key, members)))
    return members.map((_, i) => columns.map(column => column[i]))
  }

  async zcard(key: Uint8Array): Promise<number> {
    return (await this.#one('z', key, 'ZCARD')) as number
  }

  async zrows(key: Uint8Array, rows: Rows): Promise<ScoredMember[]> {
    return allRows(this.#caller, nameOf('z', key), rows)
  }

  async zsum(key: Uint8Array): Promise<number> {
    let sum = 0
    for (const { score } of await this.zrows(key, {})) sum += score
    return sum
  }

  zkeys(range: KeyRange, limit?: number): Promise<Uint8Array[]> {
    return keysIn(this.#caller, 'Z', range, limit)
  }

  async qcounts(key: Uint8Array): Promise<QueueCounts> {
    const names = (['d', 'l', 'w', 'x', 'r'] as const).map(kind => nameOf(kind, key))
    const reply = await this.#caller.read(names, countsScript(key))
    const [due, leased, waiting, dead, head] = reply as [number, number, number, number, Uint8Array | null]
    return { due, leased, waiting, dead, headEnqueued: head ? queueItem(head, head).enqueued : undefined }
  }

  async qlist(key: Uint8Array, state: QueueState, rows: Rows): Promise<ListedItem[]> {
    const listed = await allRows(this.#caller, nameOf(STATE_KINDS[state], key), rows, nameOf('r', key))
    return listed.map(({ member, score, record }) => {
      if (!record) throw new QuoinError('ERR_STORE_CORRUPT', 'a queue has an item without a record')
      return { ...queueItem(member, record), at: score }
    })
  }

  /** A command on one structure. */
  #one(kind: Kind, key: Uint8Array, command: string, rest: readonly Uint8Array[] = []): Promise<Reply> {
    const name = nameOf(kind, key)
    return this.#caller.read([name], [command, name, ...rest])
  }

  /** The same command on many structures. */
  async #each<T>(
    kind: Kind,
    keys: readonly Uint8Array[],
    command: string,
    read: (reply: Reply) => T
  ): Promise<T[]> {
    if (keys.length === 1) return [read(await this.#one(kind, keys[0]!, command))]
    const names = keys.map(key => nameOf(kind, key))
    return (await this.#caller.readAll(names, name => [command, name])).map(read)
  }

  async #scoresIn(key: Uint8Array, members: readonly Uint8Array[]): Promise<(number | undefined)[]> {
    const pages: Promise<Reply>[] = []
    for (let at = 0; at < members.length; at += SCORES_PAGE) {
      pages.push(this.#one('z', key, 'ZMSCORE', members.slice(at, at + SCORES_PAGE)))
    }
    return (await Promise.all(pages)).flatMap(page => (page as Reply[]).map(scoreOrNothing))
  }
}

const bytesOrNothing = (reply: Reply): Uint8Array | undefined =>
  reply === null ? undefined : (reply as Uint8Array)

const scoreOrNothing = (reply: Reply): number | undefined =>
  reply === null ? undefined : scoreFrom(reply as Uint8Array)

const fieldValues = (reply: Reply): FieldValue[] => {
  const flat = reply as Uint8Array[]
  const fields: FieldValue[] = []
  let isSorted = true
  for (let i = 0; i < flat.length; i += 2) {
    if (i > 0 && isSorted) isSorted = compareBytes(flat[i - 2]!, flat[i]!) < 0
    fields.push({ field: flat[i]!, value: flat[i + 1]! })
  }
  return isSorted ? fields : fields.sort((a, b) => compareBytes(a.field, b.field))
}
