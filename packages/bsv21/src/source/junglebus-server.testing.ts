/**
 * A JungleBus on this machine: the same HTTP, the same websocket, the same messages. It has the blocks that it is given,
 * sends to each subscription those from the one that it asks for, and what comes after as it comes. It can be made to
 * lose, repeat, hold back and mix up what it sends, to break off, and to talk nonsense.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseTransaction, writeBeef } from '@quoin/chain'
import { formatOutpoint, formatTxid, fromHex, makeOutpoint, parseTxid } from '@quoin/primitives'
import type WebSocket from 'ws'
import { WebSocketServer } from 'ws'
import type { ServedBlock, ServedTransaction } from './junglebus.testing.ts'
import { type Fault, type Sending, Session, type SessionSettings } from './junglebus-session.testing.ts'
import { bumpOfTsc } from './tsc-proof.ts'

export type { Fault, Sending }

export interface JungleBusServerOptions extends SessionSettings {
  readonly fault?: (sending: Sending) => Fault
}

export class JungleBusServer {
  /** What was asked over HTTP, and what was subscribed to, in order. */
  readonly asked: string[] = []
  /** Whether anybody is let in. */
  isOpen = true
  fault: (sending: Sending) => Fault
  readonly #options: JungleBusServerOptions
  readonly #blocks = new Map<number, ServedBlock>()
  readonly #transactions = new Map<string, { readonly served: ServedTransaction; readonly height: number }>()
  readonly #sessions = new Set<Session>()
  readonly #http: Server
  readonly #websockets: WebSocketServer
  #tokens = 0

  private constructor(options: JungleBusServerOptions) {
    this.#options = options
    this.fault = options.fault ?? (() => 'send')
    this.#http = createServer((request, response) => this.#answer(request, response))
    this.#websockets = new WebSocketServer({ server: this.#http, path: '/connection/websocket' })
    this.#websockets.on('connection', socket => this.#connected(socket))
  }

  static async start(options: JungleBusServerOptions): Promise<JungleBusServer> {
    const server = new JungleBusServer(options)
    await new Promise<void>(resolve => server.#http.listen(0, '127.0.0.1', resolve))
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`
  }

  get subscription(): string {
    return this.#options.subscription
  }

  get sessions(): number {
    return this.#sessions.size
  }

  /** Pings that were answered. */
  get pongs(): number {
    return [...this.#sessions].reduce((sum, { pongs }) => sum + pongs, 0)
  }

  /** Bytes that clients have not read. */
  get waiting(): number {
    return [...this.#sessions].reduce((sum, { waiting }) => sum + waiting, 0)
  }

  get tip(): number {
    return Math.max(-1, ...this.#blocks.keys())
  }

  /** A block on top, or in place of one. */
  add(...blocks: readonly ServedBlock[]): void {
    for (const block of blocks) {
      this.#blocks.set(block.height, block)
      for (const served of block.transactions) {
        this.#transactions.set(formatTxid(served.txid), { served, height: block.height })
      }
    }
    for (const session of this.#sessions) session.feed()
  }

  /** Replaces all blocks from the first of these on, and says so. */
  reorg(...blocks: readonly ServedBlock[]): void {
    const from = blocks[0]!.height
    for (const height of this.#blocks.keys()) if (height >= from) this.#blocks.delete(height)
    for (const block of blocks) this.#blocks.set(block.height, block)
    for (const session of this.#sessions) session.reorged(from)
  }

  /** Transactions of a block that the subscription does not select. */
  know(height: number, ...transactions: readonly ServedTransaction[]): void {
    for (const served of transactions) this.#transactions.set(formatTxid(served.txid), { served, height })
  }

  /** A transaction that is not mined. */
  seen(served: ServedTransaction): void {
    for (const session of this.#sessions) session.mempool(served)
  }

  /** The server ends the connections, with a reason of its own. */
  disconnect(code: number, reason: string): void {
    for (const session of this.#sessions) session.disconnect(code, reason)
  }

  unsubscribe(code: number, reason: string): void {
    for (const session of this.#sessions) session.unsubscribe(code, reason)
  }

  /** The connections are gone, without a word. */
  breakAll(): void {
    for (const session of this.#sessions) session.break()
  }

  /** The connections that there are stay, and nothing comes over them any more. */
  set isSilent(isSilent: boolean) {
    for (const session of this.#sessions) session.isSilent = isSilent
  }

  async close(): Promise<void> {
    this.breakAll()
    this.#websockets.close()
    await new Promise<void>(resolve => {
      this.#http.close(() => resolve())
      this.#http.closeAllConnections()
    })
  }

  #connected(socket: WebSocket): void {
    const session: Session = new Session(socket, {
      ...this.#options,
      asked: this.asked,
      isOpen: () => this.isOpen,
      block: height => this.#blocks.get(height),
      tip: () => this.tip,
      fault: sending => this.fault(sending),
      ended: () => this.#sessions.delete(session)
    })
    this.#sessions.add(session)
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.asked.push(`${request.method} ${request.url}`)
    const path = request.url!.split('?')[0]!
    if (!this.isOpen) send(response, 503, { error: 'closed' })
    else if (path === '/v1/user/subscription-token') send(response, 200, { token: `token-${++this.#tokens}` })
    else if (path === '/v1/user/refresh-token') {
      if (request.headers['token']) send(response, 200, { token: `token-${++this.#tokens}` })
      else send(response, 401, { error: 'no token' })
    } else if (path === '/v1/block_header/tip') send(response, 200, { height: this.tip })
    else this.#answerTransaction(path, response)
  }

  #answerSpend(outpoint: string, response: ServerResponse): void {
    const spender = [...this.#transactions.values()].find(({ served }) =>
      parseTransaction(served.raw).inputs.some(
        ({ txid, vout }) => formatOutpoint(makeOutpoint(txid, vout), '_') === outpoint
      )
    )
    sendBytes(response, spender ? fromHex(formatTxid(spender.served.txid)) : new Uint8Array())
  }

  #answerTransaction(path: string, response: ServerResponse): void {
    const [, outpoint] = /^\/v1\/txo\/spend\/([0-9a-f]{64}_\d+)$/.exec(path) ?? []
    if (outpoint !== undefined) {
      this.#answerSpend(outpoint, response)
      return
    }
    const [, kind, id = ''] = /^\/v1\/transaction\/(get|beef|proof)\/([0-9a-f]{64})/.exec(path) ?? []
    const found = this.#transactions.get(id)
    if (!found) {
      send(response, 404, { error: 'not found' })
      return
    }
    const { served, height } = found
    const bump = bumpOfTsc(served.proof, parseTxid(id), height)
    const transaction = parseTransaction(served.raw)
    if (kind === 'get') sendBytes(response, served.raw)
    else if (kind === 'proof') sendBytes(response, bump.toBytes())
    else {
      sendBytes(response, writeBeef({ version: 1, transactions: [{ txid: served.txid, transaction, bump }] }))
    }
  }
}

const send = (response: ServerResponse, status: number, value: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}

const sendBytes = (response: ServerResponse, bytes: Uint8Array): void => {
  response.writeHead(200, { 'content-type': 'application/octet-stream' })
  response.end(bytes)
}
