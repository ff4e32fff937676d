/** Controllers that write entries, with signatures of libsecp256k1, on a development chain; and nodes that take them. */
import { createHmac } from 'node:crypto'
import { Beef, type BeefTransaction, type Output, sha256, type Transaction, writeBeef } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import {
  isRefusal,
  type KvContent,
  type KvToken,
  type ProtocolID,
  parseToken,
  signedBytes,
  writeFields,
  writeToken
} from '@quoin/kvstore-client/token'
import { Engine, installPlugins } from '@quoin/overlay'
import { makeOutpoint, type Outpoint, toHex } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import secp256k1 from 'secp256k1'
import {
  type Key,
  keyOf,
  makeKey,
  payTo,
  signDigest,
  spend,
  withKey,
  withKeyHash
} from '../../chain/src/verify/test-chain.testing.ts'
import { kvstore } from './plugin.ts'

export const PROTOCOL: ProtocolID = [1, 'kvstore']

export class Author {
  readonly key: Key
  readonly controller: string

  constructor(seed: string | number) {
    this.key = makeKey(`author ${seed}`)
    this.controller = toHex(this.key.publicKey)
  }

  /** The key that the wallet of the controller has with anyone. */
  keyFor([level, name]: ProtocolID, key: string): Key {
    const { publicKey, secret } = this.key
    const number = createHmac('sha256', publicKey).update(`${level}-${name}-${key}`).digest()
    return keyOf(secp256k1.privateKeyTweakAdd(secret.slice(), number))
  }

  content(content: Partial<KvContent> = {}): KvContent {
    return {
      protocolID: PROTOCOL,
      key: 'greeting',
      value: 'hello',
      tags: [],
      controller: this.controller,
      ...content
    }
  }

  /** The locking script of an entry. */
  script(content: Partial<KvContent> = {}): Uint8Array {
    const whole = this.content(content)
    return this.scriptOf(writeFields(whole), this.keyFor(whole.protocolID, whole.key))
  }

  /** Of fields that may be anything, signed and locked by a key. */
  scriptOf(fields: readonly Uint8Array[], key: Key): Uint8Array {
    return writeToken({ fields, lockKey: key.publicKey, signature: sign(fields, key) })
  }
}

export const sign = (fields: readonly Uint8Array[], key: Key): Uint8Array =>
  signDigest(sha256(signedBytes(fields)), key).slice(0, -1)

export const readToken = (script: Uint8Array): KvToken => {
  const token = parseToken(script)
  if (isRefusal(token)) throw new Error(token.reason)
  return token
}

/** An entry that was written, to be spent by its author. */
export interface Entry {
  readonly author: Author
  readonly transaction: Transaction
  readonly vout: number
  readonly outpoint: Outpoint
}

/** Who pays for everything. */
const payer = makeKey('payer')

type Written = readonly (readonly [author: Author, content: Partial<KvContent>])[]

/** A transaction that spends entries and writes others, paid by a coin; the chain has not heard of it. */
export const compose = (coin: Coin, entries: Written, prior: readonly Entry[] = []): Transaction =>
  spend({
    inputs: [
      ...prior.map(({ author, transaction: from, vout }) => {
        const { protocolID, key } = readToken(from.outputs[vout]!.script)
        return { from, vout, unlock: withKey(author.keyFor(protocolID, key)) }
      }),
      { ...coin, unlock: withKeyHash(payer) }
    ],
    outputs: [
      ...entries.map(([author, content]) => ({ satoshis: 1, script: author.script(content) })),
      { satoshis: coin.from.outputs[coin.vout]!.satoshis - 10, script: payTo(payer) }
    ]
  })

interface Coin {
  readonly from: Transaction
  readonly vout: number
}

/** An output that pays the payer. */
export const payment = (satoshis: number): Output => ({ satoshis, script: payTo(payer) })

export const coinOf = (chain: DevChain): Coin => ({ from: chain.fund(payTo(payer), 1_000_000), vout: 0 })

export const entriesOf = (entries: Written, transaction: Transaction): Entry[] =>
  entries.map(([author], vout) => ({
    author,
    transaction,
    vout,
    outpoint: makeOutpoint(transaction.txid, vout)
  }))

/** With what proves it, though the chain does not have it. */
const beefOf = (chain: DevChain, transaction: Transaction): Uint8Array => {
  const parents = new Map<string, BeefTransaction>()
  for (const { txid } of transaction.inputs) {
    for (const each of Beef.parse(chain.beef(txid)).transactions) parents.set(toHex(each.txid), each)
  }
  const { txid } = transaction
  return writeBeef({
    version: 1,
    transactions: [...parents.values(), { txid, transaction, bump: undefined }]
  })
}

/** The same, paid by a coin of its own and sent to the chain. Without entries, the answer is the transaction. */
export const write = async (
  chain: DevChain,
  entries: Written,
  prior: readonly Entry[] = []
): Promise<{ readonly transaction: Transaction; readonly entries: Entry[] }> => {
  const transaction = compose(coinOf(chain), entries, prior)
  await chain.submit(transaction)
  return { transaction, entries: entriesOf(entries, transaction) }
}

export class KvNode {
  readonly chain: DevChain
  readonly engine: Engine
  readonly #seen: Transaction[] = []

  private constructor(chain: DevChain, engine: Engine) {
    this.chain = chain
    this.engine = engine
  }

  static async open({ chain = new DevChain({ seed: 'kv' }), url = 'memory:' } = {}): Promise<KvNode> {
    const outputs = new OutputStore(await openStore(url))
    const installed = await installPlugins([kvstore], { outputs })
    return new KvNode(chain, new Engine({ outputs, tracker: chain, proofs: chain, ...installed }))
  }

  submit(transaction: Transaction) {
    this.#seen.push(transaction)
    return this.engine.submit({ beef: this.chain.beef(transaction.txid), topics: ['tm_kvstore'] })
  }

  /** Submits what the chain does not have. */
  propose(transaction: Transaction) {
    return this.engine.submit({ beef: beefOf(this.chain, transaction), topics: ['tm_kvstore'] })
  }

  /** Writes entries in one transaction, and submits it. */
  async write(entries: Written, prior: readonly Entry[] = []): Promise<Entry[]> {
    const written = await write(this.chain, entries, prior)
    await this.submit(written.transaction)
    return written.entries
  }

  /** One entry, in the place of others if there are any. */
  async set(author: Author, content: Partial<KvContent> = {}, ...prior: readonly Entry[]): Promise<Entry> {
    const [entry] = await this.write([[author, content]], prior)
    return entry!
  }

  async remove(...prior: readonly Entry[]): Promise<void> {
    await this.write([], prior)
  }

  /** Mines all that waits, and brings the node the proofs of what it was given. */
  async mine(): Promise<void> {
    this.chain.mine()
    for (const { txid } of this.#seen.splice(0)) {
      const answer = await this.chain.proof(txid)
      if (answer.status === 'mined') await this.engine.handleNewMerkleProof(txid, answer.bump)
    }
  }

  /** What a lookup answers, each with what the token says and with the context. */
  async lookup(query: unknown) {
    const found = await this.engine.lookup('ls_kvstore', query)
    return found.map(({ outpoint, context, transactions }) => {
      const { outputs } = transactions[0]!.transaction!
      return {
        ...readToken(outputs[Buffer.from(outpoint).readUInt32BE(32)]!.script),
        outpoint,
        transactions,
        context: context && (JSON.parse(Buffer.from(context).toString()) as Record<string, unknown>)
      }
    })
  }

  /** The values that a lookup answers, in their order. */
  async values(query: unknown): Promise<string[]> {
    return (await this.lookup(query)).map(({ value }) => value)
  }

  async close(): Promise<void> {
    await this.engine.close()
    await this.engine.outputs.store.close()
  }
}
