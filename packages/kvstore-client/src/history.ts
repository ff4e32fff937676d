/**
 * The history of an entry (BRC-35 §3.6), walked over the transactions of its bundle: from each token to the tokens of the
 * same tuple that its transaction spends.
 */
import { entryAt, type Found, type KvEntry, spentBy, toEntry } from './entry.ts'
import { tupleText } from './tuple.ts'

/** Oldest first, the live entry last: a spent token precedes its spender, also where one transaction spends several. */
export const walkHistory = (live: Found): KvEntry[] => {
  const tuple = tupleText(live)
  const walked: KvEntry[] = []
  const seen = new Set([live.outpoint])
  // Post-order: an entry stays on the stack until all of its predecessors are walked.
  const stack = [{ entry: live, prior: priorOf(live, tuple) }]
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    const next = top.prior.find(({ outpoint }) => !seen.has(outpoint))
    if (next) {
      seen.add(next.outpoint)
      stack.push({ entry: next, prior: priorOf(next, tuple) })
    } else {
      walked.push(toEntry(top.entry))
      stack.pop()
    }
  }
  return walked
}

const priorOf = ({ bundle, transaction }: Found, tuple: string): Found[] =>
  spentBy(transaction).flatMap(outpoint => {
    const [txid = '', vout] = outpoint.split('.')
    const entry = entryAt(bundle, txid, Number(vout))
    return entry && tupleText(entry) === tuple ? [entry] : []
  })
