/**
 * What must hold for an unproven transaction beside its scripts. The SDK asks that the outputs are worth no more than
 * the inputs; the network refuses the rest too, and so does this:
 *
 * - no inputs, no outputs, a coinbase that no block has
 * - lengths that are not in their shortest form: they could be changed by anybody, and the txid with them
 * - an output spent twice, by one transaction or by two that are given together
 * - an output of a coinbase before the hundredth block after it
 *
 * Lock times are not looked at, as in the SDK: whether a transaction is final is for the one who mines it.
 */
import { formatTxid, QuoinError, sizedLength, varintLength } from '@quoin/primitives'
import { MAX_SATOSHIS, type Output, type Transaction } from '../transaction.ts'

/** A transaction that others spend. */
export interface Source {
  readonly transaction: Transaction
  readonly height: number | undefined
  /** Who of the bundle spends which output. */
  readonly spenders: Map<number, Transaction>
}

/** Blocks from that of a coinbase to that of its spender. */
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

/** Throws unless a transaction that is in no block has the form of one that could be. */
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
 * The outputs that a transaction spends, one for each input. Throws unless they exist, nobody else of those given
 * spends them, and they are worth as much as its own outputs.
 *
 * @param sources Where the inputs come from, one for each.
 * @param tip The height of the chain, by which a coinbase is mature.
 */
export const spendable = (transaction: Transaction, sources: readonly Source[], tip: number): Output[] => {
  const spent: Output[] = []
  for (const [i, { vout }] of transaction.inputs.entries()) {
    const source = sources[i]!
    const output = source.transaction.outputs[vout]
    if (!output) throw invalid(transaction, 'it spends an output that there is not', i)
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

/** Whether the next block may spend it. */
const isMature = ({ height }: Source, tip: number): boolean =>
  height !== undefined && tip + 1 - height >= COINBASE_MATURITY

/** Exact, since it never gets further than one output beyond what there is. */
const sumOf = (transaction: Transaction, outputs: readonly Output[]): number => {
  let sum = 0
  for (const { satoshis } of outputs) {
    sum += satoshis
    if (sum > MAX_SATOSHIS) throw invalid(transaction, 'more satoshis than there are')
  }
  return sum
}
