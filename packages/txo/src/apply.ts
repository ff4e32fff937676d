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
import { fieldName, NO_OUTPUT, OutputDraft, type OutputState } from './output-state.ts'
import { type BlockPosition, blockPosition } from './position.ts'
import type { SpendRecord, TransactionRecord } from './record.ts'
import type { Admission, OutputUpdate, SpentEvents, TxUpdate } from './tx-update.ts'
import {
  outpointFromMapKey,
  outpointMapKey,
  txidFromMapKey,
  txidMapKey,
  type WorkingSet
} from './working-set.ts'

const { events, merkleState, data, dependencies, inputs, spent } = outputFields.collections
const EVENTS = fieldName(events.encode())
const POSITION = fieldName(merkleState.encode())
const SPENT = 'sp:'

export interface ApplyContext {
  readonly events: EventTypes
  /** Unix seconds: the first sighting of transactions whose update has none. */
  readonly now: number
  /** The transactions of the commit. None of them may replace another. */
  readonly txids: ReadonlySet<string>
}

/** Loads all that the changes are about, and applies them in their order. */
export function* applyChanges(
  work: WorkingSet,
  changes: readonly TxUpdate[],
  context: ApplyContext
): ReadPlan<void> {
  yield* loadChanges(work, changes)
  for (const change of changes) yield* applyChange(work, change, context)
}

function* loadChanges(work: WorkingSet, changes: readonly TxUpdate[]): ReadPlan<void> {
  const txids = changes.map(({ txid }) => bytesKey(txid))
  const told = changes.flatMap(({ spends }) => [...spends.keys()].map(bytesKey))
  const own = changes.flatMap(({ txid, outputs, admissions, spentMarks, departures, erasures }) =>
    [
      ...erasures,
      ...outputs.keys(),
      ...[...admissions.values(), ...spentMarks.values(), ...departures.values()].flatMap(each => [
        ...each.keys()
      ])
    ].map(vout => outpointMapKey(bytesKey(txid), vout))
  )
  const needed = changes.flatMap(change => [...change.dependencies].map(bytesKey))
  yield* work.guard([...txids, ...told, ...told.map(txidMapKey), ...own, ...needed])
  yield* work.loadTransactions(txids)
  const before = txids.flatMap(txid => spendsOf(work.record(txid).before))
  yield* work.guardSpends([...own, ...told, ...before])
  yield* work.loadOutputs([...told, ...before])
}

/** Reads only when another transaction has to give way. */
function* applyChange(work: WorkingSet, change: TxUpdate, applying: ApplyContext): ReadPlan<void> {
  const txid = bytesKey(change.txid)
  const record = work.record(txid).after
  for (const needed of change.dependencies) {
    if (!work.record(bytesKey(needed)).after) throw missing(needed)
  }
  if (!record && isOnlyAbout(change)) return
  const position = change.position === undefined ? record?.position : (change.position ?? undefined)
  yield* claimAll(work, change, position, applying.txids)
  applyClaimed(work, change, position, applying)
}

const applyClaimed = (
  work: WorkingSet,
  change: TxUpdate,
  position: BlockPosition | undefined,
  applying: ApplyContext
): void => {
  const txid = bytesKey(change.txid)
  const slot = work.record(txid)
  const record = slot.after
  const spends = new Map(record?.spends.map(each => [bytesKey(each.outpoint), each.events]))
  for (const [outpoint, told] of change.spends) {
    const name = bytesKey(outpoint)
    const output = work.output(name)
    output.after = unmarked(output.after)
    spends.set(name, merged(spends.get(name) ?? [], remaining(told, output.after, applying.events)))
  }
  const after: TransactionRecord = {
    revision: record?.revision ?? 0,
    seen: record?.seen ?? change.seen ?? applying.now,
    position,
    vouts: Math.max(record?.vouts ?? 0, change.vouts),
    topics: merged(record?.topics ?? [], [...change.appliedTopics]) as Topic[],
    spends: [...spends.keys()]
      .sort()
      .map((name): SpendRecord => ({ outpoint: outpointFromMapKey(name), events: spends.get(name)! }))
  }
  const drafts = new Map<string, OutputDraft>()
  const draftOf = (name: string): OutputDraft => {
    const known = drafts.get(name)
    if (known) return known
    const draft = new OutputDraft(work.output(name).after)
    drafts.set(name, draft)
    return draft
  }
  for (const [vout, changes] of change.outputs) {
    const draft = draftOf(work.addOutput(txid, vout))
    for (const each of changes) changeIn(draft, each, applying.events)
  }
  for (const [topic, admissions] of change.admissions) {
    for (const [vout, admission] of admissions) {
      const name = work.addOutput(txid, vout)
      admitIn(draftOf(name), topic, admission)
      if (admission.isRestored) work.setReason(name, topic, 'restored')
    }
  }
  for (const [topic, vout] of pairs(change.spentMarks)) {
    const name = work.addOutput(txid, vout)
    if (work.spend(name).after === undefined) markIn(draftOf(name), topic)
  }
  for (const [topic, vouts] of change.departures) {
    for (const [vout, reason] of vouts) {
      const name = work.addOutput(txid, vout)
      expelIn(draftOf(name), topic)
      work.setReason(name, topic, reason)
    }
  }
  for (const vout of change.erasures) draftOf(work.addOutput(txid, vout)).clear()
  slot.after = after
  const placed = position && blockPosition.codec.encode(position)
  for (const name of work.outputsOf(txid)) {
    const output = work.output(name)
    output.after = placedAt(draftOf(name), placed)
    forgetTold(work, name, output.after)
  }
}

/** Whether an update only changes a record that exists: a position, erasures, departures, marks. */
const isOnlyAbout = ({ isEnsured, outputs, admissions, appliedTopics, spends }: TxUpdate): boolean =>
  !isEnsured && outputs.size + admissions.size + appliedTopics.size + spends.size === 0

const pairs = (map: ReadonlyMap<Topic, ReadonlySet<number>>): [Topic, number][] =>
  [...map].flatMap(([topic, vouts]) => [...vouts].map((vout): [Topic, number] => [topic, vout]))

/** Makes the transaction the spender of its inputs. */
function* claimAll(
  work: WorkingSet,
  { txid, spends }: TxUpdate,
  position: BlockPosition | undefined,
  staying: ReadonlySet<string>
): ReadPlan<void> {
  const [name, outpoints] = [bytesKey(txid), Array.from(spends.keys(), bytesKey)]
  for (const outpoint of outpoints) yield* claim(work, outpoint, name, position, staying)
}

/** A mined transaction replaces an unmined spender, which is rolled back. */
function* claim(
  work: WorkingSet,
  outpoint: string,
  txid: string,
  position: BlockPosition | undefined,
  staying: ReadonlySet<string>
): ReadPlan<void> {
  const slot = work.spend(outpoint)
  const other = slot.after
  if (other !== undefined && other !== txid) {
    if (!position || work.record(other).after?.position) throw conflict(outpoint, other, txid)
    const gone = yield* rollback(work, other)
    if (gone.some(each => staying.has(each))) throw conflict(outpoint, other, txid)
  }
  slot.after = txid
}

const missing = (txid: Txid): QuoinError =>
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

/**
 * Rolls back a transaction and its descendants: removes them, and makes the outputs that they spent unspent. The result
 * begins with the transaction itself. `visited` ends cycles. `vouts` is the number of its outputs, for a transaction
 * without a record whose outputs are spent.
 */
export function* rollback(work: WorkingSet, root: string, vouts = 0): ReadPlan<string[]> {
  const visited = new Set<string>()
  let next = [root]
  while (next.length > 0) {
    for (const txid of next) visited.add(txid)
    yield* work.loadTransactions(next)
    const names = next.flatMap(txid => everyOutput(work, txid, txid === root ? vouts : 0))
    yield* work.guardSpends(names)
    const spenders = new Set(names.flatMap(name => work.spend(name).after ?? []))
    next = [...spenders].filter(spender => !visited.has(spender))
  }
  const coins = [...visited].flatMap(txid => spendsOf(work.record(txid).after))
  yield* work.guardSpends(coins)
  yield* work.loadOutputs(coins)
  for (const txid of visited) {
    for (const name of spendsOf(work.record(txid).after)) {
      const slot = work.spend(name)
      if (slot.after === txid) slot.after = undefined
    }
    for (const name of work.outputsOf(txid)) work.output(name).after = NO_OUTPUT
    work.record(txid).after = undefined
  }
  return [...visited]
}

/** Indexed outputs, and outputs that may be spent without being indexed. */
const everyOutput = (work: WorkingSet, txid: string, vouts: number): string[] => {
  const all = Math.max(vouts, work.record(txid).after?.vouts ?? 0)
  const names = new Set(work.outputsOf(txid))
  for (let vout = 0; vout < all; vout++) names.add(outpointMapKey(txid, vout))
  return [...names]
}

const spendsOf = (record: TransactionRecord | undefined): string[] =>
  record?.spends.map(({ outpoint }) => bytesKey(outpoint)) ?? []

/** Removes events of a spend that the output has itself. */
const forgetTold = (work: WorkingSet, name: string, output: OutputState): void => {
  const spender = work.spend(name)?.after
  if (spender === undefined) return
  const slot = work.record(spender)
  const known = new Set(output.events)
  const outpoint = outpointFromMapKey(name)
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
const remaining = (told: SpentEvents, output: OutputState, registry: EventTypes): string[] => {
  if (typeof told === 'function' && output.isSaved && output.events.length > 0) return []
  const known = new Set(output.events)
  const all = [...(typeof told === 'function' ? told() : told)].filter(event => !known.has(event))
  for (const event of all) registry.parse(event)
  return all
}

const changeIn = (
  draft: OutputDraft,
  { satoshis, events: added, data: tags = {} }: OutputUpdate,
  registry: EventTypes
): void => {
  if (added) {
    const before = draft.events
    const after = merged(before, [...added])
    if (after !== before) {
      for (const event of after) registry.parse(event)
      draft.set(EVENTS, events.value.codec.encode([...after]))
    }
  }
  for (const tag of Object.keys(tags)) {
    draft.set(fieldName(data.encode(tag)), data.value.codec.encode(tags[tag]))
  }
  if (satoshis !== undefined) draft.satoshis = BigInt(satoshis)
}

const admitIn = (
  draft: OutputDraft,
  topic: Topic,
  { inputs: consumed = [], dependencies: needed = [] }: Admission
): void => {
  draft.set(fieldName(inputs.encode(topic)), inputs.value.codec.encode(consumed))
  const name = fieldName(dependencies.encode(topic))
  if (needed.length > 0) draft.set(name, dependencies.value.codec.encode(needed))
  else draft.delete(name)
}

/** Marks a member of the topic as spent. */
const markIn = (draft: OutputDraft, topic: Topic): void => {
  if (draft.fields.has(fieldName(inputs.encode(topic)))) {
    draft.set(fieldName(spent.encode(topic)), new Uint8Array())
  }
}

/** The state without marks of spending: the spender replaces them, and its rollback makes the output unspent. */
const unmarked = (state: OutputState): OutputState => {
  const draft = new OutputDraft(state)
  for (const name of state.fields.keys()) if (name.startsWith(SPENT)) draft.delete(name)
  return draft.finish()
}

const expelIn = (draft: OutputDraft, topic: Topic): void => {
  for (const field of [inputs, dependencies, spent]) draft.delete(fieldName(field.encode(topic)))
}

/** The final state, with the position. A position alone does not make an output. */
const placedAt = (draft: OutputDraft, position: Uint8Array | undefined): OutputState => {
  if (draft.fields.size <= (draft.fields.has(POSITION) ? 1 : 0)) return NO_OUTPUT
  if (position) draft.set(POSITION, position)
  else draft.delete(POSITION)
  return draft.finish()
}

/** The sorted union; the same array without new elements. */
const merged = (before: readonly string[], added: readonly string[]): readonly string[] => {
  const all = new Set(before)
  for (const each of added) all.add(each)
  return all.size === before.length ? before : [...all].sort()
}
