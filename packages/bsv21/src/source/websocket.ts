/** A websocket for binary frames, with limits and with errors of a source. It is used once. */

import { QuoinError } from '@quoin/primitives'

/** The largest frame. */
const MAX_FRAME = 64 * 1024 * 1024

export interface SocketOptions {
  readonly protocol: string
  /** Milliseconds until it must be open. */
  readonly timeout: number
  /** Closes it, open or not. */
  readonly signal: AbortSignal | undefined
  received(frame: Uint8Array): void
  /** Called once when it ends, unless it was closed from here. */
  ended(error: QuoinError): void
}

export interface FrameSocket {
  send(frame: Uint8Array): void
  /** Pauses reading, which slows the server down. */
  pause(): void
  resume(): void
  end(): void
}

/** Rejects with ERR_SOURCE_CONNECTION when it does not open. */
export const openSocket = async (url: string, options: SocketOptions): Promise<FrameSocket> => {
  const name = new URL(url).host
  // Imported by nodes with a source that needs it.
  const { default: WebSocket } = await import('ws')
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
    // Terminated, not closed: a paused socket would never see the answer to a close frame.
    socket.terminate()
    told(error)
  }
  const abort = (): void => over(lost(name, 'the connection was cancelled'))
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
    // Copied: a view would keep the larger receive buffer alive.
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

/** Codes from 3000 on are reasons of the server; lower ones are of the websocket protocol. */
const closed = (source: string, code: number, reason: string): QuoinError =>
  code < 3000
    ? lost(source, `closed with ${code} ${reason}`.trim())
    : new QuoinError('ERR_SOURCE_REFUSED', `${source} ended the connection: ${reason || code}`, {
        source,
        code
      })
