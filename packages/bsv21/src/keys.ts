/** The keys of the BSV21 pipeline (seeds 000 and 003): a queue for each token, the operator's lists, and events. */

import { address, outpoint, tokenId, txid } from '@quoin/chain/components'
import {
  collection,
  escaped,
  keyspace,
  queueOf,
  rawValue,
  setOf,
  single,
  sortedSetOf,
  word
} from '@quoin/keyspace'
import { event, events } from '@quoin/txo'
import { PROVED } from './proved.ts'

export const bsv21 = keyspace(
  'bsv21',
  {
    arrived: collection({
      key: ['a:', txid('txid')],
      value: rawValue('BEEF'),
      about: 'A staged transaction of a source, with its proof, until it is indexed.'
    }),
    tokenQueue: collection({
      key: ['q:tok:', tokenId('token')],
      scans: [[]],
      value: queueOf(outpoint('outpoint')),
      about: 'Outputs of a token to submit to its topic.'
    }),
    ready: collection({
      key: ['q:bsv21:ready'],
      value: sortedSetOf(tokenId('token')),
      about: 'Active tokens with queue items; the score counts enqueues.'
    }),
    idle: collection({
      key: ['q:bsv21:idle'],
      value: sortedSetOf(tokenId('token')),
      about: 'Inactive tokens with queue items.'
    }),
    fees: collection({
      key: ['f:', address('address')],
      value: single(tokenId('token')),
      about: 'The token of a fee address.'
    }),
    lists: collection({
      key: ['s:bsv21:', word('list', 'whitelist', 'blacklist')],
      value: setOf(tokenId('token')),
      about: 'Whitelisted tokens, which are active, and blacklisted ones, which are not.'
    })
  },
  { about: 'The BSV21 token pipeline.', proved: PROVED }
)

export const bsv21Events = events(
  'bsv21',
  {
    id: event('id', 'Outputs of a token.', tokenId('token')),
    sym: event('sym', 'Deployments by symbol, which is any text.', escaped('symbol')),
    p2pkh: event('p2pkh', 'Token outputs by holder.', address('holder'), tokenId('token')),
    cos: event('cos', 'Token outputs by holder, behind a cosigner.', address('holder'), tokenId('token')),
    ltm: event('ltm', 'Token outputs under a lock-to-mint contract.', tokenId('token')),
    pow20: event('pow20', 'Token outputs under a proof-of-work contract.', tokenId('token')),
    list: event('list', 'Token outputs for sale.', tokenId('token')),
    listBy: event('list', 'Token outputs for sale by seller.', address('seller'), tokenId('token'))
  },
  { proved: PROVED }
)
