/**
 * People with tokens on a development chain, and what they do with them, by chance: what they may, what they may not, and
 * what only looks like something. Some of it is signed and seen before it is mined; some is mined by who knows whom.
 */

import type { Output, Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { makeOutpoint, QuoinError } from '@quoin/primitives'
import type { Random } from '../../../txo/src/simulation/random.testing.ts'
import * as t from '../tokens.testing.ts'

export interface Coin {
  readonly transaction: Transaction
  readonly vout: number
  /** Who can sign for it; undefined where nobody here can. */
  readonly owner: t.Person | undefined
  readonly token: string | undefined
  readonly op: string | undefined
  readonly amount: bigint
  /** A deployment in the binary form, which is one at output 0 alone. */
  readonly isBinary?: boolean
}

export interface Made {
  readonly transaction: Transaction
  /** Whether its signatures hold: what has none is good once it is mined. */
  readonly isSigned: boolean
}

interface Planned {
  readonly output: Output
  readonly coin: Omit<Coin, 'transaction' | 'vout'>
}

const PEOPLE = 5
const MAX = 2n ** 64n - 1n

export class TokenWorld {
  readonly chain = new DevChain()
  /** Everything that was ever made here. */
  readonly made: Made[] = []
  readonly tokens = new Set<string>()
  readonly counts = new Map<string, number>()
  readonly #random: Random
  readonly #people = Array.from({ length: PEOPLE }, (_, i) => t.person(i + 1))
  #coins: Coin[] = []
  #serial = 0

  constructor(random: Random) {
    this.#random = random
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  /** A new transaction that the chain takes; undefined when it does not. */
  async act(): Promise<Made | undefined> {
    const inputs = this.#inputs()
    const planned = this.#outputs(inputs)
    const isSigned = inputs.every(({ owner }) => owner) && this.#random.chance(0.9)
    const outputs = planned.map(({ output }) => output)
    const transaction = isSigned
      ? t.transaction(
          inputs.map(({ transaction: from, vout, owner }) => t.at(from, vout, owner!)),
          outputs,
          ++this.#serial
        )
      : t.unsigned(
          inputs.map(({ transaction: { txid }, vout }) => ({ txid, vout })),
          outputs,
          ++this.#serial
        )
    try {
      await this.chain.submit(transaction, { replace: this.#random.chance(0.5) })
    } catch (error) {
      if (error instanceof QuoinError && /CONFLICT|UNKNOWN/.test(error.code)) return undefined
      throw error
    }
    for (const [vout, { coin }] of planned.entries()) {
      const isDeployed = coin.op?.startsWith('deploy') && (vout === 0 || !coin.isBinary)
      const id = isDeployed ? t.tokenIdOf(transaction, vout) : undefined
      if (id !== undefined) this.tokens.add(id)
      this.#coins.push({ ...coin, transaction, vout, token: id ?? coin.token })
    }
    const made = { transaction, isSigned }
    this.made.push(made)
    return made
  }

  /** Transactions of the chain, mined or waiting. */
  get history(): Transaction[] {
    const mined = Array.from({ length: this.chain.height }, (_, i) => this.chain.block(i + 1) ?? []).flat()
    return [...mined, ...this.chain.mempool]
  }

  isInChain({ transaction: { txid } }: Made): boolean {
    return this.chain.transaction(txid) !== undefined
  }

  #inputs(): Coin[] {
    const random = this.#random
    const there = this.#coins.filter(({ transaction: { txid } }) => this.chain.transaction(txid))
    const unspent = there.filter(
      ({ transaction: { txid }, vout }) => !this.chain.spenderOf(makeOutpoint(txid, vout))
    )
    // Now and then one that is spent by something that waits.
    const from = random.chance(0.1) ? there : unspent
    const tokens = random.some(
      from.filter(({ token }) => token !== undefined),
      random.between(0, 3)
    )
    const owner = random.pick(this.#people)
    const funding = this.chain.fund(owner.address, 500)
    return [...tokens, { transaction: funding, vout: 0, owner, token: undefined, op: undefined, amount: 0n }]
  }

  #outputs(inputs: readonly Coin[]): Planned[] {
    const random = this.#random
    const planned: Planned[] = []
    const ids = new Set(inputs.flatMap(({ token }) => token ?? []))
    if (random.chance(0.1) && this.tokens.size > 0) ids.add(random.pick([...this.tokens]))
    for (const id of ids) planned.push(...this.#move(id, inputs))
    if (planned.length === 0 || random.chance(0.1)) planned.push(this.#deploy())
    if (random.chance(0.1)) planned.push(this.#nonsense())
    return random.some(planned, planned.length)
  }

  #deploy(): Planned {
    const owner = this.#random.pick(this.#people)
    const sym = this.#random.pick(['GOLD', 'X:spnd', 'a/b', '\u0000', undefined])
    const more = sym === undefined ? {} : { sym }
    const deployed = { owner, token: undefined, amount: 0n }
    if (this.#random.chance(0.3)) {
      this.count('binary deployment')
      const amount = this.#random.pick([0n, 0n, 1n, 1000n, MAX])
      const op = amount > 0n ? 'deploy+mint' : 'deploy+auth'
      const output = t.binary(undefined, amount, t.paidTo(owner), { sym: 'GOLD', dec: 8n })
      return { output, coin: { ...deployed, op, amount, isBinary: true } }
    }
    if (this.#random.chance(0.4)) {
      this.count('deploy+auth')
      return { output: t.deployAuth(owner, more), coin: { ...deployed, op: 'deploy+auth' } }
    }
    this.count('deploy+mint')
    const amount = this.#random.pick([1n, 1000n, 21_000_000n, MAX, MAX - 51_615n])
    return { output: t.deployMint(owner, amount, more), coin: { ...deployed, op: 'deploy+mint', amount } }
  }

  /** What somebody does with a token whose coins these are, or are not. */
  #move(id: string, inputs: readonly Coin[]): Planned[] {
    const random = this.#random
    const own = inputs.filter(coin => coin.token === id && coin.op !== 'burn')
    const available = own.reduce((sum, { amount }) => sum + amount, 0n)
    const isAuth = own.some(({ op }) => op?.endsWith('auth'))
    const planned: Planned[] = []
    const kind = random.weighted([
      [60, 'all of it'],
      [15, 'some of it'],
      [10, 'more than there is'],
      [10, 'nothing'],
      [5, 'two halves that wrap']
    ] as const)
    this.count(kind)
    if (kind === 'all of it') for (const part of this.#parts(available)) planned.push(this.#give(id, part))
    if (kind === 'some of it' && available > 1n) planned.push(this.#give(id, available / 2n))
    if (kind === 'more than there is') {
      planned.push(this.#give(id, available === 0n ? 5n : available))
      planned.push(this.#give(id, 1n))
    }
    if (kind === 'two halves that wrap') planned.push(this.#give(id, 2n ** 63n), this.#give(id, 2n ** 63n))
    if (isAuth || random.chance(0.1)) {
      this.count(isAuth ? 'mint' : 'mint without auth')
      planned.push(this.#mint(id))
      if (random.chance(0.7)) planned.push(this.#auth(id))
    }
    return planned
  }

  #parts(amount: bigint): bigint[] {
    const parts: bigint[] = []
    let rest = amount
    for (let more = this.#random.between(0, 2); more > 0 && rest > 1n; more--) {
      const part = rest / BigInt(this.#random.between(2, 5))
      if (part === 0n) break
      parts.push(part)
      rest -= part
    }
    for (; rest > MAX; rest -= MAX) parts.push(MAX)
    if (rest > 0n) parts.push(rest)
    return parts
  }

  #give(id: string, amount: bigint): Planned {
    const random = this.#random
    const owner = random.pick(this.#people)
    const capped = amount > MAX ? MAX : amount
    const coin = { token: id, op: 'transfer', amount: capped }
    const how = random.weighted([
      [70, 'p2pkh'],
      [10, 'cosign'],
      [10, 'list'],
      [10, 'burn']
    ] as const)
    this.count(how)
    if (how === 'burn') {
      return { output: t.burn(id, capped), coin: { ...coin, op: 'burn', owner: undefined } }
    }
    const lock = how === 'p2pkh' ? t.paidTo(owner) : how === 'cosign' ? t.cosigned(owner) : t.listedBy(owner)
    const isBinary = capped > 0n && random.chance(0.4)
    if (isBinary) this.count('binary value')
    return {
      output: isBinary ? t.binary(id, capped, lock) : t.transfer(id, capped, lock),
      coin: { ...coin, owner: how === 'p2pkh' ? owner : undefined }
    }
  }

  #mint(id: string): Planned {
    const owner = this.#random.pick(this.#people)
    const amount = this.#random.pick([7n, 1000n, MAX])
    const isBinary = this.#random.chance(0.4)
    if (isBinary) this.count('binary mint')
    const output = isBinary ? t.binary(id, amount, t.paidTo(owner)) : t.mint(id, amount, t.paidTo(owner))
    return { output, coin: { owner, token: id, op: 'mint', amount } }
  }

  #auth(id: string): Planned {
    const owner = this.#random.pick(this.#people)
    const output = this.#random.chance(0.4) ? t.binary(id, 0n, t.paidTo(owner)) : t.auth(id, t.paidTo(owner))
    return { output, coin: { owner, token: id, op: 'auth', amount: 0n } }
  }

  /** What is no claim at all. */
  #nonsense(): Planned {
    this.count('nonsense')
    const owner = this.#random.pick(this.#people)
    const id = this.tokens.size > 0 ? this.#random.pick([...this.tokens]) : `${'0'.repeat(64)}_0`
    const lock = t.paidTo(owner)
    const output = this.#random.pick([
      t.transfer(id, '0', lock),
      t.transfer(id, `${2n ** 64n}`, lock),
      t.binary(id, 2n ** 64n, lock),
      t.binary(id, -5n, lock),
      t.transfer(id.toUpperCase(), 5n, lock),
      t.transfer(id.replace('_', '.'), 5n, lock),
      t.transfer(id.replace('_', '_0'), 5n, lock),
      t.tokenOutput({ op: 'deploy+auth', amt: '5' }, lock),
      t.tokenOutput({ op: 'transfer', id, amt: 5 }, lock)
    ])
    return { output, coin: { owner, token: undefined, op: undefined, amount: 0n } }
  }
}
