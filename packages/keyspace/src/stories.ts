/** Each property with a bug of a real system as its story: the layout as it was, and the mended one. */
import type { Property } from './proof/findings.ts'

export interface Story {
  readonly meaning: string
  /** The system and the public trace of the bug. */
  readonly where: string
  readonly story: string
  /** Layout files: the broken layout, and the mended one. */
  readonly broken: object
  readonly mended: object
  readonly remedies: string
}

const layout = (name: string, ...collections: object[]): object => ({ name, collections })

export const STORIES: Readonly<Record<Property, Story>> = {
  P1: {
    meaning: 'No two lists of values are written as the same key. Otherwise one record overwrites another.',
    where: 'Cosmos SDK, ADR 028 and issue 8345',
    story:
      'The key of a delegation was the address of the delegator and then that of the validator. Addresses had 20 bytes until modules and multi-signatures brought others: then the last bytes of one address could as well be the first of the next, and two delegations had one key. The SDK put the length of each address before it.',
    broken: layout('adr-028', {
      name: 'delegation',
      key: [{ raw: '31' }, { bytes: 'delegator', min: 1, max: 255 }, { bytes: 'validator', min: 1, max: 255 }]
    }),
    mended: layout('adr-028', {
      name: 'delegation',
      key: [{ raw: '31' }, { lengthPrefixed: 'delegator' }, { lengthPrefixed: 'validator' }]
    }),
    remedies:
      'A fixed width, a length before the value, a separator that the value cannot contain, or an escape of it.'
  },
  P2: {
    meaning: 'A scan finds the keys that it was asked for and no others.',
    where: 'axelar-core, pull requests 1187 and 1826',
    story:
      'An iteration over everything under state_key123 used these bytes as its prefix, without the separator. It also found state_key1234_value. Ids that grow by one digit are enough: the code passes its tests until there are ten records.',
    broken: layout('axelar-1187', {
      name: 'state',
      key: [{ text: 'prefix', except: '_' }, '_', { text: 'value' }],
      scans: [{ prefix: ['prefix'], trailing: false }]
    }),
    mended: layout('axelar-1187', {
      name: 'state',
      key: [{ text: 'prefix', except: '_' }, '_', { text: 'value' }],
      scans: [['prefix']]
    }),
    remedies:
      'The separator in the prefix, a fixed width, or a value that ends itself (length prefix, terminator).'
  },
  P3: {
    meaning: 'Collections have no key in common, and no scan of one finds keys of another.',
    where: 'beacon-kit, issue 1230',
    story:
      'Two indexes of validators began with val_idx and val_idx_to_pk. An iteration over the first went through the second too, and read its public keys as indexes. One byte of their own for each collection ended it.',
    broken: layout(
      'beacon-kit-1230',
      { name: 'validators', key: ['val_idx', { u64be: 'index' }], scans: [[]] },
      { name: 'byPubkey', key: ['val_idx_to_pk', { bytes: 'pubkey', length: 48 }], scans: [[]] }
    ),
    mended: layout(
      'beacon-kit-1230',
      { name: 'validators', key: [{ raw: '01' }, { u64be: 'index' }], scans: [[]] },
      { name: 'byPubkey', key: [{ raw: '02' }, { bytes: 'pubkey', length: 48 }], scans: [[]] }
    ),
    remedies: 'A distinct prefix for each collection: none begins another.'
  },
  P4: {
    meaning: 'Keys walk in the order of their values, where a scan claims so.',
    where: 'Tendermint, issue 2110 and the issues 2906, 2907 and 2925 after it',
    story:
      'The index of transactions wrote heights with %d. Text sorts by character, so that height 10 comes before height 9, and a search for a range of heights missed some of its results. Integers of eight bytes, most significant first, sort as they count.',
    broken: layout('tendermint-2110', {
      name: 'byHeight',
      key: ['tx.height/', { decimal: 'height' }, '/', { u32be: 'index' }],
      scans: [{ prefix: [], from: ['height'] }]
    }),
    mended: layout('tendermint-2110', {
      name: 'byHeight',
      key: ['tx.height/', { u64be: 'height' }, '/', { u32be: 'index' }],
      scans: [{ prefix: [], from: ['height'] }]
    }),
    remedies:
      'Big-endian integers of fixed width (signed ones with the top bit flipped), zero-padded decimals, ordered varints.'
  },
  P5: {
    meaning: 'A decoder accepts the keys that the encoder produces, and no others.',
    where: 'Bitcoin, BIP 66 (its signatures are not keys, and the lesson is the same)',
    story:
      'OpenSSL accepted several encodings of one signature, so that anyone could change the id of a transaction without its key. Where a decoder takes 007 for 7, two keys stand for one record. The components of this package have one word for each value; a component of your own is held to that.',
    broken: layout('several-words', { name: 'c', key: [{ text: 'number' }] }),
    mended: layout('one-word', { name: 'c', key: [{ decimal: 'number' }] }),
    remedies: 'A component with one word for each value, such as decimal without leading zeros.'
  },
  P6: {
    meaning: 'Every raw key of the store belongs to one collection at most.',
    where: 'BullMQ 6.7, where a job may have any id',
    story:
      'Jobs are kept under bull:{queue}:{id}, and the lists of the queue under bull:{queue}:wait and other words. A job with the id wait has the key of that list: every later addition fails, since the key holds another type.',
    broken: layout(
      'bullmq',
      { name: 'job', key: ['bull:', { text: 'queue', except: ':' }, ':', { text: 'id' }] },
      { name: 'wait', key: ['bull:', { text: 'queue', except: ':' }, ':wait'] }
    ),
    mended: layout(
      'bullmq',
      { name: 'job', key: ['bull:job:', { text: 'queue', except: ':' }, ':', { text: 'id' }] },
      { name: 'wait', key: ['bull:wait:', { text: 'queue', except: ':' }] }
    ),
    remedies: 'A distinct prefix for each collection, before any text that others choose.'
  },
  P7: {
    meaning: 'A scan is over leading components of its key: one prefix stands for them.',
    where: 'a common mistake of first layouts',
    story:
      'Records are kept under {account}/{asset}, and a report needs all accounts of one asset. No prefix has them together, so that the code walks the whole store, or reads some of it. A second collection, with the asset in front, is what an index is.',
    broken: layout('balances', {
      name: 'balance',
      key: ['b/', { u64be: 'account' }, { u64be: 'asset' }],
      scans: [['asset']]
    }),
    mended: layout('balances', {
      name: 'balance',
      key: ['b/', { u64be: 'asset' }, { u64be: 'account' }],
      scans: [['asset']]
    }),
    remedies: 'The components of the scan first, or a second collection in that order.'
  }
}
