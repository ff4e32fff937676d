/**
 * The network of a node without one: a development chain in the node itself. Submitted transactions wait there to be
 * mined, blocks reach the headers as from any source, and proofs reach the engine.
 */
import {
  type Bump,
  type ChainHeader,
  chain,
  formatHash,
  type HeaderStore,
  syncHeaders,
  type Transaction
} from '@quoin/chain'
import { type DevReorg, PersistentDevChain, type ReorgOptions } from '@quoin/dev-chain'
import { type Broadcast, type Engine, healthLog, type Logger } from '@quoin/overlay'
import { hasCode, KeyedMutex, QuoinError, sleep, Task, type Txid } from '@quoin/primitives'
import { type Store, TAKEOVER_MS, type TaskLease } from '@quoin/store'
import type { PartState } from './parts.ts'

export class DevNetwork {
  readonly #kept: PersistentDevChain
  readonly #headers: HeaderStore
  readonly #logger: Logger
  readonly #lease: TaskLease
  /** The signal of the lease under which the chain was last compared with the store. */
  #term: AbortSignal | undefined
  #engine: Engine | undefined
  /** Blocks up to this height have reached the engine. */
  #settled = 0
  #task: Task | undefined
  readonly #mutex = new KeyedMutex<'chain'>()

  private constructor(kept: PersistentDevChain, headers: HeaderStore, logger: Logger, lease: TaskLease) {
    this.#kept = kept
    this.#lease = lease
    this.#term = lease.signal
    this.#headers = headers
    this.#logger = logger
  }

  /** Refuses while another process on the store has the chain; waits for the end of the lease of one that was killed. */
  static async open(
    store: Store,
    headers: HeaderStore,
    logger: Logger,
    lease: TaskLease
  ): Promise<DevNetwork> {
    await acquire(lease)
    let network: DevNetwork | undefined
    // Blocks of a node are of the day that people look at them.
    const kept = await PersistentDevChain.open(store, {
      clock: () => Date.now() / 1000,
      guard: batch => {
        if (network && network.#term !== lease.signal) throw notHeld()
        lease.heldIn(batch)
      }
    })
    network = new DevNetwork(kept, headers, logger, lease)
    return network
  }

  get chain() {
    return this.#kept.chain
  }

  /** Delivers all blocks first, since a crash may have kept some from the engine; then mines on an interval in seconds. */
  async start(engine: Engine, blockTime: number): Promise<void> {
    this.#engine = engine
    await this.#mutex.run('chain', () => this.#settle())
    if (blockTime === 0) return
    this.#task = new Task({
      name: 'development chain',
      interval: blockTime * 1000,
      isDelayed: true,
      onHealthChange: healthLog(this.#logger, 'the development chain', {}),
      work: async () => {
        if (this.chain.mempool.length > 0) await this.mine()
        else await this.#mutex.run('chain', () => this.#settle())
      }
    }).start()
  }

  /** Takes a transaction and its unmined ancestors. */
  readonly broadcast: Broadcast = async (transaction, beef) => {
    await this.#assertHeld()
    for (const { transaction: each, bump } of beef.transactions) {
      if (each && !bump) await this.chain.submit(each)
    }
    await this.chain.submit(transaction)
    await this.#kept.save()
  }

  /** Pays to an address or a script; mined with the next block. */
  fund(to: string | Uint8Array, satoshis: number): Promise<Transaction> {
    return this.#mutex.run('chain', async () => {
      await this.#assertHeld()
      const paid = this.chain.fund(to, satoshis)
      await this.#settle()
      return paid
    })
  }

  /** Mines blocks, and resolves when the engine knows. */
  mine(count = 1): Promise<readonly ChainHeader[]> {
    return this.#mutex.run('chain', async () => {
      await this.#assertHeld()
      const blocks = this.chain.mine(count)
      await this.#settle()
      return blocks
    })
  }

  /** Replaces the last blocks by others, and resolves when the headers have them. */
  reorg(depth: number, options?: ReorgOptions): Promise<DevReorg> {
    return this.#mutex.run('chain', async () => {
      await this.#assertHeld()
      const reorg = await this.chain.reorg(depth, options)
      this.#settled = Math.min(this.#settled, reorg.fork)
      await this.#settle()
      return reorg
    })
  }

  /** Durable first: headers and proofs of blocks that a crash takes away would be of nothing. */
  async #settle(): Promise<void> {
    await this.#assertHeld()
    await this.#kept.save()
    await syncHeaders(this.#headers, this.chain)
    if (!this.#engine) return
    for (let height = this.#settled + 1; height <= this.chain.height; height++) {
      this.#logger.info('block', {
        height,
        hash: formatHash(this.chain.header(height)!.header.hash),
        transactions: this.chain.block(height)!.length
      })
    }
    this.#settled = this.chain.height
    await this.#prove(this.#engine)
  }

  /**
   * Gives the engine the proofs of its unproved transactions. The engine is asked for them after each block, because a
   * submission may be mined before it is committed.
   */
  async #prove(engine: Engine): Promise<void> {
    const waiting = await engine.outputs.store.use(chain.collections.log).at('pending').range()
    for (const { member: txid } of waiting) {
      const answer = await this.chain.proof(txid)
      if (answer.status === 'mined') await this.#proved(engine, txid, answer.bump)
    }
  }

  async #proved(engine: Engine, txid: Txid, bump: Bump): Promise<void> {
    try {
      await engine.handleNewMerkleProof(txid, bump)
    } catch (error) {
      // It was taken back meanwhile.
      if (!hasCode(error, 'ERR_TX_UNKNOWN')) throw error
    }
  }

  /** Refuses while another process may have the chain, and after another process has changed it. */
  async #assertHeld(): Promise<void> {
    const { signal } = this.#lease
    if (!signal) throw notHeld()
    if (signal === this.#term) return
    if (!(await this.#kept.hasAllStored())) {
      throw new QuoinError(
        'ERR_UNAVAILABLE',
        'another process has changed the development chain of the store; start this node again',
        { seconds: 60 }
      )
    }
    this.#term = signal
  }

  /** An error while another process may have the chain. */
  async state(): Promise<PartState> {
    await this.#assertHeld()
    return { status: 'ok' }
  }

  async close(): Promise<void> {
    await this.#task?.stop()
    await this.#mutex.run('chain', () => {})
    await this.#kept.save()
  }
}

const notHeld = (): QuoinError =>
  new QuoinError(
    'ERR_UNAVAILABLE',
    'the lease of the development chain is lost; try again when the store answers',
    {
      seconds: 5
    }
  )

const RETRY_MS = 250

const acquire = async (lease: TaskLease): Promise<void> => {
  await lease.start()
  for (const end = performance.now() + TAKEOVER_MS; !lease.signal && performance.now() < end; )
    await sleep(RETRY_MS)
  if (lease.signal) return
  throw new QuoinError(
    'ERR_CONFIG',
    'another process has the development chain of this store, and a development chain is of one process: ' +
      'stop that process, or take blocks from a source with --chain headers:URL'
  )
}
