/**
 * Rules for an unproven transaction besides its scripts. The SDK asks that outputs are worth no more than inputs; the
 * network also refuses, and so do we:
 *
 * - no inputs, no outputs, a coinbase outside of a block
 * - lengths not in their shortest form: third parties could change them, and with them the txid
 * - an output spent twice, by one transaction or by two of a bundle
 * - an output of a coinbase before the hundredth block after it
 *
 * Lock times are not checked, as in the SDK: finality is the miner's decision.
 */
import { formatTxid, QuoinError, sizedLength, varintLength } from '@quoin/primitives'
import { MAX_SATOSHIS, type Output, type Transaction } from '../transaction.ts'

/** A transaction whose outputs are spent. */
export interface Source {
  readonly transaction: Transaction
  readonly height: number | undefined
  /** Spenders in the bundle, by output index. */
  readonly spenders: Map<number, Transaction>
}

/** Blocks between a coinbase and its spender. */
const COINBASE_MATURITY = 100

export const invalid = (transaction: Transaction, reason: string, input?: number): QuoinError => {
  const txid = formatTxid(transaction.txid)
  const where = input === undefined ? '' : `, input ${input}`
  return new QuoinError('ERR_TX_INVALID', `transaction ${txid}${where}: ${reason}`, {
    txid,
    ...(input !== undefined && { input }),
    reason
  })
}

/** Throws unless an unmined transaction has the form of one that can be mined. */
export const checkForm = (transaction: Transaction): void => {
  if (transaction.inputCount === 0) throw invalid(transaction, 'it has no inputs')
  if (transaction.outputCount === 0) throw invalid(transaction, 'it has no outputs')
  if (transaction.isCoinbase) throw invalid(transaction, 'a coinbase needs a proof')
  if (transaction.raw.length !== shortestLength(transaction)) {
    throw invalid(transaction, 'a length is not in its shortest form')
  }
}

const shortestLength = ({ inputs, outputs }: Transaction): number => {
  let length = 8 + varintLength(inputs.length) + varintLength(outputs.length)
  for (const { script } of inputs) length += 40 + sizedLength(script)
  for (const { script } of outputs) length += 8 + sizedLength(script)
  return length
}

/**
 * Outputs that a transaction spends, one per input. Throws unless they exist, no other transaction of the bundle spends
 * them, and they are worth as much as its outputs.
 *
 * @param sources Where the inputs come from, one for each.
 * @param tip The height of the chain, by which a coinbase is mature.
 */
export const spendable = (transaction: Transaction, sources: readonly Source[], tip: number): Output[] => {
  const spent: Output[] = []
  for (const [i, { vout }] of transaction.inputs.entries()) {
    const source = sources[i]!
    const output = source.transaction.outputs[vout]
    if (!output) throw invalid(transaction, 'it spends an output that does not exist', i)
    const other = source.spenders.get(vout)
    if (other === transaction) throw invalid(transaction, 'it spends an output twice', i)
    if (other) throw invalid(transaction, `${formatTxid(other.txid)} spends the same output`, i)
    source.spenders.set(vout, transaction)
    if (source.transaction.isCoinbase && !isMature(source, tip)) {
      throw invalid(transaction, `a coinbase is spent ${COINBASE_MATURITY} blocks later at the earliest`, i)
    }
    spent.push(output)
  }
  if (sumOf(transaction, transaction.outputs) > sumOf(transaction, spent)) {
    throw invalid(transaction, 'the outputs are worth more than the inputs')
  }
  return spent
}

/** Whether the next block may spend the source's outputs. */
const isMature = ({ height }: Source, tip: number): boolean =>
  height !== undefined && tip + 1 - height >= COINBASE_MATURITY

/** Exact: the sum stops at the first output beyond `MAX_SATOSHIS`. */
const sumOf = (transaction: Transaction, outputs: readonly Output[]): number => {
  let sum = 0
  for (const { satoshis } of outputs) {
    sum += satoshis
    if (sum > MAX_SATOSHIS) throw invalid(transaction, 'more than 21e14 satoshis')
  }
  return sum
}
