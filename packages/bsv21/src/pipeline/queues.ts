/** The queues between the stages: `q:bsv21`, and one for each token. */
import type { Outpoint, TokenId, Txid } from '@quoin/primitives'
import type { Batch, Queue, QueueOptions, Store } from '@quoin/store'
import { outputs as outputKeys } from '@quoin/txo'
import { bsv21 } from '../keys.ts'

const { queue: queues } = outputKeys.collections
const { tokenQueue, ready } = bsv21.collections
const RETRIES = { attempts: 20, backoff: 1, backoffLimit: 600 } as const

/** Unix seconds. */
export type Clock = () => number

export const wallClock: Clock = () => Date.now() / 1000

/** Transactions to dispatch. */
export const discoveryQueue = (store: Store, now = wallClock): Queue<Txid> =>
  store.queueAt(queues, ['bsv21'], optionsOf(now))

/** Outputs of a token to submit to its topic. */
export const queueOfToken = (store: Store, token: TokenId, now = wallClock): Queue<Outpoint> =>
  store.queueAt(tokenQueue, [token], optionsOf(now))

/** Without a clock, a queue uses the clocks of the store, whose leases expire by monotonic time. */
const optionsOf = (now: Clock): QueueOptions => (now === wallClock ? RETRIES : { ...RETRIES, now })

/** Enqueues an output of a token, and revives it if it is a dead letter. */
export const enqueueTokenIn = (
  batch: Batch,
  queue: Queue<Outpoint>,
  { token, outpoint, score, now }: { token: TokenId; outpoint: Outpoint; score: number; now: number }
): void => {
  queue.enqueueIn(batch, outpoint, score, now)
  reviveTokenIn(batch, queue, token, outpoint)
}

/** Revives an output from the dead letters of its token. */
export const reviveTokenIn = (
  batch: Batch,
  queue: Queue<Outpoint>,
  token: TokenId,
  outpoint: Outpoint
): void => {
  queue.reviveIn(batch, outpoint)
  const tokens = readyTokens.get(batch) ?? new Set<TokenId>()
  if (tokens.has(token)) return
  readyTokens.set(batch, tokens.add(token))
  batch.use(ready).at().increment(token, 1)
}

/** Tokens that a batch marks as ready: one increment per batch suffices. */
const readyTokens = new WeakMap<Batch, Set<TokenId>>()
