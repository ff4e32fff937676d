/** A client that issues a BSV21 token through a node with the SDK and HTTP alone. */
import {
  HTTPSOverlayBroadcastFacilitator,
  LockingScript,
  OP,
  P2PKH,
  PrivateKey,
  Script,
  Transaction,
  Utils
} from '@bsv/sdk'
import { QuoinError } from '@quoin/primitives'
import { askJson } from './http.ts'
import { ordLock } from './ordlock.ts'

const DISCOVERY = 'tm_bsv21'
/** The fee of a transaction. */
const FEE = 50

interface Coin {
  readonly transaction: Transaction
  readonly vout: number
}

/** An output that a token is in. */
interface Inscription {
  readonly fields: Readonly<Record<string, string>>
  /** The script that locks it. */
  readonly lock: readonly number[]
}

export class Minter {
  readonly #url: string
  readonly #key = PrivateKey.fromRandom()
  readonly address = this.#key.toAddress()
  #money: (Coin & { readonly satoshis: number }) | undefined
  /** The auth, once it is deployed. */
  #auth: Coin | undefined
  /** Of the token. */
  #coin: Coin | undefined
  id = ''

  constructor(url: string) {
    this.#url = url
  }

  /** Somebody else, to give tokens to. */
  static someone(): string {
    return PrivateKey.fromRandom().toAddress()
  }

  /** Asks the development chain for money. */
  async fund(satoshis: number): Promise<void> {
    const { beef } = await askJson<{ beef: string }>(this.#url, '/dev/fund', {
      address: this.address,
      satoshis
    })
    this.#money = { transaction: Transaction.fromAtomicBEEF(Utils.toArray(beef, 'hex')), vout: 0, satoshis }
  }

  /** A token that is minted as its issuer likes. */
  async deploy(sym: string, dec: number): Promise<void> {
    const deployed = await this.#make([], [this.#own({ op: 'deploy+auth', sym, dec: String(dec) })])
    this.id = `${deployed.id('hex')}_0`
    this.#auth = { transaction: deployed, vout: 0 }
    await this.#submit(deployed, DISCOVERY, this.#topic)
  }

  async mint(amount: number): Promise<void> {
    const minted = await this.#make(
      [this.#auth!],
      [this.#own({ op: 'mint', id: this.id, amt: String(amount) }), this.#own({ op: 'auth', id: this.id })]
    )
    this.#coin = { transaction: minted, vout: 0 }
    this.#auth = { transaction: minted, vout: 1 }
    await this.#submit(minted, this.#topic)
  }

  /** Transfers, burns and lists amounts, and keeps the rest. */
  async spend(
    given: Readonly<Record<string, number>>,
    burned: number,
    listed: { readonly amount: number; readonly price: number },
    kept: number
  ): Promise<void> {
    const { id } = this
    const moved = await this.#make(
      [this.#coin!],
      [
        this.#own({ op: 'transfer', id, amt: String(kept) }),
        ...Object.entries(given).map(([address, amount]) => ({
          fields: { op: 'transfer', id, amt: String(amount) },
          lock: new P2PKH().lock(address).toBinary()
        })),
        {
          fields: { op: 'transfer', id, amt: String(listed.amount) },
          lock: ordLock(this.address, listed.price)
        },
        this.#own({ op: 'burn', id, amt: String(burned) })
      ]
    )
    this.#coin = { transaction: moved, vout: 0 }
    await this.#submit(moved, this.#topic)
  }

  get #topic(): string {
    return `tm_${this.id}`
  }

  #own(fields: Readonly<Record<string, string>>): Inscription {
    return { fields, lock: new P2PKH().lock(this.address).toBinary() }
  }

  async #make(spent: readonly Coin[], outputs: readonly Inscription[]): Promise<Transaction> {
    const money = this.#money!
    const transaction = new Transaction()
    for (const coin of [...spent, money]) {
      transaction.addInput({
        sourceTransaction: coin.transaction,
        sourceOutputIndex: coin.vout,
        unlockingScriptTemplate: new P2PKH().unlock(this.#key)
      })
    }
    for (const output of outputs) transaction.addOutput({ satoshis: 1, lockingScript: inscription(output) })
    const satoshis = money.satoshis - FEE - outputs.length + spent.length
    transaction.addOutput({ satoshis, lockingScript: new P2PKH().lock(this.address) })
    await transaction.sign()
    this.#money = { transaction, vout: outputs.length, satoshis }
    return transaction
  }

  async #submit(transaction: Transaction, ...topics: readonly string[]): Promise<void> {
    const facilitator = new HTTPSOverlayBroadcastFacilitator(fetch, true)
    const steak = await facilitator.send(this.#url, { beef: transaction.toBEEF(), topics: [...topics] })
    const refusing = topics.find(topic => !steak[topic]?.outputsToAdmit.length)
    if (refusing) throw new QuoinError('ERR_TOPIC_FAILED', `${refusing} took nothing of what was sent to it`)
  }
}

const inscription = ({ fields, lock }: Inscription): LockingScript => {
  const envelope = new Script()
    .writeOpCode(OP.OP_FALSE)
    .writeOpCode(OP.OP_IF)
    .writeBin(Utils.toArray('ord', 'utf8'))
    .writeOpCode(OP.OP_1)
    .writeBin(Utils.toArray('application/bsv-20', 'utf8'))
    .writeOpCode(OP.OP_FALSE)
    .writeBin(Utils.toArray(JSON.stringify({ p: 'bsv-20', ...fields }), 'utf8'))
    .writeOpCode(OP.OP_ENDIF)
  return LockingScript.fromBinary([...envelope.toBinary(), ...lock])
}
