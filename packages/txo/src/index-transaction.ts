/**
 * The update of a transaction with all its outputs and spends (seed 001). Parsers turn each output into events and data,
 * and so each known output that the transaction spends, unless that is indexed already.
 */
import type { Transaction } from '@quoin/chain'
import { makeOutpoint, type Txid } from '@quoin/primitives'
import { outputEvents } from './events.ts'
import type { BlockPosition } from './position.ts'
import { type ParseResult, parseScript } from './scripts/index.ts'
import { type OutputUpdate, TxUpdate } from './tx-update.ts'

export interface IndexingOptions {
  /** When the transaction was first seen, in unix seconds. */
  readonly seen?: number | undefined
  readonly position?: BlockPosition | null | undefined
  /** Parsers by tag; all unless given. */
  readonly tags?: readonly string[] | undefined
  /** The transactions whose outputs it spends. */
  readonly sources?: (txid: Txid) => Transaction | undefined
}

export const indexTransaction = (transaction: Transaction, indexing: IndexingOptions = {}): TxUpdate => {
  const { seen, position, tags, sources } = indexing
  const update = new TxUpdate(transaction.txid, { seen, position, vouts: transaction.outputs.length })
  for (const vout of transaction.outputs.keys()) update.output(vout, indexOutput(transaction, vout, tags))
  if (transaction.isCoinbase) return update
  for (const { txid, vout } of transaction.inputs) {
    update.spend(makeOutpoint(txid, vout), () => {
      const source = sources?.(txid)
      return source && vout < source.outputs.length ? indexOutput(source, vout, tags).events : []
    })
  }
  return update
}

/** The satoshis, events and data of one output. */
export const indexOutput = (
  transaction: Transaction,
  vout: number,
  tags?: readonly string[]
): Required<OutputUpdate> => {
  const { script, satoshis } = transaction.outputs[vout]!
  const outpoint = makeOutpoint(transaction.txid, vout)
  const parsed = parseScript({ outpoint, script, satoshis, transaction }, tags)
  return { satoshis, events: eventsOf(transaction.txid, parsed), data: dataOf(parsed) }
}

const eventsOf = (txid: Txid, parsed: readonly ParseResult[]): string[] => {
  const { own, txid: ofTransaction } = outputEvents.types
  const owners = new Set(parsed.flatMap(each => each.owners))
  return [
    ofTransaction.text(txid),
    ...parsed.flatMap(each => each.events),
    ...[...owners].map(owner => own.text(owner))
  ]
}

const dataOf = (parsed: readonly ParseResult[]): Record<string, unknown> =>
  Object.fromEntries(parsed.flatMap(({ tag, data }) => (data === undefined ? [] : [[tag, data]])))
