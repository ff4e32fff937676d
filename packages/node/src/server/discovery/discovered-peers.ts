/**
 * Peers found through SHIP: the hosts that advertise a topic in `tm_ship` of this node, visible in its own answers. Some of
 * them are taken as peers of the topic; a peer that works stays one.
 */
import { canonicalUri, publicFetch, readAdvertisement } from '@quoin/discovery'
import { type Engine, httpPeer, type Logger, type Peer, type SyncService } from '@quoin/overlay'
import { Task, type TaskGate, voutOf } from '@quoin/primitives'

export interface DiscoveredPeersOptions {
  readonly engine: Engine
  readonly sync: SyncService
  readonly topics: readonly string[]
  readonly allowPrivate: boolean
  /** The address of this node, which is no peer of its own. */
  readonly own: string | undefined
  readonly logger: Logger
  readonly gate: TaskGate
  /** Milliseconds between searches. */
  readonly interval: number
  /** Instead of requests to public addresses. */
  readonly fetch?: typeof fetch | undefined
}

/** Discovered peers of one topic at a time: anybody can advertise hosts. */
const MAX_DISCOVERED = 8

export class DiscoveredPeers {
  readonly #options: DiscoveredPeersOptions
  readonly #fetch: typeof fetch
  readonly #task: Task
  #chosen: ReadonlyMap<string, readonly string[]> = new Map()

  constructor(options: DiscoveredPeersOptions) {
    this.#options = options
    this.#fetch = options.fetch ?? publicFetch({ allowPrivate: options.allowPrivate })
    const { interval, gate } = options
    this.#task = new Task({ name: 'discover peers', interval, gate, work: () => this.#search() })
  }

  start(): void {
    this.#task.start()
  }

  close(): Promise<void> {
    return this.#task.stop()
  }

  async #search(): Promise<void> {
    const { sync, topics, logger } = this.#options
    const failing = new Set(
      sync.sources
        .filter(({ health }) => !['working', 'untried'].includes(health.current.state))
        .map(({ topic, peer }) => `${topic} ${peer}`)
    )
    const chosen = new Map<string, readonly string[]>()
    for (const topic of topics) {
      const before = this.#chosen.get(topic) ?? []
      const found = await this.#hosts(topic)
      const kept = before.filter(uri => found.has(uri) && !failing.has(`${topic} ${uri}`))
      const others = shuffled([...found].filter(uri => !kept.includes(uri)))
      // A host that fails is taken again only where there are too few others.
      const fresh = others.filter(uri => !failing.has(`${topic} ${uri}`))
      const again = others.filter(uri => failing.has(`${topic} ${uri}`))
      chosen.set(topic, [...kept, ...fresh, ...again].slice(0, MAX_DISCOVERED))
      const added = chosen.get(topic)!.filter(uri => !before.includes(uri))
      const removed = before.filter(uri => !chosen.get(topic)!.includes(uri))
      if (added.length + removed.length > 0) logger.info('peers discovered', { topic, added, removed })
    }
    this.#chosen = chosen
    sync.setDiscovered(
      Object.fromEntries([...chosen].map(([topic, uris]) => [topic, uris.map(uri => this.#peer(uri))]))
    )
  }

  #peer(uri: string): Peer {
    // Its changes are not streamed: a stream for each host that anybody advertises stays open.
    const { changes: _, ...peer } = httpPeer(uri, { fetch: this.#fetch })
    return peer
  }

  /** The hosts of a topic under `https:`. */
  async #hosts(topic: string): Promise<ReadonlySet<string>> {
    const { engine, own } = this.#options
    const found = new Set<string>()
    for (const { outpoint, transactions } of await engine.lookup('ls_ship', { topics: [topic] })) {
      const output = transactions[0]?.transaction?.outputs[voutOf(outpoint)]
      const uri = output && canonicalUri(readAdvertisement(output.script, 'SHIP')?.domain ?? '')
      if (uri?.startsWith('https://') && uri !== (own && canonicalUri(own))) found.add(uri)
    }
    return found
  }
}

const shuffled = <T>(all: readonly T[]): T[] =>
  all
    .map(each => [Math.random(), each] as const)
    .sort(([a], [b]) => a - b)
    .map(([, each]) => each)
