/**
 * The rows of sorted sets that follow from what is known of an output and of a transaction. This is the whole of the
 * index: a commit writes the difference between the rows before and after it, a rollback is a commit after which
 * nothing is known, and a store is right when its rows are these.
 */
import { chain } from '../chain/index.ts'
import type { Outpoint, Topic, Txid } from '../keyspace/index.ts'
import type { Batch } from '../store/index.ts'
import type { EventKeys } from './events.ts'
import { outputs } from './keys.ts'
import { eventsOf, isSaved, type OutputState, topicsOf } from './output-state.ts'
import { scoreOf } from './position.ts'
import type { TransactionRecord } from './record.ts'

const { topicOutputs, topicTransactions, merkle, balances } = outputs.collections
const { log } = chain.collections
const PENDING = log.encode('pending')
const MINED = log.encode('mined')
const SATOSHIS = balances.encode('satoshis')
const OUTPUTS = balances.encode('outputs')

/** States of proofs, in the keys of `merkle`. */
const UNMINED = 0n
const VALIDATED = 1n

/** An output with all that its rows depend on. */
export interface OutputView {
  readonly state: OutputState
  readonly record: TransactionRecord | undefined
  /** The record of the transaction that spends it. */
  readonly spender: TransactionRecord | undefined
  /** Events that only the spender told. */
  readonly spentEvents: readonly string[]
}

interface Row {
  readonly key: Uint8Array
  readonly score: number
}
/** By a name for the key. */
type Rows = Map<string, Row>
/** Satoshis and outputs, by event. */
export type Tallies = Map<string, { satoshis: number; outputs: number }>

type Keys = (event: string) => EventKeys

/** Writes the difference between two views of an output, and adds the difference in balances to the tallies. */
export const writeOutputRows = (
  batch: Batch,
  outpoint: Outpoint,
  before: OutputView,
  after: OutputView,
  keys: Keys,
  tallies: Tallies
): void => {
  writeRows(batch, outpoint, outputRows(before, keys), outputRows(after, keys))
  tally(tallies, before, keys, -1)
  tally(tallies, after, keys, 1)
}

const outputRows = ({ state, record, spender, spentEvents }: OutputView, keys: Keys): Rows => {
  const rows: Rows = new Map()
  const events = eventsOf(state)
  if (record && isSaved(state)) {
    const score = scoreOf(record)
    for (const event of events) {
      const { index, live } = keys(event)
      if (!(live && spender)) rows.set(event, { key: index, score })
    }
    for (const topic of topicsOf(state)) {
      rows.set(`\0tp:${topic}`, { key: topicOutputs.encode(topic), score })
      rows.set(`\0merkle:${topic}`, {
        key: merkle.encode(topic, record.position ? VALIDATED : UNMINED),
        score
      })
    }
  }
  if (spender) {
    const score = scoreOf(spender)
    for (const event of [...events, ...spentEvents]) {
      const { spent, live } = keys(event)
      if (!live) rows.set(`\0spent:${event}`, { key: spent, score })
    }
  }
  return rows
}

const tally = (tallies: Tallies, { state, spender }: OutputView, keys: Keys, sign: 1 | -1): void => {
  if (spender || !isSaved(state)) return
  for (const event of eventsOf(state)) {
    if (!keys(event).balance) continue
    const sums = tallies.get(event) ?? { satoshis: 0, outputs: 0 }
    sums.satoshis += sign * Number(state.satoshis ?? 0n)
    sums.outputs += sign
    tallies.set(event, sums)
  }
}

export const writeTallies = (batch: Batch, tallies: Tallies): void => {
  for (const [event, { satoshis, outputs }] of tallies) {
    const member = new TextEncoder().encode(event)
    if (satoshis !== 0) batch.ztally(SATOSHIS, member, satoshis)
    if (outputs !== 0) batch.ztally(OUTPUTS, member, outputs)
  }
}

/** Writes the difference between two records of a transaction. */
export const writeTransactionRows = (
  batch: Batch,
  txid: Txid,
  before: TransactionRecord | undefined,
  after: TransactionRecord | undefined
): void => writeRows(batch, txid, transactionRows(before), transactionRows(after))

const transactionRows = (record: TransactionRecord | undefined): Rows => {
  const rows: Rows = new Map()
  if (!record) return rows
  const score = scoreOf(record)
  const set = (name: string, key: Uint8Array): unknown => rows.set(name, { key, score })
  if (record.position) set('mined', MINED)
  else set('pending', PENDING)
  for (const topic of record.topics) set(`tp:${topic}`, topicTransactions.encode(topic as Topic))
  return rows
}

const writeRows = (batch: Batch, member: Uint8Array, before: Rows, after: Rows): void => {
  for (const [name, row] of before) {
    const other = after.get(name)
    if (!other || !sameKey(row.key, other.key)) batch.zrem(row.key, member)
  }
  for (const [name, { key, score }] of after) {
    const other = before.get(name)
    if (!other || other.score !== score || !sameKey(key, other.key)) batch.zadd(key, { member, score })
  }
}

const sameKey = (a: Uint8Array, b: Uint8Array): boolean => a === b || Buffer.compare(a, b) === 0
