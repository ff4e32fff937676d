/** The keys of the overlay engine: judgements, the cursors of lookup services, and queues. */

import { outpoint, topic, txid } from '@quoin/chain/components'
import { alphabet, collection, hash, json, keyspace, queueOf, text, u32 } from '@quoin/keyspace'
import { PROVED } from './proved.ts'

const NAME = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-'

/** What a topic did with a transaction. */
export interface Judgement {
  readonly outputsToAdmit: readonly number[]
  readonly coinsToRetain: readonly number[]
  readonly coinsRemoved: readonly number[]
  /** Inputs that spent outputs of the topic. */
  readonly previousCoins: readonly number[]
  /** Outputs that left the topic with the removed coins: those, and what only they kept in its history. */
  readonly forgotten?: readonly string[]
  /** Why an output was not admitted, by its index. */
  readonly refused?: Readonly<Record<string, string>>
}

/** By topic. */
export type Judgements = Readonly<Record<string, Judgement>>

export const cursorFields = keyspace(
  'cursor-fields',
  {
    cursor: collection({
      key: [topic('topic')],
      value: json<number>(),
      about: 'The last position that needs no delivery.'
    })
  },
  { about: 'Fields of the cursors of a lookup service.', proved: PROVED }
)

export const overlay = keyspace(
  'overlay',
  {
    judgements: collection({
      key: ['t:', txid('txid'), ':judged'],
      value: json<Judgements>(),
      about: 'What the topics did with a transaction.'
    }),
    offChainValues: collection({
      key: ['t:', txid('txid'), ':values'],
      value: json<string>(),
      about: 'What was submitted beside a transaction, for those who have yet to be told, in base64.'
    }),
    evictions: collection({
      key: ['t:', txid('txid'), ':evicted', u32('vout')],
      value: json<number>(),
      about: 'When the operator evicted an output, in unix seconds.'
    }),
    cursors: collection({
      key: ['lookup:', alphabet('service', NAME, { max: 128 })],
      value: hash(cursorFields),
      about: 'The position in the membership log of each topic up to which a lookup service is told.'
    }),
    initialCursors: collection({
      key: ['lookups'],
      value: hash(cursorFields),
      about: 'Where lookup services without a cursor begin: the ends of the logs when the store was upgraded.'
    }),
    replays: collection({
      key: ['lookup:', alphabet('service', NAME, { max: 128 }), ':replays'],
      value: json<number>(),
      about:
        'How often the cursors of a lookup service were set back, so that other processes read them again.'
    }),
    deliverer: collection({
      key: ['q:deliverer:', alphabet('service', NAME, { max: 128 })],
      value: queueOf(text('role')),
      about: 'The lease of the process that delivers to a lookup service.'
    }),
    failedDeliveries: collection({
      key: ['q:deliver:', alphabet('service', NAME, { max: 128 })],
      value: queueOf(text('entry')),
      about: 'Entries of membership logs, `{topic}@{position}`, whose delivery to a lookup service failed.'
    }),
    notify: collection({
      key: ['q:notify:', alphabet('service', NAME, { max: 128 })],
      value: queueOf(txid('txid')),
      about: 'Transactions that version 0.1 had yet to tell a lookup service of.'
    }),
    judgeAgain: collection({
      key: ['q:again:judge'],
      value: queueOf(txid('txid')),
      about:
        'Transactions to be judged again: what they spend has become a coin of a topic, or ceased to be one.'
    }),
    admitAgain: collection({
      key: ['q:again:admit'],
      value: queueOf(outpoint('outpoint')),
      about: 'Outputs that left a topic with a spender that was taken back.'
    }),
    sync: collection({
      key: ['q:sync:', topic('topic'), ':', text('host', { min: 1 })],
      value: queueOf(outpoint('outpoint')),
      about: 'Outputs of a topic that another node has, to be fetched from it.'
    })
  },
  { about: 'The overlay engine.', proved: PROVED }
)
