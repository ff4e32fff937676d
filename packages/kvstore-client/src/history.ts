/**
 * The history of an entry (BRC-35 §3.6), walked over the transactions that came with it: from each token to those of the
 * same tuple that its transaction spends. What else is in those transactions, or in others that came along, is none of it.
 */
import { entryAt, type Found, type KvEntry, shown, spentBy, tupleText } from './entry.ts'

/** Oldest first, the live one last. What is spent comes before what spends it, also where several end in one. */
export const walkHistory = (live: Found): KvEntry[] => {
  const tuple = tupleText(live)
  const walked: KvEntry[] = []
  const seen = new Set([live.outpoint])
  // An entry is walked when those before it are: it stays on the stack until then.
  const stack = [{ entry: live, prior: priorOf(live, tuple) }]
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    const next = top.prior.find(({ outpoint }) => !seen.has(outpoint))
    if (next) {
      seen.add(next.outpoint)
      stack.push({ entry: next, prior: priorOf(next, tuple) })
    } else {
      walked.push(shown(top.entry))
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
