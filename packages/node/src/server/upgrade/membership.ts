/**
 * The migration that gives topics their membership logs. Version 0.1 had three logs for each topic: transactions that
 * changed it, its unspent outputs, and transactions that were rolled back. Their place is taken by one log: first the
 * rolled back transactions, then the outputs of each transaction in the order of arrival, each output once.
 */
import { outpoint, topic, txid } from '@quoin/chain/components'
import { collection, json, keyspace, logOf } from '@quoin/keyspace'
import { type Admission, type Admissions, overlay } from '@quoin/overlay'
import {
  bytesKey,
  makeOutpoint,
  type Outpoint,
  successor,
  type Topic,
  type Txid,
  txidOf,
  voutOf
} from '@quoin/primitives'
import { type Log, layoutsOf, type Store } from '@quoin/store'
import { type MembershipChange, membershipEntries, OutputStore, outputs as outputKeys } from '@quoin/txo'
import { isJson, type Migration, type MigrationOptions, rangeOf, readJson } from './migration.ts'

const arrivals = keyspace('overlay', {
  arrivedOutputs: collection({ key: ['l:arrived:', topic('topic')], value: logOf(outpoint('outpoint')) }),
  arrivedTransactions: collection({
    key: ['l:arrived:', topic('topic'), ':tx'],
    value: logOf(txid('txid'))
  }),
  takenBack: collection({ key: ['l:arrived:', topic('topic'), ':back'], value: logOf(txid('txid')) }),
  evicted: collection({ key: ['t:', txid('txid'), ':gone'], value: json<readonly number[]>() })
})
const { arrivedOutputs, arrivedTransactions, takenBack, evicted } = arrivals.collections
const { judgements } = overlay.collections
const { membership, topicOutputs } = outputKeys.collections
const { initialCursors } = overlay.collections
const { cursor } = initialCursors.value.fields.collections

/** Rows of a page. */
const PAGE = 500

export const writeMembershipLogs: Migration = {
  name: 'write the membership logs of topics',
  from: layoutsOf([arrivals]),
  to: {},
  removed: layoutsOf([arrivals]),
  async run(store, options) {
    let rows = 0
    const onProgress = (): void => options.onProgress(++rows)
    for (const each of await topicsOf(store)) {
      await new TopicMigration(store, each, { ...options, onProgress }).run()
    }
    await deleteEvicted(store)
  }
}

/** Topics that have outputs, or one of the earlier logs. */
const topicsOf = async (store: Store): Promise<Topic[]> => {
  const topics = new Set<Topic>()
  for (const each of [topicOutputs, arrivedOutputs, arrivedTransactions, takenBack]) {
    for (const key of await store.zkeys(rangeOf(each))) if (each.owns(key)) topics.add(each.decode(key)[0])
  }
  return [...topics].sort()
}

class TopicMigration {
  readonly #store: Store
  readonly #outputs: OutputStore
  readonly #topic: Topic
  readonly #options: MigrationOptions
  readonly #arrived: Log<Txid>

  constructor(store: Store, name: Topic, options: MigrationOptions) {
    this.#store = store
    this.#outputs = new OutputStore(store)
    this.#topic = name
    this.#options = options
    this.#arrived = store.logAt(arrivedTransactions, [name])
  }

  /** Appends the entries that the log lacks, then drops the earlier logs in the commit that sets the first cursor. */
  async run(): Promise<void> {
    const [store, key] = [this.#store, membership.encode(this.#topic)]
    const done = await store.use(initialCursors).at().get(cursor, this.#topic)
    if (done !== undefined) return this.#dropLogs()
    const log = this.#outputs.membership(this.#topic)
    const written = await log.last()
    let position = 0
    let batch = store.batch()
    for await (const changes of this.#changes()) {
      for (const entry of membershipEntries(changes)) {
        // The entries are the same ones after an interruption.
        if (++position <= written) continue
        batch.append(key, entry)
        this.#options.onProgress(position)
        if (position % PAGE > 0) continue
        await batch.commit()
        batch = store.batch()
        this.#options.signal?.throwIfAborted()
      }
    }
    batch.use(initialCursors).at().set(cursor, [this.#topic], position)
    await batch.commit()
    await this.#dropLogs()
  }

  /** The changes of each entry. */
  async *#changes(): AsyncGenerator<readonly MembershipChange[]> {
    for await (const rolledBack of entriesOf(this.#store.logAt(takenBack, [this.#topic]))) {
      const vouts = (await this.#store.use(evicted).get(rolledBack)) ?? [0]
      yield vouts.flatMap((vout): MembershipChange[] => {
        const change = { outpoint: makeOutpoint(rolledBack, vout) }
        return [
          { kind: 'admitted', ...change },
          { kind: 'retracted', ...change }
        ]
      })
    }
    for await (const arrived of entriesOf(this.#arrived)) {
      const changes = await this.#changesOf(arrived)
      if (changes.length > 0) yield changes
    }
    yield* this.#unlisted()
  }

  /** Coins of the topic that a transaction spent and that left with it, then the outputs of it that the topic has. */
  async #changesOf(arrived: Txid): Promise<MembershipChange[]> {
    const judgement = (await admissionsOf(this.#store, arrived))?.[this.#topic]
    const coins = judgement ? await this.#coins(arrived, judgement) : []
    const left: Outpoint[] = []
    for (const [i, spender] of (await this.#outputs.spends(coins)).entries()) {
      const coin = coins[i]!
      const isSpender = spender !== null && bytesKey(spender) === bytesKey(arrived)
      if (isSpender && !(await this.#outputs.isInTopic(this.#topic, coin))) left.push(coin)
    }
    return [
      ...left.flatMap((coin): MembershipChange[] => [
        { kind: 'admitted', outpoint: coin },
        { kind: 'spent', outpoint: coin, spender: arrived },
        { kind: 'removed', outpoint: coin }
      ]),
      ...(await this.#members(arrived, judgement?.outputsToAdmit ?? []))
    ]
  }

  async #coins(arrived: Txid, { previousCoins }: Admission): Promise<Outpoint[]> {
    if (previousCoins.length === 0) return []
    const transaction = await this.#outputs.transactions.get(arrived)
    return previousCoins.flatMap(input => {
      const spent = transaction?.inputs[input]
      return spent ? [makeOutpoint(spent.txid, spent.vout)] : []
    })
  }

  async #members(arrived: Txid, vouts: readonly number[]): Promise<MembershipChange[]> {
    const changes: MembershipChange[] = []
    for (const vout of vouts) {
      const member = makeOutpoint(arrived, vout)
      if (await this.#outputs.isInTopic(this.#topic, member))
        changes.push(...(await this.#memberChanges(member)))
    }
    return changes
  }

  async #memberChanges(member: Outpoint): Promise<MembershipChange[]> {
    const [spender] = await this.#outputs.spends([member])
    const admitted: MembershipChange = { kind: 'admitted', outpoint: member }
    return spender ? [admitted, { kind: 'spent', outpoint: member, spender }] : [admitted]
  }

  /** Outputs of the topic whose transaction is not in the log of arrivals, or did not admit them by its judgement. */
  async *#unlisted(): AsyncGenerator<readonly MembershipChange[]> {
    const listed = arrivedTransactions.encode(this.#topic).slice()
    const members = this.#store.use(topicOutputs).at(this.#topic)
    for (let offset = 0; ; offset += PAGE) {
      const rows = await members.range({ offset, count: PAGE })
      for (const { member } of rows) {
        const arrived = txidOf(member)
        const isListed = (await this.#store.zscore(listed, arrived)) !== undefined
        if (isListed && (await this.#isAdmitted(member))) continue
        yield await this.#memberChanges(member)
      }
      if (rows.length < PAGE) return
    }
  }

  async #isAdmitted(member: Outpoint): Promise<boolean> {
    const judgement = (await admissionsOf(this.#store, txidOf(member)))?.[this.#topic]
    return judgement?.outputsToAdmit.includes(voutOf(member)) ?? false
  }

  async #dropLogs(): Promise<void> {
    for (const each of [arrivedOutputs, arrivedTransactions, takenBack]) {
      const key = each.encode(this.#topic).slice()
      for (;;) {
        const rows = await this.#store.zrange(key, { count: PAGE })
        if (rows.length === 0) break
        await this.#store
          .batch()
          .zrem(key, ...rows.map(({ member }) => member))
          .commit()
      }
    }
  }
}

/** Admissions of a transaction: JSON in version 0.1, and binary in a store that was upgraded further. */
const admissionsOf = async (store: Store, txid: Txid): Promise<Admissions | undefined> => {
  const value = await store.get(judgements.encode(txid))
  if (!value) return undefined
  return isJson(value) ? (readJson(value) as Admissions) : judgements.value.codec.decode(value)
}

async function* entriesOf(log: Log<Txid>): AsyncGenerator<Txid> {
  for (let after = 0; ; ) {
    const { entries } = await log.read({ after, limit: PAGE })
    for (const { entry } of entries) yield entry
    if (entries.length === 0) return
    after = entries.at(-1)!.position
  }
}

/** The marks of outputs that lookup services had yet to be told of: the logs say so. */
const deleteEvicted = async (store: Store): Promise<void> => {
  const range = rangeOf(evicted)
  for (let { start } = range; ; ) {
    const rows = await store.range({ ...range, start }, { limit: PAGE })
    const batch = store.batch()
    for (const { key } of rows) if (evicted.owns(key)) batch.del(key)
    await batch.commit()
    if (rows.length < PAGE) return
    start = successor(rows.at(-1)!.key)
  }
}
