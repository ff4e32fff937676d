/** The sockets of the server: malformed HTTP is answered in JSON too, and closing drains requests. */
import { createServer, type Server as NodeServer } from 'node:http'
import type { Duplex } from 'node:stream'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { JSON_TYPE, toJson } from '@quoin/http'
import { QuoinError } from '@quoin/primitives'
import { httpError } from './errors.ts'

type Fetch = (request: Request, env: HttpBindings) => Response | Promise<Response>

/** For a whole request to arrive, so that nobody holds a connection by sending slowly. */
const REQUEST_TIMEOUT_MS = 60_000
/** A hundred topics of the longest names fit. */
const MAX_HEADER = 32 * 1024

export const nodeServer = (fetch: Fetch): NodeServer => {
  const listener = getRequestListener((request, env) => fetch(request, env as HttpBindings), {
    // It does not become a request at all: a host or an address that is none.
    errorHandler: () => {
      const { status, body } = httpError(new QuoinError('ERR_REQUEST', 'the request is malformed'))
      return new Response(toJson(body), { status, headers: { 'content-type': JSON_TYPE } })
    }
  })
  const node = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, maxHeaderSize: MAX_HEADER }, listener)
  node.on('clientError', refuse)
  return node
}

const STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout'
}

const refuse = (error: Error & { readonly code?: string }, socket: Duplex): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const status = STATUS[error.code ?? ''] ?? '400 Bad Request'
  const body = toJson(httpError(new QuoinError('ERR_REQUEST', 'the request is malformed')).body)
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: ${JSON_TYPE}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`
  )
}

/** Accepts nothing more, and ends when everything is answered, or when patience does. */
export const drain = async (node: NodeServer, patience: number): Promise<void> => {
  if (!node.listening) return
  const closed = new Promise<void>(resolve => node.close(() => resolve()))
  node.closeIdleConnections()
  const timer = setTimeout(() => node.closeAllConnections(), patience)
  await closed
  clearTimeout(timer)
}
