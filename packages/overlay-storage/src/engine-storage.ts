/**
 * The `Storage` interface of `@bsv/overlay` on an output store: its engine runs on Quoin unchanged. Faults of the
 * engine's own storage are not copied: a deletion affects one topic, an output is spent once and in all topics, every
 * write is idempotent, and a proof rescores all outputs of its transaction.
 *
 * @example
 * import { Engine } from '@bsv/overlay'
 * import { openStore } from '@quoin/store'
 * import { OutputStore } from '@quoin/txo'
 * const storage = new EngineStorage(new OutputStore(await openStore('memory:')))
 * const engine = new Engine({}, {}, storage, 'scripts only')
 * await engine.listTopicManagers() // {}
 */
import { Beef } from '@quoin/chain'
import {
  formatTxid,
  hasCode,
  makeOutpoint,
  type Outpoint,
  parseTxid,
  QuoinError,
  type Topic,
  type Txid
} from '@quoin/primitives'
import { MAX_LIMIT } from '@quoin/store'
import { type OutputStore, outputs as outputKeys, progressFields, TxUpdate } from '@quoin/txo'
import { GroupCommit } from './group-commit.ts'
import {
  type EngineOutpoint,
  type EngineOutput,
  engineRows,
  isAdmitted,
  type StoredOutput,
  storedOutputs,
  transactionOutputs
} from './output-rows.ts'
import {
  commitWrites,
  type EngineWrite,
  provenPosition,
  type VerifiedTransaction,
  verifiedTransactions
} from './storage-writes.ts'

export interface AppliedTransaction {
  txid: string
  topic: string
}

const { progress, topicOutputs } = outputKeys.collections
const { peer } = progressFields.collections
/** Unix times: in seconds they are smaller until the year 5138, in milliseconds they are greater since 1973. */
const MIN_MILLISECONDS = 1e11

export class EngineStorage {
  readonly #outputs: OutputStore
  readonly #commits: GroupCommit<EngineWrite>

  constructor(outputs: OutputStore) {
    this.#outputs = outputs
    this.#commits = new GroupCommit(writes => commitWrites(outputs, writes))
  }

  /**
   * Admits an output to a topic, with its transaction and its ancestry. An output that is in the topic stays unchanged.
   * Refused with `ERR_TXO_CONFLICT` when the transaction spends an output that another transaction spends.
   */
  async insertOutput(output: EngineOutput): Promise<void> {
    const topic = output.topic as Topic
    const txid = parseTxid(output.txid)
    const seen = secondsOf(output.score)
    const outpoint = makeOutpoint(txid, output.outputIndex)
    const [[subject, ...ancestors], [known]] = await Promise.all([
      output.beef
        ? verifiedTransactions(this.#outputs, parseBeef(output.beef), txid, seen)
        : this.#storedTransaction(txid),
      storedOutputs(this.#outputs, [outpoint])
    ])
    const { transaction } = subject
    const satoshis = transaction.outputs[output.outputIndex]?.satoshis
    if (satoshis === undefined) {
      throw new QuoinError(
        'ERR_KEY_VALUE',
        `output index out of range: ${output.outputIndex} of ${transaction.outputCount} outputs`,
        {
          txid: output.txid,
          outputIndex: output.outputIndex
        }
      )
    }
    const update = new TxUpdate(txid, { seen })
    if (!known || !isAdmitted(known, topic)) {
      const inputs = output.outputsConsumed.map(each => makeOutpoint(parseTxid(each.txid), each.outputIndex))
      update.output(output.outputIndex, { satoshis }).admit(topic, output.outputIndex, { inputs })
      if (output.spent) update.markSpent(topic, output.outputIndex)
    }
    await this.#commits.add({
      updates: [update],
      transactions: [{ ...subject, savesSpends: true }, ...ancestors]
    })
  }

  async #storedTransaction(txid: Txid): Promise<[VerifiedTransaction]> {
    const { transactions } = this.#outputs
    const [transaction, bump] = await Promise.all([transactions.get(txid), transactions.proof(txid)])
    if (transaction) return [{ txid, transaction, bump, seen: undefined, savesSpends: true }]
    throw new QuoinError('ERR_TX_UNKNOWN', 'the transaction is not stored: insert its output with a BEEF', {
      txid: formatTxid(txid)
    })
  }

  /** Spent or not unless `spent` is given. Without a topic, the row of any topic that admitted the output. */
  async findOutput(
    txid: string,
    outputIndex: number,
    topic?: string,
    spent?: boolean,
    includeBEEF = false
  ): Promise<EngineOutput | null> {
    const outpoint = outpointOf({ txid, outputIndex })
    const [found] = outpoint ? await storedOutputs(this.#outputs, [outpoint]) : []
    const rows = found ? await engineRows(this.#outputs, [found], { topic, includeBEEF }) : []
    return rows.find(row => spent === undefined || row.spent === spent) ?? null
  }

  /** The rows of all topics. */
  async findOutputsByOutpoints(
    outpoints: readonly EngineOutpoint[],
    includeBEEF = false
  ): Promise<EngineOutput[]> {
    const known = outpoints.map(outpointOf).filter(each => each !== undefined)
    const found = await storedOutputs(this.#outputs, known)
    return engineRows(this.#outputs, found.filter(isDefined), { includeBEEF })
  }

  /** The rows of all topics. */
  async findOutputsForTransaction(txid: string, includeBEEF = false): Promise<EngineOutput[]> {
    if (!isTxid(txid)) return []
    const found = await transactionOutputs(this.#outputs, parseTxid(txid))
    return engineRows(this.#outputs, found, { includeBEEF })
  }

  /** Unspent outputs from the score `since` on, in the order of scores, without a limit unless given. */
  async findUTXOsForTopic(topic: string, since = 0, limit = 0, includeBEEF = false): Promise<EngineOutput[]> {
    const most = limit > 0 ? limit : Number.POSITIVE_INFINITY
    const rows: EngineOutput[] = []
    let cursor: string | undefined
    do {
      const found = new Map<Uint8Array, StoredOutput>()
      const page = await this.#outputs.store.search({
        keys: [topicOutputs.encode(topic as Topic)],
        limit: Math.min(most - rows.length, MAX_LIMIT),
        ...(since > 0 && { from: since }),
        ...(cursor !== undefined && { cursor }),
        filter: async candidates => {
          const unspent = await this.#unspent(
            candidates.map(({ member }) => member as Outpoint),
            topic
          )
          for (const [i, each] of unspent.entries()) if (each) found.set(candidates[i]!.member, each)
          return unspent.map(isDefined)
        }
      })
      const outputs = page.rows.map(({ member }) => found.get(member)!)
      rows.push(...(await engineRows(this.#outputs, outputs, { topic, includeBEEF })))
      cursor = page.cursor
    } while (cursor !== undefined && rows.length < most)
    return rows
  }

  /** Outputs without a spender and without the topic's mark; undefined for the others. */
  async #unspent(outpoints: readonly Outpoint[], topic: string): Promise<(StoredOutput | undefined)[]> {
    const [spenders, found] = await Promise.all([
      this.#outputs.spends(outpoints),
      storedOutputs(this.#outputs, outpoints)
    ])
    return found.map((each, i) =>
      each && !spenders[i] && !each.state.isMarkedSpent(topic as Topic) ? each : undefined
    )
  }

  /** Removes an output from one topic. Its transaction stays stored: other transactions descend from it. */
  deleteOutput(txid: string, outputIndex: number, topic: string): Promise<void> {
    return this.#commit(new TxUpdate(parseTxid(txid)).removeFromTopic(topic as Topic, outputIndex))
  }

  markUTXOAsSpent(txid: string, outputIndex: number, topic: string): Promise<void> {
    return this.#commit(new TxUpdate(parseTxid(txid)).markSpent(topic as Topic, outputIndex))
  }

  /** Does nothing: the consumers of an output are derived from its spender. */
  async updateConsumedBy(
    _txid: string,
    _outputIndex: number,
    _topic: string,
    _consumedBy: readonly EngineOutpoint[]
  ): Promise<void> {}

  /**
   * Saves the proofs in the BEEF of a stored transaction and of its ancestors. A malformed BEEF is ignored: the engine
   * makes one for every child of a newly proved transaction, since it puts the proof on all proved inputs of the child.
   */
  async updateTransactionBEEF(txid: string, beef: readonly number[]): Promise<void> {
    const subject = parseTxid(txid)
    if (!(await this.#outputs.transactions.get(subject))) return
    const parsed = parseWellFormed(beef)
    if (!parsed) return
    const transactions = await verifiedTransactions(this.#outputs, parsed, subject)
    await this.#commits.add({ updates: [], transactions })
  }

  /** A height is used only for a transaction without a block position: a proof gives height and index. */
  async updateOutputBlockHeight(
    txid: string,
    outputIndex: number,
    topic: string,
    blockHeight: number
  ): Promise<void> {
    const outpoint = makeOutpoint(parseTxid(txid), outputIndex)
    const [row] = await storedOutputs(this.#outputs, [outpoint])
    const record = await this.#outputs.record(parseTxid(txid))
    if (!row || !isAdmitted(row, topic) || record?.position) return
    await this.#commit(new TxUpdate(parseTxid(txid), { position: { height: blockHeight, index: 0n } }))
  }

  /** The proof may be stored before the transaction has a record, from the BEEF of a descendant. */
  async insertAppliedTransaction({ txid, topic }: AppliedTransaction): Promise<void> {
    const subject = parseTxid(txid)
    const position = provenPosition(subject, await this.#outputs.transactions.proof(subject))
    await this.#commit(new TxUpdate(subject, { position }).markApplied(topic as Topic))
  }

  async doesAppliedTransactionExist({ txid, topic }: AppliedTransaction): Promise<boolean> {
    return isTxid(txid) && this.#outputs.isApplied(topic as Topic, parseTxid(txid))
  }

  async updateLastInteraction(host: string, topic: string, since: number): Promise<void> {
    const batch = this.#outputs.store.batch()
    batch
      .use(progress)
      .at()
      .set(peer, [topic as Topic, host], new TextEncoder().encode(String(since)))
    await batch.commit()
  }

  async getLastInteraction(host: string, topic: string): Promise<number> {
    const since = await this.#outputs.store
      .use(progress)
      .at()
      .get(peer, topic as Topic, host)
    return since ? Number(new TextDecoder().decode(since)) : 0
  }

  #commit(update: TxUpdate): Promise<void> {
    return this.#commits.add({ updates: [update], transactions: [] })
  }
}

const isDefined = <T>(each: T | undefined): each is T => each !== undefined
const isTxid = (text: string): boolean => /^[0-9a-f]{64}$/i.test(text)

/** Undefined for an invalid outpoint, which is looked up like an unknown one. */
const outpointOf = ({ txid, outputIndex }: EngineOutpoint): Outpoint | undefined =>
  isTxid(txid) && outputIndex >= 0 && outputIndex <= 0xffffffff && Number.isInteger(outputIndex)
    ? makeOutpoint(parseTxid(txid), outputIndex)
    : undefined

const parseBeef = (beef: readonly number[]): Beef => Beef.parse(Uint8Array.from(beef))

const parseWellFormed = (beef: readonly number[]): Beef | undefined => {
  try {
    return parseBeef(beef)
  } catch (error) {
    if (hasCode(error, 'ERR_BEEF_FORMAT')) return undefined
    throw error
  }
}

/** The engine's scores are milliseconds of the clock; any other score is not a time. */
const secondsOf = (score: number | undefined): number | undefined =>
  score !== undefined && score >= MIN_MILLISECONDS ? score / 1000 : undefined
