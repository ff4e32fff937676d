/**
 * Actions of a development wallet (BRC-100 `createAction`, `signAction`). Each is paid by a fresh coin of the development
 * chain that is worth the outputs and the fee, so that there is no change to spend, and no action waits for another.
 */
import {
  type CreateActionArgs,
  type CreateActionInput,
  LockingScript,
  P2PKH,
  type PrivateKey,
  type SignActionArgs,
  Transaction,
  UnlockingScript
} from '@bsv/sdk'
import { QuoinError } from '@quoin/primitives'
import type { DevChainClient } from './chain.ts'
import { type BasketOutput, normalize } from './outputs.ts'

/** An action that waits for unlocking scripts, or is complete. */
export interface DraftAction {
  readonly transaction: Transaction
  readonly args: CreateActionArgs
}

const SATOSHIS_PER_KB = 100
/** Bytes of a P2PKH input beside its outpoint, sequence and length: a signature and a key. */
const P2PKH_UNLOCK = 108

/** The transaction of an action; inputs without an unlocking script have an empty one. */
export const draft = async (
  chain: DevChainClient,
  root: PrivateKey,
  args: CreateActionArgs
): Promise<DraftAction> => {
  const { inputs = [], outputs = [], version = 1, lockTime = 0 } = args
  const transaction = new Transaction(version, [], [], lockTime)
  let satoshis = feeOf(args)
  for (const input of inputs) {
    const [txid = '', vout] = input.outpoint.split('.')
    const sourceTransaction = await chain.transaction(txid)
    transaction.addInput({
      sourceTransaction,
      sourceOutputIndex: Number(vout),
      unlockingScript:
        input.unlockingScript === undefined
          ? new UnlockingScript()
          : UnlockingScript.fromHex(input.unlockingScript),
      sequence: input.sequenceNumber ?? 0xffffffff
    })
    satoshis -= sourceTransaction.outputs[Number(vout)]?.satoshis ?? 0
  }
  for (const output of outputs) {
    transaction.addOutput({
      satoshis: output.satoshis,
      lockingScript: LockingScript.fromHex(output.lockingScript)
    })
    satoshis += output.satoshis
  }
  const lock = new P2PKH().lock(root.toAddress())
  // A transaction has an output, also where an action only spends.
  if (outputs.length === 0) {
    transaction.addOutput({ satoshis: 1, lockingScript: lock })
    satoshis += 1
  }
  transaction.addInput({
    sourceTransaction: await chain.fund(lock.toHex(), Math.max(1, satoshis)),
    sourceOutputIndex: 0,
    unlockingScript: new UnlockingScript(),
    sequence: 0xffffffff
  })
  return { transaction, args }
}

const feeOf = ({ inputs = [], outputs = [] }: CreateActionArgs): number => {
  const unlocking = inputs.reduce((bytes, input) => bytes + 50 + unlockLength(input), 0)
  const locking = outputs.reduce((bytes, { lockingScript }) => bytes + 18 + lockingScript.length / 2, 0)
  return Math.ceil(((70 + P2PKH_UNLOCK + unlocking + locking) * SATOSHIS_PER_KB) / 1000)
}

const unlockLength = ({ unlockingScript, unlockingScriptLength }: CreateActionInput): number =>
  unlockingScript === undefined ? (unlockingScriptLength ?? 0) : unlockingScript.length / 2

/** Whether inputs of the caller have no unlocking script yet. */
export const isOpen = ({ args: { inputs = [] } }: DraftAction): boolean =>
  inputs.some(({ unlockingScript }) => unlockingScript === undefined)

/** The action with the unlocking scripts of the caller, and the input of the coin signed. */
export const sign = async (
  { transaction: { version, inputs, outputs, lockTime }, args }: DraftAction,
  root: PrivateKey,
  spends: SignActionArgs['spends']
): Promise<DraftAction> => {
  // A transaction of @bsv/sdk keeps the bytes that it was serialised to without signatures.
  const transaction = new Transaction(version, inputs, outputs, lockTime)
  for (const [i, { unlockingScript }] of (args.inputs ?? []).entries()) {
    if (unlockingScript !== undefined) continue
    const spend = spends[i]
    if (!spend) {
      throw new QuoinError('ERR_KV_WALLET', `signAction has no unlocking script for input ${i}`, { input: i })
    }
    inputs[i]!.unlockingScript = UnlockingScript.fromHex(spend.unlockingScript)
  }
  const coin = inputs.length - 1
  inputs[coin]!.unlockingScript = await new P2PKH().unlock(root).sign(transaction, coin)
  return { transaction: new Transaction(version, inputs, outputs, lockTime), args }
}

/** The outputs of an action that belong into baskets. */
export const basketOutputs = ({ transaction, args: { outputs = [] } }: DraftAction): BasketOutput[] => {
  const txid = transaction.id('hex')
  return outputs.flatMap(({ basket, tags = [], satoshis, lockingScript, customInstructions }, vout) =>
    basket === undefined
      ? []
      : {
          outpoint: `${txid}.${vout}`,
          satoshis,
          script: lockingScript,
          basket: normalize(basket),
          tags: tags.map(normalize),
          ...(customInstructions !== undefined && { customInstructions })
        }
  )
}
