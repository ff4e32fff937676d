/** The keys of the BSV21 pipeline (seeds 000 and 003): a queue for each token, the operator's lists, and events. */
import {
  address,
  collection,
  escaped,
  keyspace,
  outpoint,
  queueOf,
  setOf,
  tokenId
} from '../keyspace/index.ts'
import { event, events } from '../txo/index.ts'

export const bsv21 = keyspace(
  'bsv21',
  {
    tokenQueue: collection({
      key: ['q:tok:', tokenId('token')],
      scans: [[]],
      value: queueOf(outpoint('outpoint')),
      about: 'Outputs of a token that nobody has worked on.'
    }),
    whitelist: collection({
      key: ['s:bsv21:whitelist'],
      value: setOf(tokenId('token')),
      about: 'Tokens that are always active.'
    }),
    blacklist: collection({
      key: ['s:bsv21:blacklist'],
      value: setOf(tokenId('token')),
      about: 'Tokens that are never active.'
    })
  },
  { about: 'The BSV21 token pipeline.' }
)

export const bsv21Events = events('bsv21', {
  id: event('id', 'Outputs of a token.', tokenId('token')),
  sym: event('sym', 'Deployments by symbol, which is any text.', escaped('symbol')),
  p2pkh: event('p2pkh', 'Token outputs by holder.', address('holder'), tokenId('token')),
  cos: event('cos', 'Token outputs by holder, behind a cosigner.', address('holder'), tokenId('token')),
  ltm: event('ltm', 'Token outputs under a lock-to-mint contract.', tokenId('token')),
  pow20: event('pow20', 'Token outputs under a proof-of-work contract.', tokenId('token')),
  list: event('list', 'Token outputs for sale.', tokenId('token')),
  listBy: event('list', 'Token outputs for sale by seller.', address('seller'), tokenId('token'))
})
