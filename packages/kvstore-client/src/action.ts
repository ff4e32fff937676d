/**
 * What both stores ask of a wallet (BRC-100): tokens are locked with a key of a scope and spent with it, in actions that
 * spend any number of them and make at most one.
 */
import {
  type AtomicBEEF,
  LockingScript,
  PushDrop,
  type SignActionResult,
  type Transaction,
  Utils,
  type WalletInterface
} from '@bsv/sdk'
import { QuoinError } from '@quoin/primitives'
import { Bundle } from './bundle.ts'
import { signedBytes, writeToken } from './token.ts'

/** The methods that locking and spending a token need. */
export type TokenWallet = Pick<
  WalletInterface,
  'createAction' | 'signAction' | 'getPublicKey' | 'createSignature'
>

/** Where the key of a token is derived. */
export interface Scope {
  readonly protocolID: [0 | 1 | 2, string]
  readonly keyID: string
  /** `anyone` can derive the public key of a global token; that of a local one, the wallet alone. */
  readonly counterparty: 'anyone' | 'self'
}

/** A token to spend. */
export interface Coin {
  readonly outpoint: string
  readonly satoshis: number
  readonly script: Uint8Array
}

export interface Action {
  readonly description: string
  readonly scope: Scope
  readonly spends: readonly Coin[]
  /** The ancestry of what is spent. */
  readonly beef?: number[] | undefined
  readonly output?:
    | { readonly script: Uint8Array; readonly basket?: string; readonly tags?: readonly string[] }
    | undefined
}

export interface Acted {
  readonly txid: string
  /** Where the output is, when there is one. */
  readonly vout: number
  /** Atomic BEEF; wallets may leave it out. */
  readonly beef: AtomicBEEF | undefined
}

/** BRC-35 §2.1: the amount means nothing. */
const SATOSHIS = 1
/** A push of a signature in DER and its type. */
const UNLOCK_LENGTH = 74

/** The public key of a scope: what its tokens are locked with. */
export const lockKeyOf = async (
  wallet: Pick<WalletInterface, 'getPublicKey'>,
  scope: Scope,
  originator: string | undefined
): Promise<string> => (await wallet.getPublicKey({ ...scope, forSelf: true }, originator)).publicKey

/** A locking script with these fields, signed: the lock before them, the signature last (BRC-35 §5). */
export const lock = async (
  wallet: Pick<WalletInterface, 'getPublicKey' | 'createSignature'>,
  scope: Scope,
  fields: readonly Uint8Array[],
  originator: string | undefined
): Promise<Uint8Array> => {
  const lockKey = await lockKeyOf(wallet, scope, originator)
  const data = Array.from(signedBytes(fields))
  const { signature } = await wallet.createSignature({ ...scope, data }, originator)
  return writeToken({
    lockKey: Uint8Array.from(Utils.toArray(lockKey, 'hex')),
    fields,
    signature: Uint8Array.from(signature)
  })
}

/**
 * Does an action, and has it sent before it is over: a wallet that sends later would say that all is well of an action
 * that the network refuses.
 */
export const act = async (
  wallet: TokenWallet,
  { description, scope, spends, beef, output }: Action,
  originator: string | undefined
): Promise<Acted> => {
  const created = await wallet.createAction(
    {
      description,
      ...(spends.length > 0 && {
        ...(beef && { inputBEEF: beef }),
        inputs: spends.map(({ outpoint }) => ({
          outpoint,
          unlockingScriptLength: UNLOCK_LENGTH,
          inputDescription: 'Key-value token'
        }))
      }),
      ...(output && {
        outputs: [
          {
            lockingScript: Utils.toHex(Array.from(output.script)),
            satoshis: SATOSHIS,
            outputDescription: 'Key-value token',
            ...(output.basket !== undefined && { basket: output.basket }),
            ...(output.tags && { tags: [...output.tags] })
          }
        ]
      }),
      options: { acceptDelayedBroadcast: false, randomizeOutputs: false }
    },
    originator
  )
  if (spends.length === 0) return done(created, output?.script)
  if (!created.signableTransaction) {
    throw new QuoinError('ERR_KV_WALLET', 'the wallet made no transaction that could be signed')
  }
  const { tx, reference } = created.signableTransaction
  const signed = await wallet.signAction(
    {
      reference,
      spends: await unlock(wallet, scope, spends, subjectOf(tx), originator),
      options: { acceptDelayedBroadcast: false }
    },
    originator
  )
  return done(signed, output?.script)
}

const done = ({ txid, tx }: SignActionResult, script: Uint8Array | undefined): Acted => {
  const made = tx && subjectOf(tx)
  const id = txid ?? made?.id('hex')
  if (id === undefined) throw new QuoinError('ERR_KV_WALLET', 'the wallet did not say what it made')
  // Without the transaction the wallet has to be believed that it kept the order of outputs.
  const vout = made && script ? outputWith(made, script) : 0
  return { txid: id, vout, beef: tx }
}

const outputWith = ({ outputs }: Transaction, script: Uint8Array): number => {
  const hex = Utils.toHex(Array.from(script))
  const vout = outputs.findIndex(({ lockingScript }) => lockingScript.toHex() === hex)
  if (vout < 0) throw new QuoinError('ERR_KV_WALLET', 'the wallet made a transaction without the token')
  return vout
}

/** Unlocking scripts by the index of the input, wherever the wallet put it. */
const unlock = async (
  wallet: TokenWallet,
  { protocolID, keyID, counterparty }: Scope,
  spends: readonly Coin[],
  transaction: Transaction,
  originator: string | undefined
): Promise<Record<number, { unlockingScript: string }>> => {
  const indexes = new Map(
    transaction.inputs.map(({ sourceTXID, sourceOutputIndex }, i) => [
      `${sourceTXID}.${sourceOutputIndex}`,
      i
    ])
  )
  const template = new PushDrop(wallet as WalletInterface, originator)
  const scripts: Record<number, { unlockingScript: string }> = {}
  for (const { outpoint, satoshis, script } of spends) {
    const index = indexes.get(outpoint)
    if (index === undefined) {
      throw new QuoinError('ERR_KV_WALLET', 'the wallet made a transaction that does not spend the token', {
        outpoint
      })
    }
    const signer = template.unlock(
      protocolID,
      keyID,
      counterparty,
      'all',
      false,
      satoshis,
      LockingScript.fromBinary(Array.from(script))
    )
    scripts[index] = { unlockingScript: (await signer.sign(transaction, index)).toHex() }
  }
  return scripts
}

/** The transaction that an Atomic BEEF is about, not linked to its ancestors. */
export const subjectOf = (atomic: AtomicBEEF): Transaction => {
  const bundle = new Bundle(Uint8Array.from(atomic))
  const transaction = bundle.subject === undefined ? undefined : bundle.transaction(bundle.subject)
  if (!transaction) throw new QuoinError('ERR_KV_WALLET', 'a BEEF of the wallet has no subject')
  return transaction
}
