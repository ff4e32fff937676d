/**
 * The indexer flow (seed 001): the update of a transaction. Its outputs are parsed, and the outputs that it spends if
 * their transactions are available; an indexed output is not parsed again.
 */
import type { Transaction } from '@quoin/chain'
import { makeOutpoint, type Txid } from '@quoin/primitives'
import { outputEvents } from './events.ts'
import type { BlockPosition } from './position.ts'
import { type ParseResult, parseScript } from './scripts/index.ts'
import { type OutputUpdate, TxUpdate } from './tx-update.ts'

export interface IndexingOptions {
  /** Unix seconds of the first sighting. */
  readonly seen?: number | undefined
  readonly position?: BlockPosition | null | undefined
  /** Parsers to use, by tag; all unless given. */
  readonly tags?: readonly string[] | undefined
  /** Transactions whose outputs it spends. */
  readonly sources?: (txid: Txid) => Transaction | undefined
}

/** The update of a transaction, with all outputs and spends. */
export const indexTransaction = (transaction: Transaction, indexing: IndexingOptions = {}): TxUpdate => {
  const { seen, position, tags, sources } = indexing
  const change = new TxUpdate(transaction.txid, { seen, position, vouts: transaction.outputs.length })
  for (const vout of transaction.outputs.keys()) change.output(vout, indexOutput(transaction, vout, tags))
  if (transaction.isCoinbase) return change
  for (const { txid, vout } of transaction.inputs) {
    change.spend(makeOutpoint(txid, vout), () => {
      const source = sources?.(txid)
      return source && vout < source.outputs.length ? indexOutput(source, vout, tags).events : []
    })
  }
  return change
}

/** Satoshis, events and data of one output. */
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
