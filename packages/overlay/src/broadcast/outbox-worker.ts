/** The work on the outbox: submits, asks what became of each transaction, and submits again what is not mined after a while. */
import { bytesKey, hasCode, Task, type TaskGate, type Txid } from '@quoin/primitives'
import { type Lease, whileLeased } from '@quoin/store'
import type { OutputStore, Proofs } from '@quoin/txo'
import { healthLog, type Logger } from '../logger.ts'
import type { BroadcastRecords, RecordChange } from './broadcast-records.ts'
import type { IndexVerdicts } from './index-verdicts.ts'
import type { BroadcastRecord } from './keys.ts'
import { type Network, type NetworkStatus, type ProcessorAnswer, textOf } from './network.ts'
import { isMinedStatus } from './network-answer.ts'
import { LEASE_SECONDS, type Outbox } from './outbox.ts'
import { isAccepted, type Sender } from './sender.ts'
import { checked, mined, reported, submitted, unchanged } from './transitions.ts'

export interface OutboxWorkerOptions {
  readonly outputs: OutputStore
  readonly network: Network
  readonly records: BroadcastRecords
  readonly outbox: Outbox
  readonly sender: Sender
  readonly verdicts: IndexVerdicts
  /** Seconds after which a transaction that is not mined is submitted again; each further time twice as many. */
  readonly rebroadcast: number
  readonly interval: number | undefined
  readonly gate: TaskGate | undefined
  readonly logger: Logger
}

/** Unread events that stay. */
const KEPT_EVENTS = 100_000
const POLL_MS = 1000
/** Tasks, each with one item at a time: a slow answer delays no other item. */
const TASKS = 4
const MAX_REBROADCAST = 86_400

export class OutboxWorker {
  readonly #options: OutboxWorkerOptions
  readonly #tasks: readonly Task[]
  #proofs: Proofs | undefined
  #trimmedAt = 0

  constructor(options: OutboxWorkerOptions) {
    this.#options = options
    const { interval = POLL_MS, gate, logger } = options
    this.#tasks = Array.from({ length: TASKS }, (_, i) => {
      const name = `broadcast ${i + 1}`
      const onHealthChange = healthLog(logger, 'the broadcast of transactions', { task: name })
      return new Task({ name, interval, gate, onHealthChange, work: signal => this.#step(signal) })
    })
  }

  /** Proofs that processors state are checked and saved. */
  start(proofs: Proofs): void {
    this.#proofs = proofs
    for (const task of this.#tasks) task.start()
  }

  wake(): void {
    for (const task of this.#tasks) task.wake()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#tasks.map(task => task.stop()))
  }

  /** Works on one due item. */
  async #step(signal: AbortSignal): Promise<number> {
    const { outbox, sender } = this.#options
    const lease = await outbox.lease()
    if (!lease) {
      await this.#trimEvents()
      return 0
    }
    const work = () => sender.mutex.run(bytesKey(lease.item), () => this.#work(lease, signal))
    try {
      await whileLeased(outbox.queue, [lease], work, LEASE_SECONDS)
    } catch (error) {
      // A rollback or a proof removed the item, or another process has it.
      if (!hasCode(error, 'ERR_STORE_LEASE_LOST')) throw error
    }
    return 1
  }

  async #work(lease: Lease<Txid>, signal: AbortSignal): Promise<void> {
    const txid = lease.item
    const { outputs, records, sender, verdicts } = this.#options
    const [record, transaction, proof] = await Promise.all([
      records.get(txid),
      outputs.transactions.get(txid),
      outputs.transactions.proof(txid)
    ])
    if (!record || !transaction || proof || record.status === 'rejected') {
      return this.#acknowledge(lease, proof ? mined(proof.height) : unchanged)
    }
    const { answer, unknownTo } = await this.#statusOf(lease, record, signal)
    const isRebroadcast = answer && isAccepted(answer) && this.#isRebroadcastDue(record)
    if (answer && !isRebroadcast) return this.#apply(lease, answer, false)
    const last = (await sender.send(transaction, sender.stored, signal, unknownTo)).at(-1)!
    const isAncestor = last.transaction !== transaction
    if (isAncestor && last.answer.verdict === 'refused')
      return verdicts.refuse(last.transaction.txid, last.answer)
    return this.#apply(lease, last.answer, !isAncestor)
  }

  /** Asks about a transaction that processors may have, so that a lost answer, or a kill, does not submit it twice. */
  async #statusOf(
    { item: txid, attempts }: Lease<Txid>,
    { status, checks, processor }: BroadcastRecord,
    signal: AbortSignal
  ): Promise<NetworkStatus> {
    const { network } = this.#options
    if (status === 'queued' && checks === 0 && attempts === 1) return { unknownTo: network.processors }
    return network.status(txid, processor, signal)
  }

  #isRebroadcastDue({ submissions, sentAt }: BroadcastRecord): boolean {
    if (sentAt === undefined) return false
    const wait = Math.min(MAX_REBROADCAST, this.#options.rebroadcast * 2 ** Math.max(0, submissions - 1))
    return Date.now() / 1000 >= sentAt + wait
  }

  async #apply(lease: Lease<Txid>, answer: ProcessorAnswer, isSubmission: boolean): Promise<void> {
    const txid = lease.item
    const { records, verdicts, outbox } = this.#options
    // The rollback removes the item; of a mined transaction a later pass does.
    if (answer.verdict === 'refused') return verdicts.refuse(txid, answer)
    if (isMinedStatus(answer.txStatus) && (await this.#prove(txid, answer))) return
    const isTaken = isSubmission && isAccepted(answer)
    const checks = isTaken ? 0 : ((await records.get(txid))?.checks ?? 0) + 1
    await records.change(txid, isTaken ? submitted(answer) : checkedWith(answer), batch => {
      outbox.queue.acknowledgeIn(batch, lease)
      outbox.trackIn(batch, txid, checks)
    })
  }

  #acknowledge(lease: Lease<Txid>, change: RecordChange): Promise<void> {
    const { records, outbox } = this.#options
    return records.change(lease.item, change, batch => outbox.queue.acknowledgeIn(batch, lease))
  }

  /** Whether the merkle path of an answer is a proof by our headers; its commit removes the item from the outbox. */
  async #prove(txid: Txid, { bump }: ProcessorAnswer): Promise<boolean> {
    if (!bump || !this.#proofs) return false
    try {
      await this.#proofs.save(txid, bump)
      return true
    } catch (error) {
      // The header is not here yet, or the path is wrong: a later check asks again.
      if (hasCode(error, 'ERR_PROOF_INVALID') || hasCode(error, 'ERR_TX_UNKNOWN')) return false
      throw error
    }
  }

  async #trimEvents(): Promise<void> {
    const { records } = this.#options
    const last = await records.lastEvent()
    if (last < this.#trimmedAt + KEPT_EVENTS / 10) return
    this.#trimmedAt = last
    await records.trimEvents(KEPT_EVENTS)
  }
}

const checkedWith =
  (answer: ProcessorAnswer): RecordChange =>
  before =>
    isAccepted(answer)
      ? checked(undefined)(reported(answer)(before) ?? before)
      : checked(textOf(answer))(before)
