/** One client of the JungleBus on this machine. */
import WebSocket from 'ws'
import {
  type Command,
  type ConnectReply,
  connectReply,
  disconnectPush,
  errorReply,
  PING,
  publicationPush,
  readCommands,
  refreshReply,
  subscribeReply,
  unsubscribePush,
  unsubscribeReply,
  writeReplies
} from './centrifuge.testing.ts'
import {
  controlMessage,
  type ServedBlock,
  type ServedTransaction,
  transactionMessage
} from './junglebus.testing.ts'
import type { FieldWriter } from './protobuf.ts'

/** What becomes of a message that is about to be sent. */
export type Fault =
  | 'send'
  | 'drop'
  | 'repeat'
  /** Comes after the next one. */
  | 'reorder'
  /** Comes some milliseconds later. */
  | 'delay'
  /** Breaks off the connection instead. */
  | 'break'
  | 'garbage'

export interface Sending {
  readonly kind: 'transaction' | 'control' | 'mempool'
  readonly height: number
  /** Of a transaction in its block. */
  readonly index: number
}

export interface SessionSettings extends ConnectReply {
  /** The subscription that it has. */
  readonly subscription: string
  /** Messages in one frame of the websocket; 1 unless given. */
  readonly perFrame?: number
  /** Whether it tells of the end of a block that has nothing; it does unless given. */
  readonly tellsOfEmpty?: boolean
}

interface SessionOptions extends SessionSettings {
  readonly asked: string[]
  isOpen(): boolean
  block(height: number): ServedBlock | undefined
  tip(): number
  readonly fault: (sending: Sending) => Fault
  ended(): void
}

const DELAY_MS = 10
const GARBAGE = Uint8Array.of(0x05, 0xff, 0xff, 0xff, 0xff, 0xff)

/** One client. */
export class Session {
  isSilent = false
  /** Pings that were answered. */
  pongs = 0
  readonly #socket: WebSocket
  readonly #options: SessionOptions
  readonly #channels = new Set<string>()
  readonly #frame: FieldWriter[] = []
  #held: FieldWriter | undefined
  #isIn = false
  #next: number | undefined
  #pings: NodeJS.Timeout | undefined
  #isFlushing = false

  constructor(socket: WebSocket, options: SessionOptions) {
    this.#socket = socket
    this.#options = options
    socket.on('message', (data: Buffer) => {
      for (const command of readCommands(new Uint8Array(data))) this.#obey(command)
    })
    socket.on('close', () => {
      clearInterval(this.#pings)
      options.ended()
    })
    socket.on('error', () => this.break())
  }

  /** Sends the blocks that are there and were not sent. */
  feed(): void {
    if (this.#next === undefined) return
    for (; this.#next <= this.#options.tip(); this.#next++) {
      const block = this.#options.block(this.#next)
      for (const served of block?.transactions ?? []) {
        const sending = { kind: 'transaction', height: this.#next, index: served.index } as const
        this.#send(sending, this.#main!, transactionMessage(served, this.#next))
      }
      const count = block?.transactions.length ?? 0
      const done = controlMessage(
        200,
        `Block ${this.#next} done with ${count} transactions`,
        this.#next,
        count
      )
      if (count > 0 || this.#options.tellsOfEmpty !== false) this.#tell(this.#next, done)
    }
    this.#tell(this.#next, controlMessage(100, 'waiting', this.#next))
  }

  reorged(from: number): void {
    this.#tell(from, controlMessage(300, 'reorg', from))
    this.#next = Math.min(this.#next ?? from, from)
    this.feed()
  }

  mempool(served: ServedTransaction): void {
    const channel = `query:${this.#options.subscription}:mempool`
    if (!this.#channels.has(channel)) return
    this.#send({ kind: 'mempool', height: 0, index: 0 }, channel, transactionMessage(served, undefined))
  }

  disconnect(code: number, reason: string): void {
    this.#reply(disconnectPush(code, reason))
    this.#flush()
    this.#socket.close(code, reason)
  }

  unsubscribe(code: number, reason: string): void {
    this.#reply(unsubscribePush(this.#main!, code, reason))
  }

  break(): void {
    this.#socket.terminate()
  }

  get waiting(): number {
    return this.#socket.bufferedAmount
  }

  get #control(): string {
    return `query:${this.#options.subscription}:control`
  }

  get #main(): string | undefined {
    return [...this.#channels].find(channel => /:\d+(:\d+)?$/.test(channel))
  }

  #obey({ id, connect, subscribe, unsubscribe, refresh, isPong }: Command): void {
    const { asked, ttl = 0 } = this.#options
    if (isPong) this.pongs++
    else if (connect) this.#connect(id, connect.token)
    else if (subscribe) this.#subscribe(id, subscribe.channel)
    else if (unsubscribe) {
      asked.push(`unsubscribe ${unsubscribe.channel}`)
      this.#channels.delete(unsubscribe.channel)
      this.#reply(unsubscribeReply(id))
    } else if (refresh) {
      asked.push(`refresh ${refresh.token}`)
      this.#reply(refreshReply(id, ttl))
    }
  }

  #connect(id: number, token: string): void {
    const { asked, isOpen, ping = 0 } = this.#options
    asked.push(`connect ${token}`)
    this.#isIn = isOpen() && token !== ''
    this.#reply(this.#isIn ? connectReply(id, this.#options) : errorReply(id, 101, 'unauthorized'))
    if (this.#isIn && ping > 0) this.#pings = setInterval(() => this.#reply(PING), ping * 1000)
  }

  #subscribe(id: number, channel: string): void {
    this.#options.asked.push(`subscribe ${channel}`)
    const [kind, subscription, place = ''] = channel.split(':')
    if (!this.#isIn || kind !== 'query' || subscription !== this.#options.subscription) {
      this.#reply(errorReply(id, 103, 'permission denied'))
      return
    }
    this.#channels.add(channel)
    this.#reply(subscribeReply(id))
    if (!/^\d+$/.test(place)) return
    this.#next = Number(place)
    this.feed()
  }

  #tell(height: number, data: Uint8Array): void {
    this.#send({ kind: 'control', height, index: 0 }, this.#control, data)
  }

  #send(sending: Sending, channel: string, data: Uint8Array): void {
    const push = publicationPush(channel, data)
    const fault = this.#options.fault(sending)
    if (fault === 'break') this.break()
    else if (fault === 'garbage') this.#raw(GARBAGE)
    else if (fault === 'delay') setTimeout(() => this.#reply(push), DELAY_MS)
    else if (fault === 'reorder' && !this.#held) this.#held = push
    else if (fault !== 'drop') {
      this.#reply(push)
      if (fault === 'repeat') this.#reply(push)
      const held = this.#held
      this.#held = undefined
      if (held) this.#reply(held)
    }
  }

  #reply(reply: FieldWriter): void {
    if (this.isSilent) return
    this.#frame.push(reply)
    if (this.#frame.length >= (this.#options.perFrame ?? 1)) this.#flush()
    else if (!this.#isFlushing) {
      this.#isFlushing = true
      setImmediate(() => {
        this.#isFlushing = false
        this.#flush()
      })
    }
  }

  #flush(): void {
    if (this.#frame.length > 0) this.#raw(writeReplies(this.#frame.splice(0)))
  }

  #raw(bytes: Uint8Array): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(bytes)
  }
}
