/** The transactions of a development chain, mined or not, with the spenders of their outputs. */

import type { Output, Transaction } from '@quoin/chain'
import { checkForm, invalid } from '@quoin/chain'
import { bytesKey, equalBytes, formatTxid, QuoinError, type Txid } from '@quoin/primitives'

/** An output that can be paid with. */
export interface Coin {
  readonly source: Transaction
  readonly vout: number
  /** Whether it is in a block, so that nothing before it is needed to prove it. */
  readonly isMined: boolean
}

interface Entry {
  readonly transaction: Transaction
  /** Undefined while it is in no block. */
  readonly height: number | undefined
}

export class UtxoSet {
  readonly #entries = new Map<string, Entry>()
  /** By the outpoint that is spent. */
  readonly #spenders = new Map<string, Transaction>()
  /** Outputs with this script are coins of the miner. */
  readonly #script: Uint8Array
  readonly #coins = new Map<string, Coin>()

  constructor(script: Uint8Array) {
    this.#script = script
  }

  get(txid: Txid): Entry | undefined {
    return this.#entries.get(bytesKey(txid))
  }

  spenderOf(txid: Txid, vout: number): Transaction | undefined {
    return this.#spenders.get(placeKey(txid, vout))
  }

  /** The miner's unspent outputs, in the order of arrival. The next block pays out coinbases. */
  get coins(): ReadonlyMap<string, Coin> {
    return this.#coins
  }

  /** The outputs that a transaction spends. Throws unless they exist, and are worth what it pays. */
  spentBy(transaction: Transaction): Output[] {
    checkForm(transaction)
    const seen = new Set<string>()
    const spent = transaction.inputs.map(({ txid, vout }, i) => {
      const source = this.get(txid)?.transaction
      const output = source?.outputs[vout]
      if (!output) throw unknownOutput(txid, vout)
      if (source!.isCoinbase) throw invalid(transaction, 'a coinbase is paid out by the block after it', i)
      const key = placeKey(txid, vout)
      if (seen.has(key)) throw invalid(transaction, 'it spends an output twice', i)
      seen.add(key)
      return output
    })
    if (sumOf(transaction.outputs) > sumOf(spent)) {
      throw invalid(transaction, 'the outputs are worth more than the inputs')
    }
    return spent
  }

  /** Other transactions that spend an input of this one. */
  rivalsOf(transaction: Transaction): Transaction[] {
    const rivals = new Set<Transaction>()
    for (const { txid, vout } of transaction.inputs) {
      const rival = this.spenderOf(txid, vout)
      if (rival && !equalBytes(rival.txid, transaction.txid)) rivals.add(rival)
    }
    return [...rivals]
  }

  /** The transactions and all that descend from them, parents first if they were given so. */
  withDescendants(transactions: readonly Transaction[]): Map<string, Transaction> {
    const found = new Map(transactions.map(each => [bytesKey(each.txid), each]))
    for (const each of found.values()) {
      for (let vout = 0; vout < each.outputCount; vout++) {
        const spender = this.spenderOf(each.txid, vout)
        // Iterating a map includes the entries added meanwhile.
        if (spender) found.set(bytesKey(spender.txid), spender)
      }
    }
    return found
  }

  /** Takes a transaction that was checked, in a block or not, or puts one that it has into a block. */
  add(transaction: Transaction, height: number | undefined): void {
    const { txid } = transaction
    this.#entries.set(bytesKey(txid), { transaction, height })
    if (transaction.isCoinbase) return
    for (const each of transaction.inputs) {
      const key = placeKey(each.txid, each.vout)
      this.#spenders.set(key, transaction)
      this.#coins.delete(key)
    }
    for (const [vout, { script }] of transaction.outputs.entries()) {
      if (!equalBytes(script, this.#script) || this.spenderOf(txid, vout)) continue
      this.#coins.set(placeKey(txid, vout), { source: transaction, vout, isMined: height !== undefined })
    }
  }

  /** Forgets a transaction that nothing here descends from. */
  remove(transaction: Transaction): void {
    this.#entries.delete(bytesKey(transaction.txid))
    for (let vout = 0; vout < transaction.outputCount; vout++) {
      this.#coins.delete(placeKey(transaction.txid, vout))
    }
    for (const { txid, vout } of transaction.inputs) {
      this.#spenders.delete(placeKey(txid, vout))
      const source = this.get(txid)
      if (!source || !equalBytes(source.transaction.outputs[vout]!.script, this.#script)) continue
      this.#coins.set(placeKey(txid, vout), {
        source: source.transaction,
        vout,
        isMined: source.height !== undefined
      })
    }
  }
}

const placeKey = (txid: Txid, vout: number): string => `${bytesKey(txid)}${vout}`

const sumOf = (outputs: readonly Output[]): number => outputs.reduce((sum, { satoshis }) => sum + satoshis, 0)

const unknownOutput = (source: Txid, vout: number): QuoinError => {
  const txid = formatTxid(source)
  return new QuoinError('ERR_TX_UNKNOWN', `unknown output ${txid}.${vout}`, { txid, vout })
}
