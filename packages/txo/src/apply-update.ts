/**
 * Applies updates to a working set. The rows are loaded first, conditions before the rows that they cover; applying is
 * computation in memory, except that it loads a transaction that a mined one replaces.
 */

import {
  bytesKey,
  equalBytes,
  formatOutpoint,
  formatTxid,
  QuoinError,
  type Topic,
  type Txid
} from '@quoin/primitives'
import type { ReadPlan } from '@quoin/store'
import type { EventTypes } from './events.ts'
import { outputFields } from './keys.ts'
import { NO_OUTPUT, OutputDraft, type OutputState } from './output-state.ts'
import type { BlockPosition } from './position.ts'
import type { SpendRecord, TransactionRecord } from './record.ts'
import { rollback, spendsOf } from './rollback.ts'
import type { Admission, OutputUpdate, SpentEvents, TxUpdate } from './tx-update.ts'
import {
  outpointFromMapKey,
  outpointMapKey,
  txidFromMapKey,
  txidMapKey,
  type WorkingSet
} from './working-set.ts'

const { events, satoshis: amount, data, dependencies, inputs, spent } = outputFields.collections
const EVENTS = bytesKey(events.encode())
const SATOSHIS = bytesKey(amount.encode())
const SPENT = 'sp:'

export interface ApplyContext {
  readonly events: EventTypes
  /** Unix seconds: the first sighting of transactions whose update has none. */
  readonly now: number
  /** The transactions of the commit. None of them may replace another. */
  readonly txids: ReadonlySet<string>
}

/** Loads the rows of updates, and applies them in their order. */
export function* applyUpdates(
  work: WorkingSet,
  updates: readonly TxUpdate[],
  context: ApplyContext
): ReadPlan<void> {
  yield* loadUpdates(work, updates)
  for (const update of updates) yield* applyUpdate(work, update, context)
}

function* loadUpdates(work: WorkingSet, updates: readonly TxUpdate[]): ReadPlan<void> {
  const txids = updates.map(({ txid }) => bytesKey(txid))
  const given = updates.flatMap(({ spends }) => [...spends.keys()].map(bytesKey))
  const own = updates.flatMap(({ txid, outputs, admissions, spentMarks, departures, erasures }) =>
    [
      ...erasures,
      ...outputs.keys(),
      ...[...admissions.values(), ...spentMarks.values(), ...departures.values()].flatMap(each => [
        ...each.keys()
      ])
    ].map(vout => outpointMapKey(bytesKey(txid), vout))
  )
  const needed = updates.flatMap(update => [...update.dependencies].map(bytesKey))
  yield* work.guard([...txids, ...given, ...given.map(txidMapKey), ...own, ...needed])
  yield* work.loadTransactions(txids)
  const before = txids.flatMap(txid => spendsOf(work.record(txid).before))
  yield* work.guardSpends([...own, ...given, ...before])
  yield* work.loadOutputs([...given, ...before])
}

/** Reads only to roll back a spender that a mined transaction replaces. */
function* applyUpdate(work: WorkingSet, update: TxUpdate, context: ApplyContext): ReadPlan<void> {
  const txid = bytesKey(update.txid)
  const record = work.record(txid).after
  for (const needed of update.dependencies) {
    if (!work.record(bytesKey(needed)).after) throw staleRead(needed)
  }
  if (!record && needsRecord(update)) return
  const position = update.position === undefined ? record?.position : (update.position ?? undefined)
  yield* claimSpends(work, update, position, context.txids)
  writeUpdate(work, update, position, context)
}

const writeUpdate = (
  work: WorkingSet,
  update: TxUpdate,
  position: BlockPosition | undefined,
  context: ApplyContext
): void => {
  const txid = bytesKey(update.txid)
  const slot = work.record(txid)
  const record = slot.after
  const spends = new Map(record?.spends.map(each => [bytesKey(each.outpoint), each.events]))
  for (const [outpoint, given] of update.spends) {
    const key = bytesKey(outpoint)
    const output = work.output(key)
    output.after = withoutSpentMarks(output.after)
    spends.set(key, sortedUnion(spends.get(key) ?? [], missingEvents(given, output.after, context.events)))
  }
  const after: TransactionRecord = {
    revision: record?.revision ?? 0,
    seen: record?.seen ?? update.seen ?? context.now,
    position,
    vouts: Math.max(record?.vouts ?? 0, update.vouts),
    topics: sortedUnion(record?.topics ?? [], [...update.appliedTopics]) as Topic[],
    spends: [...spends.keys()]
      .sort()
      .map((key): SpendRecord => ({ outpoint: outpointFromMapKey(key), events: spends.get(key)! }))
  }
  const drafts = new Map<string, OutputDraft>()
  const draftOf = (key: string): OutputDraft => {
    const known = drafts.get(key)
    if (known) return known
    const draft = new OutputDraft(work.output(key).after)
    drafts.set(key, draft)
    return draft
  }
  for (const [vout, changes] of update.outputs) {
    const draft = draftOf(work.addOutput(txid, vout))
    for (const each of changes) writeOutput(draft, each, context.events)
  }
  for (const [topic, admissions] of update.admissions) {
    for (const [vout, admission] of admissions) {
      const key = work.addOutput(txid, vout)
      writeAdmission(draftOf(key), topic, admission)
      if (admission.isRestored) work.setReason(key, topic, 'restored')
    }
  }
  for (const [topic, vout] of pairs(update.spentMarks)) {
    const key = work.addOutput(txid, vout)
    if (work.spend(key).after === undefined) writeSpentMark(draftOf(key), topic)
  }
  for (const [topic, vouts] of update.departures) {
    for (const [vout, reason] of vouts) {
      const key = work.addOutput(txid, vout)
      removeAdmission(draftOf(key), topic)
      work.setReason(key, topic, reason)
    }
  }
  for (const vout of update.erasures) draftOf(work.addOutput(txid, vout)).clear()
  slot.after = after
  for (const key of work.outputsOf(txid)) {
    const output = work.output(key)
    output.after = finished(draftOf(key))
    dropRepeatedEvents(work, key, output.after)
  }
}

/** Whether an update only changes a record that exists: a position, erasures, departures, marks. */
const needsRecord = ({ isEnsured, outputs, admissions, appliedTopics, spends }: TxUpdate): boolean =>
  !isEnsured && outputs.size + admissions.size + appliedTopics.size + spends.size === 0

const pairs = (map: ReadonlyMap<Topic, ReadonlySet<number>>): [Topic, number][] =>
  [...map].flatMap(([topic, vouts]) => [...vouts].map((vout): [Topic, number] => [topic, vout]))

/** Makes the transaction the spender of its inputs. */
function* claimSpends(
  work: WorkingSet,
  { txid, spends }: TxUpdate,
  position: BlockPosition | undefined,
  committedTxids: ReadonlySet<string>
): ReadPlan<void> {
  const [key, outpoints] = [bytesKey(txid), Array.from(spends.keys(), bytesKey)]
  for (const outpoint of outpoints) yield* claim(work, outpoint, key, position, committedTxids)
}

/** A mined transaction replaces an unmined spender, which is rolled back. */
function* claim(
  work: WorkingSet,
  outpoint: string,
  txid: string,
  position: BlockPosition | undefined,
  committedTxids: ReadonlySet<string>
): ReadPlan<void> {
  const slot = work.spend(outpoint)
  const other = slot.after
  if (other !== undefined && other !== txid) {
    if (!position || work.record(other).after?.position) throw conflict(outpoint, other, txid)
    const gone = yield* rollback(work, other)
    if (gone.some(each => committedTxids.has(each))) throw conflict(outpoint, other, txid)
  }
  slot.after = txid
}

const staleRead = (txid: Txid): QuoinError =>
  new QuoinError('ERR_STALE_READ', `transaction ${formatTxid(txid)} is no longer in the index`, {
    txid: formatTxid(txid)
  })

const conflict = (outpoint: string, spender: string, txid: string): QuoinError => {
  const names = {
    outpoint: formatOutpoint(outpointFromMapKey(outpoint)),
    spender: formatTxid(txidFromMapKey(spender)),
    txid: formatTxid(txidFromMapKey(txid))
  }
  return new QuoinError('ERR_TXO_CONFLICT', `${names.outpoint} is already spent by ${names.spender}`, names)
}

/** Removes events of a spend that the output has itself. */
const dropRepeatedEvents = (work: WorkingSet, key: string, output: OutputState): void => {
  const spender = work.spend(key)?.after
  if (spender === undefined) return
  const slot = work.record(spender)
  const known = new Set(output.events)
  const outpoint = outpointFromMapKey(key)
  const record = slot.after
  if (
    !record?.spends.some(
      each => equalBytes(each.outpoint, outpoint) && each.events.some(event => known.has(event))
    )
  ) {
    return
  }
  slot.after = {
    ...record,
    spends: record.spends.map(each =>
      equalBytes(each.outpoint, outpoint)
        ? { ...each, events: each.events.filter(event => !known.has(event)) }
        : each
    )
  }
}

/** The events given by the spender that the output lacks. */
const missingEvents = (given: SpentEvents, output: OutputState, registry: EventTypes): string[] => {
  if (typeof given === 'function' && output.isSaved && output.events.length > 0) return []
  const known = new Set(output.events)
  const all = [...(typeof given === 'function' ? given() : given)].filter(event => !known.has(event))
  for (const event of all) registry.parse(event)
  return all
}

const writeOutput = (
  draft: OutputDraft,
  { satoshis, events: added, data: tags = {} }: OutputUpdate,
  registry: EventTypes
): void => {
  if (added) {
    const before = draft.events
    const after = sortedUnion(before, [...added])
    if (after !== before) {
      for (const event of after) registry.parse(event)
      draft.set(EVENTS, events.value.codec.encode([...after]))
    }
  }
  for (const tag of Object.keys(tags)) {
    draft.set(bytesKey(data.encode(tag)), data.value.codec.encode(tags[tag]))
  }
  if (satoshis !== undefined) draft.set(SATOSHIS, amount.value.codec.encode(satoshis))
}

const writeAdmission = (
  draft: OutputDraft,
  topic: Topic,
  { inputs: consumed = [], dependencies: needed = [] }: Admission
): void => {
  draft.set(bytesKey(inputs.encode(topic)), inputs.value.codec.encode(consumed))
  const key = bytesKey(dependencies.encode(topic))
  if (needed.length > 0) draft.set(key, dependencies.value.codec.encode(needed))
  else draft.delete(key)
}

/** Marks a member of the topic as spent. */
const writeSpentMark = (draft: OutputDraft, topic: Topic): void => {
  if (draft.fields.has(bytesKey(inputs.encode(topic)))) {
    draft.set(bytesKey(spent.encode(topic)), new Uint8Array())
  }
}

/** The state without marks of spending: the spender replaces them, and its rollback makes the output unspent. */
const withoutSpentMarks = (state: OutputState): OutputState => {
  const draft = new OutputDraft(state)
  for (const key of state.fields.keys()) if (key.startsWith(SPENT)) draft.delete(key)
  return draft.finish()
}

const removeAdmission = (draft: OutputDraft, topic: Topic): void => {
  for (const field of [inputs, dependencies, spent]) draft.delete(bytesKey(field.encode(topic)))
}

/** The final state. Satoshis alone do not make an output. */
const finished = (draft: OutputDraft): OutputState =>
  draft.fields.size <= (draft.fields.has(SATOSHIS) ? 1 : 0) ? NO_OUTPUT : draft.finish()

/** The sorted union; the same array without new elements. */
const sortedUnion = (before: readonly string[], added: readonly string[]): readonly string[] => {
  const all = new Set(before)
  for (const each of added) all.add(each)
  return all.size === before.length ? before : [...all].sort()
}
