/** Sessions in the store: opened once for a request id, read by every process, closed, and forgotten after their replay. */
import { createHash, randomBytes } from 'node:crypto'
import { fromHex, hasCode, toHex } from '@quoin/primitives'
import type { Store } from '@quoin/store'
import { liveLookups, type StoredSession, sessionFields } from './keys.ts'
import { LiveError } from './protocol.ts'

const { sessions, epoch: epochs } = liveLookups.collections
const { session: sessionField, opening } = sessionFields.collections
/** Sessions of a store: anybody may open them. */
const MAX_SESSIONS = 10_000
/** Seconds after its replay for which an opening is remembered, so that a late retry does not open it again. */
const FENCE_SECONDS = 86_400
const PRUNE_MS = 60_000

export interface Session extends StoredSession {
  /** 32 hexadecimal digits. */
  readonly id: string
}

export class Sessions {
  readonly #store: Store
  #count = 0
  #prunedAt = Number.NEGATIVE_INFINITY

  constructor(store: Store) {
    this.#store = store
  }

  /** The name of the logs of this store. */
  async epoch(): Promise<string> {
    const known = await this.#store.use(epochs).get()
    if (known !== undefined) return known
    const batch = this.#store.batch()
    const key = batch.use(epochs).at()
    key.expect(undefined)
    key.set(randomBytes(16).toString('hex'))
    await batch.commit().catch(error => {
      if (!hasCode(error, 'ERR_STORE_PRECONDITION')) throw error
    })
    return (await this.#store.use(epochs).get())!
  }

  /** The session of a request id that was opened before with the same request. */
  async opened(requestId: string, request: string): Promise<Session | undefined> {
    const known = await this.#store.use(sessions).at().get(opening, digestOf(requestId))
    if (!known) return undefined
    if (known.request !== request)
      throw new LiveError('conflict', 'the request id was used for another open; choose a random one')
    const session = await this.find(known.session)
    if (!session || session.isClosed) throw new LiveError('expired', 'the session of the request id is over')
    return session
  }

  /** Stores a session; undefined when another request opened it meanwhile. */
  async open(requestId: string, request: string, session: StoredSession): Promise<Session | undefined> {
    await this.#prune()
    if (this.#count >= MAX_SESSIONS)
      throw new LiveError('unavailable', 'too many live lookups are open', {
        retryable: true,
        retryAfterMs: PRUNE_MS
      })
    const id = randomBytes(16).toString('hex')
    const batch = this.#store.batch()
    const fields = batch.use(sessions).at()
    const key = digestOf(requestId)
    fields.expect(opening, [key], undefined)
    fields.set(opening, [key], { session: id, request, at: Math.floor(Date.now() / 1000) })
    fields.set(sessionField, [fromHex(id)], session)
    try {
      await batch.commit()
    } catch (error) {
      if (hasCode(error, 'ERR_STORE_PRECONDITION')) return undefined
      throw error
    }
    this.#count++
    return { ...session, id }
  }

  async find(id: string): Promise<Session | undefined> {
    if (!/^[0-9a-f]{32}$/.test(id)) return undefined
    const stored = await this.#store.use(sessions).at().get(sessionField, fromHex(id))
    return stored && { ...stored, id }
  }

  async close(id: string): Promise<void> {
    const session = await this.find(id)
    if (!session || session.isClosed) return
    const { id: _, ...stored } = session
    const batch = this.#store.batch()
    batch
      .use(sessions)
      .at()
      .set(sessionField, [fromHex(id)], { ...stored, isClosed: true })
    await batch.commit()
  }

  async #prune(): Promise<void> {
    if (performance.now() - this.#prunedAt < PRUNE_MS) return
    this.#prunedAt = performance.now()
    const now = Date.now() / 1000
    const all = await this.#store.use(sessions).at().all()
    const known = all.entries(sessionField)
    const over = new Set(
      known.filter(({ value }) => value.replayUntil + FENCE_SECONDS <= now).map(({ key: [id] }) => toHex(id))
    )
    this.#count = known.length - over.size
    if (over.size === 0) return
    const batch = this.#store.batch()
    const fields = batch.use(sessions).at()
    for (const id of over) fields.delete(sessionField, fromHex(id))
    for (const { key, value } of all.entries(opening))
      if (over.has(value.session)) fields.delete(opening, ...key)
    await batch.commit()
  }
}

const digestOf = (text: string): Uint8Array => createHash('sha256').update(text).digest()
