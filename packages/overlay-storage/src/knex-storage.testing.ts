/**
 * The storage that comes with `@bsv/overlay`, on SQLite in memory, to compare with. `CorrectedStorage` is the same one
 * with what it gets wrong put right, piece by piece; everything else of what it answers is its own.
 */
import { KnexStorage } from '@bsv/overlay'
import { Beef, type Bump, type Transaction } from '@quoin/chain'
import { formatTxid, parseTxid } from '@quoin/primitives'
import { type BlockPosition, scoreOf } from '@quoin/txo'
import createKnex, { type Knex } from 'knex'
import type { AppliedTransaction } from './engine-storage.ts'
import type { EngineOutpoint, EngineOutput } from './output-rows.ts'

/** What its migrations come to. They do not run on SQLite themselves: one has `INSERT IGNORE`. */
export const openKnex = async (
  filename = ':memory:',
  journal: 'wal' | 'delete' = 'wal'
): Promise<{ knex: Knex; storage: KnexStorage }> => {
  const knex = createKnex({
    client: 'better-sqlite3',
    connection: { filename },
    pool: { min: 1, max: 1 },
    useNullAsDefault: true
  })
  if (filename !== ':memory:') await knex.raw(`PRAGMA journal_mode = ${journal}`)
  await knex.schema.createTable('outputs', table => {
    table.increments()
    table.string('txid', 64)
    table.integer('outputIndex', 10)
    table.binary('outputScript')
    table.string('topic')
    table.integer('satoshis', 15)
    table.text('outputsConsumed', 'longtext').defaultTo('[]')
    table.text('consumedBy', 'longtext').defaultTo('[]')
    table.boolean('spent').defaultTo(false)
    table.integer('blockHeight').unsigned().nullable()
    table.bigInteger('score').notNullable().defaultTo(0)
    table.index(['txid', 'outputIndex', 'topic'])
    table.index(['topic', 'score'])
  })
  await knex.schema.createTable('transactions', table => {
    table.increments()
    table.specificType('beef', 'longblob')
    table.string('txid', 64).unique()
  })
  await knex.schema.createTable('applied_transactions', table => {
    table.increments()
    table.string('txid', 64)
    table.string('topic')
    table.index(['txid', 'topic'])
  })
  await knex.schema.createTable('host_sync_state', table => {
    table.string('host').notNullable()
    table.string('topic').notNullable()
    table.bigInteger('since').unsigned().notNullable()
    table.primary(['host', 'topic'])
  })
  return { knex, storage: new KnexStorage(knex) }
}

export class Conflict extends Error {}

interface KnownTransaction {
  readonly seen: number
  readonly position: BlockPosition | undefined
}

interface Known {
  /** What the index knows, by txid. */
  readonly records: Map<string, KnownTransaction>
  /** Who spends an outpoint. */
  readonly spenders: Map<string, string>
  /** Transactions that came in any BEEF. */
  readonly stored: Map<string, Transaction>
  readonly proofs: Map<string, Bump>
}

const outpointText = ({ txid, outputIndex }: EngineOutpoint): string => `${txid}.${outputIndex}`
const outpointOf = (name: string): EngineOutpoint => ({
  txid: name.slice(0, 64),
  outputIndex: Number(name.slice(65))
})
const inputsOf = (transaction: Transaction): string[] =>
  transaction.inputs.map(({ txid, vout }) => `${formatTxid(txid)}.${vout}`)

/** The corrections are named as in the table of the test. */
export class CorrectedStorage {
  readonly #knex: Knex
  readonly #plain: KnexStorage
  readonly #now: () => number
  known: Known = { records: new Map(), spenders: new Map(), stored: new Map(), proofs: new Map() }

  constructor(knex: Knex, now: () => number) {
    this.#knex = knex
    this.#plain = new KnexStorage(knex)
    this.#now = now
  }

  /** CONFLICT, REPEATED INSERT, LATE COIN. */
  async insertOutput(output: EngineOutput): Promise<void> {
    const { txid, outputIndex, topic } = output
    await this.#learn(output, output.beef!, output.score! / 1000)
    if ((await this.#rows({ txid, outputIndex, topic })).length > 0) return
    const spender = this.known.spenders.get(outpointText(output))
    const consumers = spender === undefined ? [] : await this.#rows({ txid: spender, topic })
    await this.#plain.insertOutput({
      ...output,
      spent: output.spent || spender !== undefined,
      consumedBy: consumers.map(each => ({ txid: each.txid, outputIndex: each.outputIndex })),
      score: this.#score(txid)
    })
    for (const coin of inputsOf(this.known.stored.get(txid)!).map(outpointOf)) {
      for (const { consumedBy } of await this.#rows({ ...coin, topic })) {
        const all = [...(JSON.parse(consumedBy) as EngineOutpoint[]), { txid, outputIndex }]
        await this.#plain.updateConsumedBy(coin.txid, coin.outputIndex, topic, all)
      }
    }
  }

  /** What follows from a BEEF: SPENT ELSEWHERE, CONFLICT, LOST PROOFS, WALL CLOCK. */
  async #learn({ txid }: { txid: string }, bytes: readonly number[], seen?: number): Promise<void> {
    const before = this.known
    this.known = {
      records: new Map(before.records),
      spenders: new Map(before.spenders),
      stored: new Map(before.stored),
      proofs: new Map(before.proofs)
    }
    const gone = new Set<string>()
    const facts = factsOf(bytes, txid)
    const staying = new Set(facts.map(fact => fact.txid))
    try {
      if (seen !== undefined) this.#record(txid, seen, undefined)
      for (const fact of facts) {
        for (const each of this.#believe(fact, txid, seen, staying)) gone.add(each)
      }
    } catch (error) {
      this.known = before
      throw error
    }
    await this.#write(before, gone)
  }

  #believe(
    { txid, transaction, bump }: { txid: string; transaction: Transaction; bump: Bump | undefined },
    subject: string,
    seen: number | undefined,
    staying: ReadonlySet<string>
  ): string[] {
    const gone: string[] = []
    const { records, spenders, stored, proofs } = this.known
    const proof = bump ?? proofs.get(txid)
    const position = placeOf(txid, proof)
    stored.set(txid, transaction)
    if (proof) proofs.set(txid, proof)
    const spends = !bump || (txid === subject && seen !== undefined)
    if (!records.has(txid) && !spends) return gone
    for (const coin of spends ? inputsOf(transaction) : []) {
      const other = spenders.get(coin)
      if (other !== undefined && other !== txid) {
        const isMined = position ?? records.get(txid)?.position
        if (!isMined || records.get(other)?.position) throw new Conflict(coin)
        const rolled = this.#rollback(other)
        if ([...rolled].some(each => staying.has(each))) throw new Conflict(coin)
        gone.push(...rolled)
      }
      spenders.set(coin, txid)
    }
    this.#record(txid, seen, position)
    return gone
  }

  #record(txid: string, seen: number | undefined, position: BlockPosition | undefined): void {
    const record = this.known.records.get(txid)
    this.known.records.set(txid, {
      seen: record?.seen ?? seen ?? this.#now(),
      position: position ?? record?.position
    })
  }

  #rollback(root: string): Set<string> {
    const { records, spenders, stored, proofs } = this.known
    const visited = new Set([root])
    for (const txid of visited) {
      for (const [coin, spender] of spenders) if (coin.startsWith(txid)) visited.add(spender)
    }
    for (const [coin, spender] of spenders) if (visited.has(spender)) spenders.delete(coin)
    for (const txid of visited) for (const map of [records, stored, proofs]) map.delete(txid)
    return visited
  }

  async #write(before: Known, gone: ReadonlySet<string>): Promise<void> {
    for (const txid of gone) {
      for (const table of ['outputs', 'transactions', 'applied_transactions']) {
        await this.#knex(table).where({ txid }).del()
      }
    }
    for (const coin of new Set([...before.spenders.keys(), ...this.known.spenders.keys()])) {
      const isSpent = this.known.spenders.has(coin)
      if (isSpent !== before.spenders.has(coin)) {
        await this.#knex('outputs').where(outpointOf(coin)).update('spent', isSpent)
      }
    }
    for (const txid of this.known.records.keys()) await this.#rescore(txid)
  }

  #score(txid: string): number {
    return scoreOf(this.known.records.get(txid)!)
  }

  async #rescore(txid: string): Promise<void> {
    await this.#knex('outputs').where({ txid }).update('score', this.#score(txid))
  }

  #rows(where: object): Promise<{ txid: string; outputIndex: number; topic: string; consumedBy: string }[]> {
    return this.#knex('outputs').where(where).select()
  }

  /** DELETE EVERYWHERE, DROPPED BEEF. */
  async deleteOutput(txid: string, outputIndex: number, topic: string): Promise<void> {
    await this.#knex('outputs').where({ txid, outputIndex, topic }).del()
  }

  markUTXOAsSpent(txid: string, outputIndex: number, topic: string): Promise<void> {
    return this.#plain.markUTXOAsSpent(txid, outputIndex, topic)
  }

  updateConsumedBy(txid: string, vout: number, topic: string, consumedBy: EngineOutpoint[]): Promise<void> {
    return this.#plain.updateConsumedBy(txid, vout, topic, consumedBy)
  }

  /** LOST PROOFS. */
  async updateTransactionBEEF(txid: string, beef: number[]): Promise<void> {
    if (!this.known.stored.has(txid)) return
    await this.#plain.updateTransactionBEEF(txid, beef)
    await this.#learn({ txid }, beef)
  }

  /** UNREAD HEIGHT, WALL CLOCK. */
  async updateOutputBlockHeight(txid: string, vout: number, topic: string, height: number): Promise<void> {
    await this.#plain.updateOutputBlockHeight(txid, vout, topic, height)
    if ((await this.#rows({ txid, outputIndex: vout, topic })).length === 0) return
    if (this.known.records.get(txid)!.position) return
    this.#record(txid, undefined, { height, index: 0n })
    await this.#rescore(txid)
  }

  /** REPEATED APPLICATION. */
  async insertAppliedTransaction(applied: AppliedTransaction): Promise<void> {
    const { txid } = applied
    this.#record(txid, undefined, placeOf(txid, this.known.proofs.get(txid)))
    await this.#rescore(txid)
    if (!(await this.doesAppliedTransactionExist(applied)))
      await this.#plain.insertAppliedTransaction(applied)
  }

  doesAppliedTransactionExist(applied: AppliedTransaction): Promise<boolean> {
    return this.#plain.doesAppliedTransactionExist(applied)
  }

  updateLastInteraction(host: string, topic: string, since: number): Promise<void> {
    return this.#plain.updateLastInteraction(host, topic, since)
  }

  getLastInteraction(host: string, topic: string): Promise<number> {
    return this.#plain.getLastInteraction(host, topic)
  }

  async findOutput(
    txid: string,
    outputIndex: number,
    topic?: string,
    spent?: boolean,
    includeBEEF?: boolean
  ): Promise<EngineOutput | null> {
    const row = await this.#plain.findOutput(txid, outputIndex, topic, spent, includeBEEF)
    return row && this.#corrected(row)
  }

  async findOutputsForTransaction(txid: string, includeBEEF?: boolean): Promise<EngineOutput[]> {
    const rows = await this.#plain.findOutputsForTransaction(txid, includeBEEF)
    return Promise.all(rows.map(row => this.#corrected(row)))
  }

  async findUTXOsForTopic(
    topic: string,
    since?: number,
    limit?: number,
    includeBEEF?: boolean
  ): Promise<EngineOutput[]> {
    const rows = await this.#plain.findUTXOsForTopic(topic, since, limit, includeBEEF)
    return Promise.all(rows.map(row => this.#corrected(row)))
  }

  /** UNREAD HEIGHT, STALE CONSUMERS, REPEATED CONSUMERS. */
  async #corrected(row: EngineOutput): Promise<EngineOutput> {
    const height = this.known.records.get(row.txid)?.position?.height
    const consumers = new Map(row.consumedBy.map(each => [outpointText(each), each]))
    for (const [name, each] of consumers) {
      if ((await this.#rows({ ...each, topic: row.topic })).length === 0) consumers.delete(name)
    }
    return {
      ...row,
      consumedBy: [...consumers.values()],
      ...(height !== undefined && { blockHeight: height })
    }
  }
}

const placeOf = (txid: string, proof: Bump | undefined): BlockPosition | undefined =>
  proof && { height: proof.height, index: BigInt(proof.offsetOf(parseTxid(txid))!) }

/** A transaction of a BEEF, and what it rests on until it is proved. */
const factsOf = (
  bytes: readonly number[],
  subject: string
): { txid: string; transaction: Transaction; bump: Bump | undefined }[] => {
  const beef = Beef.parse(Uint8Array.from(bytes))
  const facts = new Map<string, { txid: string; transaction: Transaction; bump: Bump | undefined }>()
  const wanted = [subject]
  for (const txid of wanted) {
    const found = beef.find(parseTxid(txid))
    if (facts.has(txid) || !found?.transaction) continue
    facts.set(txid, { txid, transaction: found.transaction, bump: found.bump })
    if (!found.bump) wanted.push(...found.transaction.inputs.map(input => formatTxid(input.txid)))
  }
  return [...facts.values()]
}
