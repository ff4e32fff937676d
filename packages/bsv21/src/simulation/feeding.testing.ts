/**
 * One history from one seed, and nodes that are fed with it by different ways: a source that delivers its transactions, a
 * peer's listings, a peer's live changes, GASP, and a process that is killed on the way. All end in the state that the specification gives for the chain.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { syncTopic } from '@quoin/overlay'
import { ERRORS, QuoinError, type TokenId } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { verifyIndex } from '@quoin/txo'
import { createServer } from 'quoin'
import { Random } from '../../../txo/src/simulation/random.testing.ts'
import { compareTokens } from '../digests/compare-tokens.ts'
import { RemoteStates } from '../digests/remote-states.ts'
import { StoredStates } from '../digests/stored-states.ts'
import { bsv21 } from '../keys.ts'
import { tokenLedger } from '../ledger.ts'
import { TOKEN_EVENTS, TokenNode, type TokenNodeOptions } from '../node.testing.ts'
import { discoveryQueue } from '../pipeline/queues.ts'
import { tokenOutputs } from '../rules.ts'
import { PeerSource } from '../source/peer.ts'
import { expectedState, storedState } from '../state.testing.ts'
import { DISCOVERY, topicOf } from '../topic-names.ts'
import { expectSame } from './same.testing.ts'
import { SimulationFailure } from './simulation.testing.ts'
import { WorkerProcess, writeWorkerFiles } from './worker.testing.ts'
import { type Made, TokenWorld } from './world.testing.ts'

export const FEEDS = ['source', 'listing', 'live', 'gasp', 'submissions', 'some tokens', 'kills'] as const
type Feed = (typeof FEEDS)[number]

export interface FeedingOptions {
  readonly steps?: number
  readonly feeds?: readonly Feed[]
}

class Fed {
  readonly feed: Feed
  readonly store: Store
  readonly node: TokenNode
  readonly source: PeerSource | undefined

  constructor(feed: Feed, store: Store, node: TokenNode, source?: PeerSource) {
    this.feed = feed
    this.store = store
    this.node = node
    this.source = source
  }

  async settle(): Promise<void> {
    await this.node.pipeline.settle()
    await this.node.engine.settle()
  }

  async isIdle(): Promise<boolean> {
    const { due, leased } = await discoveryQueue(this.store).stats()
    return due + leased + (await this.store.use(bsv21.collections.ready).at().count()) === 0
  }

  async close(): Promise<void> {
    await this.node.close()
    await this.store.close()
  }
}

/** Plays the history of a seed, and feeds it to nodes; throws unless all have the state of the specification. */
export const feed = async (
  seed: number,
  { steps = 40, feeds = FEEDS }: FeedingOptions = {}
): Promise<ReadonlyMap<string, number>> => {
  const feeding = await Feeding.open(new Random(seed))
  try {
    await feeding.play(steps, feeds)
    return feeding.world.counts
  } catch (error) {
    throw new SimulationFailure(seed, steps, error)
  } finally {
    await feeding.close()
  }
}

class Feeding {
  readonly world: TokenWorld
  readonly #random: Random
  readonly #source: Fed
  readonly #followers: Fed[] = []
  readonly #folders: string[] = []
  readonly #server: ReturnType<typeof createServer>
  /** Unix seconds of all nodes: it is ahead of retries. */
  readonly #now = (): number => Date.now() / 1000 + this.#later
  #later = 0
  #url = ''
  #unsent: Made[] = []
  #submitting: Fed | undefined
  #choosing: Fed | undefined

  private constructor(random: Random, store: Store) {
    this.#random = random
    this.world = new TokenWorld(random)
    this.#source = new Fed('source', store, this.#nodeOn(store))
    const { engine, activation, pipeline } = this.#source.node
    this.#server = createServer({
      engine,
      options: { heartbeat: 50, tokens: { activation, pipeline, sources: [] } }
    })
  }

  #nodeOn(store: Store, options: Pick<TokenNodeOptions, 'activation' | 'sources'> = {}): TokenNode {
    const { chain } = this.world
    const isShared = this.#random.chance(0.5)
    return new TokenNode(store, { chain, activation: 'all', isShared, now: this.#now, ...options })
  }

  static async open(random: Random): Promise<Feeding> {
    const feeding = new Feeding(random, await openStore('memory:'))
    feeding.#url = (await feeding.#server.listen({ port: 0 })).url
    return feeding
  }

  async close(): Promise<void> {
    for (const each of this.#followers) await each.close()
    await this.#server.close()
    await this.#source.close()
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true })
  }

  async play(steps: number, feeds: readonly Feed[]): Promise<void> {
    if (feeds.includes('live')) await this.#follow('live')
    if (feeds.includes('submissions')) this.#submitting = await this.#delivered('submissions')
    if (feeds.includes('some tokens')) this.#choosing = await this.#delivered('some tokens')
    for (let step = 0; step < steps; step++) await this.#step()
    this.world.chain.mine()
    await this.#send(this.#unsent)
    await this.#forgetLost()
    if (feeds.includes('listing')) await this.#follow('listing')
    if (feeds.includes('gasp')) await this.#synced()
    if (feeds.includes('source')) await this.#deliver(await this.#delivered('source'), this.#shuffled())
    if (feeds.includes('kills')) await this.#killed()
    if (this.#choosing) await this.#deliver(this.#choosing, this.#shuffled())
    for (const each of this.#submitting ? this.world.made : []) await this.#submit(each)
    const all = [this.#source, ...this.#followers]
    await this.#settle(all)
    if (this.#choosing) await this.#checkChosen(this.#choosing)
    await this.#settle(all)
    for (const each of all) await this.#check(each)
    for (const each of this.#followers) await this.#compare(each)
  }

  /** The digests of a node are those of the source, over HTTP. */
  async #compare({ feed: as, node }: Fed): Promise<void> {
    const here = new StoredStates(node.outputs, as)
    for await (const { result, differences } of compareTokens(here, new RemoteStates(this.#url))) {
      expectSame({ result, differences }, { result: 'equal', differences: [] }, `${as}, compared`)
      this.world.count('token compared')
    }
  }

  #step(): Promise<void> {
    return this.#random.weighted<() => Promise<void>>([
      [50, () => this.#act()],
      [12, async () => void this.world.chain.mine()],
      [25, () => this.#send(this.#random.some(this.#unsent, this.#random.between(1, 8)))],
      [20, () => this.#source.settle()]
    ])()
  }

  async #act(): Promise<void> {
    const made = await this.world.act()
    if (!made) return
    this.#unsent.push(made)
    if (this.#random.chance(0.6)) await this.#submit(made)
    if (this.#random.chance(0.6)) await this.#choose()
  }

  /** Submits a transaction to one of the topics that may have something of it. */
  async #submit(made: Made): Promise<void> {
    if (!this.#submitting || !this.world.isInChain(made)) return
    const { transaction } = made
    const { outputs, engine } = this.#submitting.node
    if (await outputs.record(transaction.txid)) return
    const tokens = [...tokenOutputs(transaction).values()].map(({ id }) => topicOf(id))
    const topics = [this.#random.pick([DISCOVERY, ...tokens])]
    try {
      await engine.submit({ beef: this.world.chain.beef(transaction.txid), topics })
    } catch (error) {
      // A signature that does not hold, or a conflict: the chain decides later.
      if (!(error instanceof QuoinError) || ERRORS[error.code].origin !== 'transaction') throw error
    }
  }

  /** An operator changes the tokens that a node indexes, and its source delivers. */
  async #choose(): Promise<void> {
    if (!this.#choosing || this.world.tokens.size === 0) return
    const { activation } = this.#choosing.node
    const token = this.#random.pick([...this.world.tokens]) as TokenId
    const list = this.#random.chance(0.7) ? 'whitelist' : 'blacklist'
    if (this.#random.chance(0.7)) await activation.add(list, token)
    else await activation.remove(list, token)
    await this.#deliver(this.#choosing, this.#random.some(this.world.made, this.#random.between(0, 3)))
    if (this.#random.chance(0.5)) await this.#choosing.settle()
  }

  /** The chosen tokens have the state of the specification, and so have the others once they are chosen. */
  async #checkChosen(fed: Fed): Promise<void> {
    const { activation } = fed.node
    const tokens = [...this.world.tokens] as TokenId[]
    const chosen = await activation.list('whitelist')
    const refused = await activation.list('blacklist')
    const active = tokens.filter(token => chosen.includes(token) && !refused.includes(token))
    await this.#check(fed, active)
    this.world.count(active.length < tokens.length ? 'some tokens' : 'all tokens')
    for (const token of refused) await activation.remove('blacklist', token)
    for (const token of tokens) await activation.add('whitelist', token)
  }

  #shuffled(): readonly Made[] {
    const { made } = this.world
    return this.#random.some(made, made.length)
  }

  /** A transaction that the chain has lost to another spender of its inputs is rolled back, and the other is sent again. */
  async #forgetLost(): Promise<void> {
    const all = [this.#source, ...this.#followers]
    await this.#settle(all)
    for (const each of this.world.made) {
      const { txid } = each.transaction
      if (this.world.isInChain(each)) continue
      for (const { node } of all) if (await node.outputs.record(txid)) await node.outputs.rollback(txid)
    }
    await this.#deliver(this.#source, this.world.made)
    await this.#settle(all)
  }

  /** Some transactions, in any order. */
  async #send(some: readonly Made[]): Promise<void> {
    this.#unsent = this.#unsent.filter(each => !some.includes(each))
    await this.#deliver(this.#source, some)
  }

  async #deliver({ node }: Fed, some: readonly Made[]): Promise<void> {
    for (const each of some) {
      if (!this.world.isInChain(each)) continue
      await node.pipeline.ingest.ingestBeef(this.world.chain.beef(each.transaction.txid))
    }
  }

  /** A node that follows the source: its listings first, then its live changes. */
  async #follow(as: 'listing' | 'live'): Promise<void> {
    const store = await openStore('memory:')
    const source = new PeerSource(this.#url, { backoff: { first: 5, limit: 20 } })
    const node = this.#nodeOn(store, { sources: [source] })
    node.pipeline.start({ stages: false })
    const fed = new Fed(as, store, node, source)
    this.#followers.push(fed)
    await until(() => source.status.state === 'waiting' || source.status.state === 'reading')
  }

  /** A node that pulls the topics of tokens by GASP. */
  async #synced(): Promise<void> {
    const store = await openStore('memory:')
    const node = this.#nodeOn(store)
    const fed = new Fed('gasp', store, node)
    this.#followers.push(fed)
    const topics = [DISCOVERY, ...[...this.world.tokens].map(token => topicOf(token as TokenId))]
    for (const topic of topics) await syncTopic(node.engine, topic, this.#url, { now: this.#now })
  }

  /** A node whose process is killed, once or twice, before it has taken all transactions. */
  async #killed(): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'quoin-kills-'))
    this.#folders.push(folder)
    const { chain } = this.world
    const all = this.#shuffled().filter(each => this.world.isInChain(each))
    const beefs = all.map(({ transaction }) => chain.beef(transaction.txid))
    const files = await writeWorkerFiles(folder, chain, beefs)
    const url = `lmdb:${join(folder, 'data')}`
    for (let kills = this.#random.between(1, 2); kills > 0; kills--) {
      const worker = new WorkerProcess(url, files)
      await worker.prints('ready')
      await sleep(this.#random.between(0, 200))
      this.world.count(worker.isDone ? 'killed when done' : 'killed at work')
      await worker.kill()
    }
    await new WorkerProcess(url, files).finish()
    const store = await openStore(url)
    this.#followers.push(new Fed('kills', store, this.#nodeOn(store)))
  }

  /** A node that follows nothing. */
  async #delivered(as: Feed): Promise<Fed> {
    const store = await openStore('memory:')
    const fed = new Fed(
      as,
      store,
      this.#nodeOn(store, { activation: as === 'some tokens' ? 'listed' : 'all' })
    )
    this.#followers.push(fed)
    return fed
  }

  /** Until no work is left, and the followers have read the journal to its end. */
  async #settle(all: readonly Fed[]): Promise<void> {
    await until(async () => {
      this.#later += 1000
      for (const each of all) await each.settle()
      const last = await this.#source.node.outputs.journal.last()
      const isRead = all.every(({ source }) => !source || (source.status.at ?? 0) >= last)
      return isRead && (await Promise.all(all.map(each => each.isIdle()))).every(Boolean)
    })
  }

  async #check({ feed: as, store, node }: Fed, tokens: Iterable<string> = this.world.tokens): Promise<void> {
    const { history } = this.world
    expectSame(
      await storedState(node.outputs, tokens),
      expectedState(history, tokens),
      `the node that was fed by ${as}`
    )
    const { differences } = await verifyIndex(store, { events: TOKEN_EVENTS, ledger: tokenLedger })
    expectSame(differences, [], `the node that was fed by ${as}, verified`)
  }
}

const TRIES = 2000

const until = async (isTrue: () => boolean | Promise<boolean>): Promise<void> => {
  for (let i = 0; i < TRIES; i++) {
    if (await isTrue()) return
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  throw new Error('it does not come to rest')
}
