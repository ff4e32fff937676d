/**
 * BEEF for readers whose work depends on the shape of the ancestry. `Transaction.fromBEEF` of `@bsv/sdk` visits the
 * sources of every input, again for each input that leads to them, until it meets a proof: where each transaction spends
 * two outputs of the one before, a BEEF of 10 kB takes 2^24 visits. `boundBeef` counts the visits in linear time.
 * A BEEF over the limit is written again with the subject and as many whole levels of ancestors as the limit allows; of
 * the level below, the txids are left. Their transactions were verified before.
 */
import { Beef, type BeefTransaction, writeBeef } from '@quoin/chain'
import { bytesKey, formatTxid, QuoinError } from '@quoin/primitives'

/** The SDK takes some 3 microseconds for a visit, and compares the transaction with the nodes of every proof. */
const MOST_VISITS = 10_000
const MOST_COMPARISONS = 50_000_000

/**
 * A BEEF that is read in bounded time: the same bytes if it is bounded already. Refuses one whose subject and `leastLevels`
 * levels of ancestors are over the limit; a reader that needs the outputs of its inputs needs one level.
 */
export const boundBeef = (given: Uint8Array | Beef, leastLevels: 0 | 1 = 1): Uint8Array => {
  const beef = given instanceof Beef ? given : Beef.parse(given)
  const nodes = beef.bumps.reduce((sum, { size }) => sum + size, 1)
  const mostVisits = Math.min(MOST_VISITS, MOST_COMPARISONS / nodes)
  const graph = new Graph(beef)
  if (graph.visits(graph.depth) <= mostVisits) return beef.bytes
  if (graph.visits(leastLevels) > mostVisits + graph.inputs) {
    throw new QuoinError(
      'ERR_BEEF_EXPANSION',
      `the direct sources of a transaction spend one another so often that reading them takes more than ${Math.floor(mostVisits)} visits`,
      { txid: formatTxid(beef.subject), most: Math.floor(mostVisits) }
    )
  }
  let levels: number = leastLevels
  for (let tooMany = graph.depth; tooMany - levels > 1; ) {
    const middle = (levels + tooMany) >>> 1
    if (graph.visits(middle) <= mostVisits) levels = middle
    else tooMany = middle
  }
  return graph.cut(levels)
}

/** The ancestry of the subject, up to proofs. */
class Graph {
  readonly #beef: Beef
  /** Parents before their children. */
  readonly #transactions: readonly BeefTransaction[]
  readonly #subject: number
  /** For each transaction, the indexes of the transactions that its inputs spend; none where it has a proof. */
  readonly #sources: readonly (readonly number[])[]
  /** The shortest distance from the subject; -1 for a transaction outside of its ancestry. */
  readonly #levels: Int32Array
  readonly depth: number

  constructor(beef: Beef) {
    this.#beef = beef
    this.#transactions = beef.transactions
    const indexes = new Map(beef.transactions.map(({ txid }, index) => [bytesKey(txid), index]))
    this.#subject = indexes.get(bytesKey(beef.subject))!
    this.#sources = beef.transactions.map(({ transaction, bump }) => {
      const found: number[] = []
      if (!transaction || bump) return found
      for (const txid of transaction.spentTxids()) {
        const index = indexes.get(bytesKey(txid))
        if (index !== undefined) found.push(index)
      }
      return found
    })
    this.#levels = new Int32Array(beef.transactions.length).fill(-1)
    this.depth = this.#measure()
  }

  get inputs(): number {
    return this.#sources[this.#subject]!.length
  }

  /** The visits of a reader where the bodies of so many levels are in the BEEF. */
  visits(levels: number): number {
    const visits = new Float64Array(this.#transactions.length)
    for (const [index, sources] of this.#sources.entries()) {
      if (!this.#isWithin(index, levels)) continue
      visits[index] = sources.reduce((sum, source) => sum + visits[source]!, 1)
    }
    return visits[this.#subject]!
  }

  /** The BEEF with the bodies of so many levels. */
  cut(levels: number): Uint8Array {
    const kept = this.#transactions.flatMap((each, index): BeefTransaction[] => {
      if (this.#isWithin(index, levels)) return [each]
      if (!this.#isWithin(index, levels + 1)) return []
      return [{ txid: each.txid, transaction: undefined, bump: undefined }]
    })
    const { atomic, subject } = this.#beef
    return writeBeef({ version: 2, transactions: kept, ...(atomic && { atomic: subject }) })
  }

  #isWithin(index: number, levels: number): boolean {
    const level = this.#levels[index]!
    return level >= 0 && level <= levels
  }

  #measure(): number {
    const levels = this.#levels
    levels[this.#subject] = 0
    let depth = 0
    const queue = [this.#subject]
    for (const index of queue) {
      for (const source of this.#sources[index]!) {
        if (levels[source]! >= 0) continue
        levels[source] = levels[index]! + 1
        depth = levels[source]!
        queue.push(source)
      }
    }
    return depth
  }
}
