/** The other side of Centrifuge's messages: commands are read, and replies written. */
import { delimited, FieldReader, FieldWriter } from './protobuf.ts'

export interface Command {
  readonly id: number
  readonly connect?: { readonly token: string; readonly name: string }
  readonly subscribe?: { readonly channel: string }
  readonly unsubscribe?: { readonly channel: string }
  readonly refresh?: { readonly token: string }
  readonly isPong: boolean
}

export const readCommands = (frame: Uint8Array): Command[] => {
  const commands: Command[] = []
  const reader = new FieldReader(frame)
  while (!reader.isAtEnd) commands.push(readCommand(reader.delimited()))
  return commands
}

const readCommand = (bytes: Uint8Array): Command => {
  let command: Command = { id: 0, isPong: bytes.length === 0 }
  const reader = new FieldReader(bytes)
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) command = { ...command, id: reader.u32() }
    else if (field === 4) {
      const texts = textsOf(reader.bytes())
      command = { ...command, connect: { token: texts[1] ?? '', name: texts[4] ?? '' } }
    } else if (field === 5) command = { ...command, subscribe: { channel: textsOf(reader.bytes())[1] ?? '' } }
    else if (field === 6) command = { ...command, unsubscribe: { channel: textsOf(reader.bytes())[1] ?? '' } }
    else if (field === 14) command = { ...command, refresh: { token: textsOf(reader.bytes())[1] ?? '' } }
    else reader.skip()
  }
  return command
}

/** The fields of a request that are texts, which are those up to the fifth. */
const textsOf = (bytes: Uint8Array): Record<number, string> => {
  const texts: Record<number, string> = {}
  const reader = new FieldReader(bytes)
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1 || field === 4 || field === 5) texts[field] = reader.text()
    else reader.skip()
  }
  return texts
}

export interface ConnectReply {
  readonly ping?: number
  readonly pong?: boolean
  readonly ttl?: number
}

const reply = (id: number): FieldWriter => new FieldWriter().u64(1, id)

export const connectReply = (id: number, { ping = 0, pong = false, ttl = 0 }: ConnectReply): FieldWriter =>
  reply(id).message(
    5,
    new FieldWriter()
      .text(1, 'client-1')
      .text(2, '0.0.0')
      .u64(3, ttl > 0)
      .u64(4, ttl)
      .u64(7, ping)
      .u64(8, pong)
  )

export const subscribeReply = (id: number): FieldWriter => reply(id).message(6, new FieldWriter())
export const unsubscribeReply = (id: number): FieldWriter => reply(id).message(7, new FieldWriter())

export const refreshReply = (id: number, ttl: number): FieldWriter =>
  reply(id).message(
    14,
    new FieldWriter()
      .text(1, 'client-1')
      .u64(3, ttl > 0)
      .u64(4, ttl)
  )

export const errorReply = (id: number, code: number, message: string, temporary = false): FieldWriter =>
  reply(id).message(2, new FieldWriter().u64(1, code).text(2, message).u64(3, temporary))

const push = (channel: string, field: number, body: FieldWriter): FieldWriter =>
  new FieldWriter().message(4, new FieldWriter().text(2, channel).message(field, body))

export const publicationPush = (channel: string, data: Uint8Array): FieldWriter =>
  push(channel, 4, new FieldWriter().bytes(4, data))

export const unsubscribePush = (channel: string, code: number, reason: string): FieldWriter =>
  push(channel, 7, new FieldWriter().u64(2, code).text(3, reason))

export const disconnectPush = (code: number, reason: string): FieldWriter =>
  push('', 11, new FieldWriter().u64(1, code).text(2, reason))

export const PING = new FieldWriter()

export const writeReplies = (replies: readonly FieldWriter[]): Uint8Array => delimited(replies)
