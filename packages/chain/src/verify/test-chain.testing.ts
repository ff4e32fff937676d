/**
 * Transactions with real signatures, for tests and benchmarks. Keys, blocks and signatures follow from seeds, so that
 * a failure can be repeated; signatures are made by libsecp256k1, forty times faster than by @bsv/sdk.
 *
 *     const chain = new TestChain()
 *     const key = makeKey('alice')
 *     const parent = chain.fund([{ satoshis: 1000, script: payTo(key) }])
 *     const child = spend({
 *       inputs: [{ from: parent, vout: 0, unlock: withKeyHash(key) }],
 *       outputs: [{ satoshis: 900, script: payTo(key) }]
 *     })
 *     const beef = chain.beef([parent, child])
 */

import { buildScript, bytesKey, formatTxid, OP, type Txid, Writer } from '@quoin/primitives'
import secp256k1 from 'secp256k1'
import { p2pkh } from '../address.ts'
import { writeBeef } from '../beef.ts'
import { hash160, sha256 } from '../hash.ts'
import { Bump } from '../merkle/bump.ts'
import { type Output, type Transaction, writeTransaction } from '../transaction.ts'
import { SIGHASH, Sighash } from './sighash.ts'
import type { RootTracker } from './verify.ts'

const text = new TextEncoder()

export interface Key {
  readonly secret: Uint8Array
  /** 33 bytes. */
  readonly publicKey: Uint8Array
  /** 65 bytes. */
  readonly uncompressed: Uint8Array
}

export const keyOf = (secret: Uint8Array): Key => ({
  secret,
  publicKey: secp256k1.publicKeyCreate(secret),
  uncompressed: secp256k1.publicKeyCreate(secret, false)
})

/** The key that follows from a seed. */
export const makeKey = (seed: string | number): Key => keyOf(sha256(text.encode(`key ${seed}`)))

/** Signatures of everything: all inputs and all outputs. */
export const ALL = SIGHASH.ALL | SIGHASH.FORKID

/** A signature in the form that scripts carry. */
export const signDigest = (digest: Uint8Array, { secret }: Key, type = ALL): Uint8Array => {
  const { signature } = secp256k1.ecdsaSign(digest, secret)
  return Uint8Array.of(...secp256k1.signatureExport(signature), type)
}

export const payTo = (key: Key): Uint8Array => p2pkh(hash160(key.publicKey))

/** An inscription of 1Sat Ordinals, to stand before or after a payment. */
export const envelope = (contentType: string, content: string | Uint8Array): Uint8Array =>
  buildScript([
    OP.FALSE,
    OP.IF,
    text.encode('ord'),
    OP.N1,
    text.encode(contentType),
    OP.N0,
    typeof content === 'string' ? text.encode(content) : content,
    OP.ENDIF
  ])

/** As `PushDrop` of @bsv/sdk locks fields. */
export const pushDrop = (
  key: Key,
  fields: readonly Uint8Array[],
  position: 'before' | 'after' = 'before'
): Uint8Array => {
  const drops = Array.from({ length: Math.floor(fields.length / 2) }, () => OP['2DROP'])
  const data = [...fields, ...drops, ...(fields.length % 2 ? [OP.DROP] : [])]
  const lock = [key.publicKey, OP.CHECKSIG]
  return buildScript(position === 'before' ? [...lock, ...data] : [...data, ...lock])
}

export const joined = (...parts: readonly Uint8Array[]): Uint8Array => {
  const writer = new Writer()
  for (const part of parts) writer.bytes(part)
  return writer.finish()
}

/** Makes the script of an input, given what makes a signature of it by a key. */
export type Unlock = (sign: (key: Key, type?: number) => Uint8Array) => Uint8Array

/** For P2PKH, in an envelope or not. */
export const withKeyHash =
  (key: Key, type = ALL): Unlock =>
  sign =>
    buildScript([sign(key, type), key.publicKey])

/** For P2PK and PushDrop. */
export const withKey =
  (key: Key, type = ALL): Unlock =>
  sign =>
    buildScript([sign(key, type)])

export const withScript =
  (...parts: readonly (number | Uint8Array)[]): Unlock =>
  () =>
    buildScript(parts)

export interface Spending {
  readonly inputs: readonly {
    readonly from: Transaction
    readonly vout: number
    readonly unlock: Unlock
    readonly sequence?: number
  }[]
  readonly outputs: readonly Output[]
  readonly version?: number
  readonly lockTime?: number
}

/** A transaction whose inputs are signed. */
export const spend = ({ inputs, outputs, version = 1, lockTime = 0 }: Spending): Transaction => {
  const withScripts = (scriptOf: (index: number) => Uint8Array): Transaction =>
    writeTransaction({
      version,
      inputs: inputs.map(({ from, vout, sequence = 0xffffffff }, i) => ({
        txid: from.txid,
        vout,
        script: scriptOf(i),
        sequence
      })),
      outputs,
      lockTime
    })
  const sighash = new Sighash(withScripts(() => new Uint8Array()))
  return withScripts(i => {
    const { from, vout, unlock } = inputs[i]!
    return unlock((key, type = ALL) => signDigest(sighash.digest(i, from.outputs[vout]!, type), key, type))
  })
}

/** Blocks of 4,096 transactions, of which one is known, and which exist when they are asked for. */
export class TestChain implements RootTracker {
  /** By height, as people see them. */
  readonly roots = new Map<number, string>()
  readonly #bumps = new Map<string, Bump>()
  #seed: number
  height: number

  /** Chains with seeds far from one another have transactions of their own. */
  constructor(height = 1000, seed = 0) {
    this.height = height
    this.#seed = seed
  }

  /** A transaction with these outputs and a proof, out of nothing. */
  fund(outputs: readonly Output[], { coinbase = false } = {}): Transaction {
    const seed = this.#hash()
    const transaction = writeTransaction({
      version: 1,
      inputs: [
        coinbase
          ? { txid: new Uint8Array(32) as Txid, vout: 0xffffffff, script: seed, sequence: 0xffffffff }
          : { txid: seed as Txid, vout: 0, script: new Uint8Array(), sequence: 0xffffffff }
      ],
      outputs,
      lockTime: 0
    })
    this.mine(transaction, { offset: coinbase ? 0 : 1337 })
    return transaction
  }

  /** Puts a transaction into a block, the next one unless told, and keeps the proof. */
  mine(transaction: Transaction, { height = this.height + 1, offset = 1337, depth = 12 } = {}): Bump {
    const { txid } = transaction
    const writer = new Writer()
    writer.varint(height)
    writer.u8(depth)
    for (let level = 0; level < depth; level++) {
      const at = Math.floor(offset / 2 ** level)
      writer.varint(level === 0 ? 2 : 1)
      if (level === 0) {
        writer.varint(at)
        writer.u8(2)
        writer.bytes(txid)
      }
      writer.varint(at ^ 1)
      writer.u8(0)
      writer.bytes(this.#hash())
    }
    const bump = Bump.parse(writer.finish())
    this.#bumps.set(bytesKey(txid), bump)
    this.roots.set(height, formatTxid(bump.root as Txid))
    this.height = Math.max(height, this.height)
    return bump
  }

  bumpOf(transaction: Transaction): Bump | undefined {
    return this.#bumps.get(bytesKey(transaction.txid))
  }

  /** What these are in a BEEF: with their proofs, where there are any. The last is the subject. */
  beef(
    transactions: readonly Transaction[],
    { version = 1, atomic = false }: { readonly version?: 1 | 2; readonly atomic?: boolean } = {}
  ): Uint8Array {
    return writeBeef({
      version,
      ...(atomic && { atomic: transactions.at(-1)!.txid }),
      transactions: transactions.map(transaction => ({
        txid: transaction.txid,
        transaction,
        bump: this.bumpOf(transaction)
      }))
    })
  }

  async isValidRootForHeight(root: string, height: number): Promise<boolean> {
    return this.roots.get(height) === root
  }

  async currentHeight(): Promise<number> {
    return this.height
  }

  #hash(): Uint8Array {
    return sha256(text.encode(`chain ${this.#seed++}`))
  }
}

/** Numbers from 0 to below 1 that follow from a seed (mulberry32). */
export const randomFrom = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x100000000
  }
}
