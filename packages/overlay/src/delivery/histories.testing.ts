/**
 * Histories of one node whose lookup services fail, hang and restart while transactions, double spends, blocks, reorgs
 * and evictions change its topics. A service keeps the outputs that its calls leave live; at rest that is the live
 * membership of each topic. Each history follows from a seed.
 */
import type { LookupQuestion } from '@bsv/sdk'
import { chain as chainKeys, type Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatOutpoint, formatTxid, makeOutpoint, QuoinError, type Topic } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { OutputStore, outputs as outputKeys } from '@quoin/txo'
import { Engine } from '../engine.ts'
import { randomOf } from '../gasp/convergence.testing.ts'
import { about, mint, ones, pay, token } from '../gasp/node.testing.ts'
import type {
  AdmissionMode,
  LookupService,
  OutputAdmittedByTopic,
  OutputSpent,
  SpendNotificationMode
} from '../types.ts'

const TOPICS = { tm_history: ones(true), tm_live: ones(false), tm_token: token }
type TopicName = keyof typeof TOPICS
const NAMES = Object.keys(TOPICS) as TopicName[]
const TIMEOUT_MS = 60

interface Faults {
  /** Probabilities that a call fails before its effect, after it, or never answers. */
  before: number
  after: number
  hang: number
}

/** A service with a table of live outputs, as published ones keep them. */
export class LiveTable implements LookupService {
  readonly admissionMode: AdmissionMode
  readonly spendNotificationMode: SpendNotificationMode
  readonly rows = new Set<string>()
  readonly getDocumentation = about('live').getDocumentation
  readonly getMetaData = about('live').getMetaData
  readonly faults: Faults = { before: 0, after: 0, hang: 0 }
  readonly #random: () => number
  /** Calls by kind: a history in which one never happens says nothing about it. */
  readonly calls = new Map<string, number>()

  constructor(admission: AdmissionMode, spends: SpendNotificationMode, random: () => number) {
    this.admissionMode = admission
    this.spendNotificationMode = spends
    this.#random = random
  }

  outputAdmittedByTopic(payload: OutputAdmittedByTopic): Promise<void> {
    const txid = payload.mode === 'locking-script' ? payload.txid : formatTxid(subjectOf(payload.atomicBEEF))
    return this.#take('admitted', () => this.rows.add(rowOf(payload.topic, txid, payload.outputIndex)))
  }

  outputSpent(payload: OutputSpent): Promise<void> {
    const { topic, txid, outputIndex } = payload
    return this.#take('spent', () => this.rows.delete(rowOf(topic, txid, outputIndex)))
  }

  outputNoLongerRetainedInHistory(txid: string, outputIndex: number, topic: string): Promise<void> {
    return this.#take('removed', () => this.rows.delete(rowOf(topic, txid, outputIndex)))
  }

  outputEvicted(txid: string, outputIndex: number): Promise<void> {
    return this.#take('evicted', () => {
      for (const topic of NAMES) this.rows.delete(rowOf(topic, txid, outputIndex))
    })
  }

  async lookup(_: LookupQuestion) {
    return []
  }

  async #take(kind: string, apply: () => unknown): Promise<void> {
    this.calls.set(kind, (this.calls.get(kind) ?? 0) + 1)
    const { before, after, hang } = this.faults
    const drawn = this.#random()
    const begin = performance.now()
    if (drawn < before) throw new Error('failed before its effect')
    if (drawn < before + hang) return new Promise(() => undefined)
    if (this.#random() < 0.3) await new Promise(resolve => setTimeout(resolve, this.#random() * 5))
    // Past its deadline a call has no effect: its process would have ended. A busy machine runs timers late.
    if (performance.now() - begin > TIMEOUT_MS / 2) return new Promise(() => undefined)
    apply()
    if (drawn < before + hang + after) throw new Error('failed after its effect')
  }
}

const rowOf = (topic: string, txid: string, vout: number): string => `${topic} ${txid}.${vout}`

/** The subject of an atomic BEEF (BRC-95): the 32 bytes after the prefix. */
const subjectOf = (beef: readonly number[]) => Uint8Array.from(beef.slice(4, 36)) as Transaction['txid']

interface Coin {
  readonly transaction: Transaction
  readonly vout: number
  readonly topics: readonly TopicName[]
}

export class History {
  readonly services: Readonly<Record<string, LiveTable>>
  readonly #chain: DevChain
  readonly #random: () => number
  readonly #store: Store
  #engine: Engine
  #coins: Coin[] = []
  readonly #sent: Coin[] = []
  /** The lowest height from which proofs have yet to be looked at again. */
  #stale: number | undefined

  private constructor(seed: number, store: Store) {
    this.#random = randomOf(seed)
    this.#chain = new DevChain({ seed: `history ${seed}` })
    this.#store = store
    this.services = {
      ls_none: new LiveTable('locking-script', 'none', this.#random),
      ls_txid: new LiveTable('whole-tx', 'txid', this.#random),
      ls_script: new LiveTable('locking-script', 'script', this.#random),
      ls_whole: new LiveTable('whole-tx', 'whole-tx', this.#random)
    }
    this.#engine = this.#opened()
  }

  static async open(seed: number, url = 'memory:'): Promise<History> {
    return new History(seed, await openStore(url))
  }

  #opened(): Engine {
    const engine = new Engine({
      outputs: new OutputStore(this.#store),
      tracker: this.#chain,
      topics: TOPICS,
      lookups: this.services,
      proofs: this.#chain,
      lookupTimeout: TIMEOUT_MS,
      lookupWait: 5,
      delivery: Object.fromEntries(
        Object.keys(this.services).map(name => [name, { retry: { backoff: 0.02, limit: 0.2 } }])
      )
    })
    engine.start()
    return engine
  }

  async play(steps: number): Promise<void> {
    const weighted: [number, () => Promise<void>][] = [
      [4, () => this.#mint()],
      [8, () => this.#transfer()],
      [2, () => this.#doubleSpend()],
      [3, async () => void this.#chain.mine()],
      [2, () => this.#reorg()],
      [3, () => this.#catchUp()],
      [2, () => this.#evict()],
      [2, () => this.#sendAgain()],
      [1, () => this.#rollback()],
      [2, async () => this.#fault()],
      [1, () => this.#restart()],
      [1, () => this.#replay()]
    ]
    const moves = weighted.flatMap(([weight, move]) => Array.from({ length: weight }, () => move))
    for (let step = 0; step < steps; step++) await this.#any(moves)()
  }

  /** The services answer again, and are told of everything. */
  async rest(): Promise<void> {
    for (const { faults } of Object.values(this.services))
      Object.assign(faults, { before: 0, after: 0, hang: 0 })
    await this.#catchUp()
    const until = Date.now() + 60_000
    for (;;) {
      const states = await this.#engine.outbox.states()
      if (states.every(({ status, dead }) => status === 'current' && dead === 0)) return
      if (Date.now() > until) throw new Error(`the services do not catch up: ${JSON.stringify(states)}`)
      await this.#reviveDead()
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }

  get outputs(): OutputStore {
    return this.#engine.outputs
  }

  readonly topics = NAMES as readonly string[] as readonly Topic[]

  /** Live outputs of each topic, as rows of the services. */
  async live(): Promise<string[]> {
    const rows: string[] = []
    for (const topic of NAMES) {
      const members = await this.#store
        .use(outputKeys.collections.topicOutputs)
        .at(topic as Topic)
        .range()
      const outpoints = members.map(({ member }) => member)
      const spenders = await this.#engine.outputs.spends(outpoints)
      for (const [i, outpoint] of outpoints.entries()) {
        if (!spenders[i]) rows.push(`${topic} ${formatOutpoint(outpoint)}`)
      }
    }
    return rows.sort()
  }

  async close(): Promise<void> {
    await this.#engine.close()
    await this.#store.close()
  }

  async #mint(): Promise<void> {
    await this.#send(
      await mint(this.#chain, this.#random() < 0.3 ? [1, 1, 500] : [1, 900]),
      this.#someTopics()
    )
  }

  async #transfer(): Promise<void> {
    const coin = this.#takeCoin()
    if (!coin) return
    const second = this.#random() < 0.3 ? this.#takeCoin() : undefined
    const inputs = [coin, ...(second ? [second] : [])]
    const outputs = this.#random() < 0.2 ? [0] : second && this.#random() < 0.5 ? [1, 1] : [1]
    const transaction = pay(
      inputs.map(each => [each.transaction, each.vout] as const),
      outputs
    )
    // Now and then a topic that has the coin never sees the spender.
    const topics = this.#random() < 0.8 ? coin.topics : this.#someTopics()
    if (await this.#broadcast(transaction)) await this.#send(transaction, topics)
  }

  async #doubleSpend(): Promise<void> {
    const waiting = this.#sent.filter(
      ({ transaction }) =>
        transaction.inputs.length === 1 && this.#chain.mempool.some(({ txid }) => txid === transaction.txid)
    )
    const rival = this.#any(waiting)
    const input = rival?.transaction.inputs[0]
    if (!rival || !input) return
    const source = this.#sent.find(
      ({ transaction }) => formatTxid(transaction.txid) === formatTxid(input.txid)
    )
    if (source?.transaction.outputs[input.vout]?.satoshis !== 1) return
    const transaction = pay([[source.transaction, input.vout]], [1, 0, 0])
    if (await this.#broadcast(transaction, true)) await this.#send(transaction, rival.topics)
  }

  async #reorg(): Promise<void> {
    const depth = 1 + Math.floor(this.#random() * 3)
    if (this.#chain.height <= depth + 1) return
    const recent = this.#sent.filter(
      ({ transaction: { txid } }) => (this.#chain.heightOf(txid) ?? 0) > this.#chain.height - depth
    )
    const dropped = this.#random() < 0.7 ? this.#any(recent) : undefined
    const { fork } = await this.#chain.reorg(depth, dropped ? { drop: [dropped.transaction.txid] } : {})
    this.#stale = Math.min(this.#stale ?? fork + 1, fork + 1)
  }

  async #catchUp(): Promise<void> {
    if (this.#stale !== undefined) await this.#engine.proofs.reconcile(this.#stale)
    this.#stale = undefined
    await this.#engine.settle()
    for (const { member } of await this.#store.use(chainKeys.collections.log).at('pending').range()) {
      const answer = await this.#chain.proof(member)
      if (answer.status === 'mined') await this.#engine.handleNewMerkleProof(member, answer.bump)
    }
  }

  async #evict(): Promise<void> {
    const coin = this.#any(this.#sent)
    if (!coin || this.#random() < 0.5) return
    await this.#engine.evict(makeOutpoint(coin.transaction.txid, coin.vout))
  }

  async #sendAgain(): Promise<void> {
    const coin = this.#any(this.#sent)
    if (coin && this.#chain.transaction(coin.transaction.txid)) {
      await this.#submit(coin.transaction, this.#random() < 0.7 ? coin.topics : this.#someTopics())
    }
  }

  async #rollback(): Promise<void> {
    const waiting = this.#sent.filter(({ transaction }) =>
      this.#chain.mempool.some(({ txid }) => txid === transaction.txid)
    )
    const coin = this.#any(waiting)
    if (coin) await this.#engine.outputs.rollback(coin.transaction.txid)
  }

  #fault(): void {
    const { faults } = this.#any(Object.values(this.services))
    const [before, after, hang] = this.#any([
      [0, 0, 0],
      [0.3, 0.2, 0.02],
      [1, 0, 0],
      [0, 0, 1]
    ])
    Object.assign(faults, { before, after, hang })
  }

  async #restart(): Promise<void> {
    await this.#engine.close()
    this.#engine = this.#opened()
  }

  /** A service loses its table and is told of everything again. */
  async #replay(): Promise<void> {
    const [name, service] = this.#any(Object.entries(this.services))
    service.rows.clear()
    await this.#engine.outbox.delivery(name).replay()
  }

  async #reviveDead(): Promise<void> {
    for (const name of Object.keys(this.services)) {
      const delivery = this.#engine.outbox.delivery(name)
      for (const item of await delivery.dead()) await delivery.revive(item)
    }
  }

  async #broadcast(transaction: Transaction, replace = false): Promise<boolean> {
    try {
      await this.#chain.submit(transaction, { replace })
      return true
    } catch (error) {
      if (error instanceof QuoinError) return false
      throw error
    }
  }

  async #send(transaction: Transaction, topics: readonly TopicName[]): Promise<void> {
    for (const [vout, { satoshis }] of transaction.outputs.entries()) {
      if (satoshis !== 1) continue
      this.#coins.push({ transaction, vout, topics })
      this.#sent.push({ transaction, vout, topics })
    }
    await this.#submit(transaction, topics)
  }

  async #submit(transaction: Transaction, topics: readonly TopicName[]): Promise<void> {
    try {
      await this.#engine.submit({ beef: this.#chain.beef(transaction.txid), topics })
    } catch (error) {
      if (!(error instanceof QuoinError && ACCEPTABLE.has(error.code))) throw error
    }
  }

  #takeCoin(): Coin | undefined {
    this.#coins = this.#coins.filter(({ transaction }) => this.#chain.transaction(transaction.txid))
    const coin = this.#any(this.#coins)
    this.#coins = this.#coins.filter(each => each !== coin)
    return coin
  }

  #someTopics(): TopicName[] {
    const some = NAMES.filter(() => this.#random() < 0.5)
    return some.length > 0 ? some : [this.#any(NAMES)]
  }

  #any<T>(all: readonly T[]): T
  #any<T>(all: readonly T[]): T | undefined {
    return all[Math.floor(this.#random() * all.length)]
  }
}

/** A mined rival may have displaced what is submitted again. */
const ACCEPTABLE: ReadonlySet<string> = new Set(['ERR_TXO_CONFLICT', 'ERR_TX_INVALID'])
