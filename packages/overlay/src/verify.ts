/**
 * Judgements of a store: each belongs to a transaction of the index, names topics that it was applied to, and admits
 * outputs that are in the topic or left it for a reason that is stored. Read in pages.
 */

import type { Finding } from '@quoin/chain'
import { bytesKey, chain, checkedTransaction, type Transaction, TransactionStore } from '@quoin/chain'
import {
  compareBytes,
  formatOutpoint,
  formatTxid,
  makeOutpoint,
  type Outpoint,
  prefixEnd,
  QuoinError,
  successor,
  type Topic,
  type Txid,
  voutOf
} from '@quoin/primitives'
import type { StoreReads } from '@quoin/store'
import {
  type OutputStore,
  outputFields,
  outputs,
  spendFields,
  type TransactionRecord,
  TxUpdate
} from '@quoin/txo'
import { admitOutputs } from './admission.ts'
import { type Judgement, type Judgements, overlay } from './keys.ts'
import type { AnyLookup } from './types.ts'

const { judgements, evictions, admitAgain, judgeAgain } = overlay.collections
const { spends, output } = outputs.collections
const { inputs: admittedInputs } = outputFields.collections
const { transaction: recordField } = spendFields.collections
const { log } = chain.collections
const SPENDS = spends.encode()
const PREFIX = new TextEncoder().encode('t:')
const PAGE = 500
/** Steps of a walk along spenders. */
const MOST_SPENDERS = 1000

/** A finding, and the change of the index that removes it, where the store has enough to make it. */
export interface JudgementFinding {
  readonly finding: Finding
  readonly mend?:
    | ((outputs: OutputStore, lookups: ReadonlyMap<string, AnyLookup>) => Promise<void>)
    | undefined
}

/** Outputs of a transaction that an operator evicted. */
export const evictedOutputs = async (reads: StoreReads, txid: Txid): Promise<ReadonlySet<number>> => {
  const prefix = evictions.encode(txid, 0).slice(0, -4)
  const rows = await reads.range(prefix)
  return new Set(rows.filter(({ key }) => evictions.owns(key)).map(({ key }) => evictions.decode(key)[1]))
}

export async function* verifyJudgements(
  reads: StoreReads,
  onJudgement?: () => void
): AsyncGenerator<JudgementFinding, void, undefined> {
  let keepsJudgements = false
  let start: Uint8Array = PREFIX
  for (;;) {
    const rows = await reads.range({ start, end: prefixEnd(PREFIX), reverse: false }, { limit: PAGE })
    for (const { key, value } of rows) {
      if (!judgements.owns(key)) continue
      keepsJudgements = true
      onJudgement?.()
      const [txid] = judgements.decode(key)
      yield* new Check(reads, txid).run(value)
    }
    if (rows.length < PAGE) break
    start = successor(rows.at(-1)!.key)
  }
  if (keepsJudgements) yield* missingJudgements(reads)
}

/** Transactions that were applied to topics without a judgement. */
async function* missingJudgements(reads: StoreReads): AsyncGenerator<JudgementFinding, void, undefined> {
  let cursor: Uint8Array | undefined
  do {
    const page = await reads.hscan(SPENDS, cursor, PAGE)
    cursor = page.cursor
    for (const { field, value } of page.fields) {
      if (field.length !== 32) continue
      const topics = decoded(() => recordField.value.codec.decode(value))?.topics ?? []
      const txid = field as Txid
      if (topics.length === 0 || (await reads.get(judgements.encode(txid)))) continue
      yield {
        finding: {
          kind: 'judgement-missing',
          subject: formatTxid(txid),
          found: `applied to ${topics.join(', ')}, without a judgement`,
          expected: 'a judgement by each topic',
          advice: `submit the transaction again to ${topics.join(', ')} (quoin submit): it is judged anew`
        }
      }
    }
  } while (cursor)
}

class Check {
  readonly #reads: StoreReads
  readonly #txid: Txid
  readonly #subject: string

  constructor(reads: StoreReads, txid: Txid) {
    this.#reads = reads
    this.#txid = txid
    this.#subject = formatTxid(txid)
  }

  async *run(value: Uint8Array): AsyncGenerator<JudgementFinding, void, undefined> {
    const judged = decoded(() => judgements.value.codec.decode(value))
    if (!judged || typeof judged !== 'object' || !Object.values(judged).every(isJudgement)) {
      yield this.#finding('judgement-damaged', 'bytes that are no judgements', 'judgements as JSON', {
        advice: 'submit the transaction again (quoin submit): it is judged anew',
        mend: outputs =>
          outputs.store
            .batch()
            .ifValue(judgements.encode(this.#txid), value)
            .del(judgements.encode(this.#txid))
            .commit()
      })
      return
    }
    const { transaction } = await checkedTransaction(this.#reads, this.#txid)
    const record = await this.#record()
    if (!record && !transaction) {
      yield this.#finding('judgement-orphan', 'a judgement', 'a transaction that is indexed', {
        mend: outputs =>
          outputs.store
            .batch()
            .ifField(SPENDS, this.#txid, undefined)
            .del(judgements.encode(this.#txid))
            .commit()
      })
      return
    }
    yield* this.#topics(judged, record, transaction)
    if (transaction) {
      yield* this.#spends(transaction)
      for (const [topic, judgement] of Object.entries(judged)) {
        yield* this.#outputs(topic as Topic, judgement, transaction)
      }
    }
  }

  *#topics(judged: Judgements, record: TransactionRecord | undefined, transaction: Transaction | undefined) {
    const topics = Object.keys(judged) as Topic[]
    const missing = topics.filter(topic => !record?.topics.includes(topic))
    if (missing.length === 0) return
    const [kind, found] = record
      ? (['judgement-topic', `a record that names ${record.topics.join(', ') || 'no topic'}`] as const)
      : (['judgement-orphan', 'no record of the transaction'] as const)
    yield this.#finding(kind, found, `a record that names ${missing.join(', ')}`, {
      mend: async outputs => {
        const position = await outputs.transactions.proof(this.#txid)
        const index = position?.offsetOf(this.#txid)
        const seen = await outputs.store.use(log).at('pending').score(this.#txid)
        const change = new TxUpdate(this.#txid, {
          seen,
          vouts: transaction?.outputs.length ?? record?.vouts ?? 0,
          ...(position &&
            index !== undefined && { position: { height: position.height, index: BigInt(index) } })
        })
        for (const topic of missing) change.markApplied(topic)
        await outputs.commit(change)
      }
    })
  }

  /** A submission spends all its inputs. */
  async *#spends(transaction: Transaction): AsyncGenerator<JudgementFinding, void, undefined> {
    if (transaction.isCoinbase) return
    const outpoints = transaction.inputs.map(({ txid, vout }) => makeOutpoint(txid, vout))
    const spenders = await this.#reads.hmget(SPENDS, outpoints)
    for (const [i, outpoint] of outpoints.entries()) {
      const spender = spenders[i]
      if (spender && compareBytes(spender, this.#txid) === 0) continue
      yield {
        finding: {
          kind: 'spend-missing',
          subject: formatOutpoint(outpoint),
          found: spender ? `spent by ${formatTxid(spender as Txid)}` : 'unspent',
          expected: `spent by ${this.#subject}`
        },
        mend: spender
          ? undefined
          : async outputs => {
              await outputs.commit(new TxUpdate(this.#txid).spend(outpoint))
            }
      }
    }
  }

  async *#outputs(
    topic: Topic,
    judgement: Judgement,
    transaction: Transaction
  ): AsyncGenerator<JudgementFinding, void, undefined> {
    const vouts = [...transaction.outputs.keys()]
    const outpoints = vouts.map(vout => makeOutpoint(this.#txid, vout))
    const hashes = await this.#reads.mhgetall(vouts.map(vout => output.encode(this.#txid, vout)))
    const field = admittedInputs.encode(topic)
    for (const [i, vout] of vouts.entries()) {
      const isIn = hashes[i]!.some(each => compareBytes(each.field, field) === 0)
      const isAdmitted = judgement.outputsToAdmit.includes(vout)
      const subject = formatOutpoint(outpoints[i]!)
      if (isAdmitted && !isIn && !(await this.#hasLeft(topic, outpoints[i]!))) {
        yield {
          finding: {
            kind: 'judgement-output',
            subject,
            found: `not in ${topic}: neither evicted nor removed with a coin`,
            expected: `in ${topic}, whose judgement admits it`
          },
          mend: (outputs, lookups) => this.#admit(outputs, lookups, { topic, vout, judgement, transaction })
        }
      } else if (!isAdmitted && isIn) {
        yield {
          finding: {
            kind: 'judgement-unadmitted',
            subject,
            found: `in ${topic}`,
            expected: `not in ${topic}, whose judgement does not admit it`
          },
          mend: async outputs => {
            await outputs.commit(new TxUpdate(this.#txid).removeFromTopic(topic, vout))
          }
        }
      }
    }
  }

  async #admit(
    outputs: OutputStore,
    lookups: ReadonlyMap<string, AnyLookup>,
    {
      topic,
      vout,
      judgement,
      transaction
    }: {
      readonly topic: Topic
      readonly vout: number
      readonly judgement: Judgement
      readonly transaction: Transaction
    }
  ): Promise<void> {
    const change = new TxUpdate(this.#txid, { vouts: transaction.outputs.length })
    const inputs = judgement.coinsToRetain.flatMap(input => {
      const spent = transaction.inputs[input]
      return spent ? [makeOutpoint(spent.txid, spent.vout)] : []
    })
    await admitOutputs(change, {
      lookups,
      transaction,
      topic,
      vouts: [vout],
      inputs,
      offChainValues: undefined
    })
    await outputs.commit(change)
  }

  /** Whether an output left the topic for a reason that is stored, or is about to come back. */
  async #hasLeft(topic: Topic, outpoint: Outpoint): Promise<boolean> {
    if ((await this.#reads.use(evictions).get(this.#txid, voutOf(outpoint))) !== undefined) return true
    if (await this.#isWaiting(outpoint)) return true
    const text = formatOutpoint(outpoint)
    const seen = new Set<string>()
    const waiting = [outpoint]
    // Removed by its spender, or with a coin whose history it was: by a spender of that.
    for (let next = waiting.pop(); next && seen.size < MOST_SPENDERS; next = waiting.pop()) {
      const spender = (await this.#reads.hget(SPENDS, next)) as Txid | undefined
      if (!spender || seen.has(bytesKey(spender))) continue
      seen.add(bytesKey(spender))
      const judgement = (await this.#judgements(spender))?.[topic]
      if (!judgement) continue
      const coin = await this.#inputOf(spender, next)
      if (judgement.forgotten?.includes(text)) return true
      if (next === outpoint && coin !== undefined && judgement.coinsRemoved.includes(coin)) return true
      waiting.push(...judgement.outputsToAdmit.map(vout => makeOutpoint(spender, vout)))
    }
    return false
  }

  async #inputOf(spender: Txid, outpoint: Outpoint): Promise<number | undefined> {
    const transaction = await new TransactionStore(this.#reads).get(spender)
    const input = transaction?.inputs.findIndex(
      ({ txid, vout }) => compareBytes(makeOutpoint(txid, vout), outpoint) === 0
    )
    return input === -1 ? undefined : input
  }

  /** Queued to be judged or admitted again: the node has yet to settle it. */
  async #isWaiting(outpoint: Outpoint): Promise<boolean> {
    return (
      (await isQueued(this.#reads, admitAgain.encode(), outpoint)) ||
      (await isQueued(this.#reads, judgeAgain.encode(), this.#txid))
    )
  }

  async #judgements(txid: Txid): Promise<Judgements | undefined> {
    const value = await this.#reads.get(judgements.encode(txid))
    return value && decoded(() => judgements.value.codec.decode(value))
  }

  async #record(): Promise<TransactionRecord | undefined> {
    const value = await this.#reads.hget(SPENDS, this.#txid)
    return value && decoded(() => recordField.value.codec.decode(value))
  }

  #finding(
    kind: Finding['kind'],
    found: string,
    expected: string,
    { advice, mend }: { advice?: string; mend?: JudgementFinding['mend'] }
  ): JudgementFinding {
    return {
      finding: { kind, subject: this.#subject, found, expected, ...(advice && { advice }) },
      mend
    }
  }
}

/** Whether a queue has an item, in any state. */
const isQueued = async (reads: StoreReads, queue: Uint8Array, item: Uint8Array): Promise<boolean> => {
  for (const state of ['due', 'leased', 'waiting', 'dead'] as const) {
    const items = await reads.unchecked.qlist(queue, state, { count: PAGE })
    if (items.some(each => compareBytes(each.item, item) === 0)) return true
  }
  return false
}

const isJudgement = (value: unknown): value is Judgement => {
  const { outputsToAdmit, coinsToRetain, coinsRemoved } = (value ?? {}) as Partial<Judgement>
  return [outputsToAdmit, coinsToRetain, coinsRemoved].every(each => Array.isArray(each))
}

const decoded = <T>(decode: () => T): T | undefined => {
  try {
    return decode()
  } catch (error) {
    if (error instanceof QuoinError || error instanceof SyntaxError) return undefined
    throw error
  }
}
