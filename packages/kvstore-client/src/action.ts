/**
 * Wallet actions (BRC-100) of both stores. A token is locked with the key of a scope and spent with it; an action spends
 * any number of tokens and creates at most one.
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

/** Derivation parameters of the key of a token. */
export interface Scope {
  readonly protocolID: [0 | 1 | 2, string]
  readonly keyID: string
  /** `anyone`: everybody can derive the public key (global tokens). `self`: only the wallet can (local tokens). */
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
  /** The ancestry of the spent tokens. */
  readonly beef?: number[] | undefined
  readonly output?:
    | { readonly script: Uint8Array; readonly basket?: string; readonly tags?: readonly string[] }
    | undefined
}

export interface ActionResult {
  readonly txid: string
  /** Index of the created token, if any. */
  readonly vout: number
  /** Atomic BEEF; some wallets omit it. */
  readonly beef: AtomicBEEF | undefined
}

/** BRC-35 §2.1: the amount has no meaning. */
const SATOSHIS = 1
/** The push of a DER signature with its sighash byte. */
const UNLOCK_LENGTH = 74

/** The public key of a scope, which locks its tokens. */
export const lockKeyOf = async (
  wallet: Pick<WalletInterface, 'getPublicKey'>,
  scope: Scope,
  originator: string | undefined
): Promise<string> => (await wallet.getPublicKey({ ...scope, forSelf: true }, originator)).publicKey

/** A signed locking script: the lock key, the fields, the signature (BRC-35 §5). */
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
 * Creates and signs an action. Delayed broadcast is off: with it, the wallet would report success for an action that the
 * network refuses later.
 */
export const runAction = async (
  wallet: TokenWallet,
  { description, scope, spends, beef, output }: Action,
  originator: string | undefined
): Promise<ActionResult> => {
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
  if (spends.length === 0) return resultOf(created, output?.script)
  if (!created.signableTransaction) {
    throw new QuoinError('ERR_KV_WALLET', 'the wallet returned no signable transaction for createAction')
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
  return resultOf(signed, output?.script)
}

const resultOf = ({ txid, tx }: SignActionResult, script: Uint8Array | undefined): ActionResult => {
  const transaction = tx && subjectOf(tx)
  const id = txid ?? transaction?.id('hex')
  if (id === undefined) {
    throw new QuoinError('ERR_KV_WALLET', 'the wallet returned neither a txid nor a transaction')
  }
  // Without the transaction, rely on `randomizeOutputs: false`.
  const vout = transaction && script ? outputWith(transaction, script) : 0
  return { txid: id, vout, beef: tx }
}

const outputWith = ({ outputs }: Transaction, script: Uint8Array): number => {
  const hex = Utils.toHex(Array.from(script))
  const vout = outputs.findIndex(({ lockingScript }) => lockingScript.toHex() === hex)
  if (vout < 0) throw new QuoinError('ERR_KV_WALLET', 'the transaction of the wallet lacks the token output')
  return vout
}

/** Unlocking scripts by input index; the wallet chooses the order of inputs. */
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
      throw new QuoinError('ERR_KV_WALLET', 'the transaction of the wallet does not spend the token', {
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

/** The subject of an Atomic BEEF, not linked to its ancestors. */
export const subjectOf = (atomic: AtomicBEEF): Transaction => {
  const bundle = new Bundle(Uint8Array.from(atomic))
  const transaction = bundle.subject === undefined ? undefined : bundle.transaction(bundle.subject)
  if (!transaction)
    throw new QuoinError('ERR_KV_WALLET', 'the BEEF of the wallet lacks its subject transaction')
  return transaction
}
