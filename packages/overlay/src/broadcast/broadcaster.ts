/**
 * Broadcasting: submitted transactions reach the network through transaction processors, and the network's verdicts reach
 * the index. The commit that admits a transaction writes its status and its place in the outbox, so that neither a crash nor
 * an unreachable network loses it. One process works on the outbox: it submits, asks what became of each transaction, and
 * submits again what is not mined after a while. A transaction that the network refuses for good is rolled back with its
 * descendants; any other failure only delays.
 */
import type { Beef, Transaction } from '@quoin/chain'
import {
  backoffDelay,
  bytesKey,
  formatTxid,
  hasCode,
  KeyedMutex,
  QuoinError,
  Task,
  type TaskGate,
  type Txid
} from '@quoin/primitives'
import { type Batch, type Lease, type Queue, WORK_LEASE_SECONDS, whileLeased } from '@quoin/store'
import type { OutputStore, Proofs, RollbackCause } from '@quoin/txo'
import { healthLog, type Logger, SILENT } from '../logger.ts'
import type { Broadcast } from '../submission.ts'
import { BroadcastRecords, type RecordChange } from './broadcast-records.ts'
import { type BroadcastRecord, broadcasts } from './keys.ts'
import { Network, type NetworkStatus, type ProcessorAnswer, textOf, unavailable } from './network.ts'
import { isMinedStatus } from './network-answer.ts'
import type { TransactionProcessor } from './processor.ts'
import { Refusal, RefusedButMinedError } from './refusal.ts'
import {
  checked,
  mined,
  queued,
  rejected,
  reported,
  submitted,
  unchanged,
  unmined,
  withToken
} from './transitions.ts'
import { parentsOf, type TransactionLookup, unsentAncestors } from './unsent-ancestors.ts'

export interface BroadcasterOptions {
  /** In the order in which they are asked. Without any, statuses are kept and nothing is sent. */
  readonly processors: readonly TransactionProcessor[]
  /** Whether the network takes a transaction before it is admitted, or after a commit that admits it. */
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

/** Unread events that stay. */
const KEPT_EVENTS = 100_000
const POLL_MS = 1000
const WORKERS = 4
/** Seconds between the last checks. */
const MAX_CHECK = 3600
const MAX_REBROADCAST = 86_400
/** Nothing in the outbox is given up. */
const ATTEMPTS = 1e9

export class Broadcaster {
  readonly network: Network
  readonly records: BroadcastRecords
  readonly when: 'before' | 'with'
  readonly timeout: number
  readonly #outputs: OutputStore
  readonly #outbox: Queue<Txid>
  readonly #rebroadcast: number
  readonly #firstCheck: number
  readonly #logger: Logger
  /** Each works on one item at a time, so that a slow answer delays no other item. */
  readonly #workers: readonly Task[]
  readonly #mutex = new KeyedMutex()
  #proofs: Proofs | undefined
  /** A commit has changed records or the outbox. */
  #isDirty = false
  #trimmedAt = 0

  constructor(outputs: OutputStore, options: BroadcasterOptions) {
    const { processors, when = 'before', timeout = 5000, rebroadcast = 1800, firstCheck = 5 } = options
    this.#outputs = outputs
    this.records = new BroadcastRecords(outputs.store)
    this.network = new Network(processors, timeout)
    this.when = when
    this.timeout = timeout
    this.#rebroadcast = rebroadcast
    this.#firstCheck = firstCheck
    this.#logger = options.logger ?? SILENT
    this.#outbox = outputs.store.queueAt(broadcasts.collections.outbox, [], { attempts: ATTEMPTS })
    this.#workers = Array.from(
      { length: WORKERS },
      (_, i) =>
        new Task({
          name: `broadcast ${i + 1}`,
          interval: options.interval ?? POLL_MS,
          gate: options.gate,
          onHealthChange: healthLog(this.#logger, 'the broadcast of transactions', { worker: i + 1 }),
          work: signal => this.#step(signal)
        })
    )
    outputs.onForget((batch, txid, cause) => this.#forgetIn(batch, txid, cause))
    outputs.onPosition((batch, txid, position) => this.#positionIn(batch, txid, position?.height))
    outputs.onCommit(() => this.#committed())
  }

  get canSend(): boolean {
    return this.network.processors.length > 0
  }

  get outbox(): Queue<Txid> {
    return this.#outbox
  }

  /** Works on the outbox from now on; proofs that processors state are checked and saved. */
  start(proofs: Proofs): void {
    this.#proofs = proofs
    if (this.canSend) for (const worker of this.#workers) worker.start()
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map(worker => worker.stop()))
    await this.#mutex.idle()
  }

  /** The step of a submission: its result is written in the commit that admits. */
  readonly offer: Broadcast = async (transaction, beef, token) => {
    const { txid } = transaction
    const record = await this.records.get(txid)
    if (!this.canSend || record?.status === 'sent' || record?.status === 'seen') {
      return token === undefined
        ? undefined
        : batch => this.#changeIn(batch, txid, withToken(token, unchanged))
    }
    // The network decides first on a transaction that it has refused.
    if (this.when === 'with' && record?.status !== 'rejected')
      return batch => this.#queueIn(batch, txid, token)
    const answers = await this.#submitAll(transaction, this.#found(beef), AbortSignal.timeout(this.timeout))
    const last = answers.at(-1)!
    if (last.answer.verdict === 'refused') throw refused(last.transaction.txid, last.answer, txid)
    if (!isAccepted(last.answer)) throw unavailable([last.answer.reason ?? last.answer.txStatus])
    return async batch => {
      for (const { transaction: each, answer } of answers) {
        await this.acceptIn(batch, each.txid, answer, each === transaction ? token : undefined)
      }
    }
  }

  /** Part of the commit of a transaction that a processor has accepted. */
  async acceptIn(batch: Batch, txid: Txid, answer: ProcessorAnswer, token?: string): Promise<void> {
    await this.#changeIn(batch, txid, withToken(token, submitted(answer)))
    if (this.canSend) this.#outbox.enqueueIn(batch, txid, this.#dueAfter(0))
  }

  /** A processor reports a status without being asked. A refusal is acted on; returns whether the transaction is known. */
  async report(txid: Txid, answer: ProcessorAnswer): Promise<boolean> {
    const [transaction, record] = await Promise.all([
      this.#outputs.transactions.get(txid),
      this.records.get(txid)
    ])
    if (!transaction && !record) return false
    if (answer.verdict === 'refused') await this.#refuse(txid, answer)
    else await this.records.change(txid, reported(answer), batch => this.#proveSoonIn(batch, txid, answer))
    return true
  }

  /** A processor that says that a transaction is mined is asked for the proof. */
  #proveSoonIn(batch: Batch, txid: Txid, { txStatus }: ProcessorAnswer): void {
    if (!this.canSend || !isMinedStatus(txStatus)) return
    this.#outbox.removeIn(batch, txid)
    this.#outbox.enqueueIn(batch, txid, Date.now() / 1000)
    this.#isDirty = true
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

  async #changeIn(batch: Batch, txid: Txid, change: RecordChange): Promise<void> {
    this.#isDirty = true
    await this.records.changeIn(batch, txid, change)
  }

  async #queueIn(batch: Batch, txid: Txid, token: string | undefined): Promise<void> {
    await this.#changeIn(batch, txid, withToken(token, queued))
    this.#outbox.enqueueIn(batch, txid, Date.now() / 1000)
  }

  #committed(): void {
    if (!this.#isDirty) return
    this.#isDirty = false
    this.records.changed()
    for (const worker of this.#workers) worker.wake()
  }

  async #positionIn(batch: Batch, txid: Txid, height: number | undefined): Promise<void> {
    const record = await this.records.get(txid)
    if (!record) return
    if (height !== undefined) {
      await this.#changeIn(batch, txid, mined(height))
      this.#outbox.removeIn(batch, txid)
    } else if (record.status === 'mined') {
      await this.#changeIn(batch, txid, unmined)
      if (this.canSend) this.#outbox.enqueueIn(batch, txid, Date.now() / 1000)
    }
  }

  /** Part of the commit that rolls a transaction back. */
  async #forgetIn(batch: Batch, txid: Txid, cause: RollbackCause | undefined): Promise<void> {
    const refusal = cause instanceof Refusal ? cause : undefined
    const isRefused = refusal && bytesKey(refusal.txid) === bytesKey(txid)
    if (isRefused && (await this.#outputs.transactions.proof(txid))) throw new RefusedButMinedError()
    if (!refusal && !(await this.records.get(txid))) return
    const reason = isRefused
      ? refusal.reason
      : cause
        ? `its ancestor ${formatTxid(cause.txid)} was refused: ${cause.reason}`
        : 'it was rolled back: a mined transaction spends the same outputs, or a reorg removed it'
    const txStatus = isRefused ? refusal.answer.txStatus : 'REJECTED'
    const competing = isRefused ? refusal.answer.competing : undefined
    await this.#changeIn(batch, txid, rejected(txStatus, reason, competing))
    this.#outbox.removeIn(batch, txid)
  }

  /** Rolls a refused transaction back with its descendants, unless it is mined after all. */
  async #refuse(txid: Txid, answer: ProcessorAnswer): Promise<void> {
    const refusal = new Refusal(txid, answer)
    if (!(await this.#outputs.transactions.get(txid))) {
      const { txStatus, competing } = answer
      return this.records.change(txid, rejected(txStatus, refusal.reason, competing))
    }
    try {
      const gone = await this.#outputs.rollback(txid, refusal)
      this.#committed()
      this.#logger.warn('rolled back: the network refuses the transaction', {
        txid: formatTxid(txid),
        transactions: gone.length,
        reason: refusal.reason
      })
    } catch (error) {
      if (!(error instanceof RefusedButMinedError)) throw error
      this.#logger.warn('a refusal of a mined transaction is ignored', {
        txid: formatTxid(txid),
        reason: refusal.reason
      })
    }
  }

  /** Works on one due item. A lease of a killed process ends, and its item is due again. */
  async #step(signal: AbortSignal): Promise<number> {
    if (!(await this.#isDue())) {
      await this.#trimEvents()
      return 0
    }
    const [lease] = await this.#outbox.lease(1, WORK_LEASE_SECONDS)
    if (!lease) return 0
    const work = () => this.#mutex.run(bytesKey(lease.item), () => this.#work(lease, signal))
    try {
      await whileLeased(this.#outbox, [lease], work)
    } catch (error) {
      // A rollback or a proof removed the item, or another process has it.
      if (!hasCode(error, 'ERR_STORE_LEASE_LOST')) throw error
    }
    return 1
  }

  /** A read, since most passes find nothing due and taking a lease is a commit. */
  async #isDue(): Promise<boolean> {
    const { items } = await this.#outbox.list('due', { limit: 1 })
    if (items[0] && items[0].at <= Date.now() / 1000) return true
    return (await this.#outbox.stats()).leased > 0
  }

  async #work(lease: Lease<Txid>, signal: AbortSignal): Promise<void> {
    const txid = lease.item
    const { transactions } = this.#outputs
    const [record, transaction, proof] = await Promise.all([
      this.records.get(txid),
      transactions.get(txid),
      transactions.proof(txid)
    ])
    if (!record || !transaction || proof || record.status === 'rejected')
      return this.#outbox.acknowledge(lease)
    const { answer, unknownTo } = await this.#statusOf(txid, record, signal)
    const isRebroadcast = answer && isAccepted(answer) && this.#isRebroadcastDue(record)
    if (answer && !isRebroadcast) return this.#apply(lease, answer, false)
    const last = (await this.#submitAll(transaction, this.#stored, signal, unknownTo)).at(-1)!
    if (last.transaction !== transaction && last.answer.verdict === 'refused') {
      return this.#refuse(last.transaction.txid, last.answer)
    }
    return this.#apply(lease, last.answer, last.transaction === transaction)
  }

  /** Asks about a transaction that processors may have, so that a lost answer does not submit it twice. */
  async #statusOf(
    txid: Txid,
    { status, checks, processor }: BroadcastRecord,
    signal: AbortSignal
  ): Promise<NetworkStatus> {
    if (status === 'queued' && checks === 0) return { unknownTo: this.network.processors }
    return this.network.status(txid, processor, signal)
  }

  #isRebroadcastDue({ submissions, sentAt }: BroadcastRecord): boolean {
    if (sentAt === undefined) return false
    const wait = Math.min(MAX_REBROADCAST, this.#rebroadcast * 2 ** Math.max(0, submissions - 1))
    return Date.now() / 1000 >= sentAt + wait
  }

  async #apply(lease: Lease<Txid>, answer: ProcessorAnswer, isSubmission: boolean): Promise<void> {
    const txid = lease.item
    if (answer.verdict === 'refused') {
      await this.#refuse(txid, answer)
      // The rollback has removed the item.
      return
    }
    if (isMinedStatus(answer.txStatus) && (await this.#prove(txid, answer))) return
    const record = await this.records.get(txid)
    const change = !isAccepted(answer)
      ? checked(textOf(answer))
      : isSubmission
        ? submitted(answer)
        : (before: BroadcastRecord | undefined) => checked(undefined)(reported(answer)(before) ?? before)
    const checks = isAccepted(answer) && isSubmission ? 0 : (record?.checks ?? 0) + 1
    await this.records.change(txid, change, batch => {
      this.#outbox.acknowledgeIn(batch, lease)
      this.#outbox.enqueueIn(batch, txid, this.#dueAfter(checks))
    })
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

  #dueAfter(checks: number): number {
    const delay = backoffDelay(checks + 1, { first: this.#firstCheck, limit: MAX_CHECK, jitter: 0.2 })
    return Date.now() / 1000 + delay
  }

  /** Submits a transaction after its ancestors that the network may lack, until one is not accepted. */
  async #submitAll(
    transaction: Transaction,
    find: TransactionLookup,
    signal: AbortSignal,
    among?: readonly TransactionProcessor[]
  ): Promise<Submitted[]> {
    const submissions: Submitted[] = []
    for (const ancestor of await unsentAncestors(transaction, find, this.records)) {
      const work = () => this.#submitAncestor(ancestor, find, signal)
      const answer = await this.#mutex.run(bytesKey(ancestor.txid), work)
      if (!answer) continue
      submissions.push({ transaction: ancestor, answer })
      if (!isAccepted(answer)) return submissions
    }
    return [...submissions, { transaction, answer: await this.#submit(transaction, find, signal, among) }]
  }

  /** Undefined where the network has got it meanwhile. The status of a stored ancestor is tracked from then on. */
  async #submitAncestor(
    ancestor: Transaction,
    find: TransactionLookup,
    signal: AbortSignal
  ): Promise<ProcessorAnswer | undefined> {
    const { txid } = ancestor
    const status = (await this.records.get(txid))?.status
    if (status === 'sent' || status === 'seen' || status === 'mined') return undefined
    const answer = await this.#submit(ancestor, find, signal)
    if (isAccepted(answer) && (await this.#outputs.transactions.get(txid))) {
      await this.records.change(txid, submitted(answer), batch =>
        this.#outbox.enqueueIn(batch, txid, this.#dueAfter(0))
      )
    }
    return answer
  }

  async #submit(
    transaction: Transaction,
    find: TransactionLookup,
    signal: AbortSignal,
    among?: readonly TransactionProcessor[]
  ): Promise<ProcessorAnswer> {
    const parents = await parentsOf(transaction, find)
    return this.network.submit(transaction, txid => parents.get(bytesKey(txid)), signal, among)
  }

  readonly #stored: TransactionLookup = async txids => {
    const { transactions } = this.#outputs
    const [found, proofs] = await Promise.all([transactions.getMany(txids), transactions.proofs(txids)])
    return txids.map((_, i) => ({ transaction: found[i], isProved: proofs[i] !== undefined }))
  }

  #found(beef: Beef): TransactionLookup {
    return async txids => {
      const stored = await this.#stored(txids)
      return txids.map((txid, i) => {
        const entry = beef.find(txid)
        return {
          transaction: entry?.transaction ?? stored[i]!.transaction,
          isProved: entry?.bump !== undefined || stored[i]!.isProved
        }
      })
    }
  }

  async #trimEvents(): Promise<void> {
    const last = await this.records.lastEvent()
    if (last < this.#trimmedAt + KEPT_EVENTS / 10) return
    this.#trimmedAt = last
    await this.records.trimEvents(KEPT_EVENTS)
  }
}

interface Submitted {
  readonly transaction: Transaction
  readonly answer: ProcessorAnswer
}

const isAccepted = ({ verdict }: ProcessorAnswer): boolean => verdict === 'sent' || verdict === 'seen'

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
