/**
 * The keys of the output store (seeds 000 and 001): one hash for each output, bulk hashes for spends and
 * progress, and the sorted sets of topics and balances, and queues. The keys of events are in `events.ts`. Outputs
 * of a topic by the state of their proof are ranges of scores in the set of the topic, and have no set of their own.
 *
 * Seed 001 has a hash for the peers of each topic, `h:pi:{topic}`. With a topic of 33 characters it is also the key of
 * an output, and in the scan of `h:{txid}`. So peers are fields of `h:prog`, as in seed 000.
 *
 * The record of a transaction is a field of `h:spnd`, beside the spends: all conditions of a commit are on one hash.
 */

import { address, outpoint, topic, txid } from '@quoin/chain/components'
import {
  alphabet,
  bytes,
  collection,
  hash,
  hex,
  json,
  keyspace,
  listOf,
  logOf,
  queueOf,
  rawValue,
  single,
  sortedSetOf,
  text,
  u32,
  u64,
  word
} from '@quoin/keyspace'
import { amounts } from './amounts.ts'
import { compact } from './compact.ts'
import { type ChangeDetails, ENTRY_ID } from './journal-entry.ts'
import { PROVED } from './proved.ts'
import { transactionRecord } from './record.ts'

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const NAME = `${LETTERS}0123456789._-`

export const outputFields = keyspace(
  'output-fields',
  {
    events: collection({ key: ['ev'], value: compact<string[]>(), about: 'The events of the output.' }),
    satoshis: collection({ key: ['sa'], value: compact<number>(), about: 'Its satoshis.' }),
    data: collection({
      key: ['dt:', alphabet('tag', NAME)],
      scans: [[]],
      value: compact<unknown>(),
      about: 'The data of the parser that the tag names.'
    }),
    dependencies: collection({
      key: ['dp:', topic('topic')],
      scans: [[]],
      value: listOf(txid('txid')),
      about: 'Transactions that the topic needs with it.'
    }),
    inputs: collection({
      key: ['in:', topic('topic')],
      scans: [[]],
      value: listOf(outpoint('outpoint')),
      about:
        'Outputs that the topic saw its transaction consume; there for every topic that admitted the output.'
    }),
    spent: collection({
      key: ['sp:', topic('topic')],
      scans: [[]],
      value: rawValue('nothing'),
      about: 'A topic marked the output as spent, by an unknown spender.'
    })
  },
  { about: 'Fields of the hash of an output.', proved: PROVED }
)

export const spendFields = keyspace(
  'spend-fields',
  {
    spend: collection({
      key: [txid('txid'), u32('vout')],
      value: single(txid('spender')),
      about: 'The transaction that spends an output.'
    }),
    transaction: collection({
      key: [txid('txid')],
      value: transactionRecord,
      about: 'The record of a transaction.'
    }),
    totals: collection({
      key: [outpoint('book'), ':totals'],
      value: amounts,
      about: 'The sums of the outputs of a book.'
    }),
    account: collection({
      key: [outpoint('book'), bytes('account', { length: 20 })],
      value: amounts,
      about: 'The amounts of one holder in a book, by the hash of the key.'
    })
  },
  { about: 'Fields of `h:spnd`.', proved: PROVED }
)

/** The offset to which a file was read, and the digest that identifies the file. */
export interface FileOffset {
  readonly bytes: number
  /** The SHA-256 of its beginning, in hex. */
  readonly head: string
}

export const progressFields = keyspace(
  'progress-fields',
  {
    subscription: collection({
      key: [hex('subscription', { length: 32 })],
      value: single(u32('height')),
      about: 'The next block of a subscription.'
    }),
    owner: collection({
      key: [address('address')],
      value: single(u32('height')),
      about: 'The last block an address was synced to.'
    }),
    peer: collection({
      key: ['peer:', topic('topic'), ':', text('host', { min: 1 })],
      scans: [[], ['topic']],
      value: rawValue('decimal text'),
      about: 'The score up to which a topic was synced with a host.'
    }),
    live: collection({
      key: ['live:', text('node', { min: 1 })],
      value: single(u64('position')),
      about: 'The last position of the journal of another node that was read.'
    }),
    file: collection({
      key: ['file:', hex('path', { length: 32 })],
      value: json<FileOffset>(),
      about: 'How far a file was imported, by the SHA-256 of its path.'
    })
  },
  { about: 'Fields of `h:prog`.', proved: PROVED }
)

/** Bytes of the rank of an account in its book: the amount's complement and the account. */
const PLACE = 36

export const changeFields = keyspace(
  'change-fields',
  {
    details: collection({
      key: [bytes('entry', { length: ENTRY_ID })],
      value: json<ChangeDetails>(),
      about: 'Outputs and spends of an entry that the index no longer has as they were.'
    })
  },
  { about: 'Fields of `h:journal`.', proved: PROVED }
)

export const outputs = keyspace(
  'outputs',
  {
    output: collection({
      key: ['h:', txid('txid'), u32('vout')],
      scans: [{ prefix: ['txid'], order: 'value' }],
      value: hash(outputFields),
      about: 'One output. The scan finds the outputs of a transaction, in order.'
    }),
    spends: collection({
      key: ['h:spnd'],
      value: hash(spendFields),
      about: 'The spender of every spent output, and the record of every transaction.'
    }),
    progress: collection({
      key: ['h:prog'],
      value: hash(progressFields),
      about: 'How far each source was read.'
    }),
    topicOutputs: collection({
      key: ['z:tp:', topic('topic')],
      value: sortedSetOf(outpoint('outpoint')),
      about: 'Outputs admitted by a topic: mined ones, with a height as their score, before unmined ones.'
    }),
    topicTransactions: collection({
      key: ['z:tp:', topic('topic'), ':tx'],
      value: sortedSetOf(txid('txid')),
      about: 'Transactions applied to a topic.'
    }),
    membership: collection({
      key: ['l:tp:', topic('topic')],
      scans: [[]],
      value: logOf(bytes('entry')),
      about:
        'The membership log of a topic: outputs admitted, spent, restored, removed or evicted, and transactions that moved in the chain, in the order of the commits.'
    }),
    balances: collection({
      key: ['z:balance:', word('of', 'satoshis', 'outputs')],
      scans: [[]],
      value: sortedSetOf(text('event', { min: 1 })),
      about: 'The sum of the unspent outputs of an event, for types of events with a kept balance.'
    }),
    ranks: collection({
      key: ['z:rank:', outpoint('book')],
      value: sortedSetOf(bytes('place', { length: PLACE })),
      about:
        'The accounts of a book, the richest first: 2^128 − 1 less what it has (16 bytes), and whose it is.'
    }),
    conflicts: collection({
      key: ['z:conflict:', txid('txid'), u32('vout')],
      value: sortedSetOf(txid('txid')),
      about: 'Transactions refused because another one spends the output, by the time of the refusal.'
    }),
    journal: collection({
      key: ['z:journal'],
      value: logOf(bytes('entry', { max: 1800 })),
      about: 'Changes in the order of their commits: references to transactions and outputs.'
    }),
    changes: collection({
      key: ['h:journal'],
      value: hash(changeFields),
      about: 'Details of entries of the journal, by the first 16 bytes of the entry.'
    }),
    queue: collection({
      key: ['q:', alphabet('queue', NAME, { max: 128 })],
      value: queueOf(txid('txid')),
      about: 'Transactions of a subscription that are not processed.'
    })
  },
  { about: 'The output store.', proved: PROVED }
)
