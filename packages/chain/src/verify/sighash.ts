/**
 * Signature digests with SIGHASH_FORKID (the form of BIP-143). Three hashes that all inputs share are computed once, so
 * that the cost is linear in the transaction's size. The original digest, without FORKID, is left to the interpreter.
 */

import { sizedLength, Writer } from '@quoin/primitives'
import { sha256d } from '../hash.ts'
import type { Output, Transaction } from '../transaction.ts'

/** Sighash byte: one of the first three, combined with flags. */
export const SIGHASH = {
  ALL: 1,
  NONE: 2,
  SINGLE: 3,
  /** Flag for the original digest, in transactions of version 2 and later. */
  CHRONICLE: 0x20,
  FORKID: 0x40,
  ANYONECANPAY: 0x80
} as const

const BASE = 0x1f
const NOTHING = new Uint8Array(32)

/** Whether the base type is ALL, NONE or SINGLE. */
export const isDefined = (type: number): boolean =>
  (type & BASE) >= SIGHASH.ALL && (type & BASE) <= SIGHASH.SINGLE

/** Whether `Sighash` computes the digest of this type. */
export const isForkId = (type: number): boolean =>
  (type & (SIGHASH.FORKID | SIGHASH.CHRONICLE)) === SIGHASH.FORKID

/** Digests of one transaction. */
export class Sighash {
  readonly transaction: Transaction
  #prevouts: Uint8Array | undefined
  #sequences: Uint8Array | undefined
  #outputs: Uint8Array | undefined

  constructor(transaction: Transaction) {
    this.transaction = transaction
  }

  /** Digest that a signature of this type signs, for the input at `index` and the output it spends. */
  digest(index: number, spent: Output, type: number): Uint8Array {
    return sha256d(this.preimage(index, spent, type))
  }

  preimage(index: number, { script, satoshis }: Output, type: number): Uint8Array {
    const { version, inputs, outputs, lockTime } = this.transaction
    const input = inputs[index]!
    const base = type & BASE
    const isAlone = (type & SIGHASH.ANYONECANPAY) !== 0
    const isAll = base !== SIGHASH.NONE && base !== SIGHASH.SINGLE
    const writer = new Writer(156 + sizedLength(script))
    writer.u32(version)
    writer.bytes(isAlone ? NOTHING : this.#hashOfPrevouts())
    writer.bytes(isAlone || !isAll ? NOTHING : this.#hashOfSequences())
    writer.bytes(input.txid)
    writer.u32(input.vout)
    writer.sized(script)
    writer.u53(satoshis)
    writer.u32(input.sequence)
    if (isAll) writer.bytes(this.#hashOfOutputs())
    else {
      const paired = base === SIGHASH.SINGLE ? outputs[index] : undefined
      writer.bytes(paired ? hashOf([paired]) : NOTHING)
    }
    writer.u32(lockTime)
    writer.u32(type)
    return writer.finish()
  }

  #hashOfPrevouts(): Uint8Array {
    if (this.#prevouts) return this.#prevouts
    const { inputs } = this.transaction
    const writer = new Writer(36 * inputs.length)
    for (const { txid, vout } of inputs) {
      writer.bytes(txid)
      writer.u32(vout)
    }
    this.#prevouts = sha256d(writer.finish())
    return this.#prevouts
  }

  #hashOfSequences(): Uint8Array {
    if (this.#sequences) return this.#sequences
    const { inputs } = this.transaction
    const writer = new Writer(4 * inputs.length)
    for (const { sequence } of inputs) writer.u32(sequence)
    this.#sequences = sha256d(writer.finish())
    return this.#sequences
  }

  #hashOfOutputs(): Uint8Array {
    this.#outputs ??= hashOf(this.transaction.outputs)
    return this.#outputs
  }
}

const hashOf = (outputs: readonly Output[]): Uint8Array => {
  const writer = new Writer(outputs.reduce((sum, { script }) => sum + 8 + sizedLength(script), 0))
  for (const { satoshis, script } of outputs) {
    writer.u53(satoshis)
    writer.sized(script)
  }
  return sha256d(writer.finish())
}
