/**
 * An ordinal: one satoshi on its way through outputs of exactly 1 satoshi (1Sat Ordinals). The satoshis of a transaction go
 * from its inputs to its outputs in order, so the predecessor of an output is the input at its offset. The way begins at the
 * origin, whose input there holds more than 1 satoshi, and ends with an unspent output, or where the satoshi is merged.
 *
 * Transactions fix the way backwards for ever. Forwards it follows spends, which reorgs change.
 */
import { setImmediate } from 'node:timers/promises'
import type { Transaction } from '@quoin/chain'
import {
  bytesKey,
  equalBytes,
  formatOutpoint,
  formatTxid,
  makeOutpoint,
  type Outpoint,
  QuoinError,
  type Txid,
  txidOf,
  voutOf
} from '@quoin/primitives'
import type { OutputStore } from '../output-store.ts'

export interface WalkLimits {
  /** Inputs of the transactions that one walk follows. */
  readonly inputs: number
  /** Bytes of the transactions that one walk reads. */
  readonly bytes: number
}

const LIMITS: WalkLimits = { inputs: 10_000, bytes: 256 * 1024 * 1024 }
/** Transactions that are read in one turn of the event loop, since reads of an embedded store do not wait. */
const PER_TURN = 32
/** Inputs whose satoshis are read together. */
const SLICE = 256

export interface OutputOfTransaction {
  readonly satoshis: number
  readonly script: Uint8Array
}

/** The reads of one request, limited in their number and their bytes. */
export class OrdinalWalk {
  readonly #outputs: OutputStore
  readonly #limits: WalkLimits
  #inputs = 0
  #bytes = 0
  #reads = 0
  readonly #read = new Set<string>()
  /** The last transaction, which most calls ask for again. */
  #last: Transaction | undefined

  constructor(outputs: OutputStore, limits: WalkLimits = LIMITS) {
    this.#outputs = outputs
    this.#limits = limits
  }

  async transaction(txid: Txid): Promise<Transaction | undefined> {
    if (this.#last && equalBytes(this.#last.txid, txid)) return this.#last
    const found = await this.#outputs.transactions.get(txid)
    if (!found) return undefined
    this.#last = found
    if (++this.#reads % PER_TURN === 0) await setImmediate()
    const name = bytesKey(txid)
    if (!this.#read.has(name)) this.#bytes += found.raw.length
    this.#read.add(name)
    if (this.#bytes > this.#limits.bytes)
      throw tooLong(`more than ${this.#limits.bytes} bytes of transactions`)
    return found
  }

  async output(outpoint: Outpoint): Promise<OutputOfTransaction | undefined> {
    return (await this.transaction(txidOf(outpoint)))?.outputs[voutOf(outpoint)]
  }

  /** The output that held the satoshi before; undefined for the origin. */
  async previous(outpoint: Outpoint): Promise<Outpoint | undefined> {
    const transaction = await this.#stored(txidOf(outpoint), outpoint)
    if (transaction.isCoinbase) return undefined
    const inputs = spentBy(transaction)
    let left = satoshisOf(transaction.outputs.slice(0, voutOf(outpoint)))
    for (let from = 0; from < inputs.length; from += SLICE) {
      const slice = inputs.slice(from, from + SLICE)
      const amounts = await this.#satoshis(slice)
      for (const [i, amount] of amounts.entries()) {
        if (amount === undefined) {
          const least = await this.#leastOf(transaction, from + i)
          if (least > Math.max(left, 1)) return undefined
          return incomplete(outpoint, txidOf(slice[i]!))
        }
        // An input without satoshis moves none, whichever side of the offset it is on.
        if (amount === 0) continue
        if (left === 0) return amount === 1 ? slice[i] : undefined
        if (amount > left) return undefined
        left -= amount
      }
    }
    return undefined
  }

  /** The output that has the satoshi after the spend of this one; undefined where it is unspent, or merged. */
  async next(outpoint: Outpoint): Promise<Outpoint | undefined> {
    const [spender] = await this.#outputs.spends([outpoint])
    if (!spender) return undefined
    const transaction = await this.#stored(spender, outpoint)
    const inputs = spentBy(transaction)
    const name = formatOutpoint(outpoint)
    const before = inputs.slice(
      0,
      inputs.findIndex(each => formatOutpoint(each) === name)
    )
    let left = 0
    for (let from = 0; from < before.length; from += SLICE) {
      const slice = before.slice(from, from + SLICE)
      for (const [i, amount] of (await this.#satoshis(slice)).entries()) {
        left += amount ?? incomplete(outpoint, txidOf(slice[i]!))
      }
    }
    for (const [vout, { satoshis }] of transaction.outputs.entries()) {
      if (satoshis === 0) continue
      if (left === 0) return satoshis === 1 ? makeOutpoint(transaction.txid, vout) : undefined
      if (satoshis > left) return undefined
      left -= satoshis
    }
    return undefined
  }

  async #stored(txid: Txid, from: Outpoint): Promise<Transaction> {
    const found = await this.transaction(txid)
    this.#count(found?.inputCount ?? 0)
    return found ?? incomplete(from, txid)
  }

  /** The satoshis of outputs; undefined for one that is not stored, as the coins of a mined transaction often are not. */
  async #satoshis(outpoints: readonly Outpoint[]): Promise<(number | undefined)[]> {
    const indexed = await this.#outputs.satoshis(outpoints)
    return Promise.all(
      outpoints.map(async (outpoint, i) => {
        const amount = indexed[i]
        // Ancestors that are stored for proofs are not indexed.
        return amount === null || amount === undefined
          ? (await this.output(outpoint))?.satoshis
          : Number(amount)
      })
    )
  }

  /** The least that the only unknown input of a transaction can hold: what the others lack of its outputs. */
  async #leastOf(transaction: Transaction, unknown: number): Promise<number> {
    const others = spentBy(transaction).filter((_, i) => i !== unknown)
    const amounts = await this.#satoshis(others)
    if (amounts.includes(undefined)) return 0
    return satoshisOf(transaction.outputs) - amounts.reduce<number>((sum, amount) => sum + amount!, 0)
  }

  #count(inputs: number): void {
    this.#inputs += 1 + inputs
    if (this.#inputs > this.#limits.inputs) throw tooLong(`more than ${this.#limits.inputs} inputs`)
  }
}

const spentBy = ({ inputs }: Transaction): Outpoint[] =>
  inputs.map(({ txid, vout }) => makeOutpoint(txid, vout))

const satoshisOf = (outputs: readonly OutputOfTransaction[]): number =>
  outputs.reduce((sum, { satoshis }) => sum + satoshis, 0)

const incomplete = (outpoint: Outpoint, txid: Txid): never => {
  throw new QuoinError(
    'ERR_NOT_FOUND',
    `the history of output ${formatOutpoint(outpoint, '_')} is incomplete: transaction ${formatTxid(txid)} is not stored`,
    { txid: formatTxid(txid) }
  )
}

const tooLong = (reason: string): QuoinError =>
  new QuoinError('ERR_CONTENT_LIMIT', `the history of the output is too long to follow: ${reason}`)
