/**
 * Extended Format (BRC-30): a transaction whose inputs carry the satoshis and locking scripts of the spent outputs, so
 * that a transaction processor validates it without looking its parents up.
 */
import { QuoinError, Reader, type Txid, Writer } from '@quoin/primitives'
import {
  type Input,
  type Output,
  parseTransaction,
  type Transaction,
  writeTransaction
} from './transaction.ts'

/** Between the version and the inputs, where a raw transaction has the number of inputs. */
const MARKER = Uint8Array.of(0, 0, 0, 0, 0, 0xef)
const MARKER_AT = 4

/** Bytes in Extended Format; undefined when a spent transaction is unknown. */
export const writeExtended = (
  { raw, inputs, outputs, lockTime }: Transaction,
  sourceOf: (txid: Txid) => Transaction | undefined
): Uint8Array | undefined => {
  const writer = new Writer()
  writer.bytes(raw.subarray(0, MARKER_AT))
  writer.bytes(MARKER)
  writer.varint(inputs.length)
  for (const input of inputs) {
    const spent = sourceOf(input.txid)?.outputs[input.vout]
    if (!spent) return undefined
    writeInput(writer, input)
    writer.u53(spent.satoshis)
    writer.sized(spent.script)
  }
  writer.varint(outputs.length)
  for (const { satoshis, script } of outputs) {
    writer.u53(satoshis)
    writer.sized(script)
  }
  writer.u32(lockTime)
  return writer.finish()
}

export const isExtended = (bytes: Uint8Array): boolean =>
  MARKER.every((byte, i) => bytes[MARKER_AT + i] === byte)

/** The transaction of bytes in Extended Format or raw ones. The stated spent outputs are not evidence of anything. */
export const parseExtended = (bytes: Uint8Array): Transaction => {
  if (!isExtended(bytes)) return parseTransaction(bytes)
  const reader = new Reader(bytes, 'ERR_TX_FORMAT')
  const version = reader.u32()
  reader.skip(MARKER.length)
  const inputs: Input[] = []
  for (let left = reader.count(LEAST_INPUT, 'inputs'); left > 0; left--) {
    const [txid, vout] = [reader.bytes(32) as Txid, reader.u32()]
    const script = reader.bytes(reader.varint())
    inputs.push({ txid, vout, script, sequence: reader.u32() })
    reader.u53()
    reader.skip(reader.varint())
  }
  const outputs: Output[] = []
  for (let left = reader.count(LEAST_OUTPUT, 'outputs'); left > 0; left--) {
    const satoshis = reader.u53()
    outputs.push({ satoshis, script: reader.bytes(reader.varint()) })
  }
  const lockTime = reader.u32()
  reader.end()
  if (inputs.length === 0) throw new QuoinError('ERR_TX_FORMAT', 'a transaction without inputs')
  return writeTransaction({ version, inputs, outputs, lockTime })
}

/** Outpoint, script length, sequence, satoshis and the length of the spent script. */
const LEAST_INPUT = 50
const LEAST_OUTPUT = 9

const writeInput = (writer: Writer, { txid, vout, script, sequence }: Input): void => {
  writer.bytes(txid)
  writer.u32(vout)
  writer.sized(script)
  writer.u32(sequence)
}
