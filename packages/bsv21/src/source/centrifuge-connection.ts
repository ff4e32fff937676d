/**
 * One connection to a Centrifuge server: it connects, subscribes to channels, answers pings, renews its token, and hands
 * out publications in order, on request. Publications are buffered up to a limit, beyond which the socket is not read. A
 * connection is used once: an error is thrown to the reader after all earlier publications, and ends the connection.
 */
import { QuoinError } from '@quoin/primitives'
import {
  type ConnectResult,
  connectCommand,
  type DisconnectReason,
  PONG,
  type Publication,
  type Reply,
  readFrame,
  refreshCommand,
  subscribeCommand,
  writeFrame
} from './centrifuge.ts'
import type { FieldWriter } from './protobuf.ts'
import { type FrameSocket, openSocket } from './websocket.ts'

/** Buffered bytes beyond which the socket is not read. */
const HIGH_WATER = 8 * 1024 * 1024
/** Overhead of a publication beside its data. */
const OVERHEAD = 200
/** Part of its lifetime after which a token is renewed. */
const RENEWAL = 0.8
/** The longest timer, in seconds. */
const MAX_TTL = 2_000_000

export interface ConnectionOptions {
  readonly token: string
  readonly channels: readonly string[]
  /** Milliseconds for opening and authentication, and for a late ping. */
  readonly timeout: number
  /** Closes the connection. */
  readonly signal: AbortSignal | undefined
  /** Fetches a new token before the current one expires. */
  renew(): Promise<string>
}

export class CentrifugeConnection {
  readonly #name: string
  readonly #options: ConnectionOptions
  #socket: FrameSocket | undefined
  #failure: QuoinError | undefined
  readonly #publications: Publication[] = []
  #waiting = 0
  #isPaused = false
  /** Handlers of replies, by command id. */
  readonly #asked = new Map<number, (reply: Reply) => void>()
  #lastId = 0
  #isPongWanted = false
  /** Milliseconds after which a silent server counts as lost; 0 if it may be silent. */
  #patience = 0
  #silence: NodeJS.Timeout | undefined
  #renewal: NodeJS.Timeout | undefined
  #wake: () => void = () => undefined

  private constructor(name: string, options: ConnectionOptions) {
    this.#name = name
    this.#options = options
  }

  /** Opens, authenticates and subscribes. Rejects with an error of a source. */
  static async open(url: string, options: ConnectionOptions): Promise<CentrifugeConnection> {
    const connection = new CentrifugeConnection(new URL(url).host, options)
    try {
      connection.#socket = await openSocket(url, {
        protocol: 'centrifuge-protobuf',
        timeout: options.timeout,
        signal: options.signal,
        received: frame => connection.#received(frame),
        ended: error => connection.#fail(error)
      })
      await connection.#introduce()
    } catch (error) {
      connection.close()
      throw error
    }
    return connection
  }

  /**
   * Publications in order, at most `limit`; none if none arrives within the time. Throws the reason of the end of the
   * connection after all earlier publications.
   */
  async next(limit: number, timeout: number): Promise<Publication[]> {
    if (this.#publications.length === 0 && !this.#failure) await this.#news(timeout)
    const taken = this.#publications.splice(0, limit)
    if (taken.length === 0 && this.#failure) throw this.#failure
    for (const { data } of taken) this.#waiting -= data.length + OVERHEAD
    if (this.#isPaused && this.#waiting < HIGH_WATER / 2) {
      this.#isPaused = false
      this.#socket?.resume()
    }
    return taken
  }

  close(): void {
    clearTimeout(this.#silence)
    clearTimeout(this.#renewal)
    this.#socket?.end()
    this.#publications.length = 0
    this.#failure ??= this.#error('ERR_SOURCE_CONNECTION', 'has no listener any more')
    this.#wake()
  }

  async #introduce(): Promise<void> {
    const { token, channels, timeout } = this.#options
    this.#ask(
      id => connectCommand(id, token),
      ({ connected }) => this.#connected(connected)
    )
    for (const channel of channels) {
      this.#ask(
        id => subscribeCommand(id, channel),
        () => undefined
      )
    }
    const deadline = performance.now() + timeout
    while (this.#asked.size > 0 && !this.#failure) {
      const left = deadline - performance.now()
      if (left > 0) await this.#news(left)
      else this.#fail(this.#error('ERR_SOURCE_CONNECTION', `did not answer within ${timeout} ms`))
    }
    if (this.#failure) throw this.#failure
  }

  /** Resolves at the next event, or after the time. */
  async #news(timeout: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>(resolve => {
      this.#wake = resolve
      timer = setTimeout(resolve, timeout)
    })
    clearTimeout(timer)
  }

  #ask(command: (id: number) => FieldWriter, answered: (reply: Reply) => void): void {
    const id = ++this.#lastId
    this.#asked.set(id, answered)
    this.#socket?.send(writeFrame([command(id)]))
  }

  #received(frame: Uint8Array): void {
    if (this.#failure) return
    this.#listen()
    try {
      for (const reply of readFrame(frame)) this.#take(reply)
    } catch (error) {
      if (!(error instanceof QuoinError)) throw error
      this.#fail(this.#error('ERR_SOURCE_FORMAT', `sends nonsense: ${error.message}`, error.details))
    }
    if (!this.#isPaused && this.#waiting >= HIGH_WATER) {
      this.#isPaused = true
      this.#socket?.pause()
    }
    this.#wake()
  }

  #take(reply: Reply): void {
    const { publication, disconnected, unsubscribed } = reply
    if (reply.isPing) {
      if (this.#isPongWanted) this.#socket?.send(writeFrame([PONG]))
    } else if (reply.id > 0) this.#answered(reply)
    else if (publication) {
      this.#publications.push(publication)
      this.#waiting += publication.data.length + OVERHEAD
    } else if (disconnected) this.#ended('the connection', disconnected)
    else if (unsubscribed) this.#ended(`the subscription to ${unsubscribed.channel}`, unsubscribed)
  }

  #answered(reply: Reply): void {
    const answered = this.#asked.get(reply.id)
    this.#asked.delete(reply.id)
    if (!reply.error) answered?.(reply)
    else {
      const { code, message } = reply.error
      this.#fail(this.#error('ERR_SOURCE_REFUSED', `answers: ${message || code}`, { code }))
    }
  }

  #connected(connected: ConnectResult | undefined): void {
    if (!connected) {
      this.#fail(this.#error('ERR_SOURCE_FORMAT', 'answers something else than was asked'))
      return
    }
    this.#isPongWanted = connected.pong
    this.#patience = connected.ping > 0 ? connected.ping * 1000 + this.#options.timeout : 0
    this.#listen()
    this.#renewAfter(connected.ttl)
  }

  /** A server that sends pings and is silent is lost, unless the socket is paused. */
  #listen(): void {
    clearTimeout(this.#silence)
    if (this.#patience === 0) return
    this.#silence = setTimeout(() => {
      if (this.#isPaused) this.#listen()
      else this.#fail(this.#error('ERR_SOURCE_CONNECTION', `is silent for ${this.#patience} ms`))
    }, this.#patience)
    this.#silence.unref()
  }

  #renewAfter(seconds: number): void {
    clearTimeout(this.#renewal)
    if (seconds === 0) return
    this.#renewal = setTimeout(() => void this.#renew(), Math.min(seconds, MAX_TTL) * 1000 * RENEWAL)
    this.#renewal.unref()
  }

  async #renew(): Promise<void> {
    try {
      const token = await this.#options.renew()
      if (this.#failure) return
      this.#ask(
        id => refreshCommand(id, token),
        ({ connected }) => this.#renewAfter(connected?.ttl ?? 0)
      )
    } catch {
      // The server closes the connection when the token expires; the next connection gets a new one.
    }
  }

  #ended(what: string, { code, reason }: DisconnectReason): void {
    this.#fail(this.#error('ERR_SOURCE_REFUSED', `ended ${what}: ${reason || code}`, { code }))
  }

  #fail(error: QuoinError): void {
    if (this.#failure) return
    this.#failure = error
    clearTimeout(this.#silence)
    clearTimeout(this.#renewal)
    this.#socket?.end()
    this.#wake()
  }

  #error(
    code: 'ERR_SOURCE_CONNECTION' | 'ERR_SOURCE_REFUSED' | 'ERR_SOURCE_FORMAT',
    reason: string,
    details: Record<string, unknown> = {}
  ): QuoinError {
    return new QuoinError(code, `${this.#name} ${reason}`, { ...details, source: this.#name, reason })
  }
}
