/**
 * Keys of the chain: headers by hash, the chain of most work by height, raw transactions and proofs by txid. Keys of
 * one transaction share a prefix, here and in the layers above, so that they lie on one page of an embedded database.
 */

import { txid } from '@quoin/chain/components'
import {
  bytes,
  collection,
  json,
  keyspace,
  rawValue,
  single,
  sortedSetOf,
  u32,
  value,
  word
} from '@quoin/keyspace'
import { QuoinError } from '@quoin/primitives'
import { type ChainHeader, HEADER_LENGTH, parseHeader } from './headers/header.ts'
import type { NetworkName } from './headers/networks.ts'
import { PROVED } from './proved.ts'

const blockHash = bytes('hash', { length: 32 })
const WORK_LENGTH = 32
const ENTRY_LENGTH = HEADER_LENGTH + 4 + WORK_LENGTH

/** A header with the height and work of its own branch. */
const chainHeader = value<ChainHeader>({
  name: 'header (80 bytes), height (4 bytes) and work (32 bytes)',
  encode({ header, height, work }) {
    const encoded = new Uint8Array(ENTRY_LENGTH)
    encoded.set(header.raw)
    const view = new DataView(encoded.buffer)
    view.setUint32(HEADER_LENGTH, height)
    // Work of any real chain fits in 128 bits; that of a checkpoint may not.
    for (let at = ENTRY_LENGTH - 8, rest = work; rest > 0n; at -= 8, rest >>= 64n) {
      view.setBigUint64(at, BigInt.asUintN(64, rest))
    }
    return encoded
  },
  decode(encoded) {
    if (encoded.length !== ENTRY_LENGTH) {
      throw new QuoinError(
        'ERR_VALUE_DECODE',
        `a stored header has ${ENTRY_LENGTH} bytes, not ${encoded.length}`
      )
    }
    const view = new DataView(encoded.buffer, encoded.byteOffset, encoded.byteLength)
    let work = 0n
    for (let at = HEADER_LENGTH + 4; at < ENTRY_LENGTH; at += 8) work = (work << 64n) | view.getBigUint64(at)
    return {
      header: parseHeader(encoded.subarray(0, HEADER_LENGTH)),
      height: view.getUint32(HEADER_LENGTH),
      work
    }
  }
})

/** Value of a transaction's row. */
export interface StoredTransaction {
  /** Whether its scripts, and its ancestors' scripts, were verified. */
  readonly verified: boolean
  readonly raw: Uint8Array
}

const storedTransaction = value<StoredTransaction>({
  name: 'verified (1 byte: 0 or 1) and the raw transaction',
  encode({ verified, raw }) {
    const encoded = new Uint8Array(1 + raw.length)
    encoded[0] = Number(verified)
    encoded.set(raw, 1)
    return encoded
  },
  decode(encoded) {
    if (!(encoded[0]! <= 1)) {
      throw new QuoinError(
        'ERR_VALUE_DECODE',
        `invalid stored transaction: expected the first byte 0 or 1, not ${encoded[0]}`
      )
    }
    return { verified: encoded[0] === 1, raw: encoded.subarray(1) }
  }
})

/** First header of a store. */
export interface Origin {
  readonly network: NetworkName
  readonly height: number
}

export const chain = keyspace(
  'chain',
  {
    header: collection({
      key: ['b:', blockHash],
      value: chainHeader,
      about: 'Every header that was found good, of whichever branch.'
    }),
    active: collection({
      key: ['c:', u32('height')],
      scans: [{ prefix: [], order: 'value' }],
      value: single(blockHash),
      about: 'The chain of most work.'
    }),
    tip: collection({
      key: ['chain:tip'],
      value: single(blockHash),
      about: 'The last block of it. Whatever changes the chain depends on it.'
    }),
    origin: collection({
      key: ['chain:origin'],
      value: json<Origin>(),
      about: 'The network, and the height of the first header that is known.'
    }),
    transaction: collection({
      key: ['t:', txid('txid')],
      value: storedTransaction,
      about: 'Raw transactions.'
    }),
    proof: collection({
      key: ['t:', txid('txid'), ':proof'],
      value: rawValue('BUMP'),
      about: 'The merkle proof of a transaction that is mined.'
    }),
    log: collection({
      key: ['z:tx:', word('log', 'pending', 'mined', 'rollback')],
      value: sortedSetOf(txid('txid')),
      about: 'Transactions by what became of them.'
    }),
    devChain: collection({
      key: ['dev:chain'],
      value: json<{ readonly seed: string; readonly reorgs: number }>(),
      about: 'The development chain of a node, if it has one.'
    }),
    devBlock: collection({
      key: ['dev:b:', u32('height')],
      scans: [{ prefix: [], order: 'value' }],
      value: json<{ readonly header: string; readonly transactions: readonly string[] }>(),
      about: 'The blocks of the development chain.'
    }),
    devWaiting: collection({
      key: ['dev:t:', txid('txid')],
      scans: [{ prefix: [] }],
      value: rawValue('transaction'),
      about: 'Transactions that the next block of the development chain will have.'
    })
  },
  { about: 'Headers, transactions and proofs.', proved: PROVED }
)
