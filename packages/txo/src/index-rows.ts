/**
 * The rows of sorted sets, derived from the states of outputs and the records of transactions. A commit writes the
 * difference between the rows before and after it, a rollback removes all rows, and a verification compares a store
 * with the derived rows.
 */
import { chain } from '@quoin/chain'
import { bytesKey, encodeText, memoize, type Outpoint, type Topic, type Txid } from '@quoin/primitives'
import type { Batch } from '@quoin/store'
import type { EventKeys } from './events.ts'
import { outputs } from './keys.ts'
import type { OutputState } from './output-state.ts'
import { scoreOf } from './position.ts'
import type { TransactionRecord } from './record.ts'

const { topicOutputs, topicTransactions, balances } = outputs.collections
const { log } = chain.collections
const PENDING = log.encode('pending')
const MINED = log.encode('mined')
const SATOSHIS = balances.encode('satoshis')
const OUTPUTS = balances.encode('outputs')

/** An output with the records that its rows depend on. */
export interface OutputView {
  readonly state: OutputState
  readonly record: TransactionRecord | undefined
  /** The record of its spender. */
  readonly spender: TransactionRecord | undefined
  /** Events given by the spender only. */
  readonly spentEvents: readonly string[]
}

interface Row {
  readonly key: Uint8Array
  readonly score: number
}
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

const outputRows = ({ state, record, spender, spentEvents }: OutputView, keys: Keys): Row[] => {
  const rows: Row[] = []
  if (record && state.isSaved) {
    const score = scoreOf(record)
    for (const event of state.events) {
      const { index, live } = keys(event)
      if (!(live && spender)) rows.push({ key: index, score })
    }
    for (const topic of state.topics) rows.push({ key: topicKeys(topic).outputs, score })
  }
  if (spender) {
    const score = scoreOf(spender)
    for (const events of [state.events, spentEvents]) {
      for (const event of events) {
        const { spent, live } = keys(event)
        if (!live) rows.push({ key: spent, score })
      }
    }
  }
  return rows
}

/** The keys of a topic, copied since the cache keeps them. */
const topicKeys = memoize(1000, (topic: Topic) => ({
  outputs: topicOutputs.encode(topic).slice(),
  transactions: topicTransactions.encode(topic).slice()
}))

const tally = (tallies: Tallies, { state, spender }: OutputView, keys: Keys, sign: 1 | -1): void => {
  if (spender || !state.isSaved) return
  for (const event of state.events) {
    if (!keys(event).balance) continue
    const sums = tallies.get(event) ?? { satoshis: 0, outputs: 0 }
    sums.satoshis += sign * Number(state.satoshis ?? 0n)
    sums.outputs += sign
    tallies.set(event, sums)
  }
}

export const writeTallies = (batch: Batch, tallies: Tallies): void => {
  for (const [event, { satoshis, outputs }] of tallies) {
    const member = encodeText(event)
    if (satoshis !== 0) batch.zcounter(SATOSHIS, member, satoshis)
    if (outputs !== 0) batch.zcounter(OUTPUTS, member, outputs)
  }
}

/** Writes the difference between two records of a transaction. */
export const writeTransactionRows = (
  batch: Batch,
  txid: Txid,
  before: TransactionRecord | undefined,
  after: TransactionRecord | undefined
): void => writeRows(batch, txid, transactionRows(before), transactionRows(after))

const transactionRows = (record: TransactionRecord | undefined): Row[] => {
  if (!record) return []
  const score = scoreOf(record)
  const rows: Row[] = [{ key: record.position ? MINED : PENDING, score }]
  for (const topic of record.topics) rows.push({ key: topicKeys(topic).transactions, score })
  return rows
}

/** Compares rows through a map: an output may have very many events. */
const writeRows = (batch: Batch, member: Uint8Array, before: readonly Row[], after: readonly Row[]): void => {
  const gone = new Map<string, Row>()
  for (const row of before) gone.set(bytesKey(row.key), row)
  for (const { key, score } of after) {
    const name = gone.size > 0 ? bytesKey(key) : ''
    if (gone.get(name)?.score !== score) batch.zadd(key, { member, score })
    gone.delete(name)
  }
  for (const { key } of gone.values()) batch.zrem(key, member)
}
