/**
 * The history of an entry (BRC-35 §3.6): the tokens of its tuple that were spent into it, found by walking back over what
 * the topic kept, and proved by the transactions themselves (BRC-64).
 *
 * Clients with @bsv/sdk walk from a transaction to what it spends, and stop at proofs. So the transactions of a history
 * come without theirs, and what else they spend comes with it. How far back that goes is limited by what it costs such a
 * client: it follows every path, and where each update also spends the change of the one before, the paths double with
 * every step.
 */
import { type BeefTransaction, bytesKey } from '../chain/index.ts'
import { type Outpoint, type Topic, type Txid, txidOf, voutOf } from '../keyspace/index.ts'
import { type OutputStore, outputFields, outputs as outputKeys } from '../txo/index.ts'
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
  const opened = await withinVisits(outputs, txids.slice(0, -1), visits)
  return opened.length > 0 ? openedAncestry(outputs, txidOf(tip), opened) : undefined
}

const distinct = (txids: readonly Txid[]): Txid[] => [
  ...new Map(txids.map(txid => [bytesKey(txid), txid])).values()
]

/** Those of the transactions, newest first, on whose paths a client comes by no more than so many. */
const withinVisits = async (outputs: OutputStore, txids: readonly Txid[], most: number): Promise<Txid[]> => {
  const transactions = await outputs.transactions.getMany(txids)
  const paths = new Map(txids.map((txid, i) => [bytesKey(txid), i === 0 ? 1 : 0]))
  let visits = 0
  for (const [i, txid] of txids.entries()) {
    const ways = paths.get(bytesKey(txid))!
    const spent = transactions[i]?.inputs ?? []
    visits += ways * spent.length
    if (visits > most) return txids.slice(0, i)
    for (const input of spent) {
      const before = paths.get(bytesKey(input.txid))
      if (before !== undefined) paths.set(bytesKey(input.txid), before + ways)
    }
  }
  return [...txids]
}

/** A proof that shows an opened transaction as its neighbour would be taken for one of it: then that is opened too. */
const NEIGHBOURS = 8

const openedAncestry = async (
  { transactions }: OutputStore,
  tip: Txid,
  opened: readonly Txid[]
): Promise<readonly BeefTransaction[]> => {
  const open = new Set(opened.map(bytesKey))
  const byHeight = new Map<number, Txid[]>()
  const proofs = await Promise.all(opened.map(txid => transactions.proof(txid)))
  for (const [i, proof] of proofs.entries()) {
    if (proof) byHeight.set(proof.height, [...(byHeight.get(proof.height) ?? []), opened[i]!])
  }
  for (let tries = 0; ; tries++) {
    const found = await transactions.ancestry([tip], txid => open.has(bytesKey(txid)))
    const misleading = found.filter(
      ({ txid, bump }) =>
        bump &&
        !open.has(bytesKey(txid)) &&
        byHeight.get(bump.height)?.some(each => bump.offsetOf(each) !== undefined)
    )
    if (misleading.length === 0 || tries === NEIGHBOURS) return found
    for (const { txid } of misleading) open.add(bytesKey(txid))
  }
}
