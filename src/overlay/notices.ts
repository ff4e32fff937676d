/**
 * Telling lookup services in the form of `@bsv/overlay` what was admitted, spent and removed. They keep databases of
 * their own, which no commit of ours covers; so that they have to be told is committed with the facts, and stays in a
 * queue until they have taken it. They may be told twice, never not at all.
 */
import { LockingScript, UnlockingScript } from '@bsv/sdk'
import type { Transaction } from '../chain/index.ts'
import { formatTxid, type Outpoint, parseOutpoint, type Txid, txidOf, voutOf } from '../keyspace/index.ts'
import { SourceHealth } from '../source-health.ts'
import { type Batch, type Lease, pollQueue, type Queue } from '../store/index.ts'
import type { OutputStore } from '../txo/index.ts'
import { type Judgement, type Judgements, overlay } from './keys.ts'
import { healthLog, type Logger } from './logger.ts'
import { type AnyLookup, isQuoinLookup, type LookupService } from './types.ts'

const { judgements, offChainValues, evicted, evictions, notify } = overlay.collections
/** Seconds that a service has for one transaction. */
const LEASE = 60
const AT_ONCE = 100
const POLL_MS = 1000
/** Items of a queue that are looked through for one. */
const LOOKED_AT = 1000

export class Notices {
  readonly #outputs: OutputStore
  readonly #logger: Logger
  readonly #health: SourceHealth
  readonly #services = new Map<string, { readonly service: LookupService; readonly queue: Queue<Txid> }>()
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> = Promise.resolve()

  constructor(outputs: OutputStore, lookups: ReadonlyMap<string, AnyLookup>, logger: Logger) {
    this.#outputs = outputs
    this.#logger = logger
    this.#health = new SourceHealth({ onChange: healthLog(logger, 'the delivery to lookup services', {}) })
    for (const [name, service] of lookups) {
      if (isQuoinLookup(service)) continue
      const queue = outputs.store.queueAt(notify, [name], { attempts: 20, backoff: 1, backoffLimit: 300 })
      this.#services.set(name, { service, queue })
    }
  }

  /** Part of the commit that takes back a transaction. */
  async forgetIn(batch: Batch, txid: Txid): Promise<void> {
    const judged = await this.#outputs.store.use(judgements).get(txid)
    if (!judged) return
    batch.use(judgements).at(txid).delete()
    batch.use(offChainValues).at(txid).delete()
    for (const vout of voutsOf(judged)) batch.use(evictions).at(txid, vout).delete()
    if (this.#services.size === 0) return
    batch.use(evicted).at(txid).set(voutsOf(judged))
    for (const { queue } of this.#services.values()) queue.enqueueIn(batch, txid, 0)
  }

  /** Part of the commit that has something to tell; of outputs too that a topic had and has no more. */
  enqueueIn(batch: Batch, txid: Txid, values: Uint8Array | undefined, gone: readonly number[] = []): void {
    if (this.#services.size === 0) return
    if (gone.length > 0) batch.use(evicted).at(txid).set(gone)
    else batch.use(evicted).at(txid).delete()
    if (values) batch.use(offChainValues).at(txid).set(Buffer.from(values).toString('base64'))
    for (const { queue } of this.#services.values()) queue.enqueueIn(batch, txid, 0)
  }

  /** Tells what is due, what was just committed among it, so that a service knows before the submission is answered. */
  deliver(_: Txid): Promise<void> | undefined {
    if (this.#services.size === 0) return
    this.#working = this.#working
      .then(() => this.#deliverAll())
      .then(
        () => this.#health.succeeded(),
        // A store that fails: the queues keep what is not delivered, and it is tried again.
        error => this.#health.failed(error instanceof Error ? error.message : String(error))
      )
    return this.#working
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.deliver(new Uint8Array(32) as Txid), POLL_MS).unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#working
  }

  async #deliverAll(): Promise<void> {
    await Promise.all([...this.#services].map(([name, each]) => this.#serve(name, each.service, each.queue)))
  }

  async #serve(name: string, service: LookupService, queue: Queue<Txid>): Promise<void> {
    for (;;) {
      const leases = await pollQueue(queue, AT_ONCE, LEASE)
      if (leases.length === 0) return
      for (const lease of leases) await this.#tell(name, service, queue, lease)
    }
  }

  async #tell(name: string, service: LookupService, queue: Queue<Txid>, lease: Lease<Txid>): Promise<void> {
    try {
      await this.#tellAll(service, lease.item)
      const batch = this.#outputs.store.batch()
      queue.acknowledgeIn(batch, lease)
      await batch.commit()
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#logger.warn('lookup service failed', { service: name, txid: formatTxid(lease.item), reason })
      await queue.fail(lease, { outcome: 'retry', errorClass: 'service', reason })
    }
  }

  async #tellAll(service: LookupService, txid: Txid): Promise<void> {
    const { store, transactions } = this.#outputs
    const [judged, transaction, stored, gone] = await Promise.all([
      store.use(judgements).get(txid),
      transactions.get(txid),
      store.use(offChainValues).get(txid),
      store.use(evicted).get(txid)
    ])
    for (const vout of gone ?? []) await service.outputEvicted(formatTxid(txid), vout)
    if (!judged || !transaction) return
    const values = stored === undefined ? undefined : [...Buffer.from(stored, 'base64')]
    for (const [topic, judgement] of Object.entries(judged)) {
      await this.#tellTopic(service, transaction, topic, judgement, values)
    }
  }

  async #tellTopic(
    service: LookupService,
    transaction: Transaction,
    topic: string,
    judgement: Judgement,
    values: number[] | undefined
  ): Promise<void> {
    for (const input of judgement.previousCoins) {
      await this.#tellSpent(service, transaction, topic, input, values)
    }
    for (const text of judgement.forgotten ?? []) {
      const outpoint = parseOutpoint(text)
      await service.outputNoLongerRetainedInHistory?.(formatTxid(txidOf(outpoint)), voutOf(outpoint), topic)
    }
    for (const vout of judgement.outputsToAdmit) {
      await this.#tellAdmitted(service, transaction, topic, vout, values)
    }
  }

  async #tellAdmitted(
    service: LookupService,
    transaction: Transaction,
    topic: string,
    outputIndex: number,
    values: number[] | undefined
  ): Promise<void> {
    const extra = values ? { offChainValues: values } : {}
    if (service.admissionMode === 'whole-tx') {
      const atomicBEEF = [...(await this.#outputs.transactions.beef(transaction.txid, { atomic: true }))]
      await service.outputAdmittedByTopic({ mode: 'whole-tx', atomicBEEF, outputIndex, topic, ...extra })
      return
    }
    const { satoshis, script } = transaction.outputs[outputIndex]!
    await service.outputAdmittedByTopic({
      mode: 'locking-script',
      txid: formatTxid(transaction.txid),
      outputIndex,
      topic,
      satoshis,
      lockingScript: LockingScript.fromBinary([...script]),
      ...extra
    })
  }

  async #tellSpent(
    service: LookupService,
    transaction: Transaction,
    topic: string,
    inputIndex: number,
    values: number[] | undefined
  ): Promise<void> {
    if (!service.outputSpent) return
    const input = transaction.inputs[inputIndex]!
    const spent = { txid: formatTxid(input.txid), outputIndex: input.vout, topic }
    const spendingTxid = formatTxid(transaction.txid)
    const extra = values ? { offChainValues: values } : {}
    switch (service.spendNotificationMode) {
      case 'none':
        return service.outputSpent({ mode: 'none', ...spent })
      case 'txid':
        return service.outputSpent({ mode: 'txid', spendingTxid, ...spent })
      case 'script':
        return service.outputSpent({
          mode: 'script',
          spendingTxid,
          inputIndex,
          unlockingScript: UnlockingScript.fromBinary([...input.script]),
          sequenceNumber: input.sequence,
          ...spent,
          ...extra
        })
      case 'whole-tx': {
        const beef = await this.#outputs.transactions.beef(transaction.txid, { atomic: true })
        return service.outputSpent({ mode: 'whole-tx', spendingAtomicBEEF: [...beef], ...spent, ...extra })
      }
    }
  }

  /** Services that have yet to be told of a transaction, as far as their queues are not too long to look through. */
  async untold(txid: Txid): Promise<{ service: string; reason: string | undefined }[]> {
    const found: { service: string; reason: string | undefined }[] = []
    for (const [service, { queue }] of this.#services) {
      for (const state of ['due', 'leased', 'waiting', 'dead'] as const) {
        const { items } = await queue.list(state, { limit: LOOKED_AT })
        const item = items.find(each => Buffer.compare(each.item, txid) === 0)
        if (item) found.push({ service, reason: item.reason || undefined })
      }
    }
    return found
  }

  /** An output is gone, whatever topic it was in. */
  async evicted(outpoint: Outpoint): Promise<void> {
    const txid = formatTxid(txidOf(outpoint))
    for (const { service } of this.#services.values()) await service.outputEvicted(txid, voutOf(outpoint))
  }
}

/** Outputs that any topic admitted. */
const voutsOf = (judged: Judgements): number[] => [
  ...new Set(Object.values(judged).flatMap(({ outputsToAdmit }) => outputsToAdmit))
]
