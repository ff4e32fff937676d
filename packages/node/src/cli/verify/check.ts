/** All checks of a store, one after the other: each finding, and the way to mend it where there is one. */
import type { Finding } from '@quoin/chain'
import type { AnyKeyspace } from '@quoin/keyspace'
import type { AdmissionFinding } from '@quoin/overlay'
import { formatOutpoint, type Outpoint, shortHex, type Txid } from '@quoin/primitives'
import type { Store, StoreReads } from '@quoin/store'
import type { Difference } from '@quoin/txo'
import type { Progress } from './progress.ts'

export interface Found {
  readonly finding: Finding
  /** Of a proof that is not right. */
  readonly proofOf?: Txid
  readonly admission?: AdmissionFinding
  readonly difference?: Difference
}

export interface Checks {
  readonly report: (found: Found) => void | Promise<void>
  readonly progress: Progress
}

/** Facts that stand beside the index: proofs, admissions. */
export const checkFacts = async (reads: StoreReads, { report, progress }: Checks): Promise<void> => {
  const { checkedTransactions } = await import('@quoin/chain')
  const { verifyAdmissions } = await import('@quoin/overlay')
  let done = 0
  for await (const { txid, findings } of checkedTransactions(reads)) {
    progress.report('proofs', ++done)
    for (const finding of findings) {
      await report({ finding, ...(finding.kind.startsWith('proof-') && { proofOf: txid }) })
    }
  }
  done = 0
  for await (const admission of verifyAdmissions(reads, () => progress.report('admissions', ++done))) {
    await report({ finding: admission.finding, admission })
  }
}

/** The index: rebuilt into an empty store, and compared. Answers how many transactions it has. */
export const checkIndex = async (
  reads: StoreReads,
  rebuilt: Store,
  { report, progress }: Checks
): Promise<number> => {
  const { compareIndexes, incompleteBeefs, rebuildIndex } = await import('@quoin/txo')
  const { evictedOutputs } = await import('@quoin/overlay')
  const { nodeEvents, storeKeyspaces } = await import('../../keyspaces.ts')
  const spaces = await storeKeyspaces()
  const { tokenLedger } = await import('@quoin/bsv21')
  const transactions = await rebuildIndex(reads, rebuilt, {
    events: nodeEvents(),
    ledger: tokenLedger,
    erased: txid => evictedOutputs(reads, txid),
    onProgress: (done, total) => progress.report('rebuilding, transactions', done, total)
  })
  for await (const finding of incompleteBeefs(reads)) await report({ finding })
  for await (const difference of compareIndexes(reads, rebuilt, { transactions: false })) {
    progress.report('comparing', 0)
    await report({ finding: await findingOf(reads, difference, spaces), difference })
  }
  return transactions
}

const OUTPOINT_LENGTH = 36

const findingOf = async (
  reads: StoreReads,
  difference: Difference,
  spaces: readonly AnyKeyspace[]
): Promise<Finding> => {
  const { key, part, stored, found = 'nothing', expected = 'nothing' } = difference
  const name = collectionOf(key, spaces)
  if (name === 'outputs.spends' && part.length === OUTPOINT_LENGTH) {
    const subject = formatOutpoint(part as Outpoint)
    if (!(stored instanceof Uint8Array)) return { kind: 'spend-missing', subject, found, expected }
    const kind = (await reads.hget(key, stored)) ? 'spend-no-input' : 'spend-unknown-spender'
    return { kind, subject, found, expected }
  }
  const kind =
    difference.found === undefined
      ? 'index-missing'
      : difference.expected === undefined
        ? 'index-unexpected'
        : 'index-different'
  const subject = `${name}  ${shortHex(key)}${part.length > 0 ? ` ${shortHex(part)}` : ''}`
  return { kind, subject, found, expected }
}

/** The collection that a key belongs to. */
const collectionOf = (key: Uint8Array, spaces: readonly AnyKeyspace[]): string => {
  const [explanation] = spaces.map(space => space.explain(key)).filter(each => each.found)
  return explanation?.found ? `${explanation.keyspace}.${explanation.collection}` : 'unknown'
}
