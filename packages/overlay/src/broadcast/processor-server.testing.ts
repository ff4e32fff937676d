/**
 * A transaction processor on this machine that speaks the protocol of ARC or of Arcade over real HTTP, in front of a
 * development chain. It parses Extended Format, verifies scripts and the stated spent outputs, and knows double spends and
 * orphans. It can also be slow, wrong, or silent, and calls back.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isExtended, parseExtended, type Transaction, verifyTransaction, writeExtended } from '@quoin/chain'
import type { DevChain } from '@quoin/dev-chain'
import { equalBytes, formatTxid, fromHex, hasCode, parseTxid, reasonOf, toHex } from '@quoin/primitives'
import type { ProcessorKind } from './http-processor.ts'

/**
 * `holding`: takes a request and answers when `release` is called. `cutting`: does the work and cuts the connection without
 * an answer. `failing`: 503. `swapping`: answers about another transaction. `babbling`: answers without JSON.
 */
export type Behaviour = 'right' | 'holding' | 'cutting' | 'failing' | 'swapping' | 'babbling'

interface Status {
  readonly txStatus: string
  readonly extraInfo?: string
  readonly competingTxs?: readonly string[]
  /** Answers a submission with this error instead. */
  readonly code?: number
}

interface Callback {
  readonly url: string
  readonly token: string | undefined
}

const OTHER = 'ab'.repeat(32)

export class ProcessorServer {
  behaviour: Behaviour = 'right'
  /** Statuses to answer with, instead of what the chain says, by txid. */
  readonly verdicts = new Map<string, Status>()
  /** Txids of transactions that were submitted, in order; repeated ones too. */
  readonly submissions: string[] = []
  /** Txids that were asked about. */
  readonly checks: string[] = []
  /** The headers of the last request. */
  headers: IncomingMessage['headers'] = {}
  readonly kind: ProcessorKind
  readonly #chain: DevChain
  readonly #token: string | undefined
  readonly #known = new Map<string, Status>()
  readonly #callbacks = new Map<string, Callback>()
  readonly #server = createServer((request, response) => void this.#serve(request, response))
  #held: (() => void)[] = []
  #listeners: (() => void)[] = []

  private constructor(kind: ProcessorKind, chain: DevChain, token: string | undefined) {
    this.kind = kind
    this.#chain = chain
    this.#token = token
  }

  static async start(kind: ProcessorKind, chain: DevChain, token?: string): Promise<ProcessorServer> {
    const server = new ProcessorServer(kind, chain, token)
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Requests that wait for `release`. */
  get held(): number {
    return this.#held.length
  }

  /** Answers the requests that wait, and behaves right from now on. */
  release(): void {
    this.behaviour = 'right'
    const held = this.#held
    this.#held = []
    for (const answer of held) answer()
  }

  /** Resolves when the condition holds after a request. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>(resolve => this.#listeners.push(resolve))
  }

  /** Reports a status where the submission of a transaction asked for it; answers the status of the response. */
  async callback(txid: string, status: Status & { readonly merklePath?: string }): Promise<number> {
    const { url, token } = this.#callbacks.get(txid)!
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` })
      },
      body: JSON.stringify({ txid, timestamp: new Date().toISOString(), ...status })
    })
    await response.arrayBuffer()
    return response.status
  }

  /** Forgets a transaction, as a processor that lost its store. */
  forget(txid: string): void {
    this.#known.delete(txid)
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.headers = request.headers
    const chunks: Uint8Array[] = []
    for await (const chunk of request) chunks.push(chunk as Uint8Array)
    const answer = await this.#answer(request, Buffer.concat(chunks).toString())
    const listeners = this.#listeners
    this.#listeners = []
    if (this.behaviour === 'holding') {
      this.#held.push(() => send(response, answer))
    } else if (this.behaviour === 'cutting') request.socket.destroy()
    else if (this.behaviour === 'failing') send(response, { status: 503, body: { error: 'out of order' } })
    else if (this.behaviour === 'swapping') {
      send(response, { ...answer, body: { ...(answer.body as object), txid: OTHER } })
    } else if (this.behaviour === 'babbling') response.writeHead(200).end('<html>welcome</html>')
    else send(response, answer)
    for (const listener of listeners) listener()
  }

  async #answer({ method, url, headers }: IncomingMessage, body: string): Promise<Answer> {
    const path = this.kind === 'arc' ? url!.replace(/^\/v1/, '') : url!
    if (this.kind === 'arc' && path === url) return { status: 404, body: { title: 'Not found' } }
    if (this.#token !== undefined && headers.authorization !== `Bearer ${this.#token}`)
      return { status: 401, body: { title: 'Unauthorized' } }
    if (method === 'GET' && path === '/policy')
      return {
        status: 200,
        body: { policy: { miningFee: { satoshis: 1, bytes: 1000 } }, timestamp: '2026-01-01' }
      }
    if (method === 'GET') return this.#status(path.slice('/tx/'.length))
    if (method !== 'POST' || path !== '/tx') return { status: 404, body: { title: 'Not found' } }
    return this.#submit(body, headers)
  }

  #status(txid: string): Answer {
    this.checks.push(txid)
    const status = this.verdicts.get(txid) ?? this.#known.get(txid)
    if (!status) return { status: 404, body: { error: 'unknown', txid } }
    return {
      status: 200,
      body: { txid, timestamp: new Date().toISOString(), ...status, ...this.#minedOf(txid) }
    }
  }

  #minedOf(txid: string): object {
    const height = this.#chain.heightOf(parseTxid(txid))
    if (height === undefined || this.verdicts.has(txid)) return {}
    const bump = this.#chain.block(height) && this.#bump(txid)
    return { txStatus: 'MINED', blockHeight: height, ...(bump && { merklePath: bump }) }
  }

  #bump(txid: string): string | undefined {
    return this.#bumps.get(txid)
  }

  /** Merkle paths that the chain has given, in hex. */
  readonly #bumps = new Map<string, string>()

  /** Reads the proof of a mined transaction, which later statuses state. */
  async learnProof(txid: string): Promise<void> {
    const answer = await this.#chain.proof(parseTxid(txid))
    if (answer.status === 'mined') this.#bumps.set(txid, toHex(answer.bump.toBytes()))
  }

  async #submit(body: string, headers: IncomingMessage['headers']): Promise<Answer> {
    let transaction: Transaction
    let bytes: Uint8Array
    try {
      bytes = fromHex((JSON.parse(body) as { rawTx: string }).rawTx)
      transaction = parseExtended(bytes)
    } catch (error) {
      return this.#problem(463, reasonOf(error), undefined)
    }
    const txid = formatTxid(transaction.txid)
    this.submissions.push(txid)
    const url = headers['x-callbackurl'] as string | undefined
    if (url !== undefined) this.#callbacks.set(txid, { url, token: headers['x-callbacktoken'] as string })
    const verdict = this.verdicts.get(txid)
    if (verdict?.code !== undefined) return this.#problem(verdict.code, verdict.extraInfo ?? 'refused', txid)
    if (verdict) return this.#accepted(txid, verdict)
    if (!isExtended(bytes)) return this.#problem(460, 'not in extended format', txid)
    const stated = writeExtended(transaction, of => this.#chain.transaction(of))
    if (stated && !equalBytes(stated, bytes))
      return this.#problem(462, 'spent outputs are stated wrongly', txid)
    try {
      if (stated) await this.#verify(transaction)
      await this.#chain.submit(transaction)
    } catch (error) {
      return this.#refused(txid, error)
    }
    const status = { txStatus: this.kind === 'arc' ? 'SEEN_ON_NETWORK' : 'RECEIVED' }
    this.#known.set(txid, { txStatus: 'SEEN_ON_NETWORK' })
    return this.#accepted(txid, status)
  }

  /** By the spent outputs that the chain has. */
  async #verify(transaction: Transaction): Promise<void> {
    await verifyTransaction(transaction, {
      tracker: this.#chain,
      known: async txids =>
        txids.map(txid => {
          const known = this.#chain.transaction(txid)
          return known && { transaction: known, height: this.#chain.heightOf(txid) }
        })
    })
  }

  #refused(txid: string, error: unknown): Answer {
    if (hasCode(error, 'ERR_TXO_CONFLICT')) {
      const competingTxs = [String(error.details['spender'])]
      if (this.kind === 'arcade') return this.#problem(466, 'double spend', txid)
      return this.#accepted(txid, { txStatus: 'DOUBLE_SPEND_ATTEMPTED', competingTxs })
    }
    if (hasCode(error, 'ERR_TX_UNKNOWN')) return this.#accepted(txid, { txStatus: 'SEEN_IN_ORPHAN_MEMPOOL' })
    return this.#problem(461, reasonOf(error), txid)
  }

  #accepted(txid: string, status: Status): Answer {
    const body = { txid, timestamp: new Date().toISOString(), blockHash: '', extraInfo: '', ...status }
    return this.kind === 'arc' ? { status: 200, body } : { status: 202, body: { ...body, status: 202 } }
  }

  /** ARC answers with the code, Arcade with 400 and the code in the body. */
  #problem(code: number, reason: string, txid: string | undefined): Answer {
    if (this.kind === 'arcade') return { status: 400, body: { error: 'refused', reason, txid, status: code } }
    return { status: code, body: { status: code, title: 'refused', detail: reason, txid, extraInfo: reason } }
  }
}

interface Answer {
  readonly status: number
  readonly body: unknown
}

const send = (response: ServerResponse, { status, body }: Answer): void => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
