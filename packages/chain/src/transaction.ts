/**
 * Transactions on the wire. One pass checks the structure; inputs, outputs and txid are derived on first use, as views
 * of the bytes, which must not change.
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

/** Satoshis in existence; no output has more. */
export const MAX_SATOSHIS = 21e14

const CODE = 'ERR_TX_FORMAT'
const MAX_U32 = 0xffffffff
/** Bytes of the smallest input: a txid, an output index, an empty script and a sequence number. */
const LEAST_INPUT = 41
/** Bytes of the smallest output: an amount and an empty script. */
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
      if (reader.u53() > MAX_SATOSHIS) throw reader.error('more than 21e14 satoshis', { output: i })
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

  /** Whether its only input spends no output. */
  get isCoinbase(): boolean {
    if (this.inputCount !== 1) return false
    const { txid, vout } = this.inputs[0]!
    return vout === MAX_U32 && txid.every(byte => byte === 0)
  }

  /** Txids of the spent outputs, without the inputs: for walks of the ancestry. */
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

/** End offset of a length-prefixed field, in checked bytes. */
const sizedEnd = (raw: Uint8Array, at: number): number => {
  const first = raw[at]!
  if (first < 0xfd) return at + 1 + first
  const reader = new Reader(raw, CODE, at)
  const length = reader.varint()
  return reader.offset + length
}

/** Reads one transaction; errors have the reader's code. */
export const readTransaction = (reader: Reader): Transaction => new Transaction(reader)

/**
 * Parses a transaction from exactly these bytes. Do not change them afterwards: it keeps views.
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

/** Fields of a transaction. */
export interface TransactionParts {
  readonly version: number
  readonly inputs: readonly Input[]
  readonly outputs: readonly Output[]
  readonly lockTime: number
}

/** Builds a transaction, in its own bytes. */
export const writeTransaction = ({ version, inputs, outputs, lockTime }: TransactionParts): Transaction => {
  const writer = new Writer()
  writer.u32(whole('version', version))
  writer.varint(inputs.length)
  for (const { txid, vout, script, sequence } of inputs) {
    if (txid.length !== 32)
      throw new QuoinError(CODE, 'invalid length of a txid: expected 32 bytes', { given: txid.length })
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
  throw new QuoinError(CODE, `invalid ${name}: ${value}; expected a whole number up to ${most}`, {
    given: value,
    most
  })
}
