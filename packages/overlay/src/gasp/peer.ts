/** The client side of sync: a peer over HTTP, in the protocol of `@bsv/overlay`, or in the same process. */
import { setTimeout as sleep } from 'node:timers/promises'
import { backoffDelay, fetchReasonOf, formatTxid, isRetryable, QuoinError, readBody } from '@quoin/primitives'
import { answerAnchors } from '../anchors/serve.ts'
import { ANCHOR_ROUTES, type AnchorQuestion } from '../anchors/wire.ts'
import type { Engine } from '../engine.ts'
import { changesOf } from './peer-changes.ts'
import { foreignNode, syncResponse } from './serve.ts'
import { transactionBatch } from './serve-batch.ts'
import type { BatchRequest, NodeRequest, SyncRequest } from './wire.ts'

/** Answers are untrusted, in form and content. */
export interface Peer {
  /** The key of the saved progress. */
  readonly name: string
  syncResponse(topic: string, request: SyncRequest, signal?: AbortSignal): Promise<unknown>
  /** Throws with `details.gone` when the peer does not have the transaction. */
  node(request: NodeRequest, signal?: AbortSignal): Promise<unknown>
  /** Several transactions in one BEEF; undefined when the peer does not serve batches. */
  transactions?(topic: string, request: BatchRequest, signal?: AbortSignal): Promise<Uint8Array | undefined>
  /** The answer to a question of BRC-136; undefined when the peer has no anchors of the topic. */
  anchors?(
    question: AnchorQuestion,
    topic: string,
    request: object,
    signal?: AbortSignal
  ): Promise<unknown | undefined>
  /** Topics with changes, as the peer commits them, and all of them first. Throws when the stream ends. */
  changes?(topics: readonly string[], signal: AbortSignal): AsyncIterable<readonly string[]>
}

export interface HttpPeerOptions {
  /** Milliseconds that one answer may take, to its last byte; 30,000 unless given. */
  readonly timeout?: number
  /** The largest answer that is read, in bytes; 32 MiB unless given. */
  readonly maxBytes?: number
  /** Attempts at a request, 3 unless given. */
  readonly attempts?: number
  /** Milliseconds of the longest delay before the second attempt, doubled for each further one; 250 unless given. */
  readonly backoff?: number
  /** Milliseconds without a byte after which a stream of changes counts as lost; 60,000 unless given. */
  readonly silence?: number
  readonly fetch?: typeof fetch
}

const MAX_DELAY_MS = 60_000

/** A node at an http or https address. */
export const httpPeer = (url: string, options: HttpPeerOptions = {}): Peer => {
  const { timeout = 30_000, maxBytes = 32 * 1024 * 1024, attempts = 3, backoff = 250 } = options
  const send = options.fetch ?? fetch
  const name = addressOf(url)

  const askOnce = async (
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined
  ): Promise<Uint8Array> => {
    const limit = AbortSignal.timeout(timeout)
    try {
      const response = await send(`${name}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        redirect: 'error',
        signal: signal ? AbortSignal.any([signal, limit]) : limit
      })
      const answer = await readAnswer(name, response, maxBytes)
      if (response.ok) return answer
      throw refusal(name, response.status, decoder.decode(answer))
    } catch (error) {
      if (error instanceof QuoinError) throw error
      // An abort by the caller is not a failure of the peer.
      signal?.throwIfAborted()
      if (limit.aborted) throw unavailable(name, `did not answer within ${timeout} ms`, { cause: error })
      throw unavailable(name, `cannot be reached: ${fetchReasonOf(error)}`, { cause: error })
    }
  }

  const ask = async (
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined
  ): Promise<Uint8Array> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await askOnce(path, body, headers, signal)
      } catch (error) {
        if (!isRetryable(error) || attempt >= attempts) throw error
        await sleep(
          backoffDelay(attempt, { first: backoff, limit: MAX_DELAY_MS }),
          undefined,
          signal && { signal }
        )
      }
    }
  }

  return {
    name,
    syncResponse: async (topic, request, signal) =>
      parsed(name, await ask('/requestSyncResponse', request, { 'x-bsv-topic': topic }, signal)),
    anchors: async (question, topic, request, signal) => {
      try {
        return parsed(name, await ask(ANCHOR_ROUTES[question], request, { 'x-bsv-topic': topic }, signal))
      } catch (error) {
        if (error instanceof QuoinError && hasNoAnchors(error)) return undefined
        throw error
      }
    },
    changes: (topics, signal) => changesOf(name, topics, { silence: options.silence, signal }),
    node: async (request, signal) => parsed(name, await ask('/requestForeignGASPNode', request, {}, signal)),
    transactions: async (topic, request, signal) => {
      try {
        return await ask('/requestTransactions', batchJson(request), { 'x-bsv-topic': topic }, signal)
      } catch (error) {
        if (error instanceof QuoinError && isUnserved(error.details['status'])) return undefined
        throw error
      }
    }
  }
}

/** An engine of the same process, through the same bytes as over HTTP. */
export const localPeer = (name: string, engine: Engine): Peer => {
  const served = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer
    } catch (error) {
      if (!(error instanceof QuoinError)) throw error
      throw failure(name, `refused: ${error.message}`, {
        cause: error,
        ...(error.code === 'ERR_TX_UNKNOWN' && { gone: true }),
        ...(error.code === 'ERR_ANCHORS_UNSUPPORTED' && { noAnchors: true })
      })
    }
  }
  const overTheWire = async (answer: Promise<unknown>): Promise<unknown> =>
    JSON.parse(JSON.stringify(await served(answer)))
  return {
    name,
    syncResponse: (topic, request) => overTheWire(syncResponse(engine, topic, request)),
    node: request => overTheWire(foreignNode(engine, request)),
    transactions: (topic, request) => served(transactionBatch(engine, topic, batchJson(request))),
    anchors: async (question, topic, request) => {
      try {
        return await overTheWire(answerAnchors(engine, question, topic, request))
      } catch (error) {
        if (error instanceof QuoinError && hasNoAnchors(error)) return undefined
        throw error
      }
    }
  }
}

const readAnswer = (name: string, response: Response, maxBytes: number): Promise<Uint8Array> =>
  readBody(response, maxBytes, () => failure(name, `answered with more than ${maxBytes} bytes`))

const decoder = new TextDecoder()

/** Statuses for a route that a node does not have. */
const isUnserved = (status: unknown): boolean => status === 404 || status === 405 || status === 501

const hasNoAnchors = ({ details }: QuoinError): boolean =>
  details['noAnchors'] === true || isUnserved(details['status'])

const batchJson = ({ version, txids, block }: BatchRequest) => ({
  version,
  ...(txids && { txids: txids.map(formatTxid) }),
  ...(block && { block })
})

const parsed = (name: string, answer: Uint8Array): unknown => {
  try {
    return JSON.parse(decoder.decode(answer))
  } catch (cause) {
    throw failure(name, 'sent an answer that is not JSON', { cause })
  }
}

const refusal = (name: string, status: number, text: string): QuoinError => {
  const isGone = status === 404 || text.includes('"ERR_TX_UNKNOWN"')
  const isTransient = (status >= 500 && status !== 501) || status === 429
  const make = isTransient ? unavailable : failure
  return make(name, `answered with status ${status}: ${text.slice(0, 200)}`, {
    status,
    ...(isGone && { gone: true }),
    // Other implementations of BRC-136 answer with this code.
    ...(text.includes('"BASM_UNSUPPORTED"') && { noAnchors: true }),
    ...(text.includes('"ERR_TOPIC_UNKNOWN"') && { unknownTopic: true })
  })
}

const failure = (name: string, reason: string, details: Record<string, unknown> = {}): QuoinError =>
  new QuoinError('ERR_SYNC_PEER', `${name} ${reason}`, { peer: name, ...details })

const unavailable = (name: string, reason: string, details: Record<string, unknown>): QuoinError =>
  new QuoinError('ERR_SYNC_UNAVAILABLE', `${name} ${reason}`, { peer: name, ...details })

const addressOf = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url && !(url.search || url.hash || url.username || url.password)
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    throw new QuoinError(
      'ERR_SYNC_PEER',
      'invalid peer address: expected http or https, without a query or a password'
    )
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}
