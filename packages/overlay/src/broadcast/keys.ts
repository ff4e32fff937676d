/** The keys of broadcasts: the status of each transaction on the network, the outbox, and the log of status changes. */
import { txid } from '@quoin/chain/components'
import { collection, json, keyspace, logOf, queueOf, sortedSetOf, text, word } from '@quoin/keyspace'
import { PROVED } from '../proved.ts'

/** `sent`: a processor has it. `seen`: nodes of the network have it. `rejected`: the network refuses it for good. */
export const BROADCAST_STATUSES = ['queued', 'sent', 'seen', 'mined', 'rejected'] as const
export type BroadcastStatus = (typeof BROADCAST_STATUSES)[number]

export interface BroadcastRecord {
  readonly status: BroadcastStatus
  /** The status in the words of processors: `SEEN_ON_NETWORK`. */
  readonly txStatus: string
  /** Since when it is tracked. Times are unix seconds. */
  readonly since: number
  /** When the status last changed. */
  readonly at: number
  /** Submissions that a processor accepted. */
  readonly submissions: number
  /** The last of them. */
  readonly sentAt?: number
  /** Attempts and checks since the last accepted submission: the backoff grows with them. */
  readonly checks: number
  /** The processor whose answer the status is. */
  readonly processor?: string
  /** Why it is rejected, or why no processor could be reached. */
  readonly reason?: string
  /** Transactions that spend the same outputs. */
  readonly competing?: readonly string[]
  /** The height of its block. */
  readonly height?: number
  /** Of a rejected transaction, to admit it again should a proof come after all: its bytes in hex, and its topics. */
  readonly kept?: { readonly raw: string; readonly topics: readonly string[] }
  /** SHA-256 of the callback tokens of its submissions, in hex: streams of events are asked for by token. */
  readonly tokens?: readonly string[]
}

/** A change of a status, as its log has it. */
export interface BroadcastEvent {
  readonly txid: string
  readonly status: BroadcastStatus
  readonly txStatus: string
  readonly at: number
  readonly reason?: string
  readonly competing?: readonly string[]
  readonly height?: number
}

export const broadcasts = keyspace(
  'broadcasts',
  {
    record: collection({
      key: ['t:', txid('txid'), ':broadcast'],
      value: json<BroadcastRecord>(),
      about: 'The status of a transaction on the network. It outlives the rollback of a rejected transaction.'
    }),
    byStatus: collection({
      key: ['broadcast:', word('status', 'queued', 'sent', 'seen', 'rejected')],
      value: sortedSetOf(txid('txid')),
      about: 'Transactions by their status on the network, scored by the unix seconds of its last change.'
    }),
    outbox: collection({
      key: ['q:broadcast:outbox'],
      value: queueOf(txid('txid')),
      about: 'Transactions to submit to the network, or to ask it about.'
    }),
    events: collection({
      key: ['l:broadcast:events'],
      value: logOf(text('event')),
      about: 'Changes of statuses, as JSON. Streams of events continue after a position.'
    })
  },
  { about: 'Transactions on their way into the network.', proved: PROVED }
)
