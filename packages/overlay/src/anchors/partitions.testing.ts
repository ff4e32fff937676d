/**
 * Nodes with anchors on one chain, under partitions, restarts and reorgs. Each round, transactions reach single nodes of a
 * divided network while blocks come and go; then the network heals, and the bytes between the nodes are counted until all
 * have the same anchors. All of it follows from a seed.
 */
import { chain as chainKeys, type Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { equalBytes, formatTxid, QuoinError, type Txid } from '@quoin/primitives'
import { randomOf } from '../gasp/convergence.testing.ts'
import { mint, pay, TestNode, TOPIC } from '../gasp/node.testing.ts'
import { localPeer, type Peer } from '../gasp/peer.ts'
import { TopicSync } from '../gasp/topic-sync.ts'
import { rootOf, type TopicAnchor, tacAfter, ZERO_HASH } from './tree.ts'

export interface PartitionOptions {
  readonly seed: number
  readonly nodes: number
  readonly rounds: number
  /** Of each round. */
  readonly blocks: number
  /** Of each block. */
  readonly transactions: number
}

/** Bytes of a healing. */
export interface Healing {
  /** Requests and answers. */
  readonly sent: number
  /** Raw transactions and proofs that nodes did not have. */
  readonly differed: number
  readonly fetched: number
}

const MAX_ROUNDS = 8

export class DividedNetwork {
  readonly nodes: TestNode[] = []
  readonly chain: DevChain
  readonly #options: PartitionOptions
  readonly #random: () => number
  readonly #syncs = new Map<string, TopicSync>()
  /** Transactions that a node took. */
  readonly #taken: Transaction[] = []
  #coins: Transaction[] = []
  #parts: number[] = []
  #clock = Date.now() / 1000
  #sent = 0

  private constructor(options: PartitionOptions) {
    this.#options = options
    this.chain = new DevChain({ seed: `partitions ${options.seed}` })
    this.#random = randomOf(options.seed)
  }

  static async open(options: PartitionOptions): Promise<DividedNetwork> {
    const network = new DividedNetwork(options)
    for (let i = 0; i < options.nodes; i++) {
      network.nodes.push(await TestNode.anchored(`node ${i}`, network.chain))
    }
    return network
  }

  async close(): Promise<void> {
    for (const node of this.nodes) await node.close()
  }

  /** Divides the network, and mines blocks under it. */
  async disturb(): Promise<void> {
    const { blocks, transactions } = this.#options
    this.#parts = this.nodes.map((_, i) => (i < 2 ? i : Math.floor(this.#random() * 3)))
    for (let block = 0; block < blocks; block++) {
      for (let i = 0; i < transactions; i++) await this.#transact()
      this.chain.mine()
      if (this.#random() < 0.2) await this.#reorg()
      if (this.#random() < 0.3) await this.#restart(this.#any(this.nodes))
      if (this.#random() < 0.5) await this.#catchUp(this.#any(this.nodes))
      await this.#pullInPart()
    }
  }

  /** Pulls until all nodes have the same anchors. */
  async heal(): Promise<Healing> {
    this.chain.mine()
    for (const node of this.nodes) await this.#catchUp(node)
    const differed = await this.#difference()
    this.#sent = 0
    let fetched = 0
    for (let round = 0; !(await this.areEqual()); round++) {
      if (round === MAX_ROUNDS) throw new Error(`anchors differ after ${MAX_ROUNDS} rounds of pulls`)
      this.#clock += 10_000
      for (const node of this.nodes) {
        for (const other of this.nodes) if (other !== node) fetched += await this.#pull(node, other)
      }
    }
    return { sent: this.#sent, differed, fetched }
  }

  /** The bytes of a pull between nodes that are equal. */
  async idle(): Promise<number> {
    const [node, other] = this.nodes
    await this.#pull(node!, other!)
    this.#sent = 0
    await this.#pull(node!, other!)
    return this.#sent
  }

  async areEqual(): Promise<boolean> {
    const tips = await Promise.all(this.nodes.map(({ engine }) => engine.anchors!.tip(TOPIC)))
    return tips.every(tip => equalBytes(tip!.tac, tips[0]!.tac))
  }

  /** The anchor of the chain itself: all transactions that a node took, in their blocks. */
  expectedTac(): Uint8Array {
    const taken = new Set(this.#taken.map(({ txid }) => formatTxid(txid)))
    let tac = ZERO_HASH
    for (let height = 1; height <= this.chain.height; height++) {
      const txids = this.chain.block(height)!.map(({ txid }) => txid)
      const root = rootOf(txids.filter(txid => taken.has(formatTxid(txid))))
      tac = tacAfter(tac, this.chain.header(height)!.header.hash, root)
    }
    return tac
  }

  tips(): Promise<(TopicAnchor | undefined)[]> {
    return Promise.all(this.nodes.map(({ engine }) => engine.anchors!.tip(TOPIC)))
  }

  async #transact(): Promise<void> {
    const coin = this.#random() < 0.4 ? this.#takeCoin() : undefined
    const transaction = coin
      ? pay([[coin, 0]], this.#random() < 0.2 ? [0] : [1])
      : await mint(this.chain, [1, 900])
    if (coin && !(await isTaken(this.chain.submit(transaction)))) return
    if (!(await isTaken(this.#any(this.nodes).submit(transaction)))) return
    this.#taken.push(transaction)
    if (transaction.outputs[0]!.satoshis === 1) this.#coins.push(transaction)
  }

  #takeCoin(): Transaction | undefined {
    this.#coins = this.#coins.filter(({ txid }) => this.chain.transaction(txid))
    const coin = this.#any(this.#coins)
    this.#coins = this.#coins.filter(each => each !== coin)
    return coin
  }

  /** Sometimes a transaction leaves the chain with it, and its descendants too. */
  async #reorg(): Promise<void> {
    const depth = 1 + Math.floor(this.#random() * 3)
    const recent = this.#taken.filter(
      ({ txid }) => (this.chain.heightOf(txid) ?? 0) > this.chain.height - depth
    )
    const dropped: Transaction | undefined = this.#random() < 0.5 ? this.#any(recent) : undefined
    const { fork } = await this.chain.reorg(depth, dropped ? { drop: [dropped.txid] } : {})
    for (const { engine } of this.nodes) await engine.proofs.reconcile(fork + 1)
  }

  async #restart(node: TestNode): Promise<void> {
    await node.restart()
    for (const name of this.#syncs.keys()) if (name.includes(node.name)) this.#syncs.delete(name)
  }

  /** A node asks for the proofs of its unmined transactions. */
  async #catchUp({ engine, store }: TestNode): Promise<void> {
    for (const { member } of await store.use(chainKeys.collections.log).at('pending').range()) {
      const answer = await this.chain.proof(member)
      if (answer.status === 'mined') await engine.handleNewMerkleProof(member, answer.bump)
    }
    await engine.settle()
  }

  async #pullInPart(): Promise<void> {
    const node = this.#any(this.nodes)
    const part = this.#parts[this.nodes.indexOf(node)]
    const others = this.nodes.filter((other, i) => other !== node && this.#parts[i] === part)
    if (others.length > 0) await this.#pull(node, this.#any(others))
  }

  /** Answers how many transactions anchors brought. */
  async #pull(node: TestNode, other: TestNode): Promise<number> {
    const name = `${node.name} ${other.name}`
    let sync = this.#syncs.get(name)
    if (!sync) {
      const peer = counted(localPeer(other.name, other.engine), bytes => {
        this.#sent += bytes
      })
      sync = new TopicSync(node.engine, TOPIC, peer, { now: () => this.#clock })
      this.#syncs.set(name, sync)
    }
    return (await sync.run()).anchors?.fetched ?? 0
  }

  /** Bytes of raw transactions and proofs that others have and a node lacks, for all nodes. */
  async #difference(): Promise<number> {
    const known = new Map<string, Transaction>(this.#taken.map(each => [formatTxid(each.txid), each]))
    const all = [...known.values()].filter(({ txid }) => this.chain.transaction(txid))
    let bytes = 0
    for (const { engine } of this.nodes) {
      const { transactions } = engine.outputs
      const txids: readonly Txid[] = all.map(({ txid }) => txid)
      const [stored, proofs] = await Promise.all([transactions.getMany(txids), transactions.proofs(txids)])
      for (const [i, { txid, raw }] of all.entries()) {
        if (!stored[i]) bytes += raw.length
        const answer = await this.chain.proof(txid)
        if (!proofs[i] && answer.status === 'mined') bytes += answer.bump.toBytes().length
      }
    }
    return bytes
  }

  #any<T>(all: readonly T[]): T {
    return all[Math.floor(this.#random() * all.length)]!
  }
}

const isTaken = async (submitting: Promise<unknown>): Promise<boolean> => {
  try {
    await submitting
    return true
  } catch (error) {
    if (error instanceof QuoinError) return false
    throw error
  }
}

/** A peer whose requests and answers are counted in bytes, without the headers of HTTP. */
const counted = (peer: Peer, add: (bytes: number) => void): Peer => {
  const count = async <T>(request: object, answering: Promise<T>): Promise<T> => {
    const answer = await answering
    add(sizeOf(request) + (answer === undefined ? 0 : sizeOf(answer)))
    return answer
  }
  return {
    name: peer.name,
    syncResponse: (topic, request, signal) => count(request, peer.syncResponse(topic, request, signal)),
    node: (request, signal) => count(request, peer.node(request, signal)),
    transactions: (topic, request, signal) =>
      count(
        { ...request, ...(request.txids && { txids: request.txids.map(formatTxid) }) },
        peer.transactions!(topic, request, signal)
      ),
    anchors: (question, topic, request, signal) =>
      count(request, peer.anchors!(question, topic, request, signal))
  }
}

const sizeOf = (message: unknown): number =>
  message instanceof Uint8Array ? message.length : JSON.stringify(message).length
