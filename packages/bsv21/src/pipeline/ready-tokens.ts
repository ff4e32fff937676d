/**
 * The ready and idle sets: tokens with queue items, active and inactive. Token workers read these sets and never scan
 * the queues, so a token without work costs nothing.
 *
 * The score of a token counts enqueues. Removal from the ready set expects the score that was read before the queue was
 * seen empty, so a concurrent enqueue keeps the token.
 */

import { hasCode, type TokenId } from '@quoin/primitives'
import type { Batch, Store } from '@quoin/store'
import { bsv21 } from '../keys.ts'

const { ready, idle } = bsv21.collections
const PAGE = 1000

export interface ReadyToken {
  readonly token: TokenId
  readonly score: number
}

export class ReadyTokens {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Pages of tokens with queue items. */
  ready(): AsyncGenerator<readonly ReadyToken[], void, undefined> {
    return this.#pages(ready)
  }

  /** Pages of inactive tokens with queue items. */
  idle(): AsyncGenerator<readonly ReadyToken[], void, undefined> {
    return this.#pages(idle)
  }

  async *#pages(of: typeof ready): AsyncGenerator<readonly ReadyToken[], void, undefined> {
    const { codec } = this.#store.use(of).at()
    let cursor: string | undefined
    do {
      const page = await this.#store.search({
        keys: [of.encode()],
        limit: PAGE,
        ...(cursor !== undefined && { cursor })
      })
      yield page.rows.map(({ member, score }) => ({ token: codec.decode(member), score }))
      cursor = page.cursor
    } while (cursor !== undefined)
  }

  /** Removes a token with an empty queue. */
  async remove({ token, score }: ReadyToken): Promise<void> {
    const batch = this.#store.batch()
    batch.use(ready).at().expect(token, score)
    batch.use(ready).at().delete(token)
    await unlessChanged(batch)
  }

  /** Moves an inactive token to the idle set. */
  async markIdle({ token, score }: ReadyToken): Promise<void> {
    // Two commits, idle first: one conditional commit would lose the token to a concurrent activation.
    const batch = this.#store.batch()
    batch.use(idle).at().add(token, score)
    await batch.commit()
    await this.remove({ token, score })
  }

  /** Moves a token to the ready set. */
  async markReady(token: TokenId): Promise<void> {
    const batch = this.#store.batch()
    batch.use(ready).at().increment(token, 1)
    batch.use(idle).at().delete(token)
    await batch.commit()
  }

  async isIdle(token: TokenId): Promise<boolean> {
    return (await this.#store.use(idle).at().score(token)) !== undefined
  }
}

/** Commits, unless the score changed: then the token stays. */
const unlessChanged = async (batch: Batch): Promise<void> => {
  try {
    await batch.commit()
  } catch (error) {
    if (!hasCode(error, 'ERR_STORE_PRECONDITION')) throw error
  }
}
