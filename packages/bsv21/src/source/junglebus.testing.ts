/** Blocks of transactions as JungleBus has them, and its messages as it writes them. */
import { parseTransaction, sha256d, writeTransaction } from '@quoin/chain'
import { formatTxid, type Txid } from '@quoin/primitives'
import { FieldWriter } from './protobuf.ts'

export interface ServedTransaction {
  readonly txid: Txid
  readonly raw: Uint8Array
  readonly index: number
  readonly proof: Uint8Array
  /** Such as is not sent, and has to be fetched. */
  readonly isLarge?: boolean
}

export interface ServedBlock {
  readonly height: number
  readonly transactions: readonly ServedTransaction[]
}

/** A block of these and nothing else, at their places. */
export const blockOf = (height: number, raws: readonly Uint8Array[]): ServedBlock => {
  const txids = raws.map(raw => parseTransaction(raw).txid)
  return {
    height,
    transactions: raws.map((raw, index) => ({
      raw,
      index,
      txid: txids[index]!,
      proof: tscProof(txids, index)
    }))
  }
}

/** Some transaction, another for each number. */
export const someTransaction = (number: number, size = 25): Uint8Array => {
  const source = sha256d(Uint8Array.of(number, number >> 8, number >> 16)) as Txid
  return writeTransaction({
    version: 1,
    inputs: [{ txid: source, vout: 0, script: new Uint8Array(), sequence: 0xffffffff }],
    outputs: [{ satoshis: 1 + number, script: new Uint8Array(size).fill(number) }],
    lockTime: 0
  }).raw
}

/** The proof of one of the transactions of a block, in the form that JungleBus has it in. */
export const tscProof = (txids: readonly Txid[], index: number): Uint8Array => {
  const nodes: Uint8Array[] = []
  let level: readonly Uint8Array[] = txids
  for (let at = index; level.length > 1; at >>= 1) {
    const neighbour = level[at ^ 1]
    nodes.push(neighbour ? Uint8Array.of(0, ...neighbour) : Uint8Array.of(1))
    level = Array.from({ length: Math.ceil(level.length / 2) }, (_, i) => {
      const left = level[2 * i]!
      return sha256d(Uint8Array.of(...left, ...(level[2 * i + 1] ?? left)))
    })
  }
  return new Uint8Array(
    Buffer.concat([compactSize(index, [0]), txids[index]!, level[0]!, compactSize(nodes.length), ...nodes])
  )
}

const compactSize = (value: number, before: readonly number[] = []): Uint8Array =>
  Uint8Array.of(...before, ...(value < 0xfd ? [value] : [0xfd, value & 0xff, value >> 8]))

/** A message on the channel of a subscription; without a block it is one of the mempool. */
export const transactionMessage = (
  { txid, raw, index, proof, isLarge = false }: ServedTransaction,
  height: number | undefined
): Uint8Array => {
  const message = new FieldWriter().text(1, formatTxid(txid))
  if (height !== undefined) {
    message
      .text(2, '00'.repeat(32))
      .u64(3, height)
      .u64(4, index)
      .u64(5, 1_600_000_000 + height)
  }
  if (!isLarge) message.bytes(6, raw)
  if (height !== undefined) message.bytes(7, proof)
  return message.finish()
}

export const controlMessage = (code: number, message: string, block = 0, transactions = 0): Uint8Array =>
  new FieldWriter().u64(1, code).text(2, message).text(3, message).u64(4, block).u64(5, transactions).finish()
