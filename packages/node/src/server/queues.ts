/**
 * The queues of a node, by name, for its operator: failed deliveries to lookup services, re-evaluations,
 * fetches from other nodes, and the stages of the token pipeline. Items are txids or outpoints, as people write them.
 */
import { discoveryQueue, queueOfToken } from '@quoin/bsv21'
import { type Broadcaster, type Engine, type LookupDelivery, overlay, type SyncService } from '@quoin/overlay'
import {
  formatOutpoint,
  formatTxid,
  type Outpoint,
  parseOutpoint,
  parseTxid,
  type Txid
} from '@quoin/primitives'
import type { ItemPage, Queue, QueueState, QueueStats } from '@quoin/store'
import { isTokenId } from '@quoin/txo'

export interface NodeQueue {
  stats(): Promise<QueueStats>
  list(
    state: QueueState,
    page: { readonly limit?: number; readonly cursor?: string }
  ): Promise<ItemPage<string>>
  revive(item: string): Promise<void>
  remove(item: string): Promise<void>
}

/** The queues by name, at each call: peers of topics come and go. */
export type NodeQueues = () => ReadonlyMap<string, NodeQueue>

export const nodeQueues = (
  engine: Engine,
  sync: SyncService | undefined,
  broadcaster: Broadcaster | undefined
): NodeQueues => {
  const own = ownQueues(engine, broadcaster)
  return () => new Map([...own, ...syncQueues(sync)])
}

const syncQueues = (sync: SyncService | undefined): [string, NodeQueue][] =>
  (sync?.queues ?? []).map(({ topic, peer, queue }) => [`sync:${topic}:${peer}`, ofOutpoints(queue)])

const ownQueues = (
  { outputs: { store }, outbox, lookups }: Engine,
  broadcaster: Broadcaster | undefined
): ReadonlyMap<string, NodeQueue> => {
  const { failedDeliveries, judgeAgain, admitAgain } = overlay.collections
  return new Map<string, NodeQueue>([
    ...Array.from(
      outbox.services,
      name =>
        [
          `notify:${name}`,
          failedEntries(outbox.delivery(name), store.queueAt(failedDeliveries, [name]))
        ] as const
    ),
    ['again:judge', ofTxids(store.queueAt(judgeAgain, []))],
    ['again:admit', ofOutpoints(store.queueAt(admitAgain, []))],
    ...(broadcaster?.canSend ? [['broadcast', ofTxids(broadcaster.outbox)] as const] : []),
    ...(lookups.has('ls_bsv21') ? [['bsv21', ofTxids(discoveryQueue(store))] as const] : [])
  ])
}

/** The queue of a token, `tok:{tokenId}`: there are too many to be listed. */
export const tokenQueue = ({ outputs: { store } }: Engine, name: string): NodeQueue | undefined => {
  const token = name.startsWith('tok:') ? name.slice(4) : undefined
  return isTokenId(token) ? ofOutpoints(queueOfToken(store, token)) : undefined
}

/** A queue with its items as texts. */
const namedQueue = <T>(
  queue: Queue<T>,
  format: (item: T) => string,
  parse: (text: string) => T
): NodeQueue => ({
  stats: () => queue.stats(),
  list: async (state, page) => {
    const { items, cursor } = await queue.list(state, page)
    return { items: items.map(each => ({ ...each, item: format(each.item) })), cursor }
  },
  revive: async item => {
    await queue.revive(parse(item))
  },
  remove: async item => {
    await queue.remove(parse(item))
  }
})

/** Entries of membership logs, `{topic}@{position}`: the delivery that holds their successors hears of each change. */
const failedEntries = (delivery: LookupDelivery, queue: Queue<string>): NodeQueue => ({
  stats: () => queue.stats(),
  list: (state, page) => queue.list(state, page),
  revive: item => delivery.revive(item),
  remove: item => delivery.discard(item)
})

const ofTxids = (queue: Queue<Txid>): NodeQueue => namedQueue(queue, formatTxid, parseTxid)
const ofOutpoints = (queue: Queue<Outpoint>): NodeQueue => namedQueue(queue, formatOutpoint, parseOutpoint)
