/**
 * The keys of the output store (seeds 000 and 001): one hash for each output, bulk hashes for satoshis, spends
 * and progress, and the sorted sets of topics, merkle states, transaction logs and queues. Events have a page
 * of their own, `events.ts`.
 *
 * The seeds keep peers in a hash of their own, `h:pi:{topic}`. It cannot be: with a topic of 33 characters that
 * is also the key of an output, and `h:{txid}` catches it. They are fields of `h:prog`, as in seed 000.
 */
import {
  address,
  alphabet,
  collection,
  decimal,
  hash,
  hex,
  json,
  keyspace,
  listOf,
  outpoint,
  QuoinError,
  queueOf,
  rawValue,
  single,
  sortedSetOf,
  text,
  topic,
  txid,
  u32,
  u64,
  value,
  word
} from '../keyspace/index.ts'

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const NAME = `${LETTERS}0123456789._-`

/** Where in the chain an output's transaction is: the height, then its index in the block. */
export interface BlockPosition {
  readonly height: number
  readonly index: bigint
}

const HEIGHT = u32('height').codec
const INDEX = u64('index').codec

const blockPosition = value<BlockPosition>({
  name: 'height (4 bytes) and index (8 bytes)',
  encode({ height, index }) {
    const bytes = new Uint8Array(12)
    INDEX.write(index, bytes, HEIGHT.write(height, bytes, 0))
    return bytes
  },
  decode(bytes) {
    if (bytes.length !== 12) {
      throw new QuoinError('ERR_VALUE_DECODE', `a block position has 12 bytes, not ${bytes.length}`)
    }
    return { height: HEIGHT.read(bytes, 0, 4), index: INDEX.read(bytes, 4, 12) }
  }
})

export const outputFields = keyspace(
  'output-fields',
  {
    events: collection({ key: ['ev'], value: json<string[]>(), about: 'The events of the output.' }),
    merkleState: collection({
      key: ['ms'],
      value: blockPosition,
      about: 'Its place in the chain, once mined.'
    }),
    data: collection({
      key: ['dt:', alphabet('tag', NAME)],
      scans: [[]],
      value: json<unknown>(),
      about: 'What the parser named by the tag found in it.'
    }),
    dependencies: collection({
      key: ['dp:', topic('topic')],
      scans: [[]],
      value: listOf(txid('txid')),
      about: 'Transactions the topic needs beside it.'
    }),
    inputs: collection({
      key: ['in:', topic('topic')],
      scans: [[]],
      value: listOf(outpoint('outpoint')),
      about: 'Outputs that the topic saw its transaction consume.'
    })
  },
  { about: 'Fields of the hash of an output.' }
)

export const satoshisFields = keyspace(
  'satoshis-fields',
  {
    satoshis: collection({
      key: [txid('txid'), u32('vout')],
      scans: [['txid']],
      value: single(u64('satoshis'))
    })
  },
  { about: 'Fields of `h:sats`.' }
)

export const spendFields = keyspace(
  'spend-fields',
  {
    spend: collection({ key: [txid('txid'), u32('vout')], scans: [['txid']], value: single(txid('spender')) })
  },
  { about: 'Fields of `h:spnd`.' }
)

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
    })
  },
  { about: 'Fields of `h:prog`.' }
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
    satoshis: collection({
      key: ['h:sats'],
      value: hash(satoshisFields),
      about: 'Satoshis of every output.'
    }),
    spends: collection({
      key: ['h:spnd'],
      value: hash(spendFields),
      about: 'The spender of every spent output.'
    }),
    progress: collection({
      key: ['h:prog'],
      value: hash(progressFields),
      about: 'How far each source was read.'
    }),
    topicOutputs: collection({
      key: ['z:tp:', topic('topic')],
      value: sortedSetOf(outpoint('outpoint')),
      about: 'Outputs admitted by a topic.'
    }),
    topicTransactions: collection({
      key: ['z:tp:', topic('topic'), ':tx'],
      value: sortedSetOf(txid('txid')),
      about: 'Transactions applied to a topic.'
    }),
    merkle: collection({
      key: ['z:merkle:', topic('topic'), ':', decimal('state', { bits: 32 })],
      scans: [[]],
      value: sortedSetOf(outpoint('outpoint')),
      about: 'Outputs of a topic by the state of their proof.'
    }),
    log: collection({
      key: ['z:tx:', word('log', 'pending', 'immutable', 'rollback')],
      scans: [[]],
      value: sortedSetOf(txid('txid')),
      about: 'Transactions by what became of them.'
    }),
    queue: collection({
      key: ['q:', alphabet('queue', NAME, { max: 128 })],
      value: queueOf(txid('txid')),
      about: 'Transactions that a subscription brought and nobody has worked on.'
    })
  },
  { about: 'The output store.' }
)
