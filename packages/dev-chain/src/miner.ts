/**
 * The miner of a development chain. Its key follows from the seed, and what it puts into a block by itself, from the
 * height alone: a coinbase, and the payout of the coinbase before. So these are the same on every branch, and a reorg
 * takes away nothing that was paid from them.
 */

import {
  hash160,
  type Output,
  p2pkh,
  SIGHASH,
  Sighash,
  sha256,
  type Transaction,
  writeTransaction
} from '@quoin/chain'
import { buildScript, type Txid, writeScriptNumber } from '@quoin/primitives'
import secp256k1 from 'secp256k1'
import type { Coin } from './utxo-set.ts'

const SUBSIDY = 50e8
/** Coins of one coinbase, so that several payments do not have to wait for each other's change. */
const PARTS = 10
/** The fee of the miner's own transactions; the development chain asks for none. */
const FEE = 100
const NOWHERE = new Uint8Array(32) as Txid
const FINAL = 0xffffffff
const ALL = SIGHASH.ALL | SIGHASH.FORKID

export class Miner {
  /** The locking script of its coins. */
  readonly script: Uint8Array
  readonly #secret: Uint8Array
  readonly #publicKey: Uint8Array

  constructor(seed: string) {
    this.#secret = secretOf(seed)
    this.#publicKey = secp256k1.publicKeyCreate(this.#secret)
    this.script = p2pkh(hash160(this.#publicKey))
  }

  /** Begins with the height (BIP-34), so that no two have the same txid. */
  coinbase(height: number): Transaction {
    const text = new TextEncoder().encode('quoin dev chain')
    return writeTransaction({
      version: 1,
      inputs: [
        {
          txid: NOWHERE,
          vout: 0xffffffff,
          script: buildScript([writeScriptNumber(height), text]),
          sequence: FINAL
        }
      ],
      outputs: [{ satoshis: SUBSIDY, script: this.script }],
      lockTime: 0
    })
  }

  /**
   * Spends a coinbase in the block after it. Where coinbases must be older, clients are told so by their verifiers:
   * but a payment from the payout, which is in a block itself, is proved without looking at any coinbase.
   */
  payout(coinbase: Transaction): Transaction {
    const part = { satoshis: Math.floor((SUBSIDY - FEE) / PARTS), script: this.script }
    return this.#signed(
      [{ source: coinbase, vout: 0, isMined: true }],
      Array.from({ length: PARTS }, () => part)
    )
  }

  /** Pays an output with coins of at least its worth and the fee. The change comes back. */
  pay(coins: readonly Coin[], output: Output): Transaction {
    const change = worthOf(coins) - output.satoshis - FEE
    return this.#signed(coins, [output, ...(change > 0 ? [{ satoshis: change, script: this.script }] : [])])
  }

  /** Enough of the coins for a payment: mined ones first, since unmined ones are proved through their parents. */
  choose(coins: ReadonlyMap<string, Coin>, satoshis: number): Coin[] | undefined {
    const chosen: Coin[] = []
    let missing = satoshis + FEE
    for (const isMined of [true, false]) {
      for (const coin of coins.values()) {
        if (missing <= 0) return chosen
        if (coin.isMined !== isMined) continue
        chosen.push(coin)
        missing -= worthOf([coin])
      }
    }
    return missing <= 0 ? chosen : undefined
  }

  #signed(coins: readonly Coin[], outputs: readonly Output[]): Transaction {
    const inputs = coins.map(({ source, vout }) => ({
      txid: source.txid,
      vout,
      script: new Uint8Array(),
      sequence: FINAL
    }))
    const parts = { version: 1, outputs, lockTime: 0 }
    const sighash = new Sighash(writeTransaction({ ...parts, inputs }))
    return writeTransaction({
      ...parts,
      inputs: inputs.map((input, i) => ({ ...input, script: this.#unlock(sighash, i, coins[i]!) }))
    })
  }

  #unlock(sighash: Sighash, index: number, { source, vout }: Coin): Uint8Array {
    const digest = sighash.digest(index, source.outputs[vout]!, ALL)
    const { signature } = secp256k1.ecdsaSign(digest, this.#secret)
    return buildScript([Uint8Array.of(...secp256k1.signatureExport(signature), ALL), this.#publicKey])
  }
}

const worthOf = (coins: readonly Coin[]): number =>
  coins.reduce((sum, { source, vout }) => sum + source.outputs[vout]!.satoshis, 0)

/** Nearly every 32 bytes are a secret key; when they are not, their hash is. */
const secretOf = (seed: string): Uint8Array => {
  let secret = sha256(new TextEncoder().encode(`quoin dev chain ${seed}`))
  while (!secp256k1.privateKeyVerify(secret)) secret = sha256(secret)
  return secret
}
