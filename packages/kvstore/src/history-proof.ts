/**
 * The transactions that prove an entry with its history (BRC-35 §3.6, BRC-64).
 *
 * A client with @bsv/sdk walks from a transaction to its inputs and stops at merkle proofs. Transactions of a history are
 * therefore sent without their proofs, and their other inputs are sent with proofs. `HistoryLimits.visits` bounds the work
 * of the client: it follows every path, and the paths double with every update that also spends the change of the update
 * before it.
 */
import type { BeefTransaction, Transaction, TransactionStore } from '@quoin/chain'
import { bytesKey, type Outpoint, type Txid, txidOf } from '@quoin/primitives'
import type { OutputStore } from '@quoin/txo'
import { historyOf } from './history.ts'

export interface HistoryLimits {
  /** Tokens before the live one. */
  readonly steps: number
  /** Transactions that a client with @bsv/sdk visits, counted once per path. */
  readonly visits: number
  /** Bytes of the transactions and proofs. */
  readonly bytes: number
}

export interface HistoryProof {
  /** The transaction of the entry first; undefined when no earlier token is shown. */
  readonly transactions?: readonly BeefTransaction[]
  /** Tokens that the transactions show, with the live one. */
  readonly shown: number
  /** Tokens to continue from; empty when the history is whole. */
  readonly rest: readonly Outpoint[]
}

export const proveHistory = async (
  outputs: OutputStore,
  tip: Outpoint,
  { steps, visits, bytes }: HistoryLimits
): Promise<HistoryProof> => {
  const { tokens, rest } = await historyOf(outputs, tip, steps + 1)
  const txids = distinct(tokens.map(txidOf))
  // The walk ends at the oldest transaction, which keeps its proof.
  const stored = await outputs.transactions.getMany(txids.slice(0, -1))
  const missing = stored.indexOf(undefined)
  const known = stored.slice(0, missing < 0 ? undefined : missing) as Transaction[]
  const transactions = await proveWithin(outputs.transactions, withinVisits(known, visits), bytes)
  const walked = new Set(walkedIn(transactions, txids).map(bytesKey))
  const shown = tokens.filter(token => walked.has(bytesKey(txidOf(token)))).length
  const isWhole = shown === tokens.length && rest.length === 0
  return {
    ...(transactions.length > 0 && { transactions }),
    shown,
    rest: isWhole ? [] : shown === tokens.length ? rest : (await historyOf(outputs, tip, shown)).rest
  }
}

/** The transactions of a history that a client walks: up to the first with a proof. */
const walkedIn = (sent: readonly BeefTransaction[], txids: readonly Txid[]): readonly Txid[] => {
  const open = new Set(sent.filter(({ bump }) => !bump).map(({ txid }) => bytesKey(txid)))
  const last = txids.findIndex(txid => !open.has(bytesKey(txid)))
  return txids.slice(0, last < 0 ? undefined : last + 1)
}

const distinct = (txids: readonly Txid[]): Txid[] => [
  ...new Map(txids.map(txid => [bytesKey(txid), txid])).values()
]

/**
 * The proof of the longest prefix of the transactions, newest first, that has at most `limit` bytes. The newest that are
 * not mined belong to every proof of the entry, whatever their size.
 */
const proveWithin = async (
  transactions: TransactionStore,
  unproved: readonly Transaction[],
  limit: number
): Promise<readonly BeefTransaction[]> => {
  let least: number | undefined
  for (let kept = unproved; kept.length > 0; ) {
    const proof = await prove(transactions, kept)
    const bytes = sizeOf(proof)
    if (bytes <= limit || kept.length === least) return proof
    least ??= await countUnmined(transactions, unproved)
    const count = Math.min(kept.length - 1, Math.floor((kept.length * limit) / bytes))
    kept = kept.slice(0, Math.max(count, least))
  }
  return []
}

/** Number of leading transactions without a proof. */
const countUnmined = async (transactions: TransactionStore, all: readonly Transaction[]): Promise<number> => {
  const proofs = await transactions.proofs(all.map(({ txid }) => txid))
  const mined = proofs.findIndex(proof => proof !== undefined)
  return mined < 0 ? all.length : mined
}

const sizeOf = (proof: readonly BeefTransaction[]): number =>
  proof.reduce(
    (size, { transaction, bump }) =>
      size + (transaction?.raw.length ?? 0) + (bump ? bump.toBytes().length : 0),
    0
  )

/** The longest prefix of the transactions, newest first, that a client walks with at most `limit` visits. */
const withinVisits = (transactions: readonly Transaction[], limit: number): readonly Transaction[] => {
  const paths = new Map(transactions.map(({ txid }, i) => [bytesKey(txid), i === 0 ? 1 : 0]))
  let visits = 0
  for (const [i, { txid, inputs: spent }] of transactions.entries()) {
    const ways = paths.get(bytesKey(txid))!
    visits += ways * spent.length
    if (visits > limit) return transactions.slice(0, i)
    for (const input of spent) {
      const before = paths.get(bytesKey(input.txid))
      if (before !== undefined) paths.set(bytesKey(input.txid), before + ways)
    }
  }
  return transactions
}

/** The transactions without their proofs, and every transaction they spend with its proof or its ancestry. */
const prove = async (
  transactions: TransactionStore,
  unproved: readonly Transaction[]
): Promise<readonly BeefTransaction[]> => {
  const found = new Map<string, BeefTransaction>()
  for (const transaction of unproved) {
    found.set(bytesKey(transaction.txid), { txid: transaction.txid, transaction, bump: undefined })
  }
  const spent = distinct(unproved.flatMap(({ inputs: all }) => all.map(({ txid }) => txid))).filter(
    txid => !found.has(bytesKey(txid))
  )
  const open: ReadonlySet<string> = new Set(found.keys())
  const [stored, bumps] = await Promise.all([transactions.getMany(spent), transactions.proofs(spent)])
  if (stored.includes(undefined)) return proveWithNeighbours(transactions, unproved, open)
  for (const [i, txid] of spent.entries()) {
    if (bumps[i]) found.set(bytesKey(txid), { txid, transaction: stored[i], bump: bumps[i] })
  }
  for (const each of await transactions.ancestry(spent.filter((_, i) => !bumps[i]))) {
    if (!found.has(bytesKey(each.txid))) found.set(bytesKey(each.txid), each)
  }
  const proof = [...found.values()]
  return proof.some(each => isMisleading(each, open))
    ? proveWithNeighbours(transactions, unproved, open)
    : proof
}

/**
 * Whether a BUMP has the txid of a transaction that is sent without its proof among its leaves, as a sibling: a client would
 * read it as the proof of that transaction and end its walk there. The node itself may not have that proof yet.
 */
const isMisleading = ({ bump }: BeefTransaction, open: ReadonlySet<string>): boolean =>
  bump?.leaves.some(txid => open.has(bytesKey(txid))) ?? false

/** Rounds in which transactions with misleading proofs are sent without them. */
const MAX_ROUNDS = 8

/** Also omits the misleading proofs of neighbours, as far as the inputs of those transactions are stored. */
const proveWithNeighbours = async (
  transactions: TransactionStore,
  unproved: readonly Transaction[],
  open: ReadonlySet<string>
): Promise<readonly BeefTransaction[]> => {
  const withoutProof = new Set(open)
  for (let round = 0; ; round++) {
    const found = await transactions.ancestry([unproved[0]!.txid], txid => withoutProof.has(bytesKey(txid)))
    const misleading = found.filter(
      each => !withoutProof.has(bytesKey(each.txid)) && isMisleading(each, open)
    )
    if (misleading.length === 0 || round === MAX_ROUNDS) return found
    for (const { txid } of misleading) withoutProof.add(bytesKey(txid))
  }
}
