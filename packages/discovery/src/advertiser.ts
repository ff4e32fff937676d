/**
 * The advertisements of a host: created and revoked by a BRC-100 wallet, whose identity key is that of the host. All
 * advertisements of a call are outputs, or inputs, of one transaction.
 */
import type { AtomicBEEF, LockingScript, Transaction, WalletInterface } from '@bsv/sdk'
import { Beef } from '@quoin/chain'
import { formatTxid, QuoinError } from '@quoin/primitives'
import { isAdvertisableName, type Protocol, parseAdvertisement } from './advertisement.ts'
import { canonicalUri, isAdvertisable } from './uri.ts'

/** The methods that advertisements need. */
export type AdvertiserWallet = Pick<
  WalletInterface,
  'createAction' | 'signAction' | 'getPublicKey' | 'createSignature'
>

/** An advertisement that a lookup service found. */
export interface FoundAdvertisement {
  readonly protocol: Protocol
  readonly domain: string
  readonly name: string
  /** `txid.vout`. */
  readonly outpoint: string
  readonly beef: readonly number[]
}

export interface AdvertisementPlan {
  /** Names to advertise. */
  readonly missing: readonly string[]
  /** Live advertisements of names that the host serves. */
  readonly current: readonly FoundAdvertisement[]
  /** Live advertisements of the URI for names that the host does not serve. */
  readonly obsolete: readonly FoundAdvertisement[]
  /** Names that cannot be advertised (BRC-87). */
  readonly refused: readonly string[]
}

export interface PlanOptions {
  /** Whether the topics and lookup services of SHIP and SLAP are advertised too. */
  readonly isTracker?: boolean
}

/** A transaction of advertisements, and the topics that take it. */
export interface TaggedBeef {
  readonly beef: AtomicBEEF
  readonly topics: readonly string[]
}

/** Topics and lookup services of discovery itself, which trackers alone advertise. */
const DISCOVERY = ['tm_ship', 'tm_slap', 'ls_ship', 'ls_slap']
const PROTOCOL_IDS: Readonly<Record<Protocol, [2, string]>> = {
  SHIP: [2, 'service host interconnect'],
  SLAP: [2, 'service lookup availability']
}
const KEY_ID = '1'
const SATOSHIS = 1
/** The push of a DER signature with its sighash byte. */
const UNLOCK_LENGTH = 74

/** Imported by hosts that advertise: it is the largest library of a node. */
const loadSdk = () => import('@bsv/sdk')

const protocolOf = (name: string): Protocol => (name.startsWith('tm_') ? 'SHIP' : 'SLAP')
const topicOf = (protocol: Protocol): string => `tm_${protocol.toLowerCase()}`

/** Compares the names that a host serves with its live advertisements. */
export const planAdvertisements = (
  names: readonly string[],
  uri: string,
  found: readonly FoundAdvertisement[],
  { isTracker = false }: PlanOptions = {}
): AdvertisementPlan => {
  const served = names.filter(name => isTracker || !DISCOVERY.includes(name))
  const own = found.filter(({ domain }) => canonicalUri(domain) === canonicalUri(uri))
  return {
    missing: served.filter(name => isAdvertisableName(name) && !own.some(each => each.name === name)),
    current: own.filter(({ name }) => served.includes(name)),
    obsolete: own.filter(({ name }) => !served.includes(name)),
    refused: served.filter(name => !isAdvertisableName(name))
  }
}

/** Parses an output of `ls_ship` or `ls_slap`; undefined unless it is a valid advertisement. */
export const readFound = (
  protocol: Protocol,
  { beef, outputIndex }: { readonly beef: readonly number[]; readonly outputIndex: number }
): FoundAdvertisement | undefined => {
  const bundle = Beef.parse(Uint8Array.from(beef))
  const output = bundle.find(bundle.subject)?.transaction?.outputs[outputIndex]
  const parsed = output && parseAdvertisement(output.script, protocol)
  if (!parsed || 'reason' in parsed) return undefined
  const { domain, name } = parsed
  return { protocol, domain, name, outpoint: `${formatTxid(bundle.subject)}.${outputIndex}`, beef }
}

/** Creates the advertisements of names under a URI. */
export const createAdvertisements = async (
  wallet: AdvertiserWallet,
  uri: string,
  names: readonly string[]
): Promise<TaggedBeef> => {
  if (!isAdvertisable(uri))
    throw new QuoinError(
      'ERR_REQUEST',
      `invalid URI: ${uri}; expected https://HOST/, and not localhost (BRC-101)`,
      { uri }
    )
  const invalid = names.find(name => !isAdvertisableName(name))
  if (invalid !== undefined)
    throw new QuoinError(
      'ERR_REQUEST',
      `invalid name: ${invalid}; expected lower-case words with underscores (BRC-87)`,
      {
        name: invalid
      }
    )
  const { publicKey } = await wallet.getPublicKey({ identityKey: true })
  const outputs = await Promise.all(
    names.map(async name => {
      const protocol = protocolOf(name)
      const fields = [
        Buffer.from(protocol),
        Buffer.from(publicKey, 'hex'),
        Buffer.from(uri),
        Buffer.from(name)
      ]
      const { PushDrop } = await loadSdk()
      const script = await new PushDrop(wallet as WalletInterface).lock(
        fields.map(field => [...field]),
        PROTOCOL_IDS[protocol],
        KEY_ID,
        'anyone',
        true
      )
      return {
        lockingScript: script.toHex(),
        satoshis: SATOSHIS,
        outputDescription: `${protocol} of ${name}`
      }
    })
  )
  const { tx } = await wallet.createAction({
    description: 'Advertise overlay services',
    outputs,
    options: { acceptDelayedBroadcast: false, randomizeOutputs: false }
  })
  return { beef: expectTransaction(tx), topics: topicsOf(names.map(protocolOf)) }
}

/** Spends advertisements of the wallet. */
export const revokeAdvertisements = async (
  wallet: AdvertiserWallet,
  found: readonly FoundAdvertisement[]
): Promise<TaggedBeef> => {
  const { Beef: SdkBeef, PushDrop, Transaction } = await loadSdk()
  const ancestry = new SdkBeef()
  for (const { beef } of found) ancestry.mergeBeef([...beef])
  const { signableTransaction } = await wallet.createAction({
    description: 'Revoke advertisements of overlay services',
    inputBEEF: ancestry.toBinary(),
    inputs: found.map(({ outpoint, protocol, name }) => ({
      outpoint,
      unlockingScriptLength: UNLOCK_LENGTH,
      inputDescription: `${protocol} of ${name}`
    })),
    options: { acceptDelayedBroadcast: false, randomizeOutputs: false }
  })
  if (!signableTransaction)
    throw new QuoinError('ERR_WALLET', 'the wallet returned no signable transaction for createAction')
  const transaction = Transaction.fromBEEF(signableTransaction.tx)
  const spends = await Promise.all(
    found.map(async ({ outpoint, protocol }) => {
      const vin = transaction.inputs.findIndex(
        ({ sourceTransaction, sourceTXID, sourceOutputIndex }) =>
          `${sourceTXID ?? sourceTransaction!.id('hex')}.${sourceOutputIndex}` === outpoint
      )
      const { lockingScript, satoshis } = sourceOf(transaction, vin, outpoint)
      const template = new PushDrop(wallet as WalletInterface)
      const unlock = template.unlock(
        PROTOCOL_IDS[protocol],
        KEY_ID,
        'anyone',
        'all',
        false,
        satoshis,
        lockingScript
      )
      return [vin, { unlockingScript: (await unlock.sign(transaction, vin)).toHex() }] as const
    })
  )
  const { tx } = await wallet.signAction({
    reference: signableTransaction.reference,
    spends: Object.fromEntries(spends),
    options: { acceptDelayedBroadcast: false }
  })
  return { beef: expectTransaction(tx), topics: topicsOf(found.map(({ protocol }) => protocol)) }
}

const sourceOf = (
  transaction: Transaction,
  vin: number,
  outpoint: string
): { readonly lockingScript: LockingScript; readonly satoshis: number } => {
  const { sourceTransaction, sourceOutputIndex } = transaction.inputs[vin] ?? {}
  const output = sourceTransaction?.outputs[sourceOutputIndex!]
  if (!output) throw new QuoinError('ERR_WALLET', `the wallet left out the input ${outpoint}`, { outpoint })
  return { lockingScript: output.lockingScript, satoshis: output.satoshis ?? SATOSHIS }
}

const topicsOf = (protocols: readonly Protocol[]): string[] => [...new Set(protocols)].map(topicOf)

const expectTransaction = (tx: AtomicBEEF | undefined): AtomicBEEF => {
  if (tx) return tx
  throw new QuoinError('ERR_WALLET', 'the wallet returned no transaction for the action')
}
