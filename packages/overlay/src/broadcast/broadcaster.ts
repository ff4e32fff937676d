/**
 * Broadcasting: submitted transactions reach the network through transaction processors, and the network's verdicts reach
 * the index. The commit that admits a transaction writes its status and its place in the outbox, so that neither a crash nor
 * an unreachable network loses it. A transaction that the network refuses for good is rolled back with its descendants; any
 * other failure only delays.
 */
import type { Beef, Transaction } from '@quoin/chain'
import { bytesKey, formatTxid, QuoinError, type TaskGate, type Txid, withTimeout } from '@quoin/primitives'
import type { Batch, Queue } from '@quoin/store'
import type { OutputStore, Proofs } from '@quoin/txo'
import { type Logger, SILENT } from '../logger.ts'
import type { Broadcast } from '../submission.ts'
import { BroadcastRecords } from './broadcast-records.ts'
import { IndexVerdicts } from './index-verdicts.ts'
import type { BroadcastRecord } from './keys.ts'
import { Network, type ProcessorAnswer, textOf, unavailable } from './network.ts'
import { isMinedStatus } from './network-answer.ts'
import { Outbox } from './outbox.ts'
import { OutboxWorker } from './outbox-worker.ts'
import type { TransactionProcessor } from './processor.ts'
import { isAccepted, Sender, type Sent } from './sender.ts'
import { queued, reported, submitted, unchanged, withToken } from './transitions.ts'

export interface BroadcasterOptions {
  /** In the order in which they are asked. Without any, statuses are kept and nothing is sent. */
  readonly processors: readonly TransactionProcessor[]
  /** Whether the network takes a transaction before it is admitted, or after the commit that admits it. */
  readonly when?: 'before' | 'with'
  /** Milliseconds that a submission waits for the network, and the longest request. */
  readonly timeout?: number
  /** Seconds after which a transaction that is not mined is submitted again; each further time twice as many. */
  readonly rebroadcast?: number
  /** Seconds until the first check of a submitted transaction; longer where processors call back. */
  readonly firstCheck?: number
  /** The lease of the one process that works on the outbox. */
  readonly gate?: TaskGate | undefined
  /** Milliseconds between looks at the outbox, beside the wakes by commits of this process. */
  readonly interval?: number
  readonly logger?: Logger
}

/** In which the reasons of processors that did not answer in time are collected. */
const GRACE_MS = 100
const POLL_MS = 1000

export class Broadcaster {
  readonly network: Network
  readonly records: BroadcastRecords
  readonly when: 'before' | 'with'
  readonly timeout: number
  readonly #outputs: OutputStore
  readonly #outbox: Outbox
  readonly #sender: Sender
  readonly #verdicts: IndexVerdicts
  readonly #worker: OutboxWorker

  constructor(outputs: OutputStore, options: BroadcasterOptions) {
    const { processors, when = 'before', timeout = 5000, rebroadcast = 1800, firstCheck = 5 } = options
    const { logger = SILENT, interval, gate } = options
    this.#outputs = outputs
    this.when = when
    this.timeout = timeout
    const records = new BroadcastRecords(outputs.store)
    const network = new Network(processors, timeout)
    const outbox = new Outbox(outputs.store, firstCheck)
    const sender = new Sender(outputs, network, records, outbox)
    const sending = processors.length > 0 ? outbox : undefined
    const verdicts = new IndexVerdicts(outputs, { records, outbox: sending, logger })
    const parts = { outputs, network, records, outbox, sender, verdicts }
    const worker = new OutboxWorker({ ...parts, rebroadcast, interval, gate, logger })
    this.records = records
    this.network = network
    this.#outbox = outbox
    this.#sender = sender
    this.#verdicts = verdicts
    this.#worker = worker
    outputs.onCommit(() => records.committed())
    records.onChange(() => worker.wake())
  }

  get canSend(): boolean {
    return this.network.processors.length > 0
  }

  get outbox(): Queue<Txid> {
    return this.#outbox.queue
  }

  /** Works on the outbox from now on; proofs that processors state are checked and saved. */
  start(proofs: Proofs): void {
    if (this.canSend) this.#worker.start(proofs)
  }

  async close(): Promise<void> {
    await this.#worker.stop()
    await this.#sender.mutex.idle()
  }

  /** The step of a submission: its result is written in the commit that admits. */
  readonly offer: Broadcast = async (transaction, beef, token) => {
    const { txid } = transaction
    const status = (await this.records.get(txid))?.status
    if (!this.canSend || status === 'sent' || status === 'seen') {
      if (token === undefined) return undefined
      return async batch => void (await this.records.changeIn(batch, txid, withToken(token, unchanged)))
    }
    // The network decides first on a transaction that it has refused.
    if (this.when === 'with' && status !== 'rejected') return batch => this.#queueIn(batch, txid, token)
    const sent = await this.#sendInTime(transaction, beef)
    const last = sent.at(-1)!
    if (last.answer.verdict === 'refused') throw refused(last.transaction.txid, last.answer, txid)
    if (!isAccepted(last.answer)) throw unavailable([last.answer.reason ?? last.answer.txStatus])
    return async batch => {
      for (const { transaction: each, answer } of sent) {
        await this.acceptIn(batch, each.txid, answer, each === transaction ? token : undefined)
      }
    }
  }

  /**
   * Refuses a transaction that the network has refused, until it comes with a proof: a peer or a source that has not heard of
   * the refusal would bring it back.
   */
  readonly check = async (txid: Txid): Promise<void> => {
    const record = await this.records.get(txid)
    if (record?.status !== 'rejected') return
    const { txStatus, reason } = record
    throw new QuoinError('ERR_BROADCAST', `the network has refused the transaction: ${reason}`, {
      txid: formatTxid(txid),
      txStatus
    })
  }

  /** Part of the commit of a transaction that a processor has accepted. */
  async acceptIn(batch: Batch, txid: Txid, answer: ProcessorAnswer, token?: string): Promise<void> {
    await this.records.changeIn(batch, txid, withToken(token, submitted(answer)))
    if (this.canSend) this.#outbox.trackIn(batch, txid)
  }

  /** A processor reports a status without being asked. A refusal is acted on; returns whether the transaction is known. */
  async report(txid: Txid, answer: ProcessorAnswer): Promise<boolean> {
    const [transaction, record] = await Promise.all([
      this.#outputs.transactions.get(txid),
      this.records.get(txid)
    ])
    if (!transaction && !record) return false
    if (answer.verdict === 'refused') await this.#verdicts.refuse(txid, answer)
    else await this.records.change(txid, reported(answer), batch => this.#proveSoonIn(batch, txid, answer))
    return true
  }

  /** The record when it is no longer queued, or as it is after so many milliseconds. */
  async settled(txid: Txid, within: number): Promise<BroadcastRecord | undefined> {
    const end = performance.now() + within
    for (;;) {
      const record = await this.records.get(txid)
      const left = end - performance.now()
      if (record?.status !== 'queued' || left <= 0) return record
      await this.#changeWithin(Math.min(left, POLL_MS))
    }
  }

  #changeWithin(milliseconds: number): Promise<void> {
    return new Promise(resolve => {
      const done = (): void => {
        clearTimeout(timer)
        unsubscribe()
        resolve()
      }
      const timer = setTimeout(done, milliseconds)
      const unsubscribe = this.records.onChange(done)
    })
  }

  async #queueIn(batch: Batch, txid: Txid, token: string | undefined): Promise<void> {
    await this.records.changeIn(batch, txid, withToken(token, queued))
    this.#outbox.enqueueIn(batch, txid)
  }

  /** A processor that says that a transaction is mined is asked for the proof. */
  #proveSoonIn(batch: Batch, txid: Txid, { txStatus }: ProcessorAnswer): void {
    if (!this.canSend || !isMinedStatus(txStatus)) return
    this.#outbox.removeIn(batch, txid)
    this.#outbox.enqueueIn(batch, txid)
  }

  /** A worker that submits an ancestor at the time is not waited for any longer than the network. */
  #sendInTime(transaction: Transaction, beef: Beef): Promise<Sent[]> {
    const signal = AbortSignal.timeout(this.timeout)
    const sending = this.#sender.send(transaction, this.#sender.within(beef), signal)
    return withTimeout(sending, this.timeout + GRACE_MS, () => {
      throw unavailable([`no answer within ${this.timeout} ms`])
    })
  }
}

const refused = (txid: Txid, answer: ProcessorAnswer, subject: Txid): QuoinError => {
  const { txStatus, processor, competing } = answer
  const isSubject = bytesKey(txid) === bytesKey(subject)
  const of = isSubject ? 'the transaction' : `the ancestor ${formatTxid(txid)}`
  return new QuoinError('ERR_BROADCAST', `the network refuses ${of}: ${textOf(answer)}`, {
    txid: formatTxid(txid),
    txStatus,
    processor,
    ...(competing && { competingTxs: competing })
  })
}
