/** The state of a development chain: its blocks, its mempool, and the spenders of all outputs. */

import type { Transaction } from '@quoin/chain'
import { Branch } from '@quoin/chain'
import { bytesKey, equalBytes, formatTxid, QuoinError, type Txid } from '@quoin/primitives'
import { Block } from './block.ts'
import type { Miner } from './miner.ts'
import { UtxoSet } from './utxo-set.ts'

const SPACING = 600
const NOTHING = new Uint8Array()

export class State {
  readonly blocks: Block[]
  readonly utxos: UtxoSet
  /** By txid, parents first. */
  readonly mempool = new Map<string, Transaction>()
  readonly #miner: Miner

  /** Takes blocks that were in a state before, the first one of the network first. */
  constructor(miner: Miner, blocks: readonly Block[]) {
    this.#miner = miner
    this.blocks = [...blocks]
    this.utxos = new UtxoSet(miner.script)
    for (const { transactions, height } of blocks)
      for (const each of transactions) this.utxos.add(each, height)
  }

  get tip(): Block {
    return this.blocks.at(-1)!
  }

  /** Takes a block that is said to be one of this miner, and checks its transactions but for their scripts. */
  take(block: Block): void {
    const own = this.#own(block.height)
    if (!own.every(({ raw }, i) => equalBytes(raw, block.transactions[i]?.raw ?? NOTHING))) {
      throw new QuoinError('ERR_HEADER_INVALID', `block ${block.height} is of another miner`, {
        height: block.height
      })
    }
    this.#record(block.height, own, othersOf(block))
    this.blocks.push(block)
  }

  /** Takes a transaction, which is checked but for its scripts, to be mined. */
  accept(transaction: Transaction): void {
    this.#check(transaction)
    this.utxos.add(transaction, undefined)
    this.mempool.set(bytesKey(transaction.txid), transaction)
  }

  /** Forgets transactions that wait, given with all that descend from them, parents first. */
  evict(transactions: Iterable<Transaction>): void {
    for (const transaction of [...transactions].reverse()) {
      this.utxos.remove(transaction)
      this.mempool.delete(bytesKey(transaction.txid))
    }
  }

  /**
   * Mines one block with these transactions, parents first. Its time is the given one, or ten minutes after the block
   * before, but later than the median of the past.
   */
  append(transactions: readonly Transaction[], version: number, time: number | undefined): void {
    const { tip, blocks } = this
    const own = this.#own(tip.height + 1)
    this.#record(tip.height + 1, own, transactions)
    const earliest = new Branch(blocks.slice(-11)).medianTime(tip.height)! + 1
    const at = Math.max(earliest, time ?? tip.header.time + SPACING)
    blocks.push(Block.mine(tip, [...own, ...transactions], { version, time: at }))
  }

  /** The miner's own transactions, which come first in a block. */
  #own(height: number): Transaction[] {
    const before = this.tip.transactions[0]
    const coinbase = this.#miner.coinbase(height)
    return before ? [coinbase, this.#miner.payout(before)] : [coinbase]
  }

  #record(height: number, own: readonly Transaction[], others: readonly Transaction[]): void {
    for (const transaction of own) this.utxos.add(transaction, height)
    for (const transaction of others) {
      if (!this.mempool.delete(bytesKey(transaction.txid))) this.#check(transaction)
      this.utxos.add(transaction, height)
    }
  }

  #check(transaction: Transaction): void {
    this.utxos.spentBy(transaction)
    const [rival] = this.utxos.rivalsOf(transaction)
    if (rival) throw conflict(transaction.txid, rival.txid)
  }
}

/** The transactions of a block that are not the miner's own. */
export const othersOf = ({ height, transactions }: Block): readonly Transaction[] =>
  transactions.slice(Math.min(height, 2))

export const conflict = (txid: Txid, spender: Txid): QuoinError =>
  new QuoinError('ERR_TXO_CONFLICT', `${formatTxid(spender)} spends what ${formatTxid(txid)} does`, {
    txid: formatTxid(txid),
    spender: formatTxid(spender)
  })
