/** Counts the row operations and the bytes of a BSV21 transfer, by the collections of their keys. */
import { chain } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import type { AnyKeyspace } from '@quoin/keyspace'
import { overlay } from '@quoin/overlay'
import { Store } from '@quoin/store'
import { outputEvents, outputs, scriptEvents } from '@quoin/txo'
import type { RowWrites } from '../../store/src/ordered/kv.ts'
import { ROLE, ROW_AT, readId, TAG } from '../../store/src/ordered/layout.ts'
import { openMemory } from '../../store/src/ordered/memory.ts'
import { wideId } from '../../store/src/ordered/rows.ts'
import { type Account, round, Stock, spread, toSourceTransaction } from './backfill.testing.ts'
import { bsv21, bsv21Events } from './keys.ts'
import { TokenNode } from './node.testing.ts'
import type { SourceTransaction } from './source/source.ts'
import { topicOf } from './topic-names.ts'

const KEYSPACES: readonly AnyKeyspace[] = [
  chain,
  outputs,
  outputEvents.keyspace,
  scriptEvents.keyspace,
  overlay,
  bsv21,
  bsv21Events.keyspace
]

interface RowCount {
  readonly operations: number
  readonly bytes: number
}

const collectionOf = (key: Uint8Array): string => {
  for (const { name, all } of KEYSPACES) {
    for (const each of all) if (each.owns(key)) return `${name}.${each.name}`
  }
  throw new Error(`no collection owns ${Buffer.from(key).toString('latin1')}`)
}

/** The names of rows by tag, of those that belong to no collection. */
const ROWS: Readonly<Record<number, string>> = {
  [TAG.meta]: 'meta',
  [TAG.member]: 'member',
  [TAG.dependants]: 'dependants',
  [TAG.furtherScore]: 'further score'
}

/** Where the field begins in the key of a wide hash's row. */
const FIELD_AT = 7

/** Counts every row that a store writes. */
class RowCounter {
  /** The collections of sorted sets and of wide hashes, by id. */
  readonly #collections = new Map<number, string>()
  readonly #counts = new Map<string, RowCount & { readonly key: Uint8Array }>()

  readonly tap = (writes: RowWrites): RowWrites => ({
    ...writes,
    put: (key, value) => {
      this.#name(key, value)
      this.#count(key, key.length + value.length)
      writes.put(key, value)
    },
    del: key => {
      this.#count(key, key.length)
      writes.del(key)
    }
  })

  clear(): void {
    this.#counts.clear()
  }

  /** The counts by the names of rows. */
  named(): Map<string, RowCount> {
    const named = new Map<string, RowCount>()
    for (const { key, operations, bytes } of this.#counts.values()) {
      const name = this.#rowName(key)
      const count = named.get(name) ?? { operations: 0, bytes: 0 }
      named.set(name, { operations: count.operations + operations, bytes: count.bytes + bytes })
    }
    return named
  }

  #name(key: Uint8Array, value: Uint8Array): void {
    if (key[0] === TAG.sortedSet) {
      const name = key[1] === ROLE.user ? collectionOf(key.subarray(2)) : 'a state of a queue'
      this.#collections.set(readId(value, 0), name)
    }
    const id = key[0] === TAG.hash ? wideId(value) : undefined
    if (id !== undefined) this.#collections.set(id, collectionOf(key.subarray(1)))
  }

  /** Rows of one set, and fields of one length, are counted together: the name of a set follows its rows. */
  #count(key: Uint8Array, bytes: number): void {
    const isNumbered = key[0] === TAG.row || key[0] === TAG.field
    const kind = isNumbered ? `${key.subarray(0, ROW_AT + 1)} ${key.length}` : this.#rowName(key)
    const count = this.#counts.get(kind) ?? { key: key.slice(), operations: 0, bytes: 0 }
    this.#counts.set(kind, { key: count.key, operations: count.operations + 1, bytes: count.bytes + bytes })
  }

  #rowName(key: Uint8Array): string {
    const tag = key[0]!
    if (tag === TAG.row) {
      return key[ROW_AT] === 0 ? 'cardinality' : `row of ${this.#collections.get(readId(key, 1))}`
    }
    if (tag === TAG.field) {
      return `field of ${key.length - FIELD_AT} bytes, ${this.#collections.get(readId(key, 1))}`
    }
    if (tag === TAG.value) return `value of ${collectionOf(key.subarray(1))}`
    if (tag === TAG.hash) return `hash of ${collectionOf(key.subarray(1))}`
    if (tag === TAG.items) return `queue ${collectionOf(key.subarray(1))}`
    return ROWS[tag] ?? 'name of a sorted set'
  }
}

interface TransferRows {
  readonly transfers: number
  /** Of all transfers, by the row's kind and collection. */
  readonly counts: ReadonlyMap<string, RowCount>
}

/** The rows of a backfill of unmined transfers, each with two inputs and three outputs. */
export const countTransferRows = async (holders: number, rounds: number): Promise<TransferRows> => {
  const counter = new RowCounter()
  const store = new Store(openMemory(counter.tap))
  const chainOfTest = new DevChain()
  const stock = new Stock()
  const node = new TokenNode(store, { chain: chainOfTest, activation: 'all', sources: [stock] })
  const { id, beefs, accounts: first } = await spread(chainOfTest, holders)
  for (const beef of beefs) await node.pipeline.ingest.ingestBeef(beef)
  await node.pipeline.settle()
  const applied = outputs.collections.topicTransactions.encode(topicOf(id)).slice()
  const before = await store.zcard(applied)
  let accounts: readonly Account[] = first
  const staged: SourceTransaction[] = []
  for (let number = 0; number < rounds; number++) {
    const [made, next] = round(id, accounts, number)
    staged.push(...made.map(toSourceTransaction))
    accounts = next
  }
  node.pipeline.start()
  counter.clear()
  stock.give(staged)
  while ((await store.zcard(applied)) < before + staged.length)
    await new Promise(resolve => setTimeout(resolve, 1))
  const counts = counter.named()
  await node.close()
  await store.close()
  return { transfers: staged.length, counts }
}
