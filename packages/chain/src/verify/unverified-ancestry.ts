/**
 * Ancestors of a transaction back to verified or proved ones. Each transaction is visited once, for any number of paths
 * to it.
 */
import { bytesKey, formatTxid, QuoinError, type Txid } from '@quoin/primitives'
import type { BeefTransaction } from '../beef.ts'
import type { Bump } from '../merkle/bump.ts'
import type { Transaction } from '../transaction.ts'
import { checkForm, type Source } from './rules.ts'

/** A transaction and its ancestry; a `Beef` is one. */
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
  /** Height of its proof's block; undefined when unproved. */
  readonly height?: number | undefined
}

/** Looks up verified transactions: an answer per txid, undefined for the unverified. */
export type KnownLookup = (txids: readonly Txid[]) => Promise<readonly (KnownTransaction | undefined)[]>

export interface Proof {
  readonly txid: Txid
  readonly bump: Bump
}

export interface Ancestry {
  /** Transactions to verify, parents first. */
  readonly transactions: readonly Transaction[]
  /** Unproved ones, whose inputs are verified. */
  readonly unproven: readonly Transaction[]
  /** Merkle paths to check: of new transactions, and of known ones without a proof or with one of another block. */
  readonly proofs: readonly Proof[]
  /** Source of an input of an unproven transaction. */
  sourceOf(txid: Txid): Source
}

interface WantedTransaction {
  readonly txid: Txid
  readonly spender?: Transaction
}

/**
 * Throws `ERR_TX_UNKNOWN` for a missing ancestor, `ERR_TX_INVALID` for a malformed transaction, and `ERR_BEEF_LIMIT`
 * for more inputs to verify than the limit.
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
    const more = answers.size === 0 ? parentsOf(bundle) : visited.size > 1 ? LOOK_AHEAD * visited.size : 0
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
        // Requested; resolved in the next round.
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

/** Ancestors to look up with the subject: its parents, which are needed unless the subject is known. */
const parentsOf = (bundle: Bundle): number => {
  const parents = bundle.find(bundle.subject)?.transaction?.spentTxids() ?? []
  return new Set(parents.map(bytesKey)).size
}

/**
 * Ancestors to look up besides the requested transactions, per visited transaction. A chain of n unknown ones takes log
 * n look-ups. Commonly the subject's parents are known, and no other ancestor is looked up.
 */
const LOOK_AHEAD = 4

/** Requested transactions without an answer, and up to `more` of their ancestors in the bundle, breadth first. */
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
 * Merkle path of an entry: its own, or any of the bundle that contains its txid. One table holds all, since entries
 * times paths is a number that strangers choose.
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
  return new QuoinError(
    'ERR_TX_UNKNOWN',
    `transaction ${details.txid} is missing: it is neither in the BEEF nor known`,
    details
  )
}
