/**
 * What several hosts say together is live. One that is behind has as live what another knows to be updated; that is no
 * ambiguity (BRC-35 §3.4) when the controller signed the updates. A host cannot make them up: it has no key to sign with.
 */
import { LockingScript, Spend, type Transaction } from '@bsv/sdk'
import { entryAt, type Found, matches, type Selectors, spentBy, tupleText } from './entry.ts'
import type { Answered } from './overlay.ts'

/** The entries of all answers that verify and match, each once. */
export const liveEntries = (answers: readonly (readonly Answered[])[], selectors: Selectors): Found[] => {
  const found = new Map<string, Found>()
  for (const { txid, vout, bundle } of answers.flat()) {
    const known = found.get(`${txid}.${vout}`)
    // Of two that know it, the one that says more.
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

/** Outpoints of the tokens that were updated into this one, as far as is known. */
const updatedBy = (entry: Found, found: ReadonlyMap<string, Found>): Set<string> => {
  const prior = new Set<string>()
  const waiting = [entry]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    for (const [input, outpoint] of spentBy(next.transaction).entries()) {
      const [txid = '', vout] = outpoint.split('.')
      const spent = prior.has(outpoint)
        ? undefined
        : (found.get(outpoint) ?? entryAt(entry.bundle, txid, Number(vout)))
      if (spent && tupleText(spent) === tupleText(entry) && unlocks(next.transaction, input, spent)) {
        prior.add(outpoint)
        waiting.push(spent)
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
    // A script that fails throws why.
    return false
  }
}
