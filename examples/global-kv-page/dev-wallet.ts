/**
 * A wallet to develop with: keys in memory, coins from the development chain of a node. It has the BRC-100 methods that
 * `GlobalKV` calls.
 */
import {
  type CreateActionArgs,
  LockingScript,
  P2PKH,
  PrivateKey,
  ProtoWallet,
  Transaction,
  UnlockingScript,
  Utils,
  type WalletInterface
} from '@bsv/sdk'
import type { GlobalWallet } from '@quoin/kvstore-client'

const COIN_SATOSHIS = 1000

export const devWallet = (node: string, key = PrivateKey.fromRandom()): GlobalWallet => {
  const keys = new ProtoWallet(key) as unknown as WalletInterface
  const unsigned = new Map<string, Transaction>()

  /** A coin of the development chain, with its ancestry. */
  const fund = async (): Promise<Transaction> => {
    const response = await fetch(`${node}/dev/fund`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ address: key.toAddress(), satoshis: COIN_SATOSHIS })
    })
    if (!response.ok)
      throw new Error(`${node}/dev/fund answered ${response.status}: is it a node with --chain dev?`)
    const { beef } = (await response.json()) as { beef: string }
    return Transaction.fromAtomicBEEF(Utils.toArray(beef, 'hex'))
  }

  const build = async ({ inputs = [], inputBEEF, outputs = [] }: CreateActionArgs): Promise<Transaction> => {
    const transaction = new Transaction()
    for (const { outpoint } of inputs) {
      const [txid, vout] = outpoint.split('.')
      transaction.addInput({
        sourceTransaction: Transaction.fromBEEF(inputBEEF!, txid),
        sourceOutputIndex: Number(vout),
        unlockingScript: new UnlockingScript()
      })
    }
    transaction.addInput({
      sourceTransaction: await fund(),
      sourceOutputIndex: 0,
      unlockingScript: new UnlockingScript(),
      unlockingScriptTemplate: new P2PKH().unlock(key)
    })
    for (const { lockingScript, satoshis } of outputs)
      transaction.addOutput({ lockingScript: LockingScript.fromHex(lockingScript), satoshis })
    return transaction
  }

  const finish = async (transaction: Transaction) => {
    await transaction.sign()
    return { txid: transaction.id('hex'), tx: transaction.toAtomicBEEF() }
  }

  return {
    getPublicKey: args => keys.getPublicKey(args),
    createSignature: args => keys.createSignature(args),
    // Every transaction goes to the node at once: there are no tokens that it does not have.
    listOutputs: async () => ({ totalOutputs: 0, outputs: [] }),
    createAction: async args => {
      const transaction = await build(args)
      if (!args.inputs?.length) return finish(transaction)
      const reference = transaction.id('hex')
      unsigned.set(reference, transaction)
      return { signableTransaction: { reference, tx: transaction.toAtomicBEEF(true) } }
    },
    signAction: async ({ reference, spends }) => {
      const transaction = unsigned.get(reference)!
      unsigned.delete(reference)
      for (const [index, { unlockingScript }] of Object.entries(spends))
        transaction.inputs[Number(index)]!.unlockingScript = UnlockingScript.fromHex(unlockingScript)
      return finish(transaction)
    }
  }
}
