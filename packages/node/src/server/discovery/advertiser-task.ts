/**
 * Keeps the topics and lookup services of the node advertised under its public address, in one process of those on a store:
 * creates what is missing, revokes what is not served, and submits again to trackers what they lost.
 */
import {
  type AdvertisementPlan,
  type AdvertiserWallet,
  banList,
  createAdvertisements,
  type FoundAdvertisement,
  HostClient,
  nameProblem,
  PROTOCOLS,
  planAdvertisements,
  REFUSED_NAME_ADVICE,
  readFound,
  revokeAdvertisements,
  siteOf,
  type TaggedBeef
} from '@quoin/discovery'
import { answerBeef, type Engine, healthLog, type Logger } from '@quoin/overlay'
import {
  isRetryable,
  QuoinError,
  reasonOf,
  SourceHealth,
  Task,
  type TaskGate,
  voutOf,
  withTimeout
} from '@quoin/primitives'
import { leasedState, type PartState, sourceState } from '../parts.ts'

export interface AdvertiserTaskOptions {
  readonly engine: Engine
  /** The public address, without a final slash. */
  readonly uri: string
  readonly openWallet: () => Promise<AdvertiserWallet>
  /** Trackers that get the advertisements too. */
  readonly trackers: readonly string[]
  /** Whether the node advertises that it is a tracker itself. */
  readonly isTracker?: boolean
  /** Milliseconds between passes. */
  readonly interval: number
  readonly logger: Logger
  readonly gate: TaskGate
  /** Milliseconds of one call to the wallet, 120,000 unless given: a person may have to agree. */
  readonly patience?: number
}

/** The advertisements of the node, for its operator. */
export interface AdvertisementReport {
  readonly uri: string
  readonly identityKey: string
  readonly current: readonly { readonly name: string; readonly outpoint: string }[]
  readonly missing: readonly string[]
  readonly obsolete: readonly { readonly name: string; readonly outpoint: string }[]
  readonly refused: readonly { readonly name: string; readonly reason: string; readonly advice: string }[]
}

const BACKOFF = { first: 5000, limit: 600_000 }
const PATIENCE_MS = 120_000
/** Inputs of one transaction that revokes, and outputs of one that creates. */
const MAX_ADVERTISEMENTS = 500

export class AdvertiserTask {
  readonly #options: AdvertiserTaskOptions
  readonly #health: SourceHealth
  readonly #task: Task
  #wallet: { readonly wallet: AdvertiserWallet; readonly identityKey: string } | undefined
  #refused = ''
  /** Transactions that the wallet makes, or made, which no topic has yet. */
  readonly #unsubmitted = new Map<'create' | 'revoke', Promise<TaggedBeef>>()

  constructor(options: AdvertiserTaskOptions) {
    this.#options = options
    const { logger, uri, interval, gate } = options
    this.#health = new SourceHealth({
      onChange: healthLog(logger, 'the advertiser', { uri }),
      patience: 600_000
    })
    this.#task = new Task({
      name: 'advertise',
      interval,
      jitter: 0.1,
      backoff: BACKOFF,
      gate,
      health: this.#health,
      work: signal => this.#pass(signal)
    })
  }

  start(): void {
    this.#task.start()
  }

  /** One pass; answers whether it succeeded. Two processes would both create what is missing. */
  async once(): Promise<boolean> {
    if (!this.#options.gate.signal)
      throw new QuoinError(
        'ERR_UNAVAILABLE',
        'another process on the store advertises: ask the one that has the lease discovery'
      )
    return this.#task.runOnce()
  }

  close(): Promise<void> {
    return this.#task.stop()
  }

  state(): PartState {
    return leasedState(this.#options.gate, () => sourceState(this.#health.current))
  }

  async report(): Promise<AdvertisementReport> {
    const { identityKey } = await this.#open()
    const { current, missing, obsolete, refused } = await this.#plan(identityKey)
    const brief = ({ name, outpoint }: FoundAdvertisement) => ({ name, outpoint })
    return {
      uri: this.#options.uri,
      identityKey,
      current: current.map(brief),
      missing,
      obsolete: obsolete.map(brief),
      refused: refused.map(name => ({ name, reason: nameProblem(name)!, advice: REFUSED_NAME_ADVICE }))
    }
  }

  async #pass(signal: AbortSignal): Promise<void> {
    const { uri, logger } = this.#options
    const { wallet, identityKey } = await this.#open()
    const { missing, obsolete, refused } = await this.#plan(identityKey)
    this.#reportRefused(refused)
    if (missing.length > 0) await this.#checkBans()
    for (const names of chunked(missing)) {
      signal.throwIfAborted()
      await this.#act(
        'create',
        () => createAdvertisements(wallet, uri, names),
        made => this.#submit(made)
      )
      logger.info('advertised', { uri, names })
    }
    for (const found of chunked(obsolete)) {
      signal.throwIfAborted()
      await this.#act(
        'revoke',
        () => revokeAdvertisements(wallet, found),
        async made => {
          await this.#submit(made)
          await this.#atTrackers(signal, tracker => tracker.submit(made))
        }
      )
      logger.info('advertisements revoked', { uri, names: found.map(({ name }) => name) })
    }
    const { current } = await this.#plan(identityKey)
    await this.#atTrackers(signal, tracker => this.#renew(tracker, identityKey, current))
  }

  /** Submits the advertisements that a tracker does not have: it never got them, or lost them. */
  async #renew(
    tracker: HostClient,
    identityKey: string,
    current: readonly FoundAdvertisement[]
  ): Promise<void> {
    const known = new Set((await tracker.advertisements(identityKey)).map(({ outpoint }) => outpoint))
    const lost = current.filter(({ outpoint }) => !known.has(outpoint))
    const transactions = new Map(lost.map(each => [each.outpoint.split('.')[0]!, each]))
    for (const [txid, { beef }] of transactions) {
      const topics = [
        ...new Set(
          lost
            .filter(({ outpoint }) => outpoint.startsWith(txid))
            .map(({ protocol }) => `tm_${protocol.toLowerCase()}`)
        )
      ]
      await tracker.submit({ beef: [...beef], topics })
    }
    if (lost.length > 0)
      this.#options.logger.info('advertisements renewed', {
        tracker: tracker.url,
        names: lost.map(({ name }) => name)
      })
  }

  /** All trackers get their turn; then the first failure is thrown. */
  async #atTrackers(signal: AbortSignal, step: (tracker: HostClient) => Promise<void>): Promise<void> {
    const failures: unknown[] = []
    for (const url of this.#options.trackers) {
      signal.throwIfAborted()
      await step(new HostClient(url, { signal })).catch(error => failures.push(error))
    }
    if (failures.length > 0) throw failures[0]
  }

  async #open(): Promise<{ readonly wallet: AdvertiserWallet; readonly identityKey: string }> {
    if (this.#wallet) return this.#wallet
    const wallet = await this.#patiently('open', this.#options.openWallet())
    const { publicKey } = await this.#patiently(
      'name its identity key',
      wallet.getPublicKey({ identityKey: true })
    )
    this.#wallet = { wallet, identityKey: publicKey }
    return this.#wallet
  }

  async #plan(identityKey: string): Promise<AdvertisementPlan> {
    const { engine, uri, isTracker = false } = this.#options
    const names = [...engine.topics.keys(), ...engine.lookups.keys()]
    return planAdvertisements(names, uri, await ownAdvertisements(engine, identityKey), { isTracker })
  }

  /** Answers leave out banned hosts: its advertisements would be created again in each pass. */
  async #checkBans(): Promise<void> {
    const { engine, uri } = this.#options
    const site = siteOf(uri)
    if ((await banList(engine.outputs.store)).some(({ type, value }) => type === 'domain' && value === site))
      throw new QuoinError(
        'ERR_CONFIG',
        `${uri} is on the ban list of this node; quoin hosts unban ${uri} lifts it`,
        {
          uri
        }
      )
  }

  async #submit({ beef, topics }: TaggedBeef): Promise<void> {
    const steak = await this.#options.engine.submit({ beef: Uint8Array.from(beef), topics })
    const [topic, failed] = Object.entries(steak).find(([, { error }]) => error) ?? []
    if (failed?.error) throw new QuoinError('ERR_TOPIC_FAILED', failed.error.message, { topic })
  }

  /**
   * A transaction of the wallet, and its submissions. The wallet may answer late, after it has paid and broadcast, and a
   * submission may fail: the next pass goes on with the same transaction.
   */
  async #act(
    kind: 'create' | 'revoke',
    make: () => Promise<TaggedBeef>,
    submit: (made: TaggedBeef) => Promise<void>
  ): Promise<void> {
    const making = this.#unsubmitted.get(kind) ?? make()
    this.#unsubmitted.set(kind, making)
    const forget = () => void this.#unsubmitted.delete(kind)
    making.catch(forget)
    const made = await this.#patiently(`${kind} advertisements`, making)
    try {
      await submit(made)
    } catch (error) {
      if (!isRetryable(error)) forget()
      throw error
    }
    forget()
  }

  async #patiently<T>(action: string, work: Promise<T>): Promise<T> {
    const { patience = PATIENCE_MS } = this.#options
    try {
      return await withTimeout(work, patience, () => {
        throw new Error(`no answer within ${patience} ms`)
      })
    } catch (error) {
      throw new QuoinError('ERR_WALLET', `the wallet did not ${action}: ${reasonOf(error)}`, { cause: error })
    }
  }

  #reportRefused(refused: readonly string[]): void {
    const names = refused.join(', ')
    if (names === this.#refused) return
    this.#refused = names
    if (refused.length === 0) return
    this.#options.logger.warn('names cannot be advertised', {
      names: refused.map(name => `${name}: ${nameProblem(name)}`),
      advice: REFUSED_NAME_ADVICE
    })
  }
}

/** The live advertisements of a wallet in the topics of the node. */
const ownAdvertisements = async (engine: Engine, identityKey: string): Promise<FoundAdvertisement[]> => {
  const found = await Promise.all(
    PROTOCOLS.map(async protocol => {
      const answers = await engine.lookup(`ls_${protocol.toLowerCase()}`, { identityKey })
      return answers.flatMap(answer => {
        const output = { beef: [...answerBeef(answer)], outputIndex: voutOf(answer.outpoint) }
        return readFound(protocol, output) ?? []
      })
    })
  )
  return found.flat()
}

const chunked = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / MAX_ADVERTISEMENTS) }, (_, i) =>
    all.slice(i * MAX_ADVERTISEMENTS, (i + 1) * MAX_ADVERTISEMENTS)
  )
