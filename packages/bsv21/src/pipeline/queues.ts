/** The queues between the stages: `q:bsv21`, and one for each token. */
import type { Outpoint, TokenId, Txid } from '@quoin/keyspace'
import type { Batch, Queue, QueueOptions, Store } from '@quoin/store'
import { outputs as outputKeys } from '@quoin/txo'
import { bsv21 } from '../keys.ts'

const { queue: queues } = outputKeys.collections
const { tokenQueue, ready } = bsv21.collections
const TRIES = { attempts: 20, backoff: 1, backoffLimit: 600 } as const

/** Unix seconds. */
export type Clock = () => number

export const wallClock: Clock = () => Date.now() / 1000

/** Transactions that nobody has looked through for tokens. */
export const discoveryQueue = (store: Store, now = wallClock): Queue<Txid> =>
  store.queueAt(queues, ['bsv21'], optionsOf(now))

/** Outputs of a token that nobody has worked on. */
export const queueOfToken = (store: Store, token: TokenId, now = wallClock): Queue<Outpoint> =>
  store.queueAt(tokenQueue, [token], optionsOf(now))

/** A queue without a clock of its own uses the clocks of the store, whose leases end by the monotonic clock. */
const optionsOf = (now: Clock): QueueOptions => (now === wallClock ? TRIES : { ...TRIES, now })

/** Queues an output of a token. What was given up is worth another look when it comes again. */
export const enqueueTokenIn = (
  batch: Batch,
  queue: Queue<Outpoint>,
  { token, outpoint, score, now }: { token: TokenId; outpoint: Outpoint; score: number; now: number }
): void => {
  queue.enqueueIn(batch, outpoint, score, now)
  reviveTokenIn(batch, queue, token, outpoint)
}

/** If it was given up, it is looked at again. */
export const reviveTokenIn = (
  batch: Batch,
  queue: Queue<Outpoint>,
  token: TokenId,
  outpoint: Outpoint
): void => {
  queue.reviveIn(batch, outpoint)
  const told = readied.get(batch) ?? new Set<TokenId>()
  if (told.has(token)) return
  readied.set(batch, told.add(token))
  batch.use(ready).at().increment(token, 1)
}

/** Tokens that a batch has said to be ready: it is enough to say so once. */
const readied = new WeakMap<Batch, Set<TokenId>>()
