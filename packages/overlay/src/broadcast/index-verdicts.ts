/**
 * The network and the index: a refusal rolls a transaction back with its descendants, a proof ends its broadcast, and a reorg
 * that removes the proof resumes it. The statuses change in the commits that do these.
 */
import { bytesKey, formatTxid, type Txid, toHex } from '@quoin/primitives'
import type { Batch } from '@quoin/store'
import type { OutputStore, RollbackCause } from '@quoin/txo'
import { admissions } from '../keys.ts'
import type { Logger } from '../logger.ts'
import type { BroadcastRecords } from './broadcast-records.ts'
import type { BroadcastRecord } from './keys.ts'
import { type ProcessorAnswer, textOf } from './network.ts'
import type { Outbox } from './outbox.ts'
import { mined, rejected, unmined } from './transitions.ts'

/** The network's refusal of a transaction for good. */
class Refusal implements RollbackCause {
  readonly txid: Txid
  readonly answer: ProcessorAnswer
  readonly reason: string

  constructor(txid: Txid, answer: ProcessorAnswer) {
    this.txid = txid
    this.answer = answer
    this.reason = `${answer.processor ?? 'the network'} refuses it: ${textOf(answer)}`
  }
}

/** The transaction has a proof that the headers confirm: the refusal is wrong. */
class RefusedButMinedError extends Error {}

export interface IndexVerdictsOptions {
  readonly records: BroadcastRecords
  /** Undefined where nothing is sent. */
  readonly outbox: Outbox | undefined
  readonly logger: Logger
}

export class IndexVerdicts {
  readonly #outputs: OutputStore
  readonly #records: BroadcastRecords
  readonly #outbox: Outbox | undefined
  readonly #logger: Logger

  constructor(outputs: OutputStore, { records, outbox, logger }: IndexVerdictsOptions) {
    this.#outputs = outputs
    this.#records = records
    this.#outbox = outbox
    this.#logger = logger
    outputs.onForget((batch, txid, cause) => this.#forgetIn(batch, txid, cause))
    outputs.onPosition((batch, txid, position) => this.#positionIn(batch, txid, position?.height))
  }

  /** Rolls a refused transaction back with its descendants, unless it is mined after all. */
  async refuse(txid: Txid, answer: ProcessorAnswer): Promise<void> {
    const refusal = new Refusal(txid, answer)
    const { reason } = refusal
    if (!(await this.#outputs.transactions.get(txid))) {
      return this.#records.change(txid, rejected(answer.txStatus, reason, answer.competing))
    }
    const fields = { txid: formatTxid(txid), reason }
    try {
      const gone = await this.#outputs.rollback(txid, refusal)
      this.#records.committed()
      this.#logger.warn('rolled back: refused by the network', { ...fields, transactions: gone.length })
    } catch (error) {
      if (!(error instanceof RefusedButMinedError)) throw error
      this.#logger.warn('refusal of a mined transaction ignored', fields)
    }
  }

  async #positionIn(batch: Batch, txid: Txid, height: number | undefined): Promise<void> {
    const record = await this.#records.get(txid)
    if (!record) return
    if (height !== undefined) {
      await this.#records.changeIn(batch, txid, mined(height))
      this.#outbox?.removeIn(batch, txid)
    } else if (record.status === 'mined') {
      await this.#records.changeIn(batch, txid, unmined)
      this.#outbox?.enqueueIn(batch, txid)
    }
  }

  /** Part of the commit that rolls a transaction back. */
  async #forgetIn(batch: Batch, txid: Txid, cause: RollbackCause | undefined): Promise<void> {
    const refusal = cause instanceof Refusal ? cause : undefined
    const isRefused = refusal && bytesKey(refusal.txid) === bytesKey(txid)
    if (isRefused && (await this.#outputs.transactions.proof(txid))) throw new RefusedButMinedError()
    if (!refusal && !(await this.#records.get(txid))) return
    const { txStatus, competing } = isRefused
      ? refusal.answer
      : { txStatus: 'REJECTED', competing: undefined }
    const change = rejected(txStatus, reasonOf(txid, cause), competing, await this.#kept(txid))
    await this.#records.changeIn(batch, txid, change)
    this.#outbox?.removeIn(batch, txid)
  }

  async #kept(txid: Txid): Promise<BroadcastRecord['kept']> {
    const [transaction, admitted] = await Promise.all([
      this.#outputs.transactions.get(txid),
      this.#outputs.store.use(admissions).get(txid)
    ])
    if (!transaction || transaction.raw.length > MAX_KEPT) return undefined
    return { raw: toHex(transaction.raw), topics: Object.keys(admitted ?? {}) }
  }
}

/** Bytes of the longest transaction that is kept. */
const MAX_KEPT = 100_000

const reasonOf = (txid: Txid, cause: RollbackCause | undefined): string => {
  if (!cause) return 'it was rolled back: a mined transaction spends the same outputs, or a reorg removed it'
  if (bytesKey(cause.txid) === bytesKey(txid)) return cause.reason
  return `its ancestor ${formatTxid(cause.txid)} was refused: ${cause.reason}`
}
