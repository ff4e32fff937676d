/** A small world for tests of engines: transactions that anyone may spend, and the blocks they are in. */
import { type BeefTransaction, Bump, type Transaction, writeBeef, writeTransaction } from '@quoin/chain'
import { formatTxid, OP, type Txid } from '@quoin/primitives'
import type { EngineOutput } from './output-rows.ts'

export const idOf = ({ txid }: Transaction): string => formatTxid(txid)

export const TOPICS = ['tm_one', 'tm_two'] as const

/** Anyone may spend it. The number is the second byte; a push of that alone would not always be the shortest way. */
export const script = (number: number): Uint8Array => Uint8Array.of(2, number % 256, 0xff, OP.DROP, OP.TRUE)

interface Spend {
  readonly txid: Txid
  readonly vout: number
  readonly satoshis: number
}

const filled = (byte: number): Txid => new Uint8Array(32).fill(byte) as Txid

/** Transactions and proofs that exist, whoever knows of them. */
export class World {
  readonly transactions: Transaction[] = []
  readonly #bumps = new Map<string, Bump>()
  /** Milliseconds. */
  clock = 1_700_000_000_000

  /** Begins with two transactions that are mined. */
  constructor() {
    for (const nonce of [1, 2]) {
      const source = { txid: filled(nonce), vout: 0, satoshis: 3_000_000 }
      this.mine(this.create([source], 3))
    }
  }

  /** Each output has a number in its script, one that no other has unless it is given. */
  create(
    spends: readonly Spend[],
    outputs: number,
    numberOf = (vout: number): number => 10 * this.transactions.length + vout
  ): Transaction {
    const satoshis = Math.floor(spends.reduce((sum, spend) => sum + spend.satoshis, 0) / outputs)
    const transaction = writeTransaction({
      version: 1,
      inputs: spends.map(({ txid, vout }) => ({
        txid,
        vout,
        script: new Uint8Array(),
        sequence: 0xffffffff
      })),
      outputs: Array.from({ length: outputs }, (_, vout) => ({ satoshis, script: script(numberOf(vout)) })),
      lockTime: this.transactions.length
    })
    this.transactions.push(transaction)
    return transaction
  }

  /** A transaction that spends one output of another. */
  spend(of: Transaction, vout: number, outputs = 2): Transaction {
    return this.create(this.coins([{ of: this.transactions.indexOf(of), vout }]), outputs)
  }

  pick(of: number): Transaction {
    return this.transactions[of % this.transactions.length]!
  }

  find(txid: string): Transaction | undefined {
    return this.transactions.find(each => formatTxid(each.txid) === txid)
  }

  coins(wanted: readonly { readonly of: number; readonly vout: number }[]): Spend[] {
    const coins = wanted.map(({ of, vout }) => {
      const { txid, outputs } = this.pick(of)
      return { txid, vout: vout % outputs.length, satoshis: outputs[vout % outputs.length]!.satoshis }
    })
    return [...new Map(coins.map(coin => [`${formatTxid(coin.txid)}.${coin.vout}`, coin])).values()]
  }

  mine(transaction: Transaction): Bump {
    const name = formatTxid(transaction.txid)
    const height = 1 + (this.transactions.indexOf(transaction) % 5)
    const bump =
      this.#bumps.get(name) ??
      Bump.ofBlock(height, [filled(0xc0), filled(0xc1), transaction.txid], [transaction.txid])
    this.#bumps.set(name, bump)
    return bump
  }

  /** Its chain, as the engine asks it. */
  readonly tracker = {
    isValidRootForHeight: async (root: string, height: number): Promise<boolean> =>
      [...this.#bumps.values()].some(
        bump => bump.height === height && formatTxid(bump.root as Txid) === root
      ),
    currentHeight: async (): Promise<number> => 1000
  }

  /** What an engine inserts. */
  output(
    transaction: Transaction,
    outputIndex: number,
    topic: string,
    more: Partial<EngineOutput> = {}
  ): EngineOutput {
    const { satoshis, script: bytes } = transaction.outputs[outputIndex]!
    return {
      txid: idOf(transaction),
      outputIndex,
      outputScript: [...bytes],
      satoshis,
      topic,
      spent: false,
      outputsConsumed: [],
      consumedBy: [],
      beef: this.beef(transaction, true),
      score: this.clock,
      ...more
    }
  }

  /** What a sender has who knows of all proofs, or of none but those of the beginning. */
  beef(subject: Transaction, informed: boolean): number[] {
    const needed = new Map<string, BeefTransaction>()
    const wanted = [formatTxid(subject.txid)]
    for (const name of wanted) {
      if (needed.has(name)) continue
      const transaction = this.find(name)!
      const isKnown = informed || this.transactions.indexOf(transaction) < 2
      const bump = isKnown ? this.#bumps.get(name) : undefined
      needed.set(name, { txid: transaction.txid, transaction, bump })
      if (!bump) wanted.push(...transaction.inputs.map(({ txid }) => formatTxid(txid)))
    }
    return [...writeBeef({ version: 1, transactions: [...needed.values()].reverse() })]
  }
}
