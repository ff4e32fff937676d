/**
 * Rebuilds a store from its transactions. The headers are copied; then each transaction is verified, indexed and submitted
 * again, parents before children. Transactions and proofs must have their present layouts. Topics and times of arrival
 * come from the old store where the layout of its records is the present one.
 */
import { Beef, chain, TransactionStore } from '@quoin/chain'
import type { AnyKeyspace, Collection } from '@quoin/keyspace'
import { BroadcastRecords, broadcasts, type Logger, type Plugin } from '@quoin/overlay'
import { bytesKey, formatTxid, QuoinError, successor, type Txid } from '@quoin/primitives'
import { claimLayouts, type KeyValue, type Layouts, layoutsOf, openStore, type Store } from '@quoin/store'
import { outputEvents, outputFields, outputs, spendFields, type TransactionRecord } from '@quoin/txo'
import { nodeStore } from '../../keyspaces.ts'
import { isAboutTheTransaction, toTopics, withTokens } from '../ingest.ts'
import { type OpenNode, openNode } from '../node.ts'
import type { Config } from '../settings.ts'
import { rangeOf } from './migration.ts'
import { includesLayouts } from './migrations.ts'
import { pickLayouts } from './pick-layouts.ts'

export interface RebuildOptions {
  /** The layouts of the store that is rebuilt. */
  readonly recorded: Layouts
  readonly config: Config
  /** Plug-ins beside the ones that the configuration names. */
  readonly plugins?: readonly Plugin[] | undefined
  readonly logger: Logger
  /** The total is undefined as long as it is not known. */
  readonly onProgress: (step: string, done: number, total: number | undefined) => void
  readonly signal?: AbortSignal | undefined
}

interface Refusal {
  readonly txid: string
  readonly code: string
  readonly reason: string
}

export interface Rebuild {
  readonly transactions: number
  /** Transactions that were not taken again, with the reasons. */
  readonly refused: readonly Refusal[]
}

const { transaction: transactions, proof: proofs } = chain.collections
const { record } = broadcasts.collections
const { output: outputHashes, spends } = outputs.collections
const { events: eventsField } = outputFields.collections
const { transaction: recordField } = spendFields.collections
/** Refusals that are reported one by one. */
const MAX_REFUSED = 1000
/** Rows of one batch. */
const PAGE = 500

/** Rebuilds `from` in the store that the configuration names. Transactions that are there already are skipped. */
export const rebuildStore = async (from: Store, options: RebuildOptions): Promise<Rebuild> => {
  needReadable(options.recorded)
  const into = await openStore(options.config.store)
  try {
    await claimLayouts(into, nodeStore().members)
    await copyChain(from, into, options)
  } finally {
    await into.close()
  }
  const node = await openNode(options.config, {
    logger: options.logger,
    plugins: options.plugins ?? []
  })
  try {
    const rebuilt = await replay(from, node, options)
    await copyBroadcasts(from, node.store, options)
    return rebuilt
  } finally {
    await node.close()
  }
}

const needReadable = (recorded: Layouts): void => {
  if (includesLayouts(recorded, presentLayouts(chain, ['transaction', 'proof', 'log']))) return
  throw new QuoinError(
    'ERR_STORE_UPGRADE',
    'this version has no migration for the store, and cannot read its transactions. ' +
      'Upgrade with a release between the version that wrote it and this one first',
    { version: recorded['chain']?.version ?? null }
  )
}

/** The present layouts of some collections of a keyspace. */
const presentLayouts = (space: AnyKeyspace, names: readonly string[]): Layouts =>
  pickLayouts(layoutsOf([space]), space.name, names)

/** Headers and the development chain. Transactions come with the BEEFs that are submitted. */
const copyChain = async (from: Store, into: Store, { onProgress, signal }: RebuildOptions): Promise<void> => {
  const bulk = into.bulk()
  let done = 0
  for (const each of chain.all) {
    if (each.value.kind !== 'value' || each.name === transactions.name || each.name === proofs.name) continue
    for await (const rows of pagesOf(from, each)) {
      signal?.throwIfAborted()
      const batch = bulk.batch()
      for (const { key, value } of rows) batch.set(key, value)
      await bulk.write(batch)
      done += rows.length
      onProgress('copying the chain', done, undefined)
    }
  }
  await bulk.checkpoint()
}

/** Statuses on the network, and the outbox: what the old store had not sent yet is sent from the new one. */
const copyBroadcasts = async (
  from: Store,
  into: Store,
  { recorded, signal }: RebuildOptions
): Promise<void> => {
  if (!includesLayouts(recorded, presentLayouts(broadcasts, [record.name]))) return
  const records = new BroadcastRecords(into)
  for await (const rows of pagesOf(from, record)) {
    signal?.throwIfAborted()
    const batch = into.batch()
    for (const { key, value } of rows) {
      const [txid] = record.decode(key)
      records.restoreIn(batch, txid, record.value.codec.decode(value))
    }
    await batch.commit()
  }
}

/** Indexes and submits every transaction, in the order of the chain, and unproved ones after their parents. */
const replay = async (
  from: Store,
  node: OpenNode,
  { recorded, config, onProgress, signal }: RebuildOptions
): Promise<Rebuild> => {
  const transactionsOf = new TransactionStore(from)
  const order = await replayOrder(from, transactionsOf)
  const hasRecords = includesLayouts(recorded, presentLayouts(outputs, ['spends']))
  const hasOutputs = includesLayouts(recorded, presentLayouts(outputs, ['output']))
  const { indexer } = node.engine
  const refused: Refusal[] = []
  for (const [done, txid] of order.entries()) {
    signal?.throwIfAborted()
    if (done % 100 === 0) onProgress('indexing and submitting transactions', done, order.length)
    const known = hasRecords ? await from.use(spends).at().get(recordField, txid) : undefined
    const wanted = config.index !== 'off' && (!hasOutputs || (await wasIndexed(from, txid)))
    const [topics, missing] = topicsOf(node, known)
    for (const topic of missing) refuse(refused, txid, unhosted(topic))
    try {
      const beef = Beef.of(await transactionsOf.ancestry([txid]))
      if (wanted) await indexer.index(beef, known?.seen)
      else await indexer.indexAncestor(beef, known?.seen)
      await withTokens(node, topics.length > 0 ? toTopics(node, topics) : async () => undefined)(beef)
    } catch (error) {
      if (!isAboutTheTransaction(error)) throw error
      refuse(refused, txid, error)
    }
  }
  await node.tokens?.pipeline.settle()
  onProgress('indexing and submitting transactions', order.length, order.length)
  return { transactions: order.length, refused }
}

const refuse = (refused: Refusal[], txid: Txid, { code, message: reason }: QuoinError): void => {
  if (refused.length < MAX_REFUSED) refused.push({ txid: formatTxid(txid), code, reason })
}

/** The topics that had a transaction: the ones that the node hosts, and the ones whose plug-in is not loaded. */
const topicsOf = (
  { engine: { topics } }: OpenNode,
  record: TransactionRecord | undefined
): readonly [hosted: readonly string[], missing: readonly string[]] =>
  record
    ? [record.topics.filter(topic => topics.has(topic)), record.topics.filter(topic => !topics.has(topic))]
    : [[...topics.keys()], []]

const unhosted = (topic: string): QuoinError =>
  new QuoinError(
    'ERR_TOPIC_UNKNOWN',
    `the node has no topic ${topic}: name its plug-in with --plugins, and rebuild again`
  )

/** The indexer gives each output that it has seen the event of its transaction. */
const wasIndexed = async (from: Store, txid: Txid): Promise<boolean> => {
  const event = outputEvents.types.txid.text(txid)
  const found = await from.hrange(outputHashes.scan(txid))
  return found.some(({ fields }) =>
    fields.some(
      ({ field, value }) => eventsField.owns(field) && eventsField.value.codec.decode(value).includes(event)
    )
  )
}

/** Mined transactions in the order of the chain, then the others, parents first. */
const replayOrder = async (from: Store, stored: TransactionStore): Promise<readonly Txid[]> => {
  const mined = await stored.minedBetween(0)
  const placed = new Set(mined.map(bytesKey))
  const order = [...mined]
  const waiting = new Map<string, Txid>()
  for await (const rows of pagesOf(from, transactions)) {
    for (const { key } of rows) {
      const [txid] = transactions.decode(key)
      if (!placed.has(bytesKey(txid))) waiting.set(bytesKey(txid), txid)
    }
  }
  for (const txid of waiting.values()) await placeAfterParents(txid, waiting, placed, order, stored)
  return order
}

/** Without recursion: chains of unproved transactions may be long. */
const placeAfterParents = async (
  subject: Txid,
  waiting: ReadonlyMap<string, Txid>,
  placed: Set<string>,
  order: Txid[],
  stored: TransactionStore
): Promise<void> => {
  const stack = [subject]
  while (stack.length > 0) {
    const txid = stack.at(-1)!
    const transaction = placed.has(bytesKey(txid)) ? undefined : await stored.get(txid)
    const parents = (transaction?.spentTxids() ?? []).flatMap(parent => {
      const name = bytesKey(parent)
      return waiting.has(name) && !placed.has(name) ? [parent] : []
    })
    if (parents.length > 0) {
      stack.push(...parents)
      continue
    }
    stack.pop()
    if (placed.has(bytesKey(txid))) continue
    placed.add(bytesKey(txid))
    order.push(txid)
  }
}

/** The key-values of a collection, in pages. */
async function* pagesOf(store: Store, collection: Collection): AsyncGenerator<readonly KeyValue[]> {
  const range = rangeOf(collection)
  for (let { start } = range; ; ) {
    const rows = await store.range({ ...range, start }, { limit: PAGE })
    yield rows.filter(({ key }) => collection.owns(key))
    if (rows.length < PAGE) return
    start = successor(rows.at(-1)!.key)
  }
}
