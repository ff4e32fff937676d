/**
 * The fast path: transactions of active tokens whose parents are already indexed bypass the queues. It saves writes and
 * nothing else. Transactions that fail its predicate, or fail in the engine, go through the queues, which wait, fetch,
 * retry and record errors.
 */
import type { Beef, BeefTransaction } from '@quoin/chain'
import type { Engine } from '@quoin/overlay'
import { bytesKey, memoize, type TokenId } from '@quoin/primitives'
import type { Activation } from '../activation.ts'
import { isForDiscovery, tokenOutputs } from '../rules.ts'
import { DISCOVERY, topicOf } from '../topic-names.ts'
import { InFlight } from './in-flight.ts'
import type { StagedTransactions } from './staged-transactions.ts'
import { updateProof } from './update-proof.ts'

export interface FastPathOptions {
  readonly engine: Engine
  readonly activation: Activation
  readonly staged: StagedTransactions
  /** Whether the queues fetch the parents of refused transactions: then these are not final here. */
  readonly fetches: boolean
}

type IsActive = (token: TokenId) => Promise<boolean>

export class FastPath {
  readonly #engine: Engine
  readonly #activation: Activation
  readonly #staged: StagedTransactions
  readonly #fetches: boolean
  /** By txid. */
  readonly #inFlight = new InFlight()

  constructor({ engine, activation, staged, fetches }: FastPathOptions) {
    this.#engine = engine
    this.#activation = activation
    this.#staged = staged
    this.#fetches = fetches
  }

  /** Submits the subjects of BEEFs. Returns, in order, which are done; the others belong in the queues. */
  trySubmit(beefs: readonly (Beef | undefined)[], client?: string): Promise<boolean[]> {
    // Memoized for one delivery only: the engine checks the activation again.
    const isActive = memoize(beefs.length + 1, (token: TokenId) => this.#activation.isActive(token))
    const tracked = beefs.map(beef => beef && { beef, run: this.#inFlight.track(bytesKey(beef.subject)) })
    return Promise.all(
      tracked.map(async each => {
        if (!each) return false
        try {
          return await each.run(() => this.#submitOne(each.beef, isActive, client))
        } catch {
          // Fall back to the queue, which records the error.
          return false
        }
      })
    )
  }

  async #submitOne(beef: Beef, isActive: IsActive, client: string | undefined): Promise<boolean> {
    const subject = beef.find(beef.subject)
    if (!subject?.transaction || hasTokenAncestors(beef)) return false
    const outputs = [...tokenOutputs(subject.transaction).values()]
    const tokens = [...new Set(outputs.map(({ id }) => id))]
    if (!(await areAll(tokens, isActive)) || !(await this.#hasParentsReady(subject))) return false
    const tokenTopics = tokens.map(topicOf)
    const topics = isForDiscovery(outputs) ? [DISCOVERY, ...tokenTopics] : tokenTopics
    const steak = await this.#engine.admit({ beef, topics, client })
    await updateProof(this.#engine, subject)
    return !this.#fetches || tokenTopics.every(topic => steak[topic]!.outputsToAdmit.length > 0)
  }

  /**
   * Awaits in-flight parents. False for a mined transaction with staged parents: evaluated before them, it would be
   * evaluated twice. Parents that are neither staged nor indexed fail in the engine.
   */
  async #hasParentsReady({ transaction, bump }: BeefTransaction): Promise<boolean> {
    const parents = new Map(transaction!.inputs.map(({ txid }) => [bytesKey(txid), txid]))
    await this.#inFlight.settled(parents.keys())
    return !bump || !(await this.#staged.hasAny([...parents.values()]))
  }
}

const areAll = async (tokens: readonly TokenId[], isActive: IsActive): Promise<boolean> => {
  for (const token of tokens) if (!(await isActive(token))) return false
  return true
}

/** Whether ancestors carry tokens: each of them needs a submission of its own. */
const hasTokenAncestors = ({ subject, transactions }: Beef): boolean =>
  transactions.length > 1 &&
  transactions.some(
    ({ txid, transaction }) =>
      transaction && bytesKey(txid) !== bytesKey(subject) && tokenOutputs(transaction).size > 0
  )
