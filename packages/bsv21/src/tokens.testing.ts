/**
 * Tokens to try things with: transactions that deploy, mint, move, burn and list them, signed where their keys can, on a
 * development chain.
 */

import { type Output, type Transaction, writeTransaction } from '@quoin/chain'
import type { DevChain } from '@quoin/dev-chain'
import { formatOutpoint, makeOutpoint, parseOutpoint, type TokenId, type Txid } from '@quoin/primitives'
import { type Key, keyOf, spend, withKeyHash } from '../../chain/src/verify/test-chain.testing.ts'
import { cborMap } from '../../txo/src/scripts/dag-cbor.testing.ts'
import type { CborValue } from '../../txo/src/scripts/dag-cbor.ts'
import {
  binaryToken,
  bsv21,
  cosign,
  ordLock,
  type Person,
  payTo,
  person
} from '../../txo/src/scripts/scripts.testing.ts'

export { type Person, person }

export type Fields = Readonly<Record<string, unknown>>

/** An output of a token, of one satoshi. */
export const tokenOutput = (fields: Fields, lock: Uint8Array): Output => ({
  satoshis: 1,
  script: bsv21({ ...fields }, lock)
})

export const paidTo = payTo
export const cosigned = (owner: Person): Uint8Array => cosign(owner, person(99))
export const listedBy = (seller: Person, price = 1000): Uint8Array => ordLock(seller, price)

export const deployMint = (owner: Person, amt: bigint | string, more: Fields = {}): Output =>
  tokenOutput({ op: 'deploy+mint', amt: `${amt}`, ...more }, payTo(owner))
export const deployAuth = (owner: Person, more: Fields = {}): Output =>
  tokenOutput({ op: 'deploy+auth', ...more }, payTo(owner))
export const transfer = (id: string, amt: bigint | string, lock: Uint8Array): Output =>
  tokenOutput({ op: 'transfer', id, amt: `${amt}` }, lock)
export const mint = (id: string, amt: bigint | string, lock: Uint8Array): Output =>
  tokenOutput({ op: 'mint', id, amt: `${amt}` }, lock)
export const auth = (id: string, lock: Uint8Array): Output => tokenOutput({ op: 'auth', id }, lock)
export const burn = (id: string, amt: bigint | string): Output =>
  tokenOutput({ op: 'burn', id, amt: `${amt}` }, payTo(person(0)))

/** The binary form; without a token a deployment, and without an amount an authority. */
export const binary = (
  id: string | undefined,
  amt: bigint,
  lock: Uint8Array,
  attributes?: Readonly<Record<string, CborValue>>
): Output => ({
  satoshis: 1,
  script: binaryToken(id === undefined ? undefined : parseOutpoint(id), amt, {
    lock,
    ...(attributes && { payload: cborMap(attributes) })
  })
})

export const tokenIdOf = ({ txid }: Transaction, vout = 0): TokenId =>
  formatOutpoint(makeOutpoint(txid, vout), '_') as TokenId

export interface Spent {
  readonly from: Transaction
  readonly vout: number
  readonly by: Person
}

export const at = (from: Transaction, vout: number, by: Person): Spent => ({ from, vout, by })

/** A transaction that is signed, to pay-to-key-hash outputs only. */
export const transaction = (
  inputs: readonly Spent[],
  outputs: readonly Output[],
  lockTime = 0
): Transaction =>
  spend({
    inputs: inputs.map(({ from, vout, by }) => ({ from, vout, unlock: withKeyHash(keysOf(by)) })),
    outputs,
    lockTime
  })

/** A transaction with nothing to show for what it spends: good once it is mined. */
export const unsigned = (
  inputs: readonly { readonly txid: Txid; readonly vout: number }[],
  outputs: readonly Output[],
  lockTime = 0
): Transaction =>
  writeTransaction({
    version: 1,
    inputs: inputs.map(({ txid, vout }) => ({ txid, vout, script: new Uint8Array(), sequence: 0xffffffff })),
    outputs,
    lockTime
  })

const keysOf = ({ secret }: Person): Key => keyOf(secret)

/** Submits to the chain and mines a block. */
export const mined = async (chain: DevChain, ...transactions: readonly Transaction[]): Promise<void> => {
  for (const each of transactions) await chain.submit(each)
  chain.mine()
}
