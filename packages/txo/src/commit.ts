/**
 * One commit of the index: load rows, apply a mutation, and write the difference in one batch, on the condition that
 * the rows read are unchanged; otherwise retry from the start.
 */

import {
  bytesKey,
  equalBytes,
  hasCode,
  memoize,
  type Outpoint,
  parseOutpoint,
  parseTxid,
  QuoinError,
  type Topic,
  txidOf,
  voutOf
} from '@quoin/primitives'
import type { Batch, Store } from '@quoin/store'
import type { LedgerChange, LedgerOutput, LedgerWriter } from './amount-ledger.ts'
import { changedBlocks } from './changed-blocks.ts'
import { committedChange } from './committed-change.ts'
import type { EventKeys, EventTypes } from './events.ts'
import {
  type OutputView,
  type Tallies,
  writeOutputRows,
  writeTallies,
  writeTransactionRows
} from './index-rows.ts'
import type { Journal } from './journal.ts'
import { toJournalEntry } from './journal-diff.ts'
import { outputs } from './keys.ts'
import { membershipEntries } from './membership.ts'
import { membershipChanges } from './membership-diff.ts'
import type { OutputState } from './output-state.ts'
import { scoreOf } from './position.ts'
import type { TransactionRecord } from './record.ts'
import { outpointFromMapKey, txidFromMapKey, txidMapKey, WorkingSet } from './working-set.ts'

/** Attempts before a commit fails with `ERR_STORE_BUSY`. */
const ATTEMPTS = 100

export interface CommitContext {
  readonly store: Store
  readonly events: EventTypes
  readonly journal: Journal
  readonly ledgers: LedgerWriter | undefined
  readonly now: () => number
  /** Called after a commit with the topics whose membership logs it appended to. */
  readonly onMembership: (topics: readonly Topic[]) => void
  /** Adds writes for a block whose transactions of a topic the commit changes. */
  readonly blockIn: (batch: Batch, topic: Topic, height: number) => void
}

/** Applies a change to a working set. */
export type Mutation = (work: WorkingSet) => Promise<MutationResult>

interface MutationResult {
  /** Further writes of the batch. */
  readonly extraWrites?: ((batch: Batch) => void | Promise<void>) | undefined
  /** Map keys of transactions whose proofs the commit replaces. */
  readonly proved?: ReadonlySet<string> | undefined
  /** Topics that evaluated a transaction, by its map key. */
  readonly evaluated?: ReadonlyMap<string, ReadonlySet<Topic>> | undefined
}

/** Commits a mutation; answers whether the index has changed. */
export const commitMutation = async (context: CommitContext, apply: Mutation): Promise<boolean> => {
  for (let attempt = 1; ; attempt++) {
    try {
      const { changed, journalEntries, topics, committing } = await prepare(context, apply)
      await committing
      if (journalEntries > 0) context.journal.published(journalEntries)
      if (topics.length > 0) context.onMembership(topics)
      return changed > 0
    } catch (error) {
      if (!hasCode(error, 'ERR_STORE_PRECONDITION')) throw error
      if (attempt === ATTEMPTS) {
        throw new QuoinError(
          'ERR_STORE_BUSY',
          `the rows of a commit changed during ${ATTEMPTS} attempts; try again`,
          { cause: error }
        )
      }
    }
  }
}

interface PreparedCommit {
  /** The number of changed transactions. */
  readonly changed: number
  /** Changes appended to the journal. */
  readonly journalEntries: number
  /** Topics whose membership changed. */
  readonly topics: readonly Topic[]
  readonly committing: Promise<unknown> | undefined
}

/** Sends the batch to the store. The result holds no rows, so that they are freed before the commit is durable. */
const prepare = async (context: CommitContext, apply: Mutation): Promise<PreparedCommit> => {
  const work = new WorkingSet()
  try {
    return await tryPrepare(context, work, apply)
  } catch (error) {
    if (!hasCode(error, 'ERR_TXO_CONFLICT')) throw error
    await recordConflict(context, work, error)
    throw error
  }
}

const tryPrepare = async (
  { store, events, journal, ledgers, blockIn }: CommitContext,
  work: WorkingSet,
  apply: Mutation
): Promise<PreparedCommit> => {
  const { extraWrites, proved = NONE_PROVED, evaluated = NONE_EVALUATED } = await apply(work)
  const changed = revise(work)
  // Applied by an earlier commit, which may not be replicated yet.
  if (changed.size === 0 && !extraWrites)
    return { changed: 0, journalEntries: 0, topics: [], committing: store.replicated() }
  const batch = store.batch()
  work.guardIn(batch)
  const outputKeys = changed.size > 0 ? touchedOutputs(work) : new Set<string>()
  let journalEntries = 0
  if (changed.size > 0) {
    work.writeIn(batch)
    writeRows(batch, work, outputKeys, events)
    for (const txid of changed) {
      if (!isPublished(work, txid)) continue
      const entry = toJournalEntry(work, txid)
      journal.appendIn(batch, entry, () => committedChange(work, txid, entry))
      journalEntries++
    }
  }
  const topics = changed.size + proved.size > 0 ? appendMembership(batch, work, outputKeys, proved) : []
  for (const [topic, heights] of changedBlocks(work, evaluated)) {
    for (const height of heights) blockIn(batch, topic, height)
  }
  // Awaited only if asynchronous: a pending batch holds its memory.
  const writing = extraWrites?.(batch)
  if (writing) await writing
  const posting = ledgers?.postIn(batch, ledgerChanges(work, outputKeys))
  const posted = posting instanceof Promise ? await posting : posting
  const committing = batch.commit()
  if (posted) {
    committing.then(
      () => posted.settle(true),
      () => posted.settle(false)
    )
  }
  return { changed: changed.size, journalEntries, topics, committing }
}

const NONE_PROVED: ReadonlySet<string> = new Set()
const NONE_EVALUATED: ReadonlyMap<string, ReadonlySet<Topic>> = new Map()

const appendMembership = (
  batch: Batch,
  work: WorkingSet,
  outputKeys: ReadonlySet<string>,
  proved: ReadonlySet<string>
): Topic[] => {
  const byTopic = membershipChanges(work, outputKeys, proved)
  for (const [topic, changes] of byTopic) {
    for (const entry of membershipEntries(changes)) batch.append(membershipKey(topic), entry)
  }
  return [...byTopic.keys()]
}

/** Keys of membership logs, copied since the cache keeps them. */
const membershipKey = memoize(1000, (topic: Topic) => outputs.collections.membership.encode(topic).slice())

/** Restores equal states, and increments the revision of changed transactions, which it answers. */
const revise = (work: WorkingSet): Set<string> => {
  const changed = new Set<string>()
  for (const [key, slot] of work.outputs()) {
    if (slot.before === slot.after) continue
    if (sameOutput(slot.before, slot.after)) slot.after = slot.before
    else changed.add(txidMapKey(key))
  }
  for (const [txid, slot] of work.records()) {
    const { before, after } = slot
    if (before !== after && before && after && sameRecord(before, after)) slot.after = before
    if (slot.before !== slot.after) changed.add(txid)
    if (changed.has(txid) && slot.after) slot.after = { ...slot.after, revision: (before?.revision ?? 0) + 1 }
  }
  return changed
}

const sameOutput = (a: OutputState, b: OutputState): boolean =>
  a.satoshis === b.satoshis &&
  a.fields.size === b.fields.size &&
  [...a.fields].every(([field, value]) => b.fields.get(field) === value)

const sameRecord = (a: TransactionRecord, b: TransactionRecord): boolean =>
  a.seen === b.seen &&
  a.vouts === b.vouts &&
  a.position?.height === b.position?.height &&
  a.position?.index === b.position?.index &&
  a.topics.length === b.topics.length &&
  a.spends.length === b.spends.length &&
  a.spends.every(({ events }, i) => events.join('\n') === b.spends[i]!.events.join('\n'))

const writeRows = (
  batch: Batch,
  work: WorkingSet,
  outputKeys: ReadonlySet<string>,
  registry: EventTypes
): void => {
  const parse = (event: string): EventKeys => registry.parse(event)
  const tallies: Tallies = new Map()
  for (const key of outputKeys) {
    const outpoint = outpointFromMapKey(key)
    const before = viewOf(work, key, outpoint, 'before')
    writeOutputRows(batch, outpoint, before, viewOf(work, key, outpoint, 'after'), parse, tallies)
  }
  for (const [txid, { before, after }] of work.records()) {
    if (before !== after) writeTransactionRows(batch, txidFromMapKey(txid), before, after)
  }
  writeTallies(batch, tallies)
}

/** Outputs whose rows may have changed, with their own state, their transaction or their spender. */
const touchedOutputs = (work: WorkingSet): Set<string> => {
  const outputKeys = new Set<string>()
  for (const [key, slot] of work.outputs()) if (slot.before !== slot.after) outputKeys.add(key)
  for (const [key, slot] of work.spends()) if (slot.before !== slot.after) outputKeys.add(key)
  for (const [txid, { before, after }] of work.records()) {
    if (before === after) continue
    for (const key of work.outputsOf(txid)) outputKeys.add(key)
    for (const record of [before, after]) {
      for (const { outpoint } of record?.spends ?? []) outputKeys.add(bytesKey(outpoint))
    }
  }
  // A record can change by one of its spends; the other spends are not loaded then.
  for (const key of outputKeys) {
    if (!work.isGuarded(key) || !work.isGuarded(txidMapKey(key))) outputKeys.delete(key)
  }
  return outputKeys
}

const viewOf = (work: WorkingSet, key: string, outpoint: Outpoint, side: 'before' | 'after'): OutputView => {
  const spenderKey = work.spend(key)[side]
  const spender = spenderKey === undefined ? undefined : work.record(spenderKey)[side]
  const spending = spender?.spends.find(each => equalBytes(each.outpoint, outpoint))
  return {
    state: work.output(key)[side],
    record: work.record(txidMapKey(key))[side],
    spender,
    spentEvents: spending?.events ?? NONE
  }
}

const NONE: readonly string[] = []

/** Touched outputs before and after the commit, for the ledger. */
function* ledgerChanges(work: WorkingSet, outputKeys: Iterable<string>): Generator<LedgerChange> {
  for (const key of outputKeys) {
    yield { before: ledgerOutput(work, key, 'before'), after: ledgerOutput(work, key, 'after') }
  }
}

const ledgerOutput = (work: WorkingSet, key: string, side: 'before' | 'after'): LedgerOutput | undefined => {
  const state = work.output(key)[side]
  if (!state.isSaved || !work.record(txidMapKey(key))[side]) return undefined
  return {
    outpoint: outpointFromMapKey(key),
    topics: state.topics,
    events: state.events,
    isSpent: work.spend(key)[side] !== undefined,
    data: tag => state.data(tag)
  }
}

/** Whether the change is for the journal: a record can change by events that its spends no longer need. */
const isPublished = (work: WorkingSet, txid: string): boolean => {
  const { before, after } = work.record(txid)
  if (!before || !after) return true
  return (
    scoreOf(before) !== scoreOf(after) ||
    before.topics.length !== after.topics.length ||
    before.spends.length !== after.spends.length ||
    work.outputsOf(txid).some(key => work.output(key).before !== work.output(key).after)
  )
}

const { conflicts } = outputs.collections

/** Records a conflict, on the same conditions: rows of two states can look like a conflict, and are read again. */
const recordConflict = async (
  { store, now }: CommitContext,
  work: WorkingSet,
  { details }: QuoinError
): Promise<void> => {
  const outpoint = parseOutpoint(String(details['outpoint']))
  const batch = store.batch()
  work.guardIn(batch)
  batch
    .use(conflicts)
    .at(txidOf(outpoint), voutOf(outpoint))
    .add(parseTxid(String(details['txid'])), now())
  await batch.commit()
}
