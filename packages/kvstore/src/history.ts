/**
 * The history of an entry (BRC-35 §3.6): the tokens of its tuple that were spent into it, found by walking back over what
 * the topic kept, and proved by the transactions themselves (BRC-64).
 *
 * Clients with @bsv/sdk walk from a transaction to what it spends, and stop at proofs. So the transactions of a history
 * come without theirs, and what else they spend comes with it. How far back that goes is limited by what it costs such a
 * client: it follows every path, and where each update also spends the change of the one before, the paths double with
 * every step.
 */
import {
  type BeefTransaction,
  type Bump,
  bytesKey,
  type Transaction,
  type TransactionStore
} from '@quoin/chain'
import { type Outpoint, type Topic, type Txid, txidOf, voutOf } from '@quoin/keyspace'
import { type OutputStore, outputFields, outputs as outputKeys } from '@quoin/txo'
import { entryEventOf } from './keys.ts'

export const TOPIC = 'tm_kvstore' as Topic

const { output } = outputKeys.collections
const { events, inputs } = outputFields.collections

export interface HistoryLimits {
  /** Tokens before the live one. */
  readonly steps: number
  /** Transactions that a client with @bsv/sdk comes by on all its paths. */
  readonly visits: number
}

export interface History {
  /** The newest first. */
  readonly tokens: readonly Outpoint[]
  /** Where it goes on; there are several where a transaction spent several tokens. */
  readonly rest: readonly Outpoint[]
}

/** So many tokens of the tuple of `tip`: itself and those before it, or those before that others left as their rest. */
export const historyOf = async (
  outputs: OutputStore,
  tip: Outpoint,
  limit: number,
  from: readonly Outpoint[] = [tip]
): Promise<History> => {
  const tokens: Outpoint[] = []
  const seen = new Set(from.map(bytesKey))
  const entry = entryEventOf((await stateOf(outputs, tip)).get(events) ?? [])
  let waiting = await newestFirst(outputs, [], from)
  while (waiting.length > 0 && tokens.length < limit) {
    const [{ outpoint }, ...others] = waiting as [Waiting, ...Waiting[]]
    waiting = others
    const state = await stateOf(outputs, outpoint)
    const tuple = entryEventOf(state.get(events) ?? [])
    // What the topic kept may be of another entry that the same transaction updates.
    if (tuple === undefined || tuple !== entry) continue
    tokens.push(outpoint)
    const prior = (state.get(inputs, TOPIC) ?? []).filter(each => !seen.has(bytesKey(each)))
    for (const each of prior) seen.add(bytesKey(each))
    if (prior.length > 0) waiting = await newestFirst(outputs, waiting, prior)
  }
  return { tokens, rest: waiting.map(({ outpoint }) => outpoint) }
}

interface Waiting {
  readonly outpoint: Outpoint
  readonly score: number
}

/** More than one wait only where a transaction spends several tokens, of this tuple or of others. */
const newestFirst = async (
  outputs: OutputStore,
  waiting: readonly Waiting[],
  more: readonly Outpoint[]
): Promise<readonly Waiting[]> => {
  if (waiting.length + more.length === 1) return [{ outpoint: more[0]!, score: 0 }]
  const loaded = await outputs.loadOutputs(more)
  const scored = more.map((outpoint, i) => ({ outpoint, score: loaded[i]?.score ?? 0 }))
  return [...waiting, ...scored].sort((a, b) => b.score - a.score || Buffer.compare(b.outpoint, a.outpoint))
}

const stateOf = ({ store }: OutputStore, outpoint: Outpoint) =>
  store.use(output).at(txidOf(outpoint), voutOf(outpoint)).all()

/** What proves a token with its history, its own transaction first; undefined when there is no history to prove. */
export const proveHistory = async (
  outputs: OutputStore,
  tip: Outpoint,
  { steps, visits }: HistoryLimits
): Promise<readonly BeefTransaction[] | undefined> => {
  const { tokens } = await historyOf(outputs, tip, steps + 1)
  const txids = distinct(tokens.map(txidOf))
  // The oldest is where the walk ends, proof or not.
  const all = await outputs.transactions.getMany(txids.slice(0, -1))
  const opened = withinVisits(
    all.filter(each => each !== undefined),
    visits
  )
  return opened.length > 0 ? prove(outputs.transactions, opened) : undefined
}

const distinct = (txids: readonly Txid[]): Txid[] => [
  ...new Map(txids.map(txid => [bytesKey(txid), txid])).values()
]

/** Those of the transactions, newest first, on whose paths a client comes by no more than so many. */
const withinVisits = (transactions: readonly Transaction[], most: number): readonly Transaction[] => {
  const paths = new Map(transactions.map(({ txid }, i) => [bytesKey(txid), i === 0 ? 1 : 0]))
  let visits = 0
  for (const [i, { txid, inputs: spent }] of transactions.entries()) {
    const ways = paths.get(bytesKey(txid))!
    visits += ways * spent.length
    if (visits > most) return transactions.slice(0, i)
    for (const input of spent) {
      const before = paths.get(bytesKey(input.txid))
      if (before !== undefined) paths.set(bytesKey(input.txid), before + ways)
    }
  }
  return transactions
}

/** The transactions without their proofs, and all that they spend: with its proof, or with what proves it. */
const prove = async (
  transactions: TransactionStore,
  opened: readonly Transaction[]
): Promise<readonly BeefTransaction[]> => {
  const found = new Map<string, BeefTransaction>()
  for (const transaction of opened) {
    found.set(bytesKey(transaction.txid), { txid: transaction.txid, transaction, bump: undefined })
  }
  const spent = distinct(opened.flatMap(({ inputs: all }) => all.map(({ txid }) => txid))).filter(
    txid => !found.has(bytesKey(txid))
  )
  const [stored, bumps, heights] = await Promise.all([
    transactions.getMany(spent),
    transactions.proofs(spent),
    heightsOf(transactions, opened)
  ])
  const isWhole = stored.every(each => each !== undefined)
  const isMisled = bumps.some(bump => bump && shows(bump, heights))
  if (!isWhole || isMisled) return proveCarefully(transactions, opened, heights)
  for (const [i, txid] of spent.entries()) {
    if (bumps[i]) found.set(bytesKey(txid), { txid, transaction: stored[i], bump: bumps[i] })
  }
  for (const each of await transactions.ancestry(spent.filter((_, i) => !bumps[i]))) {
    if (!found.has(bytesKey(each.txid))) found.set(bytesKey(each.txid), each)
  }
  return [...found.values()]
}

/** Transactions that are opened, by the heights of their blocks. */
type Heights = ReadonlyMap<number, readonly Txid[]>

const heightsOf = async (
  transactions: TransactionStore,
  opened: readonly Transaction[]
): Promise<Heights> => {
  const proofs = await transactions.proofs(opened.map(({ txid }) => txid))
  const heights = new Map<number, Txid[]>()
  for (const [i, proof] of proofs.entries()) {
    if (proof) heights.set(proof.height, [...(heights.get(proof.height) ?? []), opened[i]!.txid])
  }
  return heights
}

/** Whether a proof shows an opened transaction as the neighbour of its own: a client would take it for one of that. */
const shows = (bump: Bump, heights: Heights): boolean =>
  heights.get(bump.height)?.some(txid => bump.offsetOf(txid) !== undefined) ?? false

/** Neighbours that are opened in turn. */
const NEIGHBOURS = 8

/** Opens what can be, and with it the transactions whose proofs would mislead, as far as what they spend is stored. */
const proveCarefully = async (
  transactions: TransactionStore,
  opened: readonly Transaction[],
  heights: Heights
): Promise<readonly BeefTransaction[]> => {
  const open = new Set(opened.map(({ txid }) => bytesKey(txid)))
  for (let tries = 0; ; tries++) {
    const found = await transactions.ancestry([opened[0]!.txid], txid => open.has(bytesKey(txid)))
    const misleading = found.filter(
      ({ txid, bump }) => bump && !open.has(bytesKey(txid)) && shows(bump, heights)
    )
    if (misleading.length === 0 || tries === NEIGHBOURS) return found
    for (const { txid } of misleading) open.add(bytesKey(txid))
  }
}
