/**
 * Transactions as they are on the wire. The bytes are walked once to know that they are one; inputs, outputs and the
 * txid are made when they are asked for, as views of the bytes, which stay what they were.
 */

import { QuoinError, Reader, type Txid, Writer } from '@quoin/primitives'
import { sha256d } from './hash.ts'

export interface Input {
  readonly txid: Txid
  readonly vout: number
  readonly script: Uint8Array
  readonly sequence: number
}

export interface Output {
  readonly satoshis: number
  readonly script: Uint8Array
}

/** All the coins there will ever be; no output has more. */
export const MAX_SATOSHIS = 21e14

const CODE = 'ERR_TX_FORMAT'
const MAX_U32 = 0xffffffff
/** A txid, an output number, the length of an empty script and a sequence number. */
const LEAST_INPUT = 41
/** An amount and the length of an empty script. */
const LEAST_OUTPUT = 9

export class Transaction {
  readonly raw: Uint8Array
  readonly version: number
  readonly lockTime: number
  readonly inputCount: number
  readonly outputCount: number
  readonly #inputsAt: number
  readonly #outputsAt: number
  #inputs: readonly Input[] | undefined
  #outputs: readonly Output[] | undefined
  #txid: Txid | undefined

  /** Use `parseTransaction`, `readTransaction` or `writeTransaction`. */
  constructor(reader: Reader) {
    const start = reader.offset
    this.version = reader.u32()
    this.inputCount = reader.count(LEAST_INPUT, 'inputs')
    this.#inputsAt = reader.offset - start
    for (let i = 0; i < this.inputCount; i++) {
      reader.skip(36)
      reader.skip(reader.varint())
      reader.skip(4)
    }
    this.outputCount = reader.count(LEAST_OUTPUT, 'outputs')
    this.#outputsAt = reader.offset - start
    for (let i = 0; i < this.outputCount; i++) {
      if (reader.u53() > MAX_SATOSHIS) throw reader.error('more satoshis than there are', { output: i })
      reader.skip(reader.varint())
    }
    this.lockTime = reader.u32()
    this.raw = reader.since(start)
  }

  get inputs(): readonly Input[] {
    this.#inputs ??= this.#readInputs()
    return this.#inputs
  }

  get outputs(): readonly Output[] {
    this.#outputs ??= this.#readOutputs()
    return this.#outputs
  }

  get txid(): Txid {
    this.#txid ??= sha256d(this.raw) as Txid
    return this.#txid
  }

  /** One input, which spends nothing. */
  get isCoinbase(): boolean {
    if (this.inputCount !== 1) return false
    const { txid, vout } = this.inputs[0]!
    return vout === MAX_U32 && txid.every(byte => byte === 0)
  }

  /** The txids that the inputs spend from, for who follows the ancestry only; nothing is kept of them. */
  spentTxids(): Txid[] {
    const { raw } = this
    const txids: Txid[] = []
    let at = this.#inputsAt
    for (let i = 0; i < this.inputCount; i++) {
      txids.push(raw.subarray(at, at + 32) as Txid)
      at = sizedEnd(raw, at + 36) + 4
    }
    return txids
  }

  #readInputs(): Input[] {
    const reader = new Reader(this.raw, CODE, this.#inputsAt)
    const inputs: Input[] = []
    for (let i = 0; i < this.inputCount; i++) {
      const txid = reader.bytes(32) as Txid
      const vout = reader.u32()
      const script = reader.bytes(reader.varint())
      inputs.push({ txid, vout, script, sequence: reader.u32() })
    }
    return inputs
  }

  #readOutputs(): Output[] {
    const reader = new Reader(this.raw, CODE, this.#outputsAt)
    const outputs: Output[] = []
    for (let i = 0; i < this.outputCount; i++) {
      const satoshis = reader.u53()
      outputs.push({ satoshis, script: reader.bytes(reader.varint()) })
    }
    return outputs
  }
}

/** Where bytes end that come after their length, in a transaction that was walked before. */
const sizedEnd = (raw: Uint8Array, at: number): number => {
  const first = raw[at]!
  if (first < 0xfd) return at + 1 + first
  const reader = new Reader(raw, CODE, at)
  const length = reader.varint()
  return reader.offset + length
}

/** Reads one transaction; what is wrong with it is an error of the reader's code. */
export const readTransaction = (reader: Reader): Transaction => new Transaction(reader)

/**
 * The transaction that these bytes are, all of them. Do not change the bytes afterwards: it keeps views of them.
 *
 * @example
 * import { DevChain } from '@quoin/dev-chain'
 * const { raw } = new DevChain().fund('1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc', 1000)
 * parseTransaction(raw).outputs[0]!.satoshis // 1000
 * parseTransaction(raw.subarray(1)) // throws ERR_TX_FORMAT
 */
export const parseTransaction = (bytes: Uint8Array): Transaction => {
  const reader = new Reader(bytes, CODE)
  const transaction = new Transaction(reader)
  reader.end()
  return transaction
}

/** What a transaction is made of. */
export interface TransactionParts {
  readonly version: number
  readonly inputs: readonly Input[]
  readonly outputs: readonly Output[]
  readonly lockTime: number
}

/** Builds a transaction, in bytes of its own. */
export const writeTransaction = ({ version, inputs, outputs, lockTime }: TransactionParts): Transaction => {
  const writer = new Writer()
  writer.u32(whole('version', version))
  writer.varint(inputs.length)
  for (const { txid, vout, script, sequence } of inputs) {
    if (txid.length !== 32) throw new QuoinError(CODE, 'a txid has 32 bytes', { given: txid.length })
    writer.bytes(txid)
    writer.u32(whole('output number', vout))
    writer.sized(script)
    writer.u32(whole('sequence number', sequence))
  }
  writer.varint(outputs.length)
  for (const { satoshis, script } of outputs) {
    writer.u53(whole('number of satoshis', satoshis, MAX_SATOSHIS))
    writer.sized(script)
  }
  writer.u32(whole('lock time', lockTime))
  return parseTransaction(writer.finish())
}

const whole = (name: string, value: number, most = MAX_U32): number => {
  if (Number.isInteger(value) && value >= 0 && value <= most) return value
  throw new QuoinError(CODE, `not a ${name}: ${value}`, { given: value, most })
}
