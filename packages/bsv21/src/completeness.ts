/**
 * How complete the state of a token is (D20): the position of each source, and the work that is pending. A transaction is
 * pending in the queue of discovery until its tokens are known, and then in the queue of each of its tokens.
 */
import type { TokenId } from '@quoin/primitives'
import type { QueueStats, Store } from '@quoin/store'
import { bsv21 } from './keys.ts'
import { discoveryQueue, queueOfToken } from './pipeline/queues.ts'
import type { Source } from './source/source.ts'

/** Numbers of queue items by state. */
export interface PendingCounts {
  readonly due: number
  readonly leased: number
  readonly waiting: number
  readonly dead: number
}

export interface SourcePosition {
  readonly name: string
  /** Blocks of JungleBus, journal positions of a node; undefined before the first delivery. */
  readonly at: number | undefined
  /** The end that the source has announced; undefined in processes that do not follow the source. */
  readonly end: number | undefined
}

export interface Completeness {
  /** No work is pending that may change the answer, and every source with a known end has reached it. */
  readonly isComplete: boolean
  readonly sources: readonly SourcePosition[]
  /** Outputs of the token that its topic has not evaluated. For all tokens: outputs in queues that may be worked on. */
  readonly pending: PendingCounts
  /** Transactions whose tokens are not known yet. */
  readonly discovery: PendingCounts
}

export const completenessOf = async (
  store: Store,
  sources: readonly Source[],
  token: TokenId | undefined
): Promise<Completeness> => {
  const [discovery, pending, positions] = await Promise.all([
    discoveryQueue(store).stats(),
    token === undefined ? pendingTokens(store) : queueOfToken(store, token).stats(),
    Promise.all(sources.map(source => positionOf(store, source)))
  ])
  const isBehind = positions.some(({ at, end }) => end !== undefined && (at ?? 0) < end)
  // An orphan of discovery may wait for ever, and a dead letter there was refused: they say nothing of one token.
  const isPending = total(countsOf(pending)) > 0 || discovery.due + discovery.leased > 0
  return {
    isComplete: !isBehind && !isPending,
    sources: positions,
    pending: countsOf(pending),
    discovery: countsOf(discovery)
  }
}

export const countsOf = ({ due, leased, waiting, dead }: PendingCounts | QueueStats): PendingCounts => ({
  due,
  leased,
  waiting,
  dead
})

const pendingTokens = async (store: Store): Promise<PendingCounts> => ({
  due: await store.use(bsv21.collections.ready).at().count(),
  leased: 0,
  waiting: 0,
  dead: 0
})

const positionOf = async (store: Store, source: Source): Promise<SourcePosition> => {
  const { name, status } = source
  if (status.state !== 'idle') return { name, at: status.at, end: status.end }
  return { name, at: await source.saved?.(store), end: undefined }
}

const total = ({ due, leased, waiting, dead }: PendingCounts): number => due + leased + waiting + dead
