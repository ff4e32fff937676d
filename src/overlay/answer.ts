/**
 * Lookup answers: the outputs that a lookup found, each with the transactions that prove it, and as much of its history
 * in the topic as was asked for (D5). Transactions of the history come without their proofs, so that a client that
 * stops at proofs walks through them.
 */
import { type BeefTransaction, writeBeef } from '../chain/index.ts'
import { formatTxid, type Outpoint, toHex, txidOf, voutOf } from '../keyspace/index.ts'
import type { OutputStore } from '../txo/index.ts'
import { consumedInputs } from './removal.ts'
import type { Found, History } from './types.ts'

export interface AnsweredOutput {
  readonly outpoint: Outpoint
  readonly context: Uint8Array | undefined
  /** What proves the output, its own transaction among it. */
  readonly transactions: readonly BeefTransaction[]
}

/** An output that is not stored, or that its history selector does not want, is left out. */
export const answer = async (outputs: OutputStore, found: Found): Promise<AnsweredOutput | undefined> => {
  const [known] = await outputs.loadOutputs([found.outpoint])
  if (!known) return undefined
  const { outpoint } = found
  const opened = found.history === undefined ? NOTHING : await walk(outputs, outpoint, found.history)
  if (!opened) return undefined
  const transactions = await outputs.transactions.ancestry([txidOf(outpoint)], txid =>
    opened.has(formatTxid(txid))
  )
  return { outpoint, context: found.context, transactions }
}

const NOTHING: ReadonlySet<string> = new Set()

/** As one BEEF, with the transaction of the output at the end. */
export const answerBeef = ({ outpoint, transactions }: AnsweredOutput): Uint8Array => {
  const subject = formatTxid(txidOf(outpoint))
  const last = transactions.filter(({ txid }) => formatTxid(txid) === subject)
  const others = transactions.filter(({ txid }) => formatTxid(txid) !== subject)
  return writeBeef({ version: 1, transactions: [...others, ...last] })
}

/** The transactions to open: those on the way to an output of the history. */
const walk = async (
  outputs: OutputStore,
  tip: Outpoint,
  history: History
): Promise<ReadonlySet<string> | undefined> => {
  const wanted = async (outpoint: Outpoint, depth: number): Promise<boolean> => {
    if (typeof history === 'number') return depth <= history
    const beef = await outputs.transactions.beef(txidOf(outpoint))
    return history([...beef], voutOf(outpoint), depth)
  }
  if (!(await wanted(tip, 0))) return undefined
  const opened = new Set<string>()
  const seen = new Set([toHex(tip)])
  let level = [tip]
  for (let depth = 1; level.length > 0; depth++) {
    const next: Outpoint[] = []
    for (const outpoint of level) {
      for (const input of await consumedInputs(outputs, [outpoint])) {
        if (!(await wanted(input, depth))) continue
        opened.add(formatTxid(txidOf(outpoint)))
        if (seen.has(toHex(input))) continue
        seen.add(toHex(input))
        next.push(input)
      }
    }
    level = next
  }
  return opened
}
