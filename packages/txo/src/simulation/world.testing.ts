/**
 * What there is outside of the index: a chain, people who pay each other and sometimes cheat, and a clock. The chain
 * alone says which transactions there are in the end; this remembers all that there ever were.
 */
import { type BeefTransaction, type Bump, type Transaction, writeBeef } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid, makeOutpoint, QuoinError, type Txid } from '@quoin/primitives'
import type { Answers } from './operation.testing.ts'
import type { Random } from './random.testing.ts'
import { addressOf, type Coin, idOf, outpointOf, Wallet } from './wallet.testing.ts'

const BEGINNING = 1_750_000_000
const FUNDS = 1_000_000

/** How a BEEF is written. */
export interface BeefShape {
  readonly version?: 1 | 2
  readonly atomic?: boolean
  /** Ancestors to name by their txids only. */
  readonly isKnown?: (txid: string) => boolean
}

/** A proof as it was when its block was in the chain. */
export interface OldProof {
  readonly txid: Txid
  readonly bump: Bump
}

export class World {
  readonly chain: DevChain
  readonly wallet: Wallet
  /** Proofs of blocks that are no more. */
  readonly oldProofs: OldProof[] = []
  readonly #random: Random
  readonly #made = new Map<string, Transaction>()
  #now = BEGINNING

  constructor(random: Random, seed: number) {
    this.#random = random
    this.chain = new DevChain({ seed: `${seed}`, clock: () => this.#now })
    this.wallet = new Wallet(random, seed)
    for (let i = 0; i < 3; i++) this.fund()
  }

  /** Unix seconds. */
  get now(): number {
    return this.#now
  }

  tick(): void {
    this.#now += this.#random.between(1, 2000) / 4
  }

  /** Everything that people made, dead or alive. */
  get made(): Transaction[] {
    return [...this.#made.values()]
  }

  /** Everything that is in a block, in the order of the chain. */
  get mined(): Transaction[] {
    return Array.from({ length: this.chain.height }, (_, i) => this.chain.block(i + 1)!).flat()
  }

  isAlive({ txid }: Transaction): boolean {
    return this.chain.transaction(txid) !== undefined
  }

  isMined({ txid }: Transaction): boolean {
    return this.chain.heightOf(txid) !== undefined
  }

  transaction(txid: Txid): Transaction | undefined {
    return this.chain.transaction(txid) ?? this.#made.get(formatTxid(txid))
  }

  /** The miner pays somebody. */
  fund(): Transaction {
    const key = this.#random.pick(this.wallet.keys)
    const transaction = this.chain.fund(addressOf(key), this.#random.between(FUNDS / 10, FUNDS))
    this.wallet.add({ transaction, vout: 0, key, lock: 'hash' })
    return this.#keep(transaction)
  }

  /** Somebody pays somebody, by a transaction that waits to be mined. */
  async pay(): Promise<Transaction> {
    const coins = this.#coins()
    if (coins.length < 4) return this.fund()
    const transaction = this.#keep(this.wallet.pay(coins.slice(0, this.#random.between(1, 4))))
    await this.chain.submit(transaction)
    return transaction
  }

  /** Another transaction that spends something that this one does. Nobody is told of it. */
  rivalOf(victim: Transaction): Transaction | undefined {
    const random = this.#random
    const spent = victim.inputs.flatMap(
      ({ txid, vout }) => this.wallet.coinAt(makeOutpoint(txid, vout)) ?? []
    )
    if (spent.length === 0) return undefined
    const coins = random.some(spent, random.between(1, spent.length))
    if (random.chance(0.3)) coins.push(...this.#coins().slice(0, 1))
    return this.#keep(this.wallet.pay(coins))
  }

  /** Offers a transaction to the chain; whether it has it then. */
  offer(transaction: Transaction, { replace }: { replace: boolean }): Promise<boolean> {
    return unlessRefused(() => this.chain.submit(transaction, { replace }))
  }

  /** Replaces the last blocks; whether that could be. */
  async reorg(
    depth: number,
    drop: readonly Transaction[],
    include: readonly Transaction[]
  ): Promise<boolean> {
    const old: OldProof[] = []
    for (let height = this.chain.height - depth + 1; height <= this.chain.height; height++) {
      for (const { txid } of this.chain.block(height)!) old.push({ txid, bump: (await this.proof(txid))! })
    }
    const done = await unlessRefused(() =>
      this.chain.reorg(depth, { drop: drop.map(({ txid }) => txid), include })
    )
    if (done) this.oldProofs.push(...old)
    return done
  }

  async proof(txid: Txid): Promise<Bump | undefined> {
    const answer = await this.chain.proof(txid)
    return answer.status === 'mined' ? answer.bump : undefined
  }

  /** The transaction with everything that proves it, whether or not the chain has it. */
  async beef(
    transaction: Transaction,
    { version = 1, atomic = false, isKnown }: BeefShape = {}
  ): Promise<Uint8Array> {
    const found = new Map<string, BeefTransaction>()
    const wanted = [transaction]
    for (let each = wanted.pop(); each; each = wanted.pop()) {
      const { txid } = each
      if (found.has(idOf(each))) continue
      if (each !== transaction && isKnown?.(idOf(each))) {
        found.set(idOf(each), { txid, transaction: undefined, bump: undefined })
        continue
      }
      const bump = await this.proof(txid)
      found.set(idOf(each), { txid, transaction: each, bump })
      if (!bump) wanted.push(...each.inputs.map(input => this.transaction(input.txid)!))
    }
    const transactions = [...found.values()].reverse()
    return writeBeef({ version, ...(atomic && { atomic: transaction.txid }), transactions })
  }

  headers(): Promise<Uint8Array> {
    return this.chain.headers(0, this.chain.height + 1)
  }

  /** What a source says that knows the chain, except that it does not know some blocks yet. */
  async answers(isLate: (txid: string) => boolean = () => false): Promise<Answers> {
    const answers = new Map<string, Uint8Array | 'unmined'>()
    for (const each of this.chain.mempool) answers.set(idOf(each), 'unmined')
    for (const each of this.mined) {
      answers.set(idOf(each), isLate(idOf(each)) ? 'unmined' : (await this.proof(each.txid))!.toBytes())
    }
    return answers
  }

  #keep(transaction: Transaction): Transaction {
    this.#made.set(idOf(transaction), transaction)
    return transaction
  }

  /** Coins of the living that nobody spends, in an order that makes chains and siblings likely. */
  #coins(): Coin[] {
    const random = this.#random
    const free = this.wallet.coins.filter(
      coin => this.isAlive(coin.transaction) && this.chain.spenderOf(outpointOf(coin)) === undefined
    )
    const all = random.some(free, free.length)
    if (random.chance(0.5))
      all.sort((a, b) => Number(this.isMined(a.transaction)) - Number(this.isMined(b.transaction)))
    if (random.chance(0.3)) {
      const [first] = all
      all.sort(
        (a, b) => Number(b.transaction === first!.transaction) - Number(a.transaction === first!.transaction)
      )
    }
    return all
  }
}

const unlessRefused = async (act: () => Promise<unknown>): Promise<boolean> => {
  try {
    await act()
    return true
  } catch (error) {
    if (error instanceof QuoinError) return false
    throw error
  }
}
