/**
 * Lookup answers: each output with its ancestry, and with its history in the topic to the requested depth (D5).
 * Transactions of the history come without their proofs, so that a client that stops at proofs walks through them.
 */
import { type BeefTransaction, writeBeef } from '@quoin/chain'
import { bytesKey, type Outpoint, type Txid, toHex, txidOf, voutOf } from '@quoin/primitives'
import type { OutputStore } from '@quoin/txo'
import { boundBeef } from './hosting/index.ts'
import { consumedInputs } from './topic-history.ts'
import type { History, LookupResult } from './types.ts'

export interface AnsweredOutput {
  readonly outpoint: Outpoint
  readonly context: Uint8Array | undefined
  /** The ancestry of the output: its own transaction first. */
  readonly transactions: readonly BeefTransaction[]
}

/** Leaves out outputs that are not stored, or that their history selector rejects. */
export const answerAll = async (
  outputs: OutputStore,
  found: readonly LookupResult[]
): Promise<AnsweredOutput[]> => {
  const known = await outputs.areKnown(found.map(({ outpoint }) => outpoint))
  const stored = found.filter((_, i) => known[i])
  const plain = stored.filter(({ history, transactions }) => history === undefined && !transactions)
  const proved = await provedAll(outputs, plain)
  if (plain.length === stored.length) return proved
  let next = 0
  const answered = await Promise.all(
    stored.map(each => {
      const { outpoint, context, transactions, history } = each
      if (transactions) return { outpoint, context, transactions }
      return history === undefined ? proved[next++]! : withHistory(outputs, each, history)
    })
  )
  return answered.filter(each => each !== undefined)
}

const withHistory = async (
  outputs: OutputStore,
  { outpoint, context }: LookupResult,
  history: History
): Promise<AnsweredOutput | undefined> => {
  const opened = await walk(outputs, outpoint, history)
  if (!opened) return undefined
  const transactions = await outputs.transactions.ancestry([txidOf(outpoint)], txid =>
    opened.has(bytesKey(txid))
  )
  return { outpoint, context, transactions }
}

/** Outputs whose ancestries are read together. */
const BATCH_SIZE = 256

/** Outputs without history: their ancestries are read together, each transaction once. */
const provedAll = async (outputs: OutputStore, found: readonly LookupResult[]): Promise<AnsweredOutput[]> => {
  const answered: AnsweredOutput[] = []
  for (let first = 0; first < found.length; first += BATCH_SIZE) {
    const some = found.slice(first, first + BATCH_SIZE)
    const txids = new Map<string, Txid>()
    const names = some.map(({ outpoint }) => {
      const txid = txidOf(outpoint)
      const name = bytesKey(txid)
      txids.set(name, txid)
      return name
    })
    const all = await outputs.transactions.ancestryByName([...txids.values()])
    for (const [i, { outpoint, context }] of some.entries()) {
      answered.push({ outpoint, context, transactions: provedBy(all, names[i]!) })
    }
  }
  return answered
}

/** A transaction and its ancestors, back to proved ones. */
const provedBy = (all: ReadonlyMap<string, BeefTransaction>, name: string): BeefTransaction[] => {
  const needed = new Set([all.get(name)!])
  // The iteration includes transactions that it adds.
  for (const { transaction, bump } of needed) {
    if (!bump) for (const txid of transaction!.spentTxids()) needed.add(all.get(bytesKey(txid))!)
  }
  return [...needed]
}

/** Writes an answer as a BEEF, with the transaction of the output last. */
export const answerBeef = ({ transactions }: AnsweredOutput): Uint8Array =>
  writeBeef({ version: 1, transactions: transactions.toReversed() })

/** The transactions to open: spenders of outputs of the history. */
const walk = async (
  outputs: OutputStore,
  tip: Outpoint,
  history: History
): Promise<ReadonlySet<string> | undefined> => {
  const wanted = async (outpoint: Outpoint, depth: number): Promise<boolean> => {
    if (typeof history === 'number') return depth <= history
    const beef = boundBeef(await outputs.transactions.beef(txidOf(outpoint)), 0)
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
        opened.add(bytesKey(txidOf(outpoint)))
        if (seen.has(toHex(input))) continue
        seen.add(toHex(input))
        next.push(input)
      }
    }
    level = next
  }
  return opened
}
