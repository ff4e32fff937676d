/** An engine under test with latin-1 text for bytes: its answers can be compared and printed as plain data. */
import assert from 'node:assert/strict'
import type { KeyRange } from '@quoin/keyspace'
import { prefixEnd, QuoinError } from '@quoin/primitives'
import type { Engine, QueueItem, QueueState } from '@quoin/store'
import type { OperationResult, Place, QueueCounts, Reads, Rows } from '@quoin/store/engine'
import { type BatchStep, batchOf, bytes } from './steps.ts'

export type Pair<T> = readonly [name: string, value: T]

/** A place in a sorted set: a score, or a score and a member. */
export interface TextPlace {
  readonly score: number
  readonly member?: string
  readonly exclusive?: boolean
}
export interface TextRows {
  readonly min?: TextPlace
  readonly max?: TextPlace
  readonly reverse?: boolean
  readonly offset?: number
  readonly count?: number
}
export interface TextItem {
  readonly item: string
  readonly score: number
  readonly enqueued: number
  readonly attempts: number
  readonly errorClass: string
  readonly reason: string
}
export interface TextListedItem extends TextItem {
  readonly at: number
}

/** Everything a store can be asked for without being changed. */
export class TextReads {
  readonly #reads: Reads

  constructor(reads: Reads) {
    this.#reads = reads
  }

  async get(key: string): Promise<string | undefined> {
    return text(await this.#reads.get(bytes(key)))
  }

  async mget(keys: readonly string[]): Promise<(string | undefined)[]> {
    return (await this.#reads.mget(keys.map(bytes))).map(text)
  }

  async range(range: KeyRange, limit?: number): Promise<Pair<string>[]> {
    return (await this.#reads.range(range, limit)).map(({ key, value }) => [text(key), text(value)])
  }

  async hget(key: string, field: string): Promise<string | undefined> {
    return text(await this.#reads.hget(bytes(key), bytes(field)))
  }

  async hmget(key: string, fields: readonly string[]): Promise<(string | undefined)[]> {
    return (await this.#reads.hmget(bytes(key), fields.map(bytes))).map(text)
  }

  async hgetall(key: string): Promise<Pair<string>[]> {
    return (await this.#reads.hgetall(bytes(key))).map(({ field, value }) => [text(field), text(value)])
  }

  /** The fields of all pages, in the order of their bytes. */
  async hscan(key: string, count: number): Promise<Pair<string>[]> {
    const found = new Map<string, string>()
    let cursor: Uint8Array | undefined
    do {
      const page = await this.#reads.hscan(bytes(key), cursor, count)
      for (const { field, value } of page.fields) found.set(text(field), text(value))
      cursor = page.cursor
    } while (cursor)
    return [...found].sort(([a], [b]) => (a < b ? -1 : 1))
  }

  async mhgetall(keys: readonly string[]): Promise<Pair<string>[][]> {
    const hashes = await this.#reads.mhgetall(keys.map(bytes))
    return hashes.map(fields => fields.map(({ field, value }) => [text(field), text(value)]))
  }

  async mhexists(keys: readonly string[]): Promise<boolean[]> {
    return this.#reads.mhexists(keys.map(bytes))
  }

  async hrange(range: KeyRange, limit?: number): Promise<Pair<Pair<string>[]>[]> {
    return (await this.#reads.hrange(range, limit)).map(({ key, fields }) => [
      text(key),
      fields.map(({ field, value }): Pair<string> => [text(field), text(value)])
    ])
  }

  async sismember(key: string, member: string): Promise<boolean> {
    return this.#reads.sismember(bytes(key), bytes(member))
  }

  async smembers(key: string): Promise<string[]> {
    return (await this.#reads.smembers(bytes(key))).map(member => text(member))
  }

  async zscore(key: string, member: string): Promise<number | undefined> {
    return this.#reads.zscore(bytes(key), bytes(member))
  }

  async zscores(keys: readonly string[], members: readonly string[]): Promise<(number | undefined)[][]> {
    const scores = await this.#reads.zscores(keys.map(bytes), members.map(bytes))
    return scores.map(ofMember => [...ofMember])
  }

  async zcard(key: string): Promise<number> {
    return this.#reads.zcard(bytes(key))
  }

  async zrows(key: string, rows: TextRows = {}): Promise<Pair<number>[]> {
    return (await this.#reads.zrows(bytes(key), rowsOf(rows))).map(({ member, score }) => [
      text(member),
      score
    ])
  }

  async zsum(key: string): Promise<number> {
    return this.#reads.zsum(bytes(key))
  }

  /** Under a prefix, or in a range. */
  async zkeys(keys: string | KeyRange, limit?: number): Promise<string[]> {
    const range = typeof keys === 'string' ? under(keys) : keys
    return (await this.#reads.zkeys(range, limit)).map(key => text(key))
  }

  async qcounts(key: string): Promise<QueueCounts> {
    const { due, leased, waiting, dead, headEnqueued } = await this.#reads.qcounts(bytes(key))
    return { due, leased, waiting, dead, headEnqueued }
  }

  async qlist(key: string, state: QueueState, rows: TextRows = {}): Promise<TextListedItem[]> {
    const items = await this.#reads.qlist(bytes(key), state, rowsOf(rows))
    return items.map(item => ({ ...itemOf(item), at: item.at }))
  }
}

export class Subject extends TextReads {
  readonly engine: Engine

  constructor(engine: Engine) {
    super(engine.reads)
    this.engine = engine
  }

  async commit(...steps: BatchStep[]): Promise<(number | TextItem[])[]> {
    const answers = await this.engine.commit(batchOf(steps))
    if (steps.some(({ name }) => name === 'appendDeferred')) await this.engine.deferred?.settled()
    return answers.map(answerOf)
  }

  /** The items that one `lease` gives. */
  async leased(lease: BatchStep): Promise<TextItem[]> {
    const [items] = await this.commit(lease)
    return items as TextItem[]
  }

  snapshot<T>(read: (reads: TextReads) => Promise<T>): Promise<T> {
    return this.engine.snapshot(reads => read(new TextReads(reads)))
  }
}

/** All keys. */
export const EVERYTHING: KeyRange = { start: new Uint8Array(), end: null, reverse: false }

export const between = (start: string, end: string | null, reverse = false): KeyRange => ({
  start: bytes(start),
  end: end === null ? null : bytes(end),
  reverse
})

export const under = (prefix: string, reverse = false): KeyRange => ({
  start: bytes(prefix),
  end: prefixEnd(bytes(prefix)),
  reverse
})

/** The batch or call is refused with the code, by the check of that index if one is given. */
export const refused = async (
  attempt: () => unknown,
  code: QuoinError['code'],
  check?: number
): Promise<void> => {
  const error = await failureOf(attempt)
  assert.ok(error instanceof QuoinError, `expected ${code}, not ${String(error)}`)
  assert.equal(error.code, code)
  if (check !== undefined) assert.equal(error.details['check'], check)
}

/** The error of a call; undefined when it succeeds. */
export const failureOf = async (attempt: () => unknown): Promise<unknown> => {
  try {
    await attempt()
    return undefined
  } catch (error) {
    return error
  }
}

export const answerOf = (answer: OperationResult): number | TextItem[] =>
  typeof answer === 'number' ? answer : answer.map(itemOf)

const itemOf = ({ item, score, enqueued, attempts, errorClass, reason }: QueueItem): TextItem => ({
  item: text(item),
  score,
  enqueued,
  attempts,
  errorClass,
  reason
})

const placeOf = ({ score, member, exclusive }: TextPlace): Place => ({
  score,
  member: member === undefined ? undefined : bytes(member),
  exclusive
})

const rowsOf = ({ min, max, ...rest }: TextRows): Rows => ({
  ...rest,
  min: min && placeOf(min),
  max: max && placeOf(max)
})

function text(value: Uint8Array): string
function text(value: Uint8Array | undefined): string | undefined
function text(value: Uint8Array | undefined): string | undefined {
  if (value === undefined) return undefined
  assert.ok(value instanceof Uint8Array, `expected bytes, not ${typeof value}`)
  return Buffer.from(value.buffer, value.byteOffset, value.length).toString('latin1')
}
