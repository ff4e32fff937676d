/** Whose coins there are, in what scripts, and transactions that spend them. */
import { formatAddress, hash160, type Transaction } from '@quoin/chain'
import { formatOutpoint, formatTxid, makeOutpoint, type Outpoint } from '@quoin/primitives'
import * as signed from '../../../chain/src/verify/test-chain.testing.ts'
import { bitcom, bsv21, MAP, utf8 } from '../scripts/scripts.testing.ts'
import type { Random } from './random.testing.ts'

const { envelope, joined, makeKey, payTo, pushDrop, spend, withKey, withKeyHash } = signed
type Key = signed.Key

export interface Coin {
  readonly transaction: Transaction
  readonly vout: number
  readonly key: Key
  /** Whether it is paid to the hash of the key, or to the key itself. */
  readonly lock: 'hash' | 'key'
}

export const outpointOf = ({ transaction, vout }: Coin): Outpoint => makeOutpoint(transaction.txid, vout)
const coinText = (coin: Coin): string => formatOutpoint(outpointOf(coin))
export const idOf = ({ txid }: Transaction): string => formatTxid(txid)
export const addressOf = (key: Key): string => formatAddress(hash160(key.publicKey))

const KEYS = 4
/** What a transaction leaves to the miner, if it has that much. */
const MOST_FEE = 40

interface Locked {
  readonly script: Uint8Array
  readonly satoshis: number
  readonly coin: Pick<Coin, 'key' | 'lock'> | undefined
}

export class Wallet {
  readonly keys: readonly Key[]
  readonly #random: Random
  readonly #coins = new Map<string, Coin>()
  #serial = 0

  constructor(random: Random, seed: number) {
    this.#random = random
    this.keys = Array.from({ length: KEYS }, (_, i) => makeKey(`${seed} ${i}`))
  }

  /** Every coin there ever was. */
  get coins(): Coin[] {
    return [...this.#coins.values()]
  }

  /** The coin that an input spends, if it was one of these. */
  coinAt(outpoint: Outpoint): Coin | undefined {
    return this.#coins.get(formatOutpoint(outpoint))
  }

  add(coin: Coin): void {
    this.#coins.set(coinText(coin), coin)
  }

  /** Spends the coins in a transaction that there was never before. */
  pay(coins: readonly Coin[]): Transaction {
    const locked = this.#locked(worthOf(coins))
    const transaction = spend({
      inputs: coins.map(({ transaction: from, vout, key, lock }) => ({
        from,
        vout,
        unlock: lock === 'hash' ? withKeyHash(key) : withKey(key)
      })),
      outputs: locked,
      lockTime: ++this.#serial
    })
    for (const [vout, { coin }] of locked.entries()) if (coin) this.add({ ...coin, transaction, vout })
    return transaction
  }

  /** Outputs that come to what there is, but for the fee. */
  #locked(worth: number): Locked[] {
    const random = this.#random
    let rest = worth - (worth > 10 * MOST_FEE ? random.between(0, MOST_FEE) : 0)
    const outputs: Locked[] = []
    for (let more = random.between(0, 3); more > 0 && rest > 10; more--) {
      const output = this.#output(rest)
      rest -= output.satoshis
      outputs.push(output)
    }
    const key = random.pick(this.keys)
    outputs.push({ script: payTo(key), satoshis: rest, coin: { key, lock: 'hash' } })
    return random.some(outputs, outputs.length)
  }

  #output(most: number): Locked {
    const random = this.#random
    const key = random.pick(this.keys)
    const hashed = { key, lock: 'hash' } as const
    const part = random.between(1, Math.max(1, Math.floor(most / 2)))
    return random.weighted<() => Locked>([
      [50, () => ({ script: payTo(key), satoshis: part, coin: hashed })],
      [
        10,
        () => ({ script: joined(envelope('text/plain', 'hello'), payTo(key)), satoshis: 1, coin: hashed })
      ],
      [10, () => ({ script: bsv21(this.#token(), payTo(key)), satoshis: 1, coin: hashed })],
      [
        15,
        () => ({
          script: pushDrop(key, [utf8('field'), utf8(`${random.between(1, 9)}`)]),
          satoshis: part,
          coin: { key, lock: 'key' }
        })
      ],
      [8, () => ({ script: bitcom([[MAP, 'SET', 'app', 'simulation']]), satoshis: 0, coin: undefined })]
    ])()
  }

  #token(): Record<string, string> {
    const random = this.#random
    const [of] = random.some(this.coins, 1)
    return of === undefined || random.chance(0.5)
      ? { op: 'deploy+mint', amt: '1000', sym: random.pick(['GOLD', 'SILVER']) }
      : { op: 'transfer', id: formatOutpoint(outpointOf(of), '_'), amt: `${random.between(1, 1000)}` }
  }
}

const worthOf = (coins: readonly Coin[]): number =>
  coins.reduce((sum, { transaction, vout }) => sum + transaction.outputs[vout]!.satoshis, 0)
