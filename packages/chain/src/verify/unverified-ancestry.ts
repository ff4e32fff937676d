/**
 * The way back from a transaction to what needs no more proof: transactions that were verified before, and those that
 * come with a merkle path. Every transaction is visited once, whatever the number of ways to it.
 */
import { bytesKey, formatTxid, QuoinError, type Txid } from '@quoin/primitives'
import type { BeefTransaction } from '../beef.ts'
import type { Bump } from '../merkle/bump.ts'
import type { Transaction } from '../transaction.ts'
import { checkForm, type Source } from './rules.ts'

/** A transaction and what comes with it; a `Beef` is one. */
export interface Bundle {
  readonly subject: Txid
  /** Parents before children. */
  readonly transactions: readonly BeefTransaction[]
  readonly bumps: readonly Bump[]
  find(txid: Txid): BeefTransaction | undefined
}

/** A transaction that was verified before. */
export interface KnownTransaction {
  readonly transaction: Transaction
  /** Of the block that it is proved to be in; undefined when there is no proof of that yet. */
  readonly height?: number | undefined
}

/** Says which of these were verified before: an answer for each, undefined for those that were not. */
export type KnownLookup = (txids: readonly Txid[]) => Promise<readonly (KnownTransaction | undefined)[]>

export interface Proof {
  readonly txid: Txid
  readonly bump: Bump
}

export interface Ancestry {
  /** All that were not verified before, parents first. */
  readonly transactions: readonly Transaction[]
  /** Those among them whose inputs have to be judged. */
  readonly unproven: readonly Transaction[]
  /** The merkle paths to check: of new transactions, and those that a known one had not, or had for another block. */
  readonly proofs: readonly Proof[]
  /** The source of an input of an unproven transaction. */
  sourceOf(txid: Txid): Source
}

interface WantedTransaction {
  readonly txid: Txid
  readonly spender?: Transaction
}

/**
 * Refuses what is not there with `ERR_TX_UNKNOWN`, what has not the form of a transaction with `ERR_TX_INVALID`, and
 * more inputs to judge than the limit with `ERR_BEEF_LIMIT`.
 */
export const collectAncestry = async (
  bundle: Bundle,
  known: KnownLookup | undefined,
  maxInputs: number
): Promise<Ancestry> => {
  const sources = new Map<string, Source | undefined>()
  const visited = new Map<BeefTransaction, 'proven' | 'unproven'>()
  const proofs: Proof[] = []
  const bumpOf = bumpFinder(bundle)
  let inputs = 0
  const answers = new Map<string, KnownTransaction | undefined>()
  let wanted: WantedTransaction[] = [{ txid: bundle.subject }]
  while (wanted.length > 0) {
    const more = visited.size > 1 ? LOOK_AHEAD * visited.size : 0
    const asked = known ? unanswered(bundle, wanted, answers, more) : []
    if (known && asked.length > 0) {
      const found = await known(asked)
      for (const [i, txid] of asked.entries()) answers.set(bytesKey(txid), found[i])
    }
    const parents: WantedTransaction[] = []
    for (const { txid, spender } of wanted) {
      const entry = bundle.find(txid)
      const answer = answers.get(bytesKey(txid))
      const transaction = answer?.transaction ?? entry?.transaction
      if (!transaction) throw unknown(txid, spender)
      const bump = entry && bumpOf(entry)
      const height = bump?.height ?? answer?.height
      sources.set(bytesKey(txid), { transaction, height, spenders: new Map() })
      if (bump && bump.height !== answer?.height) proofs.push({ txid, bump })
      if (answer) continue
      visited.set(entry!, bump ? 'proven' : 'unproven')
      if (bump) continue
      checkForm(transaction)
      inputs += transaction.inputCount
      if (inputs > maxInputs)
        throw new QuoinError('ERR_BEEF_LIMIT', `more than ${maxInputs} inputs to verify`)
      for (const input of transaction.inputs) {
        const key = bytesKey(input.txid)
        if (sources.has(key)) continue
        // Requested; the next round has the answer.
        sources.set(key, undefined)
        parents.push({ txid: input.txid, spender: transaction })
      }
    }
    wanted = parents
  }
  const entries = bundle.transactions.filter(entry => visited.has(entry))
  return {
    transactions: entries.map(({ transaction }) => transaction!),
    unproven: entries
      .filter(entry => visited.get(entry) === 'unproven')
      .map(({ transaction }) => transaction!),
    proofs,
    sourceOf: txid => sources.get(bytesKey(txid))!
  }
}

/**
 * Ancestors to ask for beside the wanted transactions, for each transaction that was visited. A chain of n unknown ones
 * takes log n questions. In the common case the parents of the subject are known, and nothing beyond is asked for.
 */
const LOOK_AHEAD = 4

/** The wanted transactions without an answer, and up to `more` of their ancestors in the bundle, breadth first. */
const unanswered = (
  bundle: Bundle,
  wanted: readonly WantedTransaction[],
  answers: ReadonlyMap<string, unknown>,
  more: number
): Txid[] => {
  const asked = new Map<string, Txid>()
  for (const { txid } of wanted) if (!answers.has(bytesKey(txid))) asked.set(bytesKey(txid), txid)
  const limit = asked.size > 0 ? asked.size + more : 0
  for (const txid of asked.values()) {
    const entry = asked.size < limit ? bundle.find(txid) : undefined
    if (!entry?.transaction || entry.bump) continue
    for (const parent of entry.transaction.spentTxids()) {
      const key = bytesKey(parent)
      if (asked.size < limit && !answers.has(key) && !asked.has(key)) asked.set(key, parent)
    }
  }
  return [...asked.values()]
}

/**
 * The merkle path of an entry: the one that it names, or one that is there for its txid although it names none. All
 * are put into one table, since the number of entries times that of paths is for a stranger to choose.
 */
const bumpFinder = ({ bumps }: Bundle): ((entry: BeefTransaction) => Bump | undefined) => {
  let table: Map<string, Bump> | undefined
  const make = (): Map<string, Bump> =>
    new Map(bumps.flatMap(bump => bump.txids.map(txid => [bytesKey(txid), bump] as const)))
  return ({ txid, bump }) => {
    if (bump) return bump
    table ??= make()
    return table.get(bytesKey(txid))
  }
}

const unknown = (txid: Txid, spender: Transaction | undefined): QuoinError => {
  const details = { txid: formatTxid(txid), ...(spender && { spender: formatTxid(spender.txid) }) }
  return new QuoinError('ERR_TX_UNKNOWN', `transaction ${details.txid} is neither given nor known`, details)
}
