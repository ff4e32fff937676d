/** Rows in memory, in a B+ tree whose clones share nodes, so that a snapshot costs nothing. */

import type { KeyRange } from '@quoin/keyspace'
import { compareBytes } from '@quoin/primitives'
import BTreeModule from 'sorted-btree'
import type { EngineStats, KeyValue } from '../engine.ts'
import { EmbeddedEngine, type SyncDatabase } from './embedded.ts'
import type { Snapshot } from './engine-reads.ts'
import { type GroupResult, GroupWriter } from './group-writer.ts'
import { copyKey, type ReadKey, type RowWrites, type SyncRows } from './kv.ts'

// The package is CommonJS with a default export, which Node and bundlers see differently.
const BTree = ('default' in BTreeModule ? BTreeModule.default : BTreeModule) as typeof BTreeModule.default
type Tree = InstanceType<typeof BTree<Uint8Array, Uint8Array>>

/** The writes of rows, seen by a test or a benchmark before they are made. */
type Tap = (writes: RowWrites) => RowWrites

export const openMemory = (tap: Tap = writes => writes): EmbeddedEngine =>
  new EmbeddedEngine(new MemoryDatabase(tap))

const copy = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes)

class MemoryRows implements SyncRows {
  readonly #tree: Tree

  constructor(tree: Tree) {
    this.#tree = tree
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#tree.get(key)
  }

  rows(range: KeyRange, limit: number): KeyValue[] {
    const found: KeyValue[] = []
    this.#walk(range, limit, 0, (key, value) => found.push({ key: copy(key), value: copy(value) }))
    return found
  }

  keys<T>(range: KeyRange, limit: number, offset: number, read: ReadKey<T>): T[] {
    const found: T[] = []
    this.#walk(range, limit, offset, key => found.push(read(key, 0, key.length)))
    return found
  }

  #walk(
    { start, end, reverse }: KeyRange,
    limit: number,
    offset: number,
    visit: (key: Uint8Array, value: Uint8Array) => void
  ): void {
    let passed = 0
    const entries = reverse
      ? this.#tree.entriesReversed(end ?? undefined, undefined, true)
      : this.#tree.entries(start)
    for (const [key, value] of entries) {
      if (reverse ? compareBytes(key, start) < 0 : end && compareBytes(key, end) >= 0) return
      if (passed++ < offset) continue
      if (passed > offset + limit) return
      visit(key, value)
    }
  }
}

class MemoryDatabase implements SyncDatabase {
  readonly name = 'memory'
  readonly scans = 'sync'
  readonly #tree: Tree = new BTree<Uint8Array, Uint8Array>(undefined, compareBytes)
  readonly rows = new MemoryRows(this.#tree)
  readonly #writer: GroupWriter

  constructor(tap: Tap) {
    const tree = this.#tree
    const writes: RowWrites = {
      get: key => tree.get(key),
      keys: (start, end, limit, reverse = false) =>
        this.rows.keys({ start, end, reverse }, limit, 0, copyKey),
      put: (key, value) => {
        tree.set(copy(key), copy(value))
      },
      del: key => {
        tree.delete(key)
      }
    }
    this.#writer = new GroupWriter(tap(writes))
  }

  snapshot(): Snapshot<SyncRows> {
    return { rows: new MemoryRows(this.#tree.clone()), release: () => {} }
  }

  async write(batches: readonly Uint8Array[]): Promise<GroupResult> {
    this.#writer.begin()
    const outcomes = batches.map(batch => this.#writer.run(batch))
    return { outcomes, written: this.#writer.flush() }
  }

  async probe(): Promise<void> {}

  async stats(): Promise<EngineStats> {
    let bytes = 0
    this.#tree.forEachPair((key, value) => {
      bytes += key.length + value.length
    })
    return { engine: this.name, bytes, details: { rows: this.#tree.size } }
  }

  async close(): Promise<void> {
    this.#tree.clear()
  }
}
