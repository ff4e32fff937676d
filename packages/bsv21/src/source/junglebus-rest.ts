/**
 * JungleBus over HTTP: tokens, single transactions, the transactions of an address, and the chain height. Requests are
 * bounded, and fail with ERR_CHAIN_SOURCE, which says whether a retry helps.
 */

import { Beef, Bump, HttpService, parseTransaction } from '@quoin/chain'
import {
  formatOutpoint,
  formatTxid,
  type Outpoint,
  parseTxid,
  reasonOf,
  type Txid,
  toHex
} from '@quoin/primitives'
import type { BlockPosition } from '@quoin/txo'
import type { FollowOptions, SpendSource } from './source.ts'

/** The limit of a BEEF. */
const MAX_BYTES = 32 * 1024 * 1024
const MAX_TOKEN = 8192

export interface RestOptions {
  /** Milliseconds per answer. */
  readonly timeout?: number
  readonly fetch?: typeof fetch
}

/** A transaction of an address. */
export interface AddressTransaction {
  readonly txid: Txid
  readonly mined: BlockPosition | undefined
}

export class JungleBusRest implements SpendSource {
  readonly name: string
  readonly #service: HttpService
  /** Sent with every request, once obtained. */
  token = ''

  constructor(url: string, { timeout = 30_000, fetch: send = fetch }: RestOptions = {}) {
    this.#service = new HttpService(url, {
      timeout,
      maxBytes: MAX_BYTES,
      fetch: (input, init) => {
        const headers = new Headers(init?.headers)
        if (this.token !== '') headers.set('token', this.token)
        return send(input, { ...init, headers })
      }
    })
    this.name = this.#service.name
  }

  /** A token for a subscription. */
  async subscriptionToken(id: string, { signal }: FollowOptions = {}): Promise<string> {
    return this.#token('/v1/user/subscription-token', signal, { id })
  }

  /** Renews the current token. */
  async refreshedToken({ signal }: FollowOptions = {}): Promise<string> {
    return this.#token('/v1/user/refresh-token', signal)
  }

  /** The height of its last block. */
  async tip({ signal }: FollowOptions = {}): Promise<number> {
    const path = '/v1/block_header/tip'
    const { height } = fieldsOf(await this.#json(path, signal))
    if (isHeight(height)) return height
    throw this.#service.failure(path, 'answers without a height')
  }

  /** The BEEF of a transaction, from JungleBus, or assembled from the transaction and its proof. */
  async transaction(txid: Txid, { signal }: FollowOptions = {}): Promise<Beef | undefined> {
    const id = formatTxid(txid)
    const path = `/v1/transaction/beef/${id}`
    const bytes = await this.#bytes(path, signal)
    if (bytes) {
      const beef = this.#understood(path, () => Beef.parse(bytes))
      if (beef.find(txid)?.transaction) return beef
      throw this.#service.failure(path, 'answers with a BEEF of something else')
    }
    const rawPath = `/v1/transaction/get/${id}/bin`
    const raw = await this.#bytes(rawPath, signal)
    if (!raw) return undefined
    const transaction = this.#understood(rawPath, () => parseTransaction(raw))
    if (formatTxid(transaction.txid) !== id) {
      throw this.#service.failure(rawPath, 'answers with another transaction')
    }
    const proofPath = `/v1/transaction/proof/${id}/bin`
    const proof = await this.#bytes(proofPath, signal)
    const bump = proof && this.#understood(proofPath, () => Bump.parse(proof))
    if (bump && !bump.proves(txid)) throw this.#service.failure(proofPath, 'answers with another proof')
    return Beef.of([{ txid, transaction, bump }])
  }

  /** The spender of an output: 32 bytes in the order of display, or none. */
  async spender(outpoint: Outpoint, { signal }: FollowOptions = {}): Promise<Txid | undefined> {
    const path = `/v1/txo/spend/${formatOutpoint(outpoint, '_')}`
    const bytes = await this.#bytes(path, signal)
    if (!bytes) return undefined
    if (bytes.length !== 32)
      throw this.#service.failure(path, `answered with ${bytes.length} bytes, not a txid`)
    return parseTxid(toHex(bytes))
  }

  /** Transactions of an address, from a height on. */
  async addressTransactions(
    address: string,
    from: number,
    { signal }: FollowOptions = {}
  ): Promise<AddressTransaction[]> {
    const path = `/v1/address/get/${encodeURIComponent(address)}/${from}`
    const found = await this.#json(path, signal)
    // Go encodes an empty slice as null.
    if (found === null) return []
    if (!Array.isArray(found)) throw this.#service.failure(path, 'answered with a value that is not a list')
    return found.map(each => {
      const { transaction_id: id, block_height: height, block_index: index } = fieldsOf(each)
      if (typeof id !== 'string' || !/^[0-9a-f]{64}$/.test(id)) {
        throw this.#service.failure(path, 'answered with a value that is not a transaction')
      }
      const isMined = isHeight(height) && height > 0 && Number.isSafeInteger(index) && Number(index) >= 0
      return {
        txid: parseTxid(id),
        mined: isMined ? { height, index: BigInt(index as number) } : undefined
      }
    })
  }

  async #token(path: string, signal: AbortSignal | undefined, body?: unknown): Promise<string> {
    const { token } = fieldsOf(await this.#json(path, signal, body))
    if (typeof token === 'string' && token.length > 0 && token.length <= MAX_TOKEN) return token
    throw this.#service.failure(path, 'answers without a token')
  }

  async #json(path: string, signal: AbortSignal | undefined, body?: unknown): Promise<unknown> {
    return this.#service.json(path, await this.#service.ask(path, { signal, body }))
  }

  async #bytes(path: string, signal: AbortSignal | undefined): Promise<Uint8Array | undefined> {
    const { status, bytes } = await this.#service.ask(path, { signal }, [404])
    return status === 404 || bytes.length === 0 ? undefined : bytes
  }

  #understood<T>(path: string, read: () => T): T {
    try {
      return read()
    } catch (error) {
      throw this.#service.failure(path, `answered with an invalid transaction: ${reasonOf(error)}`, {
        cause: error
      })
    }
  }
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

const isHeight = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 0xffffffff
