/** The states of tokens in a store. The digest of a whole token is cached until the log of its topic grows. */
import { createHash } from 'node:crypto'
import { compareBytes, type Outpoint, parseOutpoint, type TokenId, type Topic } from '@quoin/primitives'
import { Book, type OutputStore, outputs as outputKeys } from '@quoin/txo'
import { bsv21Events } from '../keys.ts'
import { queueOfToken } from '../pipeline/queues.ts'
import { Tokens, tokenIdsAfter } from '../tokens.ts'
import { topicOf } from '../topic-names.ts'
import {
  type DigestPage,
  MAX_DIGESTED,
  MAX_UNMINED,
  type OutputRange,
  type RangeDigest,
  type StateRow,
  type TokenDigest,
  type TokenStates,
  UNMINED
} from './token-states.ts'

const { topicOutputs } = outputKeys.collections
const { index } = bsv21Events.types.id
const MAX_CACHED = 10_000
const NO_SPENDER = new Uint8Array(32)

interface Digests {
  readonly outputsDigest: string | undefined
  readonly holdersDigest: string | undefined
}

export class StoredStates implements TokenStates {
  readonly name: string
  readonly #outputs: OutputStore
  readonly #tokens: Tokens
  /** Digests by token, with the position of the topic's log that they are of. */
  readonly #cache = new Map<TokenId, Digests & { readonly position: number }>()

  constructor(outputs: OutputStore, name = 'the store') {
    this.#outputs = outputs
    this.#tokens = new Tokens(outputs)
    this.name = name
  }

  async page(after: TokenId | undefined, limit: number): Promise<DigestPage> {
    const ids = await tokenIdsAfter(this.#outputs.store, after, limit + 1)
    const budget = { rows: MAX_DIGESTED }
    const tokens: TokenDigest[] = []
    for (const id of ids.slice(0, limit)) tokens.push(await this.#digestOf(id, budget))
    return { tokens, hasMore: ids.length > limit }
  }

  async token(id: TokenId): Promise<TokenDigest | undefined> {
    const isKnown = await this.#outputs.store.use(index).at(id).count()
    return isKnown > 0 ? this.#digestOf(id, { rows: MAX_DIGESTED }) : undefined
  }

  async #digestOf(id: TokenId, budget: { rows: number }): Promise<TokenDigest> {
    const { store } = this.#outputs
    const topic = topicOf(id)
    const [position, count, { minted, supply, listed, holders }, queue] = await Promise.all([
      this.#outputs.membership(topic).last(),
      store.use(topicOutputs).at(topic).count(),
      this.#tokens.totals(id),
      queueOfToken(store, id).stats()
    ])
    const cached = this.#cache.get(id)
    const digests =
      cached?.position === position
        ? cached
        : await this.#digests(id, topic, position, count, holders, budget)
    return {
      id,
      minted,
      supply,
      listed,
      holders,
      outputs: count,
      outputsDigest: digests.outputsDigest,
      holdersDigest: digests.holdersDigest,
      isPending: queue.due + queue.leased + queue.waiting + queue.dead > 0
    }
  }

  async #digests(
    id: TokenId,
    topic: Topic,
    position: number,
    count: number,
    holders: number,
    budget: { rows: number }
  ): Promise<Digests> {
    if (count > budget.rows || holders > budget.rows) return TOO_MANY
    budget.rows -= Math.max(count, holders)
    const rows = await this.#outputs.store.use(topicOutputs).at(topic).range()
    const digests = {
      outputsDigest: digestOf(inOutpointOrder(await this.#withSpenders(rows.map(({ member }) => member)))),
      holdersDigest: await this.#holdersDigest(id, holders)
    }
    if ((await this.#outputs.membership(topic).last()) === position) {
      if (this.#cache.size >= MAX_CACHED) this.#cache.clear()
      this.#cache.set(id, { ...digests, position })
    }
    return digests
  }

  async #holdersDigest(id: TokenId, holders: number): Promise<string> {
    const hash = createHash('sha256')
    if (holders === 0) return hash.digest('hex')
    const book = new Book(this.#outputs.store, parseOutpoint(id))
    const { accounts } = await book.ranked({ limit: holders })
    for (const { account, total } of accounts) hash.update(account).update(`:${total};`)
    return hash.digest('hex')
  }

  async range(token: TokenId, { from, to, limit, isListed }: OutputRange): Promise<RangeDigest> {
    const topic = topicOf(token)
    const { outpoints, next } =
      from < UNMINED
        ? await this.#mined(topic, from, Math.min(to, UNMINED), limit)
        : await this.#unmined(topic)
    const stated = await this.#withSpenders(outpoints)
    const rows = from < UNMINED ? stated : inOutpointOrder(stated)
    return { outputs: rows.length, digest: digestOf(rows), next, rows: isListed ? rows : undefined }
  }

  /** Outputs of one score are of one transaction, and stay together. */
  async #mined(
    topic: Topic,
    from: number,
    to: number,
    limit: number
  ): Promise<{ readonly outpoints: readonly Outpoint[]; readonly next: number | undefined }> {
    const set = this.#outputs.store.use(topicOutputs).at(topic)
    const rows = await set.range({ min: from, max: to, maxExclusive: true, count: limit + 1 })
    const outpoints = rows.map(({ member }) => member)
    if (rows.length <= limit) return { outpoints, next: undefined }
    const [first, last] = [rows[0]!.score, rows[limit]!.score]
    if (first < last) {
      return { outpoints: rows.flatMap(({ member, score }) => (score < last ? member : [])), next: last }
    }
    const same = await set.range({ min: first, max: first })
    const [after] = await set.range({ min: first, minExclusive: true, max: to, maxExclusive: true, count: 1 })
    return { outpoints: same.map(({ member }) => member), next: after?.score }
  }

  async #unmined(
    topic: Topic
  ): Promise<{ readonly outpoints: readonly Outpoint[]; readonly next: undefined }> {
    const set = this.#outputs.store.use(topicOutputs).at(topic)
    const rows = await set.range({ min: UNMINED, count: MAX_UNMINED })
    return { outpoints: rows.map(({ member }) => member), next: undefined }
  }

  async #withSpenders(outpoints: readonly Outpoint[]): Promise<StateRow[]> {
    const spenders = await this.#outputs.spends(outpoints)
    return outpoints.map((outpoint, i) => ({ outpoint, spender: spenders[i] ?? undefined }))
  }
}

const TOO_MANY: Digests = { outputsDigest: undefined, holdersDigest: undefined }

const inOutpointOrder = (rows: readonly StateRow[]): StateRow[] =>
  [...rows].sort((a, b) => compareBytes(a.outpoint, b.outpoint))

const digestOf = (rows: readonly StateRow[]): string => {
  const hash = createHash('sha256')
  for (const { outpoint, spender = NO_SPENDER } of rows) hash.update(outpoint).update(spender)
  return hash.digest('hex')
}
