/** The keys of the overlay engine: admissions, the cursors of lookup services, and queues. */

import { outpoint, topic, txid } from '@quoin/chain/components'
import {
  alphabet,
  bytes,
  collection,
  hash,
  json,
  keyspace,
  queueOf,
  single,
  text,
  u32
} from '@quoin/keyspace'
import { admissionsValue } from './admission-value.ts'
import { PROVED } from './proved.ts'

const NAME = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-'

/** The decision of a topic on a transaction (BRC-22). */
export interface Admission {
  readonly outputsToAdmit: readonly number[]
  readonly coinsToRetain: readonly number[]
  readonly coinsRemoved: readonly number[]
  /** Inputs that spent outputs of the topic. */
  readonly previousCoins: readonly number[]
  /** The removed coins, and the outputs of the topic's history that only they kept: `txid.vout`. */
  readonly forgotten?: readonly string[]
  /** Why an output was not admitted, by its index. */
  readonly refused?: Readonly<Record<string, string>>
}

/** By topic. */
export type Admissions = Readonly<Record<string, Admission>>

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

/** Bytes of a stamp: the time of the commit and its process. */
const STAMP = 16

export const stampFields = keyspace(
  'stamp-fields',
  {
    stamp: collection({
      key: [u32('number')],
      value: single(bytes('id', { length: STAMP })),
      about: 'A unique id of the last commit that changed the block, or a block of the section.'
    })
  },
  { about: 'Fields of the stamps of topic anchors.', proved: PROVED }
)

export const overlay = keyspace(
  'overlay',
  {
    judgements: collection({
      key: ['t:', txid('txid'), ':judged'],
      value: admissionsValue,
      about: 'The admissions of a transaction, by topic.'
    }),
    offChainValues: collection({
      key: ['t:', txid('txid'), ':values'],
      value: json<string>(),
      about: 'The off-chain values of a submission, in base64, for deliveries and re-evaluations.'
    }),
    evictions: collection({
      key: ['t:', txid('txid'), ':evicted', u32('vout')],
      value: json<number>(),
      about: 'When the operator evicted an output, in unix seconds.'
    }),
    cursors: collection({
      key: ['lookup:', alphabet('service', NAME, { max: 128 })],
      value: hash(cursorFields),
      about:
        'The position in the membership log of each topic up to which entries are delivered to a lookup service.'
    }),
    initialCursors: collection({
      key: ['lookups'],
      value: hash(cursorFields),
      about: 'The first cursors of lookup services: the ends of the logs when the store was upgraded.'
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
    taskLeases: collection({
      key: ['q:lease:', alphabet('task', NAME, { max: 128 })],
      value: queueOf(text('holder')),
      about: 'The lease of the process that runs a task which runs in one process at a time.'
    }),
    failedDeliveries: collection({
      key: ['q:deliver:', alphabet('service', NAME, { max: 128 })],
      value: queueOf(text('entry')),
      about: 'Entries of membership logs, `{topic}@{position}`, whose delivery to a lookup service failed.'
    }),
    notify: collection({
      key: ['q:notify:', alphabet('service', NAME, { max: 128 })],
      value: queueOf(txid('txid')),
      about: 'Transactions whose delivery to a lookup service was pending in version 0.1.'
    }),
    judgeAgain: collection({
      key: ['q:again:judge'],
      value: queueOf(txid('txid')),
      about:
        'Transactions to re-evaluate: an output that they spend became a coin of a topic, or ceased to be one.'
    }),
    admitAgain: collection({
      key: ['q:again:admit'],
      value: queueOf(outpoint('outpoint')),
      about: 'Outputs that a spender removed from a topic, to be admitted again since it was rolled back.'
    }),
    sectionStamps: collection({
      key: ['anchors:', topic('topic')],
      value: hash(stampFields),
      about:
        'For each section of 256 blocks, the last commit that changed the transactions of a topic in it: anchors of unchanged sections stay valid.'
    }),
    blockStamps: collection({
      key: ['anchors:', topic('topic'), ':', u32('section')],
      value: hash(stampFields),
      about: 'For each block of a section, the last commit that changed the transactions of a topic in it.'
    }),
    sync: collection({
      key: ['q:sync:', topic('topic'), ':', text('host', { min: 1 })],
      value: queueOf(outpoint('outpoint')),
      about: 'Outputs of a topic to fetch from a peer that listed them.'
    })
  },
  { about: 'The overlay engine.', proved: PROVED }
)

/** Stores record the names of collections with their fingerprints: three of these keep the names of version 0.1. */
export const {
  judgements: admissions,
  offChainValues,
  evictions,
  judgeAgain: reevaluationQueue,
  admitAgain: readmissionQueue
} = overlay.collections
