/**
 * The events of parsed scripts. They are claims of the script, checked for their form only, under the name of the
 * format. The events of topics, which decide on valid token outputs, have other names (`id:`, `sym:`, `p2pkh:` …).
 */

import { address, tokenId } from '@quoin/chain/components'
import { decimal, escaped, hex, word } from '@quoin/keyspace'
import { event, events } from '../events.ts'
import { PROVED } from '../proved.ts'

/** Escaped text of a script. Slashes stay unescaped: media types have them. */
const claimed = <const N extends string>(name: N) => escaped(name, { reserved: '\0:' })

export const scriptEvents = events(
  'script',
  {
    inscriptionType: event(
      'insc:type',
      'Inscriptions by media type, in lower case and without parameters.',
      claimed('type')
    ),
    inscriptionParent: event(
      'insc:parent',
      'Inscriptions that name another as their parent, which need not agree.',
      tokenId('parent')
    ),
    bsv21Op: event(
      'bsv21:op',
      'Deployments of BSV21 tokens.',
      word('operation', 'deploy+mint', 'deploy+auth')
    ),
    bsv21Id: event(
      'bsv21:id',
      'Outputs that claim to belong to a BSV21 token; unlike `id:`, nobody has judged them.',
      tokenId('token')
    ),
    bsv21Symbol: event(
      'bsv21:sym',
      'Deployments of BSV21 tokens by symbol, which anybody can repeat.',
      claimed('symbol')
    ),
    listing: event('ordlock:list', 'Outputs for sale under an OrdLock.'),
    cosigner: event(
      'cosign',
      'Outputs that need a cosigner, by its public key.',
      hex('cosigner', { length: 33 })
    ),
    lockUntil: event('lock:until', 'Satoshis locked until a height.', decimal('height', { bits: 32 })),
    contract: event('contract', 'Outputs under a contract for minting.', word('contract', 'ltm', 'pow20')),
    shrugOp: event(
      'shrug:op',
      'Deployments of SHRUG tokens.',
      word('operation', 'deploy+mint', 'deploy+auth')
    ),
    shrugId: event('shrug:id', 'Outputs that claim to belong to a SHRUG token.', tokenId('token')),
    pushDropKey: event(
      'pushdrop:key',
      'PushDrop tokens by the public key that locks them.',
      hex('key', { length: 33 })
    ),
    bType: event('b:type', 'B files by media type, in lower case and without parameters.', claimed('type')),
    mapType: event('map:type', 'Outputs by the `type` that a MAP SET gives.', claimed('type')),
    mapApp: event('map:app', 'Outputs by the `app` that a MAP SET gives.', claimed('app')),
    bapType: event(
      'bap:type',
      'BAP records by type.',
      word('type', 'ID', 'ATTEST', 'ALIAS', 'DATA', 'REVOKE')
    ),
    bapId: event('bap:id', 'BAP records about an identity, whoever signed them.', claimed('identity')),
    bapUrn: event('bap:urn', 'BAP records about an attestation, by its hash.', claimed('urn')),
    signer: event(
      'signer',
      'Outputs with a valid AIP or SIGMA signature, by the address of the signer.',
      address('signer')
    )
  },
  { proved: PROVED }
)
