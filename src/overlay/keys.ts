/** The keys of the overlay engine: what each submission was answered, and who has yet to be told of it. */
import {
  alphabet,
  collection,
  json,
  keyspace,
  logOf,
  outpoint,
  queueOf,
  text,
  topic,
  txid,
  u32
} from '../keyspace/index.ts'

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
    evicted: collection({
      key: ['t:', txid('txid'), ':gone'],
      value: json<readonly number[]>(),
      about:
        'Outputs that a topic had of a transaction that was taken back, for those who have yet to be told.'
    }),
    evictions: collection({
      key: ['t:', txid('txid'), ':evicted', u32('vout')],
      value: json<number>(),
      about: 'When the operator evicted an output, in unix seconds.'
    }),
    notify: collection({
      key: ['q:notify:', alphabet('service', NAME, { max: 128 })],
      value: queueOf(txid('txid')),
      about: 'Transactions that a lookup service has yet to be told of.'
    }),
    arrivedOutputs: collection({
      key: ['l:arrived:', topic('topic')],
      value: logOf(outpoint('outpoint')),
      about: 'Outputs that a topic admitted and that it has not seen spent, in the order in which they came.'
    }),
    arrivedTransactions: collection({
      key: ['l:arrived:', topic('topic'), ':tx'],
      value: logOf(txid('txid')),
      about: 'Transactions that changed a topic, in the order in which they came.'
    }),
    takenBack: collection({
      key: ['l:arrived:', topic('topic'), ':back'],
      value: logOf(txid('txid')),
      about: 'Transactions of a topic that were taken back; other nodes may have them still.'
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
  { about: 'The overlay engine.' }
)
