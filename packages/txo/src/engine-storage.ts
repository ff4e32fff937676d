/**
 * The output store behind the `Storage` interface of `@bsv/overlay`, so that its engine runs on Quoin as it is. What
 * the interface promises holds; what the engine's own storage gets wrong does not come along: a deletion is of one
 * topic, a coin is spent once and for all topics, every write may be repeated, and a proof moves everything it proves.
 *
 * @example
 * const storage = new EngineStorage(new OutputStore(store))
 * const engine = new Engine(managers, lookupServices, storage, chainTracker)
 */
import { Beef } from '@quoin/chain'
import {
  formatTxid,
  makeOutpoint,
  type Outpoint,
  parseTxid,
  QuoinError,
  type Topic,
  type Txid
} from '@quoin/primitives'
import { MAX_LIMIT } from '@quoin/store'
import {
  type EngineOutpoint,
  type EngineOutput,
  engineRows,
  isAdmitted,
  isMarked,
  type StoredOutput,
  storedOutputs,
  storedOutputsOf
} from './engine-rows.ts'
import { commitWrites, type EngineWrite, type Fact, factsOf, provenPlace } from './engine-writes.ts'
import { GroupCommit } from './group-commit.ts'
import { outputs as outputKeys, progressFields } from './keys.ts'
import type { OutputStore } from './output-store.ts'
import { TxUpdate } from './tx-update.ts'

export interface AppliedTransaction {
  txid: string
  topic: string
}

const { progress, topicOutputs } = outputKeys.collections
const { peer } = progressFields.collections
/** Times in seconds are smaller than this for millennia to come, times in milliseconds have been greater since 1973. */
const LEAST_MILLISECONDS = 1e11

export class EngineStorage {
  readonly #outputs: OutputStore
  readonly #commits: GroupCommit<EngineWrite>

  constructor(outputs: OutputStore) {
    this.#outputs = outputs
    this.#commits = new GroupCommit(writes => commitWrites(outputs, writes))
  }

  /**
   * Admits an output to a topic, with its transaction and all that it rests on. One that the topic has already stays as
   * it is. Refused with `ERR_TXO_CONFLICT` when the transaction spends what another one spends.
   */
  async insertOutput(output: EngineOutput): Promise<void> {
    const topic = output.topic as Topic
    const txid = parseTxid(output.txid)
    const seen = secondsOf(output.score)
    const outpoint = makeOutpoint(txid, output.outputIndex)
    const [facts, [known]] = await Promise.all([
      output.beef ? factsOf(this.#outputs, parseBeef(output.beef), txid, seen) : this.#storedFact(txid),
      storedOutputs(this.#outputs, [outpoint])
    ])
    const [subject, ...ancestors] = facts as [Fact, ...Fact[]]
    const { transaction } = subject
    const satoshis = transaction.outputs[output.outputIndex]?.satoshis
    if (satoshis === undefined) {
      throw new QuoinError('ERR_KEY_VALUE', `the transaction has ${transaction.outputCount} outputs`, {
        txid: output.txid,
        outputIndex: output.outputIndex
      })
    }
    const change = new TxUpdate(txid, { seen })
    if (!known || !isAdmitted(known, topic)) {
      const inputs = output.outputsConsumed.map(each => makeOutpoint(parseTxid(each.txid), each.outputIndex))
      change.output(output.outputIndex, { satoshis }).admit(topic, output.outputIndex, { inputs })
      if (output.spent) change.markSpent(topic, output.outputIndex)
    }
    await this.#commits.add({ changes: [change], facts: [{ ...subject, spends: true }, ...ancestors] })
  }

  async #storedFact(txid: Txid): Promise<Fact[]> {
    const { transactions } = this.#outputs
    const [transaction, bump] = await Promise.all([transactions.get(txid), transactions.proof(txid)])
    if (transaction) return [{ txid, transaction, bump, seen: undefined, spends: true }]
    throw new QuoinError('ERR_TX_UNKNOWN', 'an output without BEEF, of a transaction that is not stored', {
      txid: formatTxid(txid)
    })
  }

  /** Spent ones too, unless told. Without a topic it is the row of any one that has it. */
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
    return engineRows(this.#outputs, found.filter(isThere), { includeBEEF })
  }

  /** The rows of all topics. */
  async findOutputsForTransaction(txid: string, includeBEEF = false): Promise<EngineOutput[]> {
    if (!isTxid(txid)) return []
    const found = await storedOutputsOf(this.#outputs, parseTxid(txid))
    return engineRows(this.#outputs, found, { includeBEEF })
  }

  /** What is not spent, from the score `since` on, in the order of scores; all of it unless there is a limit. */
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
          return unspent.map(isThere)
        }
      })
      const outputs = page.rows.map(({ member }) => found.get(member)!)
      rows.push(...(await engineRows(this.#outputs, outputs, { topic, includeBEEF })))
      cursor = page.cursor
    } while (cursor !== undefined && rows.length < most)
    return rows
  }

  /** Those of the outputs that nobody spends, as far as the topic knows. */
  async #unspent(outpoints: readonly Outpoint[], topic: string): Promise<(StoredOutput | undefined)[]> {
    const [spenders, found] = await Promise.all([
      this.#outputs.spends(outpoints),
      storedOutputs(this.#outputs, outpoints)
    ])
    return found.map((each, i) => (each && !spenders[i] && !isMarked(each, topic) ? each : undefined))
  }

  /** The topic has it no longer; others may. Its transaction stays, as part of what others rest on. */
  deleteOutput(txid: string, outputIndex: number, topic: string): Promise<void> {
    return this.#say(new TxUpdate(parseTxid(txid)).removeFromTopic(topic as Topic, outputIndex))
  }

  markUTXOAsSpent(txid: string, outputIndex: number, topic: string): Promise<void> {
    return this.#say(new TxUpdate(parseTxid(txid)).markSpent(topic as Topic, outputIndex))
  }

  /** Nothing to do: what consumes an output follows from what spends it. */
  async updateConsumedBy(
    _txid: string,
    _outputIndex: number,
    _topic: string,
    _consumedBy: readonly EngineOutpoint[]
  ): Promise<void> {}

  /**
   * Learns the proofs that the BEEF has of a stored transaction and of what it rests on. One that does not hold
   * together teaches nothing, and is no reason to stop: the engine makes such BEEF for every child of a transaction
   * with a new proof, as it puts that proof on all other inputs of the child that are proved.
   */
  async updateTransactionBEEF(txid: string, beef: readonly number[]): Promise<void> {
    const subject = parseTxid(txid)
    if (!(await this.#outputs.transactions.get(subject))) return
    const parsed = ifWellFormed(() => parseBeef(beef))
    if (!parsed) return
    await this.#commits.add({ changes: [], facts: await factsOf(this.#outputs, parsed, subject) })
  }

  /** A proof says more than a height does, so it is only of use where there is none. */
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
    await this.#say(new TxUpdate(parseTxid(txid), { position: { height: blockHeight, index: 0n } }))
  }

  /** It may be the first word of a transaction whose proof came with one that rests on it. */
  async insertAppliedTransaction({ txid, topic }: AppliedTransaction): Promise<void> {
    const subject = parseTxid(txid)
    const position = provenPlace(subject, await this.#outputs.transactions.proof(subject))
    await this.#say(new TxUpdate(subject, { position }).markApplied(topic as Topic))
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

  #say(change: TxUpdate): Promise<void> {
    return this.#commits.add({ changes: [change], facts: [] })
  }
}

const isThere = <T>(each: T | undefined): each is T => each !== undefined
const isTxid = (text: string): boolean => /^[0-9a-f]{64}$/i.test(text)

/** Undefined for what cannot be the name of an output, so that a question about it has the answer that there is none. */
const outpointOf = ({ txid, outputIndex }: EngineOutpoint): Outpoint | undefined =>
  isTxid(txid) && outputIndex >= 0 && outputIndex <= 0xffffffff && Number.isInteger(outputIndex)
    ? makeOutpoint(parseTxid(txid), outputIndex)
    : undefined

const parseBeef = (beef: readonly number[]): Beef => Beef.parse(Uint8Array.from(beef))

const ifWellFormed = <T>(parse: () => T): T | undefined => {
  try {
    return parse()
  } catch (error) {
    if (error instanceof QuoinError && error.code === 'ERR_BEEF_FORMAT') return undefined
    throw error
  }
}

/** The engine scores by the clock, in milliseconds. Any other score says nothing of when it was. */
const secondsOf = (score: number | undefined): number | undefined =>
  score !== undefined && score >= LEAST_MILLISECONDS ? score / 1000 : undefined
