/** The keys of the overlay engine: what each submission was answered, and who has yet to be told of it. */
import { alphabet, collection, json, keyspace, queueOf, txid } from '../keyspace/index.ts'

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
      key: ['j:', txid('txid')],
      value: json<Judgements>(),
      about: 'What the topics did with a transaction.'
    }),
    offChainValues: collection({
      key: ['j:', txid('txid'), ':values'],
      value: json<string>(),
      about: 'What was submitted beside a transaction, for those who have yet to be told, in base64.'
    }),
    evicted: collection({
      key: ['j:', txid('txid'), ':gone'],
      value: json<readonly number[]>(),
      about:
        'Outputs that a topic had of a transaction that was taken back, for those who have yet to be told.'
    }),
    notify: collection({
      key: ['q:notify:', alphabet('service', NAME, { max: 128 })],
      value: queueOf(txid('txid')),
      about: 'Transactions that a lookup service has yet to be told of.'
    })
  },
  { about: 'The overlay engine.' }
)
