/** A websocket for binary frames, with bounds and with errors of a source. It lives once. */

import { QuoinError } from '@quoin/primitives'
import WebSocket from 'ws'

/** The largest frame that is read. */
const MAX_FRAME = 64 * 1024 * 1024

export interface SocketOptions {
  readonly protocol: string
  /** Milliseconds in which it is open. */
  readonly timeout: number
  /** Ends it, open or not. */
  readonly signal: AbortSignal | undefined
  received(frame: Uint8Array): void
  /** It is over; called once, unless it is ended from here. */
  ended(error: QuoinError): void
}

export interface FrameSocket {
  send(frame: Uint8Array): void
  /** Reads no more, so that the other side has to wait. */
  pause(): void
  resume(): void
  end(): void
}

/** Rejects with ERR_SOURCE_CONNECTION when it does not open. */
export const openSocket = async (url: string, options: SocketOptions): Promise<FrameSocket> => {
  const name = new URL(url).host
  const socket = new WebSocket(url, [options.protocol], {
    handshakeTimeout: options.timeout,
    maxPayload: MAX_FRAME,
    perMessageDeflate: true
  })
  let ended: (error: QuoinError) => void = () => undefined
  const over = (error: QuoinError): void => {
    const told = ended
    ended = () => undefined
    options.signal?.removeEventListener('abort', abort)
    // Not a close in good manners: of a socket that is not read the other side's answer would never come.
    socket.terminate()
    told(error)
  }
  const abort = (): void => over(lost(name, 'it is no longer wanted'))
  options.signal?.addEventListener('abort', abort)
  socket.on('error', (error: Error) => over(lost(name, error.message)))
  socket.on('close', (code: number, reason: Buffer) => over(closed(name, code, reason.toString())))
  await new Promise<void>((resolve, reject) => {
    ended = reject
    socket.once('open', resolve)
    if (options.signal?.aborted) abort()
  })
  ended = options.ended
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    // A copy: what is kept of a frame must not keep the larger memory that it was received in.
    if (isBinary) options.received(new Uint8Array(data))
    else over(new QuoinError('ERR_SOURCE_FORMAT', `${name} sends text`, { source: name }))
  })
  return {
    send: frame => socket.send(frame),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    end: () => {
      ended = () => undefined
      over(lost(name, 'it was ended here'))
    }
  }
}

const lost = (source: string, reason: string): QuoinError =>
  new QuoinError('ERR_SOURCE_CONNECTION', `the connection to ${source} is lost: ${reason}`, {
    source,
    reason
  })

/** Codes from 3000 on are reasons of the server; those below are of the websocket itself. */
const closed = (source: string, code: number, reason: string): QuoinError =>
  code < 3000
    ? lost(source, `closed with ${code} ${reason}`.trim())
    : new QuoinError('ERR_SOURCE_REFUSED', `${source} ended the connection: ${reason || code}`, {
        source,
        code
      })
