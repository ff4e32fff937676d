/** Nodes on memory that follow one development chain, for tests of sync. */

import type { Transaction } from '@quoin/chain'
import type { DevChain } from '@quoin/dev-chain'
import { formatOutpoint, type Topic } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { OutputStore, outputs as outputKeys } from '@quoin/txo'
import { type Key, makeKey, payTo, spend, withKeyHash } from '../../../chain/src/verify/test-chain.testing.ts'
import type { AnchorOptions } from '../anchors/topic-anchors.ts'
import { Engine } from '../engine.ts'
import type { AnyTopic, QuoinTopic } from '../types.ts'
import type { Peer } from './peer.ts'

export const about = (name: string) => ({
  getDocumentation: async () => `# ${name}`,
  getMetaData: async () => ({ name, shortDescription: name })
})

export const TOPIC = 'tm_ones' as Topic

/** Admits whatever pays 1 satoshi. */
export const ones = (keeps: boolean): QuoinTopic => ({
  ...about('ones'),
  admit: ({ transaction, previousCoins }) => ({
    outputs: [...transaction.outputs.keys()].filter(vout => transaction.outputs[vout]!.satoshis === 1),
    retain: keeps ? previousCoins.map(({ input }) => input) : []
  })
})

/** As many coins as were spent, or one where none was: how many there are depends on what was seen before. */
export const token: QuoinTopic = {
  ...about('token'),
  admit: ({ transaction, previousCoins }) => ({
    outputs: [...transaction.outputs.keys()]
      .filter(vout => transaction.outputs[vout]!.satoshis === 1)
      .slice(0, Math.max(previousCoins.length, 1))
  })
}

export const key: Key = makeKey('gasp')

/** Spends outputs of a key into others of it. */
export const pay = (
  inputs: readonly (readonly [Transaction, number])[],
  satoshis: readonly number[]
): Transaction =>
  spend({
    inputs: inputs.map(([from, vout]) => ({ from, vout, unlock: withKeyHash(key) })),
    outputs: satoshis.map(each => ({ satoshis: each, script: payTo(key) }))
  })

export class TestNode {
  readonly name: string
  readonly chain: DevChain
  readonly store: Store
  readonly topics: Readonly<Record<string, AnyTopic>>
  engine: Engine

  readonly #anchors: AnchorOptions | undefined

  constructor(
    name: string,
    chain: DevChain,
    store: Store,
    topics: Readonly<Record<string, AnyTopic>>,
    anchors: AnchorOptions | undefined
  ) {
    this.#anchors = anchors
    this.name = name
    this.chain = chain
    this.store = store
    this.topics = topics
    this.engine = this.#started()
  }

  static async open(
    name: string,
    chain: DevChain,
    topics: Readonly<Record<string, AnyTopic>> = { [TOPIC]: ones(true) }
  ): Promise<TestNode> {
    return new TestNode(name, chain, await openStore('memory:'), topics, undefined)
  }

  /** With anchors of its topics. */
  static async anchored(
    name: string,
    chain: DevChain,
    topics: Readonly<Record<string, AnyTopic>> = { [TOPIC]: ones(true) }
  ): Promise<TestNode> {
    return new TestNode(name, chain, await openStore('memory:'), topics, { blocks: chain, start: 1 })
  }

  #started(): Engine {
    const { chain, topics } = this
    return new Engine({
      outputs: new OutputStore(this.store),
      tracker: chain,
      topics,
      proofs: chain,
      ...(this.#anchors && { anchors: this.#anchors })
    })
  }

  /** With nothing but what is in the store. */
  async restart(): Promise<void> {
    await this.engine.close()
    this.engine = this.#started()
  }

  async close(): Promise<void> {
    await this.engine.close()
    await this.store.close()
  }

  submit(transaction: Transaction, topic: string = TOPIC) {
    return this.engine.submit({ beef: this.chain.beef(transaction.txid), topics: [topic] })
  }

  /** What the topic has, and what of it is not spent. */
  async state(topic: Topic = TOPIC): Promise<{ members: string[]; unspent: string[] }> {
    const { outputs } = this.engine
    const rows = await this.store.use(outputKeys.collections.topicOutputs).at(topic).range()
    const spenders = await outputs.spends(rows.map(({ member }) => member))
    return {
      members: rows.map(({ member }) => formatOutpoint(member)).sort(),
      unspent: rows.flatMap(({ member }, i) => (spenders[i] ? [] : [formatOutpoint(member)])).sort()
    }
  }
}

/** A peer that serves no batches. */
export const withoutBatches = ({ transactions: _, ...peer }: Peer): Peer => peer

/** A coin of one satoshi, and change. */
export const mint = async (chain: DevChain, satoshis: readonly number[] = [1, 900]): Promise<Transaction> => {
  const transaction = pay([[chain.fund(payTo(key), 1000), 0]], satoshis)
  await chain.submit(transaction)
  return transaction
}
