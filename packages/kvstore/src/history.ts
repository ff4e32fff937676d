/**
 * The history of an entry (BRC-35 §3.6): the spent tokens of its tuple that led to the live one. They are found by walking
 * back over the inputs that the topic retained, and proved by the transactions themselves (BRC-64).
 *
 * A client with @bsv/sdk walks from a transaction to its inputs and stops at merkle proofs. Transactions of a history are
 * therefore sent without their proofs, and their other inputs are sent with proofs. `HistoryLimits.visits` bounds the work
 * of the client: it follows every path, and the paths double with every update that also spends the change of the update
 * before it.
 */
import type { BeefTransaction, Bump, Transaction, TransactionStore } from '@quoin/chain'
import { bytesKey, type Outpoint, type Topic, type Txid, txidOf, voutOf } from '@quoin/primitives'
import { type OutputStore, outputFields, outputs as outputKeys } from '@quoin/txo'
import { entryEventOf } from './keys.ts'

export const TOPIC = 'tm_kvstore' as Topic

const { output } = outputKeys.collections
const { events, inputs } = outputFields.collections

export interface HistoryLimits {
  /** Tokens before the live one. */
  readonly steps: number
  /** Transactions that a client with @bsv/sdk visits, counted once per path. */
  readonly visits: number
}

export interface History {
  /** The newest first. */
  readonly tokens: readonly Outpoint[]
  /** Tokens to continue from; several when a transaction spent several tokens. */
  readonly rest: readonly Outpoint[]
}

/** Up to `limit` tokens of the tuple of `tip`, from `tip` backwards or from the `rest` of an earlier call. */
export const historyOf = async (
  outputs: OutputStore,
  tip: Outpoint,
  limit: number,
  from: readonly Outpoint[] = [tip]
): Promise<History> => {
  const tokens: Outpoint[] = []
  const seen = new Set(from.map(bytesKey))
  const entry = entryEventOf((await stateOf(outputs, tip)).get(events) ?? [])
  let queue = await newestFirst(outputs, [], from)
  while (queue.length > 0 && tokens.length < limit) {
    const [{ outpoint }, ...others] = queue as [ScoredOutpoint, ...ScoredOutpoint[]]
    queue = others
    const state = await stateOf(outputs, outpoint)
    const tuple = entryEventOf(state.get(events) ?? [])
    // A retained input may belong to another entry that the same transaction updates.
    if (tuple === undefined || tuple !== entry) continue
    tokens.push(outpoint)
    const prior = (state.get(inputs, TOPIC) ?? []).filter(each => !seen.has(bytesKey(each)))
    for (const each of prior) seen.add(bytesKey(each))
    if (prior.length > 0) queue = await newestFirst(outputs, queue, prior)
  }
  return { tokens, rest: queue.map(({ outpoint }) => outpoint) }
}

interface ScoredOutpoint {
  readonly outpoint: Outpoint
  readonly score: number
}

/** The queue with `more` in it. It holds several outpoints only where a transaction spends several tokens. */
const newestFirst = async (
  outputs: OutputStore,
  queue: readonly ScoredOutpoint[],
  more: readonly Outpoint[]
): Promise<readonly ScoredOutpoint[]> => {
  if (queue.length + more.length === 1) return [{ outpoint: more[0]!, score: 0 }]
  const loaded = await outputs.loadOutputs(more)
  const scored = more.map((outpoint, i) => ({ outpoint, score: loaded[i]?.score ?? 0 }))
  return [...queue, ...scored].sort((a, b) => b.score - a.score || Buffer.compare(b.outpoint, a.outpoint))
}

const stateOf = ({ store }: OutputStore, outpoint: Outpoint) =>
  store.use(output).at(txidOf(outpoint), voutOf(outpoint)).all()

/** The transactions that prove a token with its history, its own first; undefined when it has no history. */
export const proveHistory = async (
  outputs: OutputStore,
  tip: Outpoint,
  { steps, visits }: HistoryLimits
): Promise<readonly BeefTransaction[] | undefined> => {
  const { tokens } = await historyOf(outputs, tip, steps + 1)
  const txids = distinct(tokens.map(txidOf))
  // The walk ends at the oldest transaction, which keeps its proof.
  const all = await outputs.transactions.getMany(txids.slice(0, -1))
  const unproved = withinVisits(
    all.filter(each => each !== undefined),
    visits
  )
  return unproved.length > 0 ? prove(outputs.transactions, unproved) : undefined
}

const distinct = (txids: readonly Txid[]): Txid[] => [
  ...new Map(txids.map(txid => [bytesKey(txid), txid])).values()
]

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
  const [stored, bumps, heights] = await Promise.all([
    transactions.getMany(spent),
    transactions.proofs(spent),
    heightsOf(transactions, unproved)
  ])
  const isComplete = stored.every(each => each !== undefined)
  const hasMisleadingProof = bumps.some(bump => bump && provesAny(bump, heights))
  if (!isComplete || hasMisleadingProof) return proveWithNeighbours(transactions, unproved, heights)
  for (const [i, txid] of spent.entries()) {
    if (bumps[i]) found.set(bytesKey(txid), { txid, transaction: stored[i], bump: bumps[i] })
  }
  for (const each of await transactions.ancestry(spent.filter((_, i) => !bumps[i]))) {
    if (!found.has(bytesKey(each.txid))) found.set(bytesKey(each.txid), each)
  }
  return [...found.values()]
}

/** Transactions that are sent without their proofs, by block height. */
type Heights = ReadonlyMap<number, readonly Txid[]>

const heightsOf = async (
  transactions: TransactionStore,
  unproved: readonly Transaction[]
): Promise<Heights> => {
  const proofs = await transactions.proofs(unproved.map(({ txid }) => txid))
  const heights = new Map<number, Txid[]>()
  for (const [i, proof] of proofs.entries()) {
    if (proof) heights.set(proof.height, [...(heights.get(proof.height) ?? []), unproved[i]!.txid])
  }
  return heights
}

/**
 * Whether a BUMP has the txid of an unproved transaction among its leaves, as a sibling: a client would read it as the
 * proof of that transaction and end its walk there.
 */
const provesAny = (bump: Bump, heights: Heights): boolean =>
  heights.get(bump.height)?.some(txid => bump.offsetOf(txid) !== undefined) ?? false

/** Rounds in which transactions with misleading proofs are sent without them. */
const MAX_ROUNDS = 8

/** Also omits the misleading proofs of neighbours, as far as the inputs of those transactions are stored. */
const proveWithNeighbours = async (
  transactions: TransactionStore,
  unproved: readonly Transaction[],
  heights: Heights
): Promise<readonly BeefTransaction[]> => {
  const withoutProof = new Set(unproved.map(({ txid }) => bytesKey(txid)))
  for (let round = 0; ; round++) {
    const found = await transactions.ancestry([unproved[0]!.txid], txid => withoutProof.has(bytesKey(txid)))
    const misleading = found.filter(
      ({ txid, bump }) => bump && !withoutProof.has(bytesKey(txid)) && provesAny(bump, heights)
    )
    if (misleading.length === 0 || round === MAX_ROUNDS) return found
    for (const { txid } of misleading) withoutProof.add(bytesKey(txid))
  }
}
