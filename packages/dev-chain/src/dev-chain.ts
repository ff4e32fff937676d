/**
 * A chain for development: it mines on demand, pays coins, and reorganises on command. All
 * that it gives out is real: headers with proof of work by the rules of the regression test network, signed
 * transactions, merkle proofs. The same seed and clock give the same bytes.
 *
 * A coinbase is spent by the block after its own (on other networks after 100), and blocks hold as much as they get.
 *
 * @example
 * import { Transaction } from '@bsv/sdk'
 * const chain = new DevChain()
 * const { txid } = chain.fund('1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc', 1000)
 * chain.mine()
 * await Transaction.fromAtomicBEEF([...chain.beef(txid)]).verify(chain) // true
 * (await chain.proof(txid)).status // 'mined'
 */

import type { HeaderSource, ProofAnswer, ProofSource, Reorg, RootTracker, SourceTip } from '@quoin/chain'
import {
  type BeefTransaction,
  type ChainHeader,
  formatHash,
  HEADER_LENGTH,
  NETWORKS,
  type Output,
  p2pkh,
  parseAddress,
  parseHeader,
  parseTransaction,
  type Transaction,
  writeBeef
} from '@quoin/chain'
import {
  bytesKey,
  equalBytes,
  formatTxid,
  type Outpoint,
  QuoinError,
  type Txid,
  txidOf,
  voutOf
} from '@quoin/primitives'
import { Block } from './block.ts'
import { type DevChainJson, readSnapshot, snapshotOf } from './json.ts'
import { Miner } from './miner.ts'
import { scheduled } from './schedule.ts'
import { conflict, othersOf, State } from './state.ts'

/** The highest three bits of a version are 001 where the others may be anything (BIP-9). */
const VERSION = 0x20000000
/** The subsidy of 200 blocks. */
const MAX_FUNDING = 1e12

export interface DevChainOptions {
  /** The seed of the miner's key. */
  readonly seed?: string
  /** The time of the next block in unix seconds; without it, ten minutes after the one before. */
  readonly clock?: () => number
  /** There is no other. */
  readonly network?: 'regtest'
  /** Throws when the scripts of a transaction do not hold. Without it they are not looked at. */
  readonly verify?: (transaction: Transaction, spent: readonly Output[]) => void | Promise<void>
}

export interface ReorgOptions {
  /** Transactions that the new blocks leave out, with their descendants. */
  readonly drop?: readonly Txid[]
  /** Transactions that they have too, instead of any that spend the same. */
  readonly include?: readonly Transaction[]
}

export interface DevReorg extends Reorg {
  /** Transactions that are nowhere any more. */
  readonly lost: readonly Txid[]
}

export class DevChain implements HeaderSource, ProofSource, RootTracker {
  readonly name = 'dev chain'
  readonly network = 'regtest'
  /** The seed of the miner's key. */
  readonly seed: string
  readonly #miner: Miner
  readonly #clock: (() => number) | undefined
  readonly #verify: DevChainOptions['verify']
  #state: State
  #reorgs = 0

  constructor({ seed = 'quoin', clock, verify }: DevChainOptions = {}) {
    this.seed = seed
    this.#miner = new Miner(seed)
    this.#clock = clock
    this.#verify = verify
    this.#state = new State(this.#miner, [Block.first(parseHeader(NETWORKS.regtest.genesis))])
  }

  get height(): number {
    return this.#state.tip.height
  }

  /** How often blocks were replaced. */
  get reorgs(): number {
    return this.#reorgs
  }

  async tip(): Promise<SourceTip & ChainHeader> {
    const { header, height, work } = this.#state.tip
    return { header, height, work, hash: header.hash }
  }

  header(height: number): ChainHeader | undefined {
    return this.#state.blocks[height]
  }

  async headers(from: number, count: number): Promise<Uint8Array> {
    const blocks = this.#state.blocks.slice(from, from + count)
    const bytes = new Uint8Array(blocks.length * HEADER_LENGTH)
    for (const [i, { header }] of blocks.entries()) bytes.set(header.raw, i * HEADER_LENGTH)
    return bytes
  }

  /** Hashes of up to `count` blocks from a height upwards. */
  async hashes(from: number, count: number): Promise<Uint8Array[]> {
    return this.#state.blocks.slice(from, from + count).map(({ header }) => header.hash)
  }

  async isValidRootForHeight(root: string, height: number): Promise<boolean> {
    const block = this.#state.blocks[height]
    return block !== undefined && formatHash(block.header.merkleRoot) === root.toLowerCase()
  }

  async currentHeight(): Promise<number> {
    return this.height
  }

  /** The transactions of a block, in order. */
  block(height: number): readonly Transaction[] | undefined {
    return this.#state.blocks[height]?.transactions
  }

  /** Transactions that the next block will have, parents first. */
  get mempool(): readonly Transaction[] {
    return [...this.#state.mempool.values()]
  }

  transaction(txid: Txid): Transaction | undefined {
    return this.#state.utxos.get(txid)?.transaction
  }

  /** The height of the block that a transaction is in. */
  heightOf(txid: Txid): number | undefined {
    return this.#state.utxos.get(txid)?.height
  }

  /** The txid of the spender of an output. */
  spenderOf(outpoint: Outpoint): Txid | undefined {
    return this.#state.utxos.spenderOf(txidOf(outpoint), voutOf(outpoint))?.txid
  }

  async proof(txid: Txid): Promise<ProofAnswer> {
    const entry = this.#state.utxos.get(txid)
    if (!entry) return { status: 'unknown' }
    if (entry.height === undefined) return { status: 'unmined' }
    return { status: 'mined', bump: this.#state.blocks[entry.height]!.proof(txid) }
  }

  /** A transaction with everything that proves it. */
  beef(txid: Txid, { version = 1, atomic = true }: { version?: 1 | 2; atomic?: boolean } = {}): Uint8Array {
    const found = new Map<string, BeefTransaction>()
    const wanted = [txid]
    for (let each = wanted.pop(); each; each = wanted.pop()) {
      const key = bytesKey(each)
      if (found.has(key)) continue
      const entry = this.#state.utxos.get(each)
      if (!entry) throw unknown(each)
      const { transaction, height } = entry
      const bump = height === undefined ? undefined : this.#state.blocks[height]!.proof(each)
      found.set(key, { txid: transaction.txid, transaction, bump })
      if (!bump) wanted.push(...transaction.inputs.map(input => input.txid))
    }
    // The subject of a BEEF is its last transaction.
    const transactions = [...found.values()].reverse()
    return writeBeef({ version, ...(atomic && { atomic: txid }), transactions })
  }

  /** Mines blocks, the first of them with all that waits. */
  mine(count = 1): ChainHeader[] {
    const { blocks, mempool } = this.#state
    const first = blocks.length
    for (let i = 0; i < count; i++) this.#append(this.#state, [...mempool.values()], this.#reorgs)
    return blocks.slice(first)
  }

  /**
   * Pays from the miner's coins, by an unmined transaction; the payment is its first output. Blocks are
   * mined when the miner has too little, as on a new chain.
   */
  fund(to: string | Uint8Array, satoshis: number): Transaction {
    if (!Number.isInteger(satoshis) || satoshis < 0 || satoshis > MAX_FUNDING) {
      throw new QuoinError('ERR_TX_INVALID', `the miner pays up to ${MAX_FUNDING} satoshis at once`, {
        satoshis
      })
    }
    const script = typeof to === 'string' ? p2pkh(parseAddress(to).hash) : to
    const { utxos } = this.#state
    let coins = this.#miner.choose(utxos.coins, satoshis)
    while (!coins) {
      this.mine()
      coins = this.#miner.choose(utxos.coins, satoshis)
    }
    const transaction = this.#miner.pay(coins, { satoshis, script })
    this.#state.accept(transaction)
    return transaction
  }

  /**
   * Takes a transaction to be mined. Its inputs must exist (`ERR_TX_UNKNOWN`) and not be spent by another
   * (`ERR_TXO_CONFLICT`); with `replace`, unmined rivals give way, with their descendants.
   */
  async submit(given: Transaction | Uint8Array, { replace = false } = {}): Promise<Txid> {
    const transaction = given instanceof Uint8Array ? parseTransaction(given) : given
    const { txid } = transaction
    if (this.transaction(txid)) return txid
    const spent = this.#state.utxos.spentBy(transaction)
    this.#replacedBy(transaction, replace)
    await this.#verify?.(transaction, spent)
    // While it was verified much may have happened.
    if (this.transaction(txid)) return txid
    this.#state.evict(this.#replacedBy(transaction, replace))
    this.#state.accept(transaction)
    return txid
  }

  /**
   * Replaces the last blocks by others, one more than there were. Their transactions are mined again, one block later
   * and in another order, except dropped transactions and rivals of included ones.
   */
  async reorg(depth: number, { drop = [], include = [] }: ReorgOptions = {}): Promise<DevReorg> {
    if (!Number.isInteger(depth) || depth < 1 || depth > this.height) {
      throw new QuoinError(
        'ERR_HEADER_UNKNOWN',
        `a reorg replaces 1 to ${this.height} blocks, not ${depth}`,
        {
          depth
        }
      )
    }
    for (const transaction of include) {
      if (!this.transaction(transaction.txid))
        await this.#verify?.(transaction, this.#spentBy(transaction, include))
    }
    const { blocks, mempool } = this.#state
    const fork = this.height - depth
    const lost = this.#lostBy(fork, drop, include)
    const isKept = ({ txid }: Transaction): boolean => !lost.has(bytesKey(txid))
    const removed = blocks.slice(fork + 1)
    const again = removed.map(block => othersOf(block).filter(isKept))

    // Every check comes before the first change.
    const next = new State(this.#miner, blocks.slice(0, fork + 1))
    for (const transactions of scheduled(include, again)) this.#append(next, transactions, this.#reorgs + 1)
    for (const transaction of mempool.values()) {
      if (isKept(transaction) && !next.utxos.get(transaction.txid)) next.accept(transaction)
    }
    this.#state = next
    this.#reorgs++
    return {
      fork,
      removed,
      added: next.blocks.slice(fork + 1),
      lost: Array.from(lost.values(), ({ txid }) => txid).filter(txid => !next.utxos.get(txid))
    }
  }

  /** All there is, for `DevChain.from`. It holds the seed. */
  toJSON(): DevChainJson {
    const { blocks, mempool } = this.#state
    return snapshotOf({ seed: this.seed, reorgs: this.#reorgs, blocks, mempool: [...mempool.values()] })
  }

  /** The chain that `toJSON` gave. */
  static from(json: DevChainJson, options: Omit<DevChainOptions, 'seed'> = {}): DevChain {
    const { seed, reorgs, blocks, mempool } = readSnapshot(json)
    const chain = new DevChain({ ...options, seed })
    chain.#reorgs = reorgs
    for (const block of blocks.slice(1)) chain.#state.take(block)
    for (const transaction of mempool) chain.#state.accept(transaction)
    return chain
  }

  /** The miner's own transactions are equal on every branch, so that the headers must differ. */
  #append(state: State, transactions: readonly Transaction[], branch: number): void {
    state.append(transactions, VERSION + branch, this.#clock && Math.floor(this.#clock()))
  }

  /** Transactions that give way to another, with their descendants; throws if they do not. */
  #replacedBy(transaction: Transaction, replace: boolean): Iterable<Transaction> {
    const { utxos } = this.#state
    const rivals = utxos.rivalsOf(transaction)
    const replaced = utxos.withDescendants(rivals)
    const winner =
      rivals.find(({ txid }) => !replace || this.heightOf(txid) !== undefined) ??
      // Its source would be gone.
      transaction.inputs.find(({ txid }) => replaced.has(bytesKey(txid)))
    if (winner) throw conflict(transaction.txid, winner.txid)
    return replaced.values()
  }

  /** The outputs that a transaction spends, which may be outputs of others that are not here yet. */
  #spentBy({ inputs }: Transaction, others: readonly Transaction[]): Output[] {
    return inputs.map(({ txid, vout }) => {
      const source = this.transaction(txid) ?? others.find(each => equalBytes(each.txid, txid))
      const output = source?.outputs[vout]
      if (!output) throw unknown(txid)
      return output
    })
  }

  /** Transactions that a reorg leaves out, by txid. */
  #lostBy(fork: number, drop: readonly Txid[], include: readonly Transaction[]): Map<string, Transaction> {
    const { utxos, blocks } = this.#state
    const isBuried = ({ txid }: Transaction): boolean => (this.heightOf(txid) ?? this.height) <= fork
    const rivals = include.flatMap(transaction => {
      const spending = utxos.rivalsOf(transaction)
      const winner = spending.find(isBuried)
      if (winner) throw conflict(transaction.txid, winner.txid)
      return spending
    })
    const dropped = drop.map(txid => {
      const { transaction, height } = utxos.get(txid) ?? {}
      const isOthers = height === undefined || othersOf(blocks[height]!).includes(transaction!)
      if (!transaction || isBuried(transaction) || !isOthers) throw unknown(txid)
      return transaction
    })
    return utxos.withDescendants([...dropped, ...rivals])
  }
}

const unknown = (txid: Txid): QuoinError =>
  new QuoinError('ERR_TX_UNKNOWN', `transaction ${formatTxid(txid)} is not there`, { txid: formatTxid(txid) })
