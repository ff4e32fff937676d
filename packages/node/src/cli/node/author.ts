/** A client that writes messages to a node with the SDK and HTTP alone. */
import {
  type ChainTracker,
  HTTPSOverlayBroadcastFacilitator,
  LookupResolver,
  P2PKH,
  PrivateKey,
  ProtoWallet,
  PushDrop,
  Transaction,
  Utils,
  type WalletInterface,
  type WalletProtocol
} from '@bsv/sdk'
import { QuoinError } from '@quoin/primitives'
import { askJson } from './http.ts'

const PROTOCOL: WalletProtocol = [0, 'quoin demo']
const KEY_ID = '1'
const TOPIC = 'tm_hello'
const SERVICE = 'ls_hello'
/** Satoshis of a message, and the fee of a transaction. */
const MESSAGE_SATOSHIS = 1
const FEE = 10

export interface Message {
  readonly text: string
  readonly outpoint: string
  readonly transaction: Transaction
}

export interface FoundMessage {
  readonly text: string
  /** Whether the SDK verified the transaction, with the headers of the node. */
  readonly verified: boolean
}

interface Coin {
  readonly transaction: Transaction
  readonly vout: number
  readonly satoshis: number
}

export class Author {
  readonly #url: string
  readonly #key = PrivateKey.fromRandom()
  /** The SDK's client asks a wallet for keys and signatures only. */
  readonly #template = new PushDrop(new ProtoWallet(this.#key) as unknown as WalletInterface)
  /** In the form that the index has for every network. */
  readonly address = this.#key.toAddress()
  #coin: Coin | undefined

  constructor(url: string) {
    this.#url = url
  }

  get balanceExpected(): string {
    return String(this.#coin?.satoshis ?? 0)
  }

  /** Asks the development chain for money. */
  async fund(satoshis: number): Promise<void> {
    const { address } = this
    const { beef } = await askJson<{ beef: string }>(this.#url, '/dev/fund', { address, satoshis })
    const transaction = Transaction.fromAtomicBEEF(Utils.toArray(beef, 'hex'))
    // So that it is somebody's balance, the node has to know of it: no topic takes it.
    await this.#submit(transaction)
    this.#coin = { transaction, vout: 0, satoshis }
  }

  async mine(): Promise<number> {
    const { blocks } = await askJson<{ blocks: { height: number }[] }>(this.#url, '/dev/mine', {})
    return blocks.at(-1)!.height
  }

  say(text: string): Promise<Message> {
    return this.#write(text, undefined)
  }

  /** Spends a message, and says something else. */
  replace(message: Message, text: string): Promise<Message> {
    return this.#write(text, message)
  }

  async #write(text: string, replaced: Message | undefined): Promise<Message> {
    const coin = this.#coin!
    const transaction = new Transaction()
    if (replaced) {
      transaction.addInput({
        sourceTransaction: replaced.transaction,
        sourceOutputIndex: 0,
        unlockingScriptTemplate: this.#template.unlock(PROTOCOL, KEY_ID, 'self')
      })
    }
    transaction.addInput({
      sourceTransaction: coin.transaction,
      sourceOutputIndex: coin.vout,
      unlockingScriptTemplate: new P2PKH().unlock(this.#key)
    })
    transaction.addOutput({
      satoshis: MESSAGE_SATOSHIS,
      lockingScript: await this.#template.lock(
        [Utils.toArray(text, 'utf8')],
        PROTOCOL,
        KEY_ID,
        'self',
        true,
        false
      )
    })
    const change = coin.satoshis - FEE - (replaced ? 0 : MESSAGE_SATOSHIS)
    transaction.addOutput({ satoshis: change, lockingScript: new P2PKH().lock(this.address) })
    await transaction.sign()
    await this.#submit(transaction)
    this.#coin = { transaction, vout: 1, satoshis: change }
    return { text, outpoint: `${transaction.id('hex')}.0`, transaction }
  }

  async #submit(transaction: Transaction): Promise<void> {
    const facilitator = new HTTPSOverlayBroadcastFacilitator(fetch, true)
    const steak = await facilitator.send(this.#url, { beef: transaction.toBEEF(), topics: [TOPIC] })
    if (!steak[TOPIC]) throw new QuoinError('ERR_CHAIN_SOURCE', `${this.#url} did not answer for ${TOPIC}`)
  }

  /** Looks up with the unmodified client of the SDK, and verifies the answer with it. */
  async lookup(query: unknown, tracker: ChainTracker): Promise<FoundMessage[]> {
    const resolver = new LookupResolver({
      networkPreset: 'local',
      hostOverrides: { [SERVICE]: [this.#url] },
      reputationStorage: { get: () => null, set: () => undefined }
    })
    const { outputs } = await resolver.query({ service: SERVICE, query })
    return Promise.all(
      outputs.map(async ({ beef, outputIndex }) => {
        const transaction = Transaction.fromBEEF(beef)
        const { fields } = PushDrop.decode(transaction.outputs[outputIndex]!.lockingScript)
        return { text: Utils.toUTF8(fields[0]!), verified: await transaction.verify(tracker) }
      })
    )
  }

  async balance(): Promise<string> {
    const path = `/txo/balance?events=own:${this.address}`
    const { satoshis } = await askJson<{ satoshis: string }>(this.#url, path)
    return String(satoshis)
  }
}
