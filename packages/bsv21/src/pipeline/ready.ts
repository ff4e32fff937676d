/**
 * Which tokens have something in their queues, so that nobody has to look into all of them: tokens with nothing to do
 * cost no work at all. A token that is not active goes to the idle ones, until that changes.
 *
 * The score counts how often something was put into the queue of a token. It leaves when its queue was seen empty and the
 * score has not changed since, so what is put there at that moment is not forgotten.
 */

import type { TokenId } from '@quoin/keyspace'
import { QuoinError } from '@quoin/primitives'
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

  /** Tokens whose queues have something in them, a page at a time. */
  ready(): AsyncGenerator<readonly ReadyToken[], void, undefined> {
    return this.#pages(ready)
  }

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

  /** Its queue is empty. */
  async done({ token, score }: ReadyToken): Promise<void> {
    const batch = this.#store.batch()
    batch.use(ready).at().expect(token, score)
    batch.use(ready).at().delete(token)
    await unlessChanged(batch)
  }

  /** It is not active. */
  async park({ token, score }: ReadyToken): Promise<void> {
    // Both at once would be forgotten if it came to be active in between: so it is idle first.
    const parking = this.#store.batch()
    parking.use(idle).at().add(token, score)
    await parking.commit()
    await this.done({ token, score })
  }

  /** It may be active now. */
  async wake(token: TokenId): Promise<void> {
    const batch = this.#store.batch()
    batch.use(ready).at().increment(token, 1)
    batch.use(idle).at().delete(token)
    await batch.commit()
  }

  async isIdle(token: TokenId): Promise<boolean> {
    return (await this.#store.use(idle).at().score(token)) !== undefined
  }
}

/** If something has come meanwhile, the token stays. */
const unlessChanged = async (batch: Batch): Promise<void> => {
  try {
    await batch.commit()
  } catch (error) {
    if (!(error instanceof QuoinError) || error.code !== 'ERR_STORE_PRECONDITION') throw error
  }
}
