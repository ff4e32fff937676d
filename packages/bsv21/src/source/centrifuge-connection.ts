/**
 * One connection to a Centrifuge server: it introduces itself, subscribes to channels, answers pings, renews its token,
 * and gives what is published, in order, as it is asked for. What nobody asked for yet waits here, up to so many bytes,
 * and beyond that the server has to wait. It lives once: whatever goes wrong is thrown to whoever reads, after all that
 * came before, and then it is over.
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

/** Bytes that wait before the socket is no longer read. */
const HIGH_WATER = 8 * 1024 * 1024
/** A publication takes more than its data. */
const OVERHEAD = 200
/** A token is renewed when so much of its life is over. */
const RENEWAL = 0.8
/** No timer is longer, in seconds. */
const MAX_TTL = 2_000_000

export interface ConnectionOptions {
  readonly token: string
  readonly channels: readonly string[]
  /** Milliseconds that opening it, and being let in, may take, and that a ping may be late. */
  readonly timeout: number
  /** Ends it. */
  readonly signal: AbortSignal | undefined
  /** A new token, when this one is about to end. */
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
  /** What is done with the answers to commands, by their ids. */
  readonly #asked = new Map<number, (reply: Reply) => void>()
  #lastId = 0
  #isPongWanted = false
  /** Milliseconds after which a silent server is gone; 0 when it may be silent. */
  #patience = 0
  #silence: NodeJS.Timeout | undefined
  #renewal: NodeJS.Timeout | undefined
  #wake: () => void = () => undefined

  private constructor(name: string, options: ConnectionOptions) {
    this.#name = name
    this.#options = options
  }

  /** Open, let in and subscribed. Rejects with an error of a source. */
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
   * What was published since, in order, and at most so many; nothing when nothing comes for so many milliseconds.
   * Throws why the connection is over, once all that came before is taken.
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
    this.#failure ??= this.#error('ERR_SOURCE_CONNECTION', 'is no longer listened to')
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

  /** Resolves when something happened, or after a while. */
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

  /** A server that sends pings and is not heard of is gone; but while nothing is read nothing can be heard. */
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
      // The server ends the connection when the token ends, and the next one begins with a token of its own.
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
