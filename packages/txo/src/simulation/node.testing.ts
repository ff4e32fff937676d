/** The index under test, with all that is above its store: what operations are done to. */
import { Bump, type HeaderSource, HeaderStore, sha256d, syncHeaders } from '@quoin/chain'
import { formatTxid } from '@quoin/primitives'
import type { Store } from '@quoin/store'
import { Indexer } from '../indexer.ts'
import { OutputStore } from '../output-store.ts'
import { Proofs } from '../proofs.ts'
import { changeOf, EVENTS } from './marks.testing.ts'
import { answerOf, DONE, type Operation, outcomeOf } from './operation.testing.ts'

const HEADER_LENGTH = 80

export class IndexNode {
  readonly outputs: OutputStore
  readonly #headers: HeaderStore
  readonly #indexer: Indexer

  private constructor(outputs: OutputStore, headers: HeaderStore) {
    this.outputs = outputs
    this.#headers = headers
    this.#indexer = new Indexer(outputs, headers)
  }

  /** @param now Unix seconds. */
  static async open(store: Store, now: () => number): Promise<IndexNode> {
    const headers = await HeaderStore.open(store, { network: 'regtest', clock: () => Math.floor(now()) })
    return new IndexNode(new OutputStore(store, { now, events: EVENTS }), headers)
  }

  /** Does it, and says what came of it. */
  async perform(operation: Operation): Promise<string> {
    try {
      await this.#perform(operation)
      return DONE
    } catch (error) {
      return outcomeOf(error)
    }
  }

  async #perform(operation: Operation): Promise<unknown> {
    switch (operation.kind) {
      case 'index':
        return this.#indexer.index(operation.beef, operation.seen)
      case 'prove':
        return new Proofs(this.outputs, this.#headers).save(operation.txid, Bump.parse(operation.bump))
      case 'headers':
        return syncHeaders(this.#headers, sourceOf(operation.headers))
      case 'reconcile': {
        const { source, from } = operation
        const proofs = source && {
          name: 'simulation',
          proof: async (txid: Parameters<typeof formatTxid>[0]) => answerOf(source, formatTxid(txid))
        }
        return new Proofs(this.outputs, this.#headers, proofs).reconcile(from)
      }
      case 'plugin': {
        const { txid, marks } = operation
        return this.outputs.commit(changeOf(txid, marks).dependOn(txid))
      }
      case 'rollback':
        return this.outputs.rollback(operation.txid)
      case 'rollbackTo':
        return this.outputs.rollbackTo(operation.height)
    }
  }
}

/** A source that has these headers. */
const sourceOf = (headers: Uint8Array): HeaderSource => {
  const at = (height: number): number => height * HEADER_LENGTH
  const height = headers.length / HEADER_LENGTH - 1
  return {
    name: 'simulation',
    tip: async () => ({ height, hash: sha256d(headers.subarray(at(height))) }),
    headers: async (from, count) => headers.subarray(at(from), at(from + count))
  }
}
