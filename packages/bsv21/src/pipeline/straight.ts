/**
 * The short way through the stages. What comes is mostly of active tokens, and the index has all that it spends: it is
 * judged at once and never sees a queue. That saves rows and nothing else: whatever is in doubt is left for the queues,
 * which know how to wait, to fetch, to try again and to give up.
 */
import { type Beef, type BeefTransaction, bytesKey } from '@quoin/chain'
import type { TokenId } from '@quoin/keyspace'
import type { Engine } from '@quoin/overlay'
import { memoize } from '@quoin/primitives'
import type { Activation } from '../activation.ts'
import { claimsOf, isForDiscovery } from '../rules.ts'
import { DISCOVERY, topicOf } from '../topic-names.ts'
import type { Arrivals } from './arrivals.ts'
import { proveIfKnown } from './prove.ts'
import { Underway } from './underway.ts'

export interface StraightOptions {
  readonly engine: Engine
  readonly activation: Activation
  readonly arrivals: Arrivals
  /** Whether there is a place to fetch from what a refused transaction spends. */
  readonly fetches: boolean
}

export class Straight {
  readonly #engine: Engine
  readonly #activation: Activation
  readonly #arrivals: Arrivals
  readonly #fetches: boolean
  /** By transaction. */
  readonly #underway = new Underway()

  constructor({ engine, activation, arrivals, fetches }: StraightOptions) {
    this.#engine = engine
    this.#activation = activation
    this.#arrivals = arrivals
    this.#fetches = fetches
  }

  /** Judges the subjects of those that it can; answers which, in the order given. The others are for the queues. */
  take(beefs: readonly (Beef | undefined)[], client?: string): Promise<boolean[]> {
    // What is so for one of them is so for all: the topic is asked again when they are submitted.
    const isActive = memoize(beefs.length + 1, (token: TokenId) => this.#activation.isActive(token))
    const announced = beefs.map(
      beef => beef && { beef, work: this.#underway.announce(bytesKey(beef.subject)) }
    )
    return Promise.all(
      announced.map(async one => {
        if (!one) return false
        try {
          return await one.work(() => this.#takeOne(one.beef, isActive, client))
        } catch {
          // It fails there too, and there it is said why.
          return false
        }
      })
    )
  }

  async #takeOne(beef: Beef, isActive: IsActive, client: string | undefined): Promise<boolean> {
    const subject = beef.find(beef.subject)
    if (!subject?.transaction || isAboutMore(beef)) return false
    const claims = [...claimsOf(subject.transaction).values()]
    const tokens = [...new Set(claims.map(({ id }) => id))]
    if (!(await areAll(tokens, isActive)) || !(await this.#isNext(subject))) return false
    const judging = tokens.map(topicOf)
    const topics = isForDiscovery(claims) ? [DISCOVERY, ...judging] : judging
    const steak = await this.#engine.submit({ beef, topics, client }, 'historical-tx')
    if (topics.some(topic => steak[topic]!.error)) return false
    // It may have been in the index before, with another proof or none.
    await proveIfKnown(this.#engine, subject)
    return !this.#fetches || judging.every(topic => steak[topic]!.outputsToAdmit.length > 0)
  }

  /**
   * Whether what it spends is out of the way, here and in the queues: what is judged without it would be judged again. If
   * it is nowhere, the engine says so.
   */
  async #isNext({ transaction, bump }: BeefTransaction): Promise<boolean> {
    const parents = new Map(transaction!.inputs.map(({ txid }) => [bytesKey(txid), txid]))
    await this.#underway.finished(parents.keys())
    return !bump || !(await this.#arrivals.haveAny([...parents.values()]))
  }
}

type IsActive = (token: TokenId) => Promise<boolean>

const areAll = async (tokens: readonly TokenId[], isActive: IsActive): Promise<boolean> => {
  for (const token of tokens) if (!(await isActive(token))) return false
  return true
}

/** Whether what it rests on has tokens of its own, which nobody may have brought by themselves. */
const isAboutMore = ({ subject, transactions }: Beef): boolean =>
  transactions.length > 1 &&
  transactions.some(
    ({ txid, transaction }) =>
      transaction && bytesKey(txid) !== bytesKey(subject) && claimsOf(transaction).size > 0
  )
