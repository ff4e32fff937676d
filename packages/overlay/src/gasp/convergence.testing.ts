/**
 * Nodes that follow one chain and pull from one another, under everything that happens: transactions that reach one of
 * them, parents here and children there, double spends, blocks, reorgs that drop transactions, partitions, restarts,
 * proofs that come late. All of it follows from a seed.
 */
import { chain as chainKeys, type Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid, makeOutpoint, QuoinError, type Topic } from '@quoin/primitives'
import type { AnyTopic } from '../types.ts'
import { mint, pay, TestNode, withoutBatches } from './node.testing.ts'
import { localPeer, type Peer } from './peer.ts'
import { TopicSync } from './topic-sync.ts'

const TOPIC = 'tm_world' as Topic

export interface WorldOptions {
  readonly seed: number
  readonly nodes: number
  readonly steps: number
  readonly topic: AnyTopic
}

export interface Coin {
  readonly transaction: Transaction
  readonly vout: number
}

export class World {
  readonly nodes: TestNode[] = []
  readonly #chain: DevChain
  readonly #random: () => number
  readonly #steps: number
  readonly #hasBatches: boolean
  /** Everything that was ever sent, in order. */
  readonly #sent: Transaction[] = []
  readonly #syncs = new Map<string, TopicSync>()
  /** Heights from which a node has yet to look at its proofs again. */
  readonly #stale = new Map<TestNode, number>()
  #coins: Coin[] = []
  /** Which nodes can reach each other: those of the same number. */
  #parts: number[] = []
  #clock = Date.now() / 1000

  private constructor({ seed, steps }: WorldOptions) {
    this.#chain = new DevChain({ seed: `world ${seed}` })
    this.#hasBatches = seed % 2 === 0
    this.#random = randomOf(seed)
    this.#steps = steps
  }

  static async open(options: WorldOptions): Promise<World> {
    const world = new World(options)
    for (let i = 0; i < options.nodes; i++) {
      world.nodes.push(await TestNode.open(`node ${i}`, world.#chain, { [TOPIC]: options.topic }))
      world.#parts.push(0)
    }
    return world
  }

  async close(): Promise<void> {
    for (const node of this.nodes) await node.close()
  }

  async play(): Promise<void> {
    const weighted: [number, () => Promise<void>][] = [
      [4, () => this.#mint()],
      [8, () => this.#transfer()],
      [2, () => this.#doubleSpend()],
      [3, () => this.#mine()],
      [1, () => this.#reorg()],
      [2, async () => this.#partition()],
      [10, () => this.#pull()],
      [2, () => this.#restart()],
      [3, () => this.#catchUp(this.#any(this.nodes))]
    ]
    const moves = weighted.flatMap(([weight, move]) => Array.from({ length: weight }, () => move))
    for (let step = 0; step < this.#steps; step++) {
      const at = Math.floor(this.#random() * moves.length)
      await moves[at]!()
      this.#clock += 1 + this.#random() * 60
    }
  }

  /** Half of the worlds sync in batches, the others transaction by transaction. */
  #peer({ name, engine }: TestNode): Peer {
    const peer = localPeer(name, engine)
    return this.#hasBatches ? peer : withoutBatches(peer)
  }

  /** Everyone hears everyone, the chain has decided, and what failed is tried again, until nothing changes. */
  async heal(): Promise<void> {
    for (const transaction of this.#sent) await this.#broadcast(transaction)
    this.#chain.mine(2)
    for (const node of this.nodes) await this.#catchUp(node)
    await this.#sendAgain()
    let before = ''
    for (let round = 0, quiet = 0; quiet < 2; round++) {
      if (round === 30) throw new Error('it does not come to rest')
      this.#clock += 10_000
      for (const node of this.nodes) await this.#catchUp(node)
      for (const node of this.nodes) {
        for (const other of this.nodes) if (other !== node) await this.#sync(node, other)
      }
      const after = JSON.stringify(await this.states())
      quiet = after === before ? quiet + 1 : 0
      before = after
    }
  }

  states() {
    return Promise.all(this.nodes.map(node => node.state(TOPIC)))
  }

  /** Coins of transactions that the chain has. */
  mined(): Coin[] {
    return this.#sent
      .filter(({ txid }) => this.#chain.heightOf(txid) !== undefined)
      .flatMap(transaction =>
        transaction.outputs.flatMap(({ satoshis }, vout) => (satoshis === 1 ? [{ transaction, vout }] : []))
      )
  }

  /** Whether the chain has a spender of a coin. */
  isSpent({ transaction, vout }: Coin): boolean {
    return this.#chain.spenderOf(makeOutpoint(transaction.txid, vout)) !== undefined
  }

  /** What no node took, or none kept, because a rival was there, is sent again by those who made it. */
  async #sendAgain(): Promise<void> {
    for (const transaction of this.#sent) {
      if (this.#chain.heightOf(transaction.txid) === undefined) continue
      const admissions = await Promise.all(
        this.nodes.map(({ engine }) => engine.admissions(transaction.txid))
      )
      if (admissions.every(each => !each)) await this.#any(this.nodes).submit(transaction, TOPIC)
    }
  }

  async #mint(): Promise<void> {
    await this.#send(await mint(this.#chain, this.#random() < 0.3 ? [1, 1, 500] : [1, 900]))
  }

  async #transfer(): Promise<void> {
    const coin = this.#takeCoin()
    if (!coin) return
    const second = this.#random() < 0.3 ? this.#takeCoin() : undefined
    const inputs = [coin, ...(second ? [second] : [])].map(({ transaction, vout }): [Transaction, number] => [
      transaction,
      vout
    ])
    const burns = this.#random() < 0.2
    const transaction = pay(inputs, burns ? [0] : second && this.#random() < 0.5 ? [1, 1] : [1])
    if (await this.#broadcast(transaction)) await this.#send(transaction)
  }

  /** Another spender of a coin that a transaction which is not mined spends, told to another node. */
  async #doubleSpend(): Promise<void> {
    const waiting = this.#sent.filter(
      ({ txid, inputs }) => inputs.length === 1 && this.#chain.mempool.some(each => each.txid === txid)
    )
    const rival = this.#any(waiting)
    const input = rival?.inputs[0]
    if (!input) return
    const source = this.#sent.find(({ txid }) => formatTxid(txid) === formatTxid(input.txid))
    if (source?.outputs[input.vout]?.satoshis !== 1) return
    const transaction = pay([[source, input.vout]], [1, 0, 0])
    if (await this.#broadcast(transaction, true)) await this.#send(transaction)
  }

  async #mine(): Promise<void> {
    this.#chain.mine()
  }

  async #reorg(): Promise<void> {
    const depth = 1 + Math.floor(this.#random() * 3)
    if (this.#chain.height <= depth + 1) return
    const recent = this.#sent.filter(
      ({ txid }) => (this.#chain.heightOf(txid) ?? 0) > this.#chain.height - depth
    )
    const dropped = this.#random() < 0.6 ? this.#any(recent) : undefined
    const { fork } = await this.#chain.reorg(depth, dropped ? { drop: [dropped.txid] } : {})
    for (const node of this.nodes) {
      this.#stale.set(node, Math.min(this.#stale.get(node) ?? fork + 1, fork + 1))
    }
  }

  #partition(): void {
    const parts = 1 + Math.floor(this.#random() * 3)
    this.#parts = this.nodes.map(() => Math.floor(this.#random() * parts))
  }

  async #pull(): Promise<void> {
    const node = this.#any(this.nodes)
    const others = this.nodes.filter(
      (other, i) => other !== node && this.#parts[i] === this.#parts[this.nodes.indexOf(node)]
    )
    const other = this.#any(others)
    if (other) await this.#sync(node, other)
  }

  async #sync(node: TestNode, other: TestNode): Promise<void> {
    const name = `${node.name} ${other.name}`
    const sync =
      this.#syncs.get(name) ??
      new TopicSync(node.engine, TOPIC, this.#peer(other), {
        now: () => this.#clock,
        page: 1 + Math.floor(this.#random() * 20)
      })
    this.#syncs.set(name, sync)
    await sync.run()
  }

  async #restart(): Promise<void> {
    const node = this.#any(this.nodes)
    await node.restart()
    for (const name of this.#syncs.keys()) if (name.includes(node.name)) this.#syncs.delete(name)
  }

  /** A node learns what became of the chain. */
  async #catchUp({ engine, store }: TestNode): Promise<void> {
    const node = this.nodes.find(each => each.engine === engine)!
    const from = this.#stale.get(node)
    if (from !== undefined) await engine.proofs.reconcile(from)
    await engine.settle()
    this.#stale.delete(node)
    for (const { member } of await store.use(chainKeys.collections.log).at('pending').range()) {
      const answer = await this.#chain.proof(member)
      if (answer.status === 'mined') await engine.handleNewMerkleProof(member, answer.bump)
    }
  }

  /** To the network; whether that took it. */
  async #broadcast(transaction: Transaction, replace = false): Promise<boolean> {
    try {
      await this.#chain.submit(transaction, { replace })
      return true
    } catch (error) {
      if (error instanceof QuoinError) return false
      throw error
    }
  }

  /** To a node, which may know of a rival. */
  async #send(transaction: Transaction): Promise<void> {
    if (!this.#sent.some(({ txid }) => formatTxid(txid) === formatTxid(transaction.txid)))
      this.#sent.push(transaction)
    for (const [vout, { satoshis }] of transaction.outputs.entries()) {
      if (satoshis === 1) this.#coins.push({ transaction, vout })
    }
    try {
      await this.#any(this.nodes).submit(transaction, TOPIC)
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

  #any<T>(all: readonly T[]): T
  #any<T>(all: readonly T[]): T | undefined {
    return all[Math.floor(this.#random() * all.length)]
  }
}

const ACCEPTABLE: ReadonlySet<string> = new Set(['ERR_TXO_CONFLICT', 'ERR_TX_INVALID'])

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
export const randomOf = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
