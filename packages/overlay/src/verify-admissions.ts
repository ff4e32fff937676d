/**
 * Verification of stored admissions: each belongs to an indexed transaction, names topics that are in its record, and
 * admits outputs that are in the topic or left it for a stored reason.
 */

import type { Finding } from '@quoin/chain'
import { chain, checkedTransaction, type Transaction, TransactionStore } from '@quoin/chain'
import {
  bytesKey,
  equalBytes,
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
import { type AdmittedOutputs, admitOutputs, previousCoins } from './admissions.ts'
import {
  type Admission,
  type Admissions,
  admissions,
  evictions,
  readmissionQueue,
  reevaluationQueue
} from './keys.ts'
import { spentBy } from './submission.ts'
import type { AnyLookup } from './types.ts'

const { spends, output } = outputs.collections
const { inputs: admittedInputs } = outputFields.collections
const { transaction: recordField } = spendFields.collections
const { log } = chain.collections
const SPENDS = spends.encode()
const PREFIX = new TextEncoder().encode('t:')
const PAGE = 500
/** Spenders visited in search of the reason of a removal. */
const MAX_SPENDERS = 1000

/** A finding, with the update of the index that repairs it if the store has the data for that. */
export interface AdmissionFinding {
  readonly finding: Finding
  readonly mend?:
    | ((outputs: OutputStore, lookups: ReadonlyMap<string, AnyLookup>) => Promise<void>)
    | undefined
}

/** Reads all admissions of a store, page by page. */
export async function* verifyAdmissions(
  reads: StoreReads,
  onAdmissions?: () => void
): AsyncGenerator<AdmissionFinding, void, undefined> {
  let keepsAdmissions = false
  let start: Uint8Array = PREFIX
  for (;;) {
    const rows = await reads.range({ start, end: prefixEnd(PREFIX), reverse: false }, { limit: PAGE })
    for (const { key, value } of rows) {
      if (!admissions.owns(key)) continue
      keepsAdmissions = true
      onAdmissions?.()
      const [txid] = admissions.decode(key)
      yield* new Check(reads, txid).run(value)
    }
    if (rows.length < PAGE) break
    start = successor(rows.at(-1)!.key)
  }
  if (keepsAdmissions) yield* missingAdmissions(reads)
}

/** Transactions whose records name topics, without an admission. */
async function* missingAdmissions(reads: StoreReads): AsyncGenerator<AdmissionFinding, void, undefined> {
  let cursor: Uint8Array | undefined
  do {
    const page = await reads.hscan(SPENDS, cursor, PAGE)
    cursor = page.cursor
    for (const { field, value } of page.fields) {
      if (field.length !== 32) continue
      const topics = decoded(() => recordField.value.codec.decode(value))?.topics ?? []
      const txid = field as Txid
      if (topics.length === 0 || (await reads.get(admissions.encode(txid)))) continue
      yield {
        finding: {
          kind: 'admission-missing',
          subject: formatTxid(txid),
          found: `applied to ${topics.join(', ')}, without an admission`,
          expected: 'an admission by each topic',
          advice: `submit the transaction again to ${topics.join(', ')} (quoin submit): it is evaluated again`
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

  async *run(value: Uint8Array): AsyncGenerator<AdmissionFinding, void, undefined> {
    const stored = decoded(() => admissions.value.codec.decode(value))
    if (!stored || typeof stored !== 'object' || !Object.values(stored).every(isAdmission)) {
      yield this.#finding('admission-damaged', 'bytes that do not decode', 'admissions as JSON', {
        advice: 'submit the transaction again (quoin submit): it is evaluated again',
        mend: outputs =>
          outputs.store
            .batch()
            .ifValue(admissions.encode(this.#txid), value)
            .del(admissions.encode(this.#txid))
            .commit()
      })
      return
    }
    const { transaction } = await checkedTransaction(this.#reads, this.#txid)
    const record = await this.#record()
    if (!record && !transaction) {
      yield this.#finding('admission-orphan', 'an admission', 'a transaction that is indexed', {
        mend: outputs =>
          outputs.store
            .batch()
            .ifField(SPENDS, this.#txid, undefined)
            .del(admissions.encode(this.#txid))
            .commit()
      })
      return
    }
    yield* this.#topics(stored, record, transaction)
    if (transaction) {
      yield* this.#spends(transaction)
      for (const [topic, admission] of Object.entries(stored)) {
        yield* this.#outputs(topic as Topic, admission, transaction)
      }
    }
  }

  *#topics(stored: Admissions, record: TransactionRecord | undefined, transaction: Transaction | undefined) {
    const topics = Object.keys(stored) as Topic[]
    const missing = topics.filter(topic => !record?.topics.includes(topic))
    if (missing.length === 0) return
    const [kind, found] = record
      ? (['admission-topic', `a record that names ${record.topics.join(', ') || 'no topic'}`] as const)
      : (['admission-orphan', 'no record of the transaction'] as const)
    yield this.#finding(kind, found, `a record that names ${missing.join(', ')}`, {
      mend: async outputs => {
        const position = await outputs.transactions.proof(this.#txid)
        const index = position?.offsetOf(this.#txid)
        const seen = await outputs.store.use(log).at('pending').score(this.#txid)
        const update = new TxUpdate(this.#txid, {
          seen,
          vouts: transaction?.outputs.length ?? record?.vouts ?? 0,
          ...(position &&
            index !== undefined && { position: { height: position.height, index: BigInt(index) } })
        })
        for (const topic of missing) update.markApplied(topic)
        await outputs.commit(update)
      }
    })
  }

  /** A submitted transaction spends all its inputs. */
  async *#spends(transaction: Transaction): AsyncGenerator<AdmissionFinding, void, undefined> {
    if (transaction.isCoinbase) return
    const outpoints = transaction.inputs.map(({ txid, vout }) => makeOutpoint(txid, vout))
    const spenders = await this.#reads.hmget(SPENDS, outpoints)
    for (const [i, outpoint] of outpoints.entries()) {
      const spender = spenders[i]
      if (spender && equalBytes(spender, this.#txid)) continue
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
    admission: Admission,
    transaction: Transaction
  ): AsyncGenerator<AdmissionFinding, void, undefined> {
    const vouts = [...transaction.outputs.keys()]
    const outpoints = vouts.map(vout => makeOutpoint(this.#txid, vout))
    const hashes = await this.#reads.mhgetall(vouts.map(vout => output.encode(this.#txid, vout)))
    const field = admittedInputs.encode(topic)
    for (const [i, vout] of vouts.entries()) {
      const isIn = hashes[i]!.some(each => equalBytes(each.field, field))
      const isAdmitted = admission.outputsToAdmit.includes(vout)
      const subject = formatOutpoint(outpoints[i]!)
      if (isAdmitted && !isIn && !(await this.#hasLeft(topic, outpoints[i]!))) {
        yield {
          finding: {
            kind: 'admission-output',
            subject,
            found: `not in ${topic}: neither evicted nor removed with a coin`,
            expected: `in ${topic}, whose admission admits it`
          },
          mend: (outputs, lookups) =>
            this.#admit(outputs, lookups, { transaction, topic, vouts: [vout] }, admission)
        }
      } else if (!isAdmitted && isIn) {
        yield {
          finding: {
            kind: 'admission-unadmitted',
            subject,
            found: `in ${topic}`,
            expected: `not in ${topic}, whose admission does not admit it`
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
    admitted: Omit<AdmittedOutputs, 'inputs' | 'previousCoins'>,
    { coinsToRetain }: Admission
  ): Promise<void> {
    const { transaction, topic } = admitted
    const update = new TxUpdate(this.#txid, { vouts: transaction.outputs.length })
    const inputs = spentBy(
      transaction,
      coinsToRetain.filter(input => input < transaction.inputs.length)
    )
    const coins = await previousCoins(outputs, transaction, [topic])
    await admitOutputs(update, lookups, { ...admitted, inputs, previousCoins: coins.get(topic)! })
    await outputs.commit(update)
  }

  /** Whether an output left the topic for a stored reason, or is queued to return. */
  async #hasLeft(topic: Topic, outpoint: Outpoint): Promise<boolean> {
    if ((await this.#reads.use(evictions).get(this.#txid, voutOf(outpoint))) !== undefined) return true
    if (await this.#isQueued(outpoint)) return true
    const text = formatOutpoint(outpoint)
    const visited = new Set<string>()
    const open = [outpoint]
    // Its spender removed it, or a descendant removed a coin that kept it as history.
    for (let next = open.pop(); next && visited.size < MAX_SPENDERS; next = open.pop()) {
      const spender = (await this.#reads.hget(SPENDS, next)) as Txid | undefined
      if (!spender || visited.has(bytesKey(spender))) continue
      visited.add(bytesKey(spender))
      const admission = (await this.#admissionsOf(spender))?.[topic]
      if (!admission) continue
      const coin = await this.#inputOf(spender, next)
      if (admission.forgotten?.includes(text)) return true
      if (next === outpoint && coin !== undefined && admission.coinsRemoved.includes(coin)) return true
      open.push(...admission.outputsToAdmit.map(vout => makeOutpoint(spender, vout)))
    }
    return false
  }

  async #inputOf(spender: Txid, outpoint: Outpoint): Promise<number | undefined> {
    const transaction = await new TransactionStore(this.#reads).get(spender)
    const input = transaction?.inputs.findIndex(({ txid, vout }) =>
      equalBytes(makeOutpoint(txid, vout), outpoint)
    )
    return input === -1 ? undefined : input
  }

  /** Whether a re-evaluation or readmission is pending. */
  async #isQueued(outpoint: Outpoint): Promise<boolean> {
    return (
      (await isQueued(this.#reads, readmissionQueue.encode(), outpoint)) ||
      (await isQueued(this.#reads, reevaluationQueue.encode(), this.#txid))
    )
  }

  async #admissionsOf(txid: Txid): Promise<Admissions | undefined> {
    const value = await this.#reads.get(admissions.encode(txid))
    return value && decoded(() => admissions.value.codec.decode(value))
  }

  async #record(): Promise<TransactionRecord | undefined> {
    const value = await this.#reads.hget(SPENDS, this.#txid)
    return value && decoded(() => recordField.value.codec.decode(value))
  }

  #finding(
    kind: Finding['kind'],
    found: string,
    expected: string,
    { advice, mend }: { advice?: string; mend?: AdmissionFinding['mend'] }
  ): AdmissionFinding {
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
    if (items.some(each => equalBytes(each.item, item))) return true
  }
  return false
}

const isAdmission = (value: unknown): value is Admission => {
  const { outputsToAdmit, coinsToRetain, coinsRemoved } = (value ?? {}) as Partial<Admission>
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
