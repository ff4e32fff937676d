/** Transactions for tests of the development chain, with outputs that anyone can spend. */
import { Transaction as SdkTransaction } from '@bsv/sdk'
import { type Transaction, writeTransaction } from '@quoin/chain'
import { formatTxid, OP, type Txid } from '@quoin/primitives'
import type { DevChain } from './dev-chain.ts'

export const ANYONE = Uint8Array.of(OP.TRUE)
/** Spends outputs that anyone can spend. */
export const spend = (
  sources: readonly (readonly [Transaction, number])[],
  satoshis: number,
  mark = 0
): Transaction =>
  writeTransaction({
    version: 1,
    inputs: sources.map(([{ txid }, vout]) => ({
      txid,
      vout,
      script: new Uint8Array(),
      sequence: 0xffffffff - mark
    })),
    outputs: [{ satoshis, script: ANYONE }],
    lockTime: 0
  })
/** A transaction that takes the first output of another, and everything of it. */
export const child = (parent: Transaction, mark = 0): Transaction =>
  spend([[parent, 0]], parent.outputs[0]!.satoshis, mark)
export const sdk = (chain: DevChain, txid: Txid, version: 1 | 2 = 1): SdkTransaction =>
  SdkTransaction.fromAtomicBEEF([...chain.beef(txid, { version })])
export const names = (txids: readonly Txid[]): string[] => txids.map(formatTxid).sort()
