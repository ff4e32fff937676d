/** This engine and that of `@bsv/overlay` side by side: the same transactions, plug-ins and questions for both. */
import { Engine as TheirEngine } from '@bsv/overlay'
import { type LookupQuestion, MerklePath } from '@bsv/sdk'
import { Beef, type Bump, type Transaction } from '@quoin/chain'
import { formatTxid, type Topic, type Txid, txidOf, voutOf } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import type { Knex } from 'knex'
import * as signed from '../../chain/src/verify/test-chain.testing.ts'
import { openKnex } from '../../overlay-storage/src/knex-storage.testing.ts'
import { answerBeef, Engine } from './index.ts'
import type {
  AdmissionMode,
  LookupFormula,
  LookupService,
  OutputAdmittedByTopic,
  OutputSpent,
  SpendNotificationMode,
  TopicManager
} from './types.ts'

const { makeKey, payTo, spend, TestChain, withKeyHash } = signed
const key = makeKey('differential')
const about = (name: string) => ({
  getDocumentation: async () => name,
  getMetaData: async () => ({ name, shortDescription: name })
})

/** What the satoshis of an output say: its topic, or none, and whether the transaction keeps the coins it spends. */
export const TOPICS = ['tm_keep', 'tm_drop', 'tm_mixed'] as const
export const KEEPS = 100
export const numberOf = (topic: number, keeps = false): number => 10 + topic + (keeps ? KEEPS : 0)

export const manager = (topic: number): TopicManager => ({
  ...about(TOPICS[topic]!),
  identifyAdmissibleOutputs: async (bytes, previousCoins) => {
    const beef = Beef.parse(Uint8Array.from(bytes))
    const numbers = beef.find(beef.subject)!.transaction!.outputs.map(({ satoshis }) => satoshis)
    const keeps = topic === 0 || (topic === 2 && numbers[0]! >= KEEPS)
    return {
      outputsToAdmit: [...numbers.keys()].filter(vout => numbers[vout]! % KEEPS === numberOf(topic)),
      coinsToRetain: keeps ? previousCoins : []
    }
  }
})

/** Remembers all that it is told, and answers with what is there and not spent. */
export class Witness implements LookupService {
  readonly admissionMode: AdmissionMode
  readonly spendNotificationMode: SpendNotificationMode
  readonly told: unknown[] = []
  readonly #unspent = new Map<string, { txid: string; outputIndex: number }>()
  readonly getDocumentation = about('witness').getDocumentation
  readonly getMetaData = about('witness').getMetaData

  constructor(admissionMode: AdmissionMode, spendNotificationMode: SpendNotificationMode) {
    this.admissionMode = admissionMode
    this.spendNotificationMode = spendNotificationMode
  }

  async outputAdmittedByTopic(payload: OutputAdmittedByTopic): Promise<void> {
    const { topic, outputIndex, mode, offChainValues } = payload
    const txid = mode === 'whole-tx' ? subjectOf(payload.atomicBEEF) : payload.txid
    const more =
      mode === 'whole-tx' ? contentOf(payload.atomicBEEF) : [payload.satoshis, payload.lockingScript.toHex()]
    this.told.push(['admitted', topic, txid, outputIndex, offChainValues ?? null, more])
    this.#unspent.set(`${txid}.${outputIndex}`, { txid, outputIndex })
  }

  async outputSpent(payload: OutputSpent): Promise<void> {
    const { txid, outputIndex, topic } = payload
    this.told.push(['spent', topic, txid, outputIndex, spendOf(payload)])
    this.#unspent.delete(`${txid}.${outputIndex}`)
  }

  async outputNoLongerRetainedInHistory(txid: string, outputIndex: number, topic: string): Promise<void> {
    this.told.push(['forgotten', topic, txid, outputIndex])
  }

  async outputEvicted(txid: string, outputIndex: number): Promise<void> {
    this.told.push(['evicted', txid, outputIndex])
    this.#unspent.delete(`${txid}.${outputIndex}`)
  }

  async lookup({ query }: LookupQuestion): Promise<LookupFormula> {
    if (Array.isArray(query)) return query as LookupFormula
    const found = [...this.#unspent].sort(([a], [b]) => (a < b ? -1 : 1))
    return found.map(([name, each]) => ({ ...each, context: [...Buffer.from(name.slice(0, 4))] }))
  }
}

const spendOf = (payload: OutputSpent): unknown => {
  switch (payload.mode) {
    case 'none':
      return []
    case 'txid':
      return payload.spendingTxid
    case 'script': {
      const { spendingTxid, inputIndex, unlockingScript, sequenceNumber, offChainValues } = payload
      return [spendingTxid, inputIndex, unlockingScript.toHex(), sequenceNumber, offChainValues ?? null]
    }
    case 'whole-tx':
      return [contentOf(payload.spendingAtomicBEEF), payload.offChainValues ?? null]
  }
}

const parsed = (bytes: readonly number[]): Beef => Beef.parse(Uint8Array.from(bytes))
const subjectOf = (bytes: readonly number[]): string => formatTxid(parsed(bytes).subject)

/** The transactions of a BEEF, those with proofs marked, whatever order they are in. */
export const contentOf = (bytes: readonly number[]): string[] =>
  parsed(bytes)
    .transactions.map(({ txid, bump }) => `${formatTxid(txid)}${bump ? ' proved' : ''}`)
    .sort()

const MODES: readonly [AdmissionMode, SpendNotificationMode][] = [
  ['locking-script', 'none'],
  ['whole-tx', 'txid'],
  ['locking-script', 'script'],
  ['whole-tx', 'whole-tx']
]
export const witnesses = (): Record<string, Witness> =>
  Object.fromEntries(
    MODES.map(([admission, spends]) => [`ls_${admission}_${spends}`, new Witness(admission, spends)])
  )

interface Submitting {
  readonly topics?: readonly string[]
  readonly values?: Uint8Array
}

export interface Side {
  readonly services: Record<string, Witness>
  submit(transaction: Transaction, submitting?: Submitting): Promise<unknown>
  lookup(service: string, query: unknown): Promise<object[]>
  prove(transaction: Transaction, bump: Bump): Promise<void>
  /** What is in a topic, and whether it is spent. */
  inTopic(topic: string): Promise<string[]>
  /** Until everything is done that was begun. */
  idle(): Promise<void>
  close(): Promise<void>
}

interface Instructions {
  readonly outputsToAdmit: readonly number[]
  readonly coinsToRetain: readonly number[]
  readonly coinsRemoved?: readonly number[]
}

/** By topic what is admitted, retained and removed; the other engine has them in whatever order. */
const sorted = (steak: Readonly<Record<string, Instructions>>): unknown =>
  Object.fromEntries(
    Object.entries(steak).map(([topic, { outputsToAdmit, coinsToRetain, coinsRemoved = [] }]) => [
      topic,
      [outputsToAdmit, coinsToRetain, coinsRemoved].map(each => each.toSorted((a, b) => a - b))
    ])
  )

export class World {
  readonly chain = new TestChain()
  readonly #transactions = new Map<string, Transaction>()

  fund(...satoshis: number[]): Transaction {
    return this.#add(this.chain.fund(satoshis.map(each => ({ satoshis: each, script: payTo(key) }))))
  }

  /** Spends coins, and money for what they are not worth, which comes first. */
  spend(
    coins: readonly { readonly from: Transaction; readonly vout: number }[],
    numbers: readonly number[],
    { moneyFirst = true } = {}
  ): Transaction {
    const money = { from: this.fund(100_000), vout: 0 }
    const inputs = moneyFirst ? [money, ...coins] : [...coins, money]
    const spending: signed.Spending = {
      inputs: inputs.map(each => ({ ...each, unlock: withKeyHash(key), sequence: 0xfffffff0 })),
      outputs: numbers.map(satoshis => ({ satoshis, script: payTo(key) }))
    }
    return this.#add(spend(spending))
  }

  #add(transaction: Transaction): Transaction {
    this.#transactions.set(formatTxid(transaction.txid), transaction)
    return transaction
  }

  find(txid: Txid): Transaction {
    return this.#transactions.get(formatTxid(txid))!
  }

  mine(transaction: Transaction): Bump {
    return this.chain.mine(transaction)
  }

  /** The transaction with all that it rests on, back to proofs. */
  beef(transaction: Transaction): Uint8Array {
    const needed = new Map<string, Transaction>()
    const add = (each: Transaction): void => {
      if (needed.has(formatTxid(each.txid))) return
      if (!this.chain.bumpOf(each)) for (const { txid } of each.inputs) add(this.find(txid))
      needed.set(formatTxid(each.txid), each)
    }
    add(transaction)
    return this.chain.beef([...needed.values()])
  }
}

export interface Ours extends Side {
  readonly engine: Engine
}
export interface Theirs extends Side {
  readonly engine: TheirEngine
  readonly knex: Knex
}

export const openOurs = async (
  world: World,
  topics: Readonly<Record<string, TopicManager>>,
  services: Record<string, Witness>
): Promise<Ours> => {
  const outputs = new OutputStore(await openStore('memory:'))
  const engine = new Engine({ outputs, tracker: world.chain, topics, lookups: services, topicTimeout: 2000 })
  return {
    engine,
    services,
    submit: async (transaction, { topics: to = Object.keys(topics), values } = {}) =>
      sorted(
        await engine.submit({
          beef: world.beef(transaction),
          topics: to,
          ...(values && { offChainValues: values })
        })
      ),
    lookup: async (service, query) =>
      (await engine.lookup(service, query)).map(answer => ({
        beef: contentOf([...answerBeef(answer)]),
        outputIndex: voutOf(answer.outpoint),
        context: answer.context && [...answer.context]
      })),
    prove: ({ txid }, bump) => engine.handleNewMerkleProof(txid, bump),
    inTopic: async topic => {
      const { rows } = await outputs.searchOutputs({
        keys: [`tp:${topic as Topic}`],
        includeSpend: true,
        limit: 1000
      })
      return rows
        .map(({ outpoint, spend: by }) => nameOf(formatTxid(txidOf(outpoint)), voutOf(outpoint), by !== null))
        .sort()
    },
    idle: async () => undefined,
    close: async () => {
      await engine.close()
      await outputs.store.close()
    }
  }
}

const nameOf = (txid: string, vout: number, isSpent: boolean): string =>
  `${txid}.${vout}${isSpent ? ' spent' : ''}`

export const openTheirs = async (
  world: World,
  topics: Readonly<Record<string, TopicManager>>,
  services: Record<string, Witness>
): Promise<Theirs> => {
  const { knex, storage } = await openKnex()
  let calls = 0
  // It does not wait for all that it begins.
  const counted = new Proxy(storage, {
    get: (target, name) => {
      const method = Reflect.get(target, name)
      return async (...parameters: unknown[]) => {
        calls++
        try {
          return await Reflect.apply(method as never, target, parameters)
        } finally {
          calls--
        }
      }
    }
  })
  const engine = new TheirEngine(topics as never, services as never, counted, world.chain as never)
  engine.logger = { ...console, error: () => undefined }
  const idle = async (): Promise<void> => {
    for (let quiet = 0; quiet < 3; quiet = calls === 0 ? quiet + 1 : 0) await new Promise(setImmediate)
  }
  return {
    engine,
    knex,
    services,
    submit: async (transaction, { topics: to = Object.keys(topics), values } = {}) => {
      const beef = [...world.beef(transaction)]
      return sorted(
        (await engine.submit({ beef, topics: [...to] }, undefined, undefined, values && [...values])) as never
      )
    },
    lookup: async (service, query) => {
      const { outputs } = await engine.lookup({ service, query })
      return outputs.map(({ beef, outputIndex, context }) => ({
        beef: contentOf(beef),
        outputIndex,
        context
      }))
    },
    prove: ({ txid }, bump) =>
      engine.handleNewMerkleProof(
        formatTxid(txid),
        MerklePath.fromBinary([...bump.toBytes()]) as never,
        bump.height
      ),
    inTopic: async topic => {
      const rows: { txid: string; outputIndex: number; spent: number }[] = await knex('outputs').where({
        topic
      })
      return rows.map(row => nameOf(row.txid, row.outputIndex, Boolean(row.spent))).sort()
    },
    idle,
    close: async () => {
      await idle()
      await knex.destroy()
    }
  }
}
