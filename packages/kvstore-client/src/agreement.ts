/**
 * The live entries according to several hosts. A host that is behind reports a token as live that another host knows to
 * be updated. That is not an ambiguity (BRC-35 §3.4) when the controller signed the updates, which a host cannot forge.
 */
import { LockingScript, Spend, type Transaction } from '@bsv/sdk'
import { entryAt, type Found, matches, type Selectors, spentBy } from './entry.ts'
import type { LookupOutput } from './overlay.ts'
import { tupleText } from './tuple.ts'

/** The verified and matching entries of all answers, without duplicates. */
export const liveEntries = (answers: readonly (readonly LookupOutput[])[], selectors: Selectors): Found[] => {
  const found = new Map<string, Found>()
  for (const { txid, vout, bundle } of answers.flat()) {
    const known = found.get(`${txid}.${vout}`)
    // Prefer the answer with the longer history.
    if (known && known.bundle.size >= bundle.size) continue
    const entry = entryAt(bundle, txid, vout)
    if (entry && matches(selectors, entry)) found.set(entry.outpoint, entry)
  }
  if (answers.length > 1) {
    for (const entry of found.values()) {
      for (const outpoint of updatedBy(entry, found)) found.delete(outpoint)
    }
  }
  return [...found.values()]
}

/** Outpoints of the tokens that were updated into this one, as far as the answers show. */
const updatedBy = (entry: Found, found: ReadonlyMap<string, Found>): Set<string> => {
  const prior = new Set<string>()
  const stack = [entry]
  for (let next = stack.pop(); next; next = stack.pop()) {
    for (const [input, outpoint] of spentBy(next.transaction).entries()) {
      const [txid = '', vout] = outpoint.split('.')
      const spent = prior.has(outpoint)
        ? undefined
        : (found.get(outpoint) ?? entryAt(entry.bundle, txid, Number(vout)))
      if (spent && tupleText(spent) === tupleText(entry) && unlocks(next.transaction, input, spent)) {
        prior.add(outpoint)
        stack.push(spent)
      }
    }
  }
  return prior
}

/** Whether an input is signed with the key of the token that it spends. */
const unlocks = (transaction: Transaction, inputIndex: number, spent: Found): boolean => {
  const { version, inputs, outputs, lockTime } = transaction
  const { sourceTXID, sourceOutputIndex, unlockingScript, sequence } = inputs[inputIndex]!
  if (!sourceTXID || !unlockingScript) return false
  try {
    return new Spend({
      sourceTXID,
      sourceOutputIndex,
      sourceSatoshis: spent.satoshis,
      lockingScript: LockingScript.fromBinary(Array.from(spent.script)),
      transactionVersion: version,
      otherInputs: inputs.filter((_, i) => i !== inputIndex),
      inputIndex,
      unlockingScript,
      outputs,
      inputSequence: sequence ?? 0xffffffff,
      lockTime
    }).validate()
  } catch {
    // `validate` throws the reason of a failed script.
    return false
  }
}
