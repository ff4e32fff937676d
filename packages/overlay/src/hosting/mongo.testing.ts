/** A server that speaks the wire protocol of MongoDB, as far as `insertOne` and `find` need: documents in memory. */
import { createServer, type Server, type Socket } from 'node:net'
import { BSON } from 'mongodb'

const OP_MSG = 2013
const OP_QUERY = 2004
const OP_REPLY = 1

type Document = Record<string, unknown>

export class MongoServer {
  readonly documents = new Map<string, Document[]>()
  readonly #server: Server = createServer(socket => this.#serve(socket))
  readonly #sockets = new Set<Socket>()
  #requests = 0

  async listen(): Promise<number> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve))
    return (this.#server.address() as { port: number }).port
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    let kept = Buffer.alloc(0)
    socket.on('error', () => socket.destroy())
    socket.on('data', chunk => {
      kept = Buffer.concat([kept, chunk])
      while (kept.length >= 4 && kept.length >= kept.readInt32LE(0)) {
        const message = kept.subarray(0, kept.readInt32LE(0))
        kept = kept.subarray(message.length)
        socket.write(this.#reply(message))
      }
    })
  }

  #reply(message: Buffer): Buffer {
    const id = message.readInt32LE(4)
    const code = message.readInt32LE(12)
    const command = code === OP_QUERY ? queryOf(message) : commandOf(message)
    const body = Buffer.from(BSON.serialize({ ok: 1, ...this.#run(command) }))
    const before =
      code === OP_QUERY ? Buffer.from([8, 0, 0, 0, ...new Array(12).fill(0), 1, 0, 0, 0]) : Buffer.alloc(5)
    const head = Buffer.alloc(16)
    head.writeInt32LE(16 + before.length + body.length, 0)
    head.writeInt32LE(++this.#requests, 4)
    head.writeInt32LE(id, 8)
    head.writeInt32LE(code === OP_QUERY ? OP_REPLY : OP_MSG, 12)
    return Buffer.concat([head, before, body])
  }

  #run(command: Document): Document {
    const name = Object.keys(command)[0]!
    if (/^(hello|ismaster)$/i.test(name)) {
      return {
        ismaster: true,
        isWritablePrimary: true,
        helloOk: true,
        minWireVersion: 0,
        maxWireVersion: 21,
        maxBsonObjectSize: 16_777_216,
        maxMessageSizeBytes: 48_000_000,
        maxWriteBatchSize: 100_000
      }
    }
    const collection = `${command['$db']}.${command[name]}`
    const stored = this.documents.get(collection) ?? []
    if (name === 'insert') {
      this.documents.set(collection, [...stored, ...(command['documents'] as Document[])])
      return { n: 1 }
    }
    if (name === 'find') return { cursor: { id: 0n, ns: collection, firstBatch: stored } }
    return {}
  }
}

/** The command document, with the documents of sections of kind 1 under their names. */
const commandOf = (message: Buffer): Document => {
  let command: Document = {}
  for (let at = 20; at < message.length; ) {
    const size = message.readInt32LE(at + 1)
    const section = message.subarray(at + 1, at + 1 + size)
    if (message[at] === 0) command = { ...BSON.deserialize(section), ...command }
    else {
      const name = section.subarray(4, section.indexOf(0, 4)).toString()
      const documents: Document[] = []
      for (let from = 5 + name.length; from < size; from += section.readInt32LE(from)) {
        documents.push(BSON.deserialize(section.subarray(from, from + section.readInt32LE(from))))
      }
      command = { ...command, [name]: documents }
    }
    at += 1 + size
  }
  return command
}

const queryOf = (message: Buffer): Document => {
  const end = message.indexOf(0, 20)
  return BSON.deserialize(message.subarray(end + 9))
}
