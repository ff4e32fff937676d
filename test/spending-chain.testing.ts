/** Transactions to submit: chains of spends, and rival spends of one coin, of a development chain. */
import type { Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid, KeyedMutex, type Txid } from '@quoin/primitives'
import type { BlockPosition } from '@quoin/txo'
import { makeKey, payTo, spend, withKeyHash } from '../packages/chain/src/verify/test-chain.testing.ts'

export interface ChainedSubmission {
  readonly txid: Txid
  readonly beef: Uint8Array
}

const COIN = 1000
export class SpendingChain {
  readonly chain: DevChain
  /** Satoshis of the first transaction of a chain. */
  readonly first = COIN - 100
  readonly #key: ReturnType<typeof makeKey>
  readonly #coins: Transaction[]
  readonly #mutex = new KeyedMutex<'chain'>()

  /** @param coins The number of chains and of pairs of rivals. */
  constructor(seed: string, coins: number) {
    this.chain = new DevChain({ seed })
    this.#key = makeKey(seed)
    this.#coins = Array.from({ length: coins }, () => this.chain.fund(payTo(this.#key), COIN))
    this.chain.mine()
  }

  /** A transaction that spends a coin, one that spends the first, and so on. */
  descendants(length: number): Promise<ChainedSubmission[]> {
    return this.#mutex.run('chain', async () => {
      const submissions: ChainedSubmission[] = []
      let from = this.#coin()
      for (let i = 0; i < length; i++) {
        from = await this.#spend(from, this.first - 100 * i)
        submissions.push(this.#submissionOf(from))
      }
      return submissions
    })
  }

  /** Two transactions that spend the same coin; the chain has the second. */
  async rivals(): Promise<[ChainedSubmission, ChainedSubmission]> {
    const coin = this.#coin()
    const first = this.#submissionOf(await this.#spend(coin, this.first))
    return [first, this.#submissionOf(await this.#spend(coin, this.first, 1))]
  }

  /** Mines the submissions so far. No block comes between the transactions of a chain: nodes may not have its header. */
  async mine(): Promise<void> {
    await this.#mutex.run('chain', () => this.chain.mine())
  }

  async reorg(depth: number): Promise<void> {
    await this.#mutex.run('chain', () => this.chain.reorg(depth))
  }

  /** Of a transaction that is mined. */
  async position(txid: Txid): Promise<BlockPosition> {
    const answer = await this.chain.proof(txid)
    if (answer.status !== 'mined') throw new Error(`${formatTxid(txid)} is not mined`)
    return { height: answer.bump.height, index: BigInt(answer.bump.offsetOf(txid)!) }
  }

  /** Whether there are coins left. */
  get isRich(): boolean {
    return this.#coins.length > 0
  }

  #coin(): Transaction {
    const coin = this.#coins.pop()
    if (!coin) throw new Error('all coins are spent')
    return coin
  }

  async #spend(from: Transaction, ...satoshis: readonly number[]): Promise<Transaction> {
    const transaction = spend({
      inputs: [{ from, vout: 0, unlock: withKeyHash(this.#key) }],
      outputs: satoshis.map(each => ({ satoshis: each, script: payTo(this.#key) }))
    })
    await this.chain.submit(transaction, { replace: true })
    return transaction
  }

  #submissionOf({ txid }: Transaction): ChainedSubmission {
    return { txid, beef: this.chain.beef(txid) }
  }
}
