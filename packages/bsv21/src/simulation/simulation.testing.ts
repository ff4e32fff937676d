/**
 * One history from one seed, played through the whole pipeline: transactions come late, twice, in any order, before what
 * they spend, before they are mined and after; blocks are replaced. In the end the state is the one that the
 * specification gives for the chain alone.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore, type Store } from '@quoin/store'
import { verifyIndex } from '@quoin/txo'
import { Random } from '../../../txo/src/simulation/random.testing.ts'
import { bsv21 } from '../keys.ts'
import { tokenLedger } from '../ledger.ts'
import { TOKEN_EVENTS, TokenNode } from '../node.testing.ts'
import { discoveryQueue } from '../pipeline/queues.ts'
import { expectedState, storedState } from '../state.testing.ts'
import { expectSame } from './same.testing.ts'
import { type Made, TokenWorld } from './world.testing.ts'

export interface SimulationOptions {
  readonly steps?: number
  /** Where it is kept; in memory unless given. */
  readonly engine?: SimulationEngine
}

export const ENGINES = ['memory', 'lmdb', 'level'] as const
export type SimulationEngine = (typeof ENGINES)[number]

export class SimulationFailure extends Error {
  constructor(seed: number, steps: number, cause: unknown) {
    const reason = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
    super(`seed ${seed}, ${steps} steps\n${reason}`, { cause })
    this.name = 'SimulationFailure'
  }
}

/** Plays the history of a seed; throws unless everything is right. Answers what happened how often. */
export const simulate = async (
  seed: number,
  { steps = 60, engine = 'memory' }: SimulationOptions = {}
): Promise<ReadonlyMap<string, number>> => {
  const folder = engine === 'memory' ? '' : await mkdtemp(join(tmpdir(), 'quoin-tokens-'))
  const store = await openStore(`${engine}:${folder}`)
  const player = new Player(store, new Random(seed))
  try {
    for (let i = 0; i < steps; i++) await player.step()
    await player.rest()
    await player.check()
    return player.world.counts
  } catch (error) {
    throw new SimulationFailure(seed, steps, error)
  } finally {
    await player.close()
    await store.close()
    if (folder !== '') await rm(folder, { recursive: true, force: true })
  }
}

class Player {
  readonly world: TokenWorld
  readonly #store: Store
  readonly #random: Random
  /** Two of them over one store, as in two processes, with or without the short way. */
  readonly #nodes: readonly TokenNode[]
  /** Made, and not brought yet. */
  #unsent: Made[] = []
  /** Seconds since the beginning: what is to be tried again is due whenever that is wanted. */
  #later = 0

  constructor(store: Store, random: Random) {
    this.#store = store
    this.#random = random
    this.world = new TokenWorld(random)
    const { chain } = this.world
    const now = (): number => 1_700_000_000 + this.#later
    this.#nodes = [1, 2].map(
      () => new TokenNode(store, { chain, now, activation: 'all', isShared: random.between(0, 1) === 1 })
    )
  }

  async close(): Promise<void> {
    for (const node of this.#nodes) await node.close()
  }

  async step(): Promise<void> {
    const random = this.#random
    await random.weighted<() => Promise<void>>([
      [50, () => this.#act()],
      [12, () => this.#mine()],
      [25, () => this.#send()],
      [20, () => this.#work()],
      [5, () => this.#reorg()],
      [3, () => this.#repeat()]
    ])()
  }

  async #act(): Promise<void> {
    const made = await this.world.act()
    if (made) this.#unsent.push(made)
  }

  async #mine(): Promise<void> {
    this.world.count('mine')
    this.world.chain.mine()
  }

  /** Some of what was made, in any order; what the chain has lost meanwhile comes never. */
  async #send(): Promise<void> {
    const sent = this.#random.some(this.#unsent, this.#random.between(1, 8))
    this.#unsent = this.#unsent.filter(each => !sent.includes(each))
    await this.#bring(sent)
  }

  async #repeat(): Promise<void> {
    this.world.count('repeat')
    await this.#bring(this.#random.some(this.world.made, 5))
  }

  async #bring(made: readonly Made[]): Promise<void> {
    const { chain } = this.world
    const node = this.#random.pick(this.#nodes)
    for (const each of made.filter(one => this.world.isInChain(one))) {
      this.world.count(chain.heightOf(each.transaction.txid) === undefined ? 'unmined' : 'mined')
      await node.pipeline.ingest.ingestBeef(chain.beef(each.transaction.txid))
    }
  }

  async #work(): Promise<void> {
    this.#later += this.#random.between(0, 3)
    const some = this.#random.some(this.#nodes, this.#random.between(1, 2))
    await Promise.all(some.map(node => node.pipeline.settle()))
  }

  async #reorg(): Promise<void> {
    const { chain, made } = this.world
    if (chain.height < 5) return
    const depth = this.#random.between(1, 3)
    const fork = chain.height - depth
    const removed = made.filter(({ transaction: { txid } }) => (chain.heightOf(txid) ?? 0) > fork)
    const drop = this.#random
      .some(removed, this.#random.between(0, 2))
      .map(({ transaction }) => transaction.txid)
    const { lost } = await chain.reorg(depth, { drop })
    this.world.count(lost.length > 0 ? 'reorg that loses' : 'reorg')
    await this.#random.pick(this.#nodes).engine.proofs.reconcile(fork + 1)
    // A source brings what the new blocks have.
    const again = removed.filter(each => this.world.isInChain(each))
    await this.#bring(this.#random.some(again, again.length))
  }

  /** Everything is mined and brought, and what the chain has lost is given up. */
  async rest(): Promise<void> {
    const { chain, made } = this.world
    const [node] = this.#nodes as [TokenNode]
    chain.mine()
    await this.#bring(this.#random.some(made, made.length))
    await node.engine.proofs.reconcile(0)
    await this.#settle()
    // What nobody mines any more is in the index still, where nothing that was mined spends the same.
    for (const each of made) {
      const { txid } = each.transaction
      if (!this.world.isInChain(each) && (await node.outputs.record(txid))) await node.outputs.rollback(txid)
    }
    await this.#bring(made)
    await this.#settle()
  }

  /** Until nothing is tried again. */
  async #settle(): Promise<void> {
    let isIdle = false
    for (let again = 0; again < 50 && !isIdle; again++) {
      this.#later += 1000
      await Promise.all(this.#nodes.map(each => each.pipeline.settle()))
      for (const each of this.#nodes) await each.engine.settle()
      const { due, leased } = await discoveryQueue(this.#store).stats()
      isIdle = due + leased + (await this.#store.use(bsv21.collections.ready).at().count()) === 0
    }
  }

  async check(): Promise<void> {
    const { outputs } = this.#nodes[0]!
    const { history, tokens } = this.world
    expectSame(await storedState(outputs, tokens), expectedState(history, tokens))
    const { differences } = await verifyIndex(this.#store, { events: TOKEN_EVENTS, ledger: tokenLedger })
    expectSame(differences, [])
    const { due, leased } = await discoveryQueue(this.#store).stats()
    expectSame({ due, leased }, { due: 0, leased: 0 })
  }
}
