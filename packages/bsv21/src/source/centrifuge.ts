/**
 * The messages of the Centrifuge protocol that JungleBus streams in: version 2 of centrifugal/protocol, as protobuf. A
 * client sends commands, and the server replies; a message from the server alone is a reply without an id, with a push. One
 * frame of the websocket may have several, each behind its length; an empty one is a ping or its answer.
 */
import { delimited, FieldReader, FieldWriter } from './protobuf.ts'

interface ServerError {
  readonly code: number
  readonly message: string
  readonly temporary: boolean
}

export interface ConnectResult {
  /** Seconds between pings of the server; 0 without pings. */
  readonly ping: number
  /** Whether pings are answered. */
  readonly pong: boolean
  /** Lifetime of the token in seconds; 0 without an end. */
  readonly ttl: number
}

/** A publication on a channel. */
export interface Publication {
  readonly channel: string
  /** A view of the frame. */
  readonly data: Uint8Array
}

/** The end of a subscription or of the connection, by the server. */
export interface DisconnectReason {
  readonly code: number
  readonly reason: string
}

export interface Reply {
  /** Id of the command; 0 for a push. */
  readonly id: number
  readonly error?: ServerError
  readonly connected?: ConnectResult
  readonly publication?: Publication
  readonly unsubscribed?: DisconnectReason & { readonly channel: string }
  readonly disconnected?: DisconnectReason
  /** An empty message. */
  readonly isPing: boolean
}

/** Field numbers. */
const COMMAND = { id: 1, connect: 4, subscribe: 5, refresh: 14 }
const REPLY = { id: 1, error: 2, push: 4, connect: 5, refresh: 14 }

export const connectCommand = (id: number, token: string): FieldWriter =>
  new FieldWriter()
    .u64(COMMAND.id, id)
    .message(COMMAND.connect, new FieldWriter().text(1, token).text(4, 'quoin'))

export const subscribeCommand = (id: number, channel: string): FieldWriter =>
  new FieldWriter().u64(COMMAND.id, id).message(COMMAND.subscribe, new FieldWriter().text(1, channel))

/** Command with a new token. */
export const refreshCommand = (id: number, token: string): FieldWriter =>
  new FieldWriter().u64(COMMAND.id, id).message(COMMAND.refresh, new FieldWriter().text(1, token))

export const PONG = new FieldWriter()

export const writeFrame = (commands: readonly FieldWriter[]): Uint8Array => delimited(commands)

/** Parses the replies of a frame; throws ERR_SOURCE_FORMAT for malformed ones. */
export function* readFrame(frame: Uint8Array): Generator<Reply, void, undefined> {
  const reader = new FieldReader(frame)
  while (!reader.isAtEnd) yield readReply(reader.delimited())
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const readReply = (bytes: Uint8Array): Reply => {
  const reply: Mutable<Reply> = { id: 0, isPing: bytes.length === 0 }
  const reader = new FieldReader(bytes)
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === REPLY.id) reply.id = reader.u32()
    else if (field === REPLY.error) reply.error = readError(reader.bytes())
    else if (field === REPLY.push) Object.assign(reply, readPush(reader.bytes()))
    else if (field === REPLY.connect) reply.connected = readConnected(reader.bytes(), 7, 8)
    else if (field === REPLY.refresh) reply.connected = readConnected(reader.bytes(), 0, 0)
    else reader.skip()
  }
  return reply
}

const readError = (bytes: Uint8Array): ServerError => {
  const error: Mutable<ServerError> = { code: 0, message: '', temporary: false }
  const reader = new FieldReader(bytes)
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) error.code = reader.u32()
    else if (field === 2) error.message = reader.text()
    else if (field === 3) error.temporary = reader.bool()
    else reader.skip()
  }
  return error
}

/** The results of connect and refresh have the lifetime of the token in the same fields. */
const readConnected = (bytes: Uint8Array, ping: number, pong: number): ConnectResult => {
  const result = { ping: 0, pong: false, ttl: 0, expires: false }
  const reader = new FieldReader(bytes)
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 3) result.expires = reader.bool()
    else if (field === 4) result.ttl = reader.u32()
    else if (field === ping) result.ping = reader.u32()
    else if (field === pong) result.pong = reader.bool()
    else reader.skip()
  }
  const { expires, ...connected } = result
  return expires ? connected : { ...connected, ttl: 0 }
}

/** Parses publications, and the ends of subscriptions and of the connection; other pushes are skipped. */
const readPush = (bytes: Uint8Array): Partial<Reply> => {
  let channel = ''
  let data: Uint8Array | undefined
  let unsubscribed: DisconnectReason | undefined
  let disconnected: DisconnectReason | undefined
  const reader = new FieldReader(bytes)
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 2) channel = reader.text()
    else if (field === 4) data = readPublication(reader.bytes())
    else if (field === 7) unsubscribed = readEnding(reader.bytes(), 2, 3)
    else if (field === 11) disconnected = readEnding(reader.bytes(), 1, 2)
    else reader.skip()
  }
  return {
    ...(data && { publication: { channel, data } }),
    ...(unsubscribed && { unsubscribed: { ...unsubscribed, channel } }),
    ...(disconnected && { disconnected })
  }
}

const readPublication = (bytes: Uint8Array): Uint8Array => {
  let data = new Uint8Array()
  const reader = new FieldReader(bytes)
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 4) data = reader.bytes() as Uint8Array<ArrayBuffer>
    else reader.skip()
  }
  return data
}

const readEnding = (bytes: Uint8Array, code: number, reason: number): DisconnectReason => {
  const ending: Mutable<DisconnectReason> = { code: 0, reason: '' }
  const reader = new FieldReader(bytes)
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === code) ending.code = reader.u32()
    else if (field === reason) ending.reason = reader.text()
    else reader.skip()
  }
  return ending
}
