/** The answer with content: whole, in part, or that the client has it. */
import { json, type RouteResponse } from '@quoin/http'
import { Type } from '@sinclair/typebox'
import { byteRange, hasTag } from './byte-range.ts'
import { CONTENT_HEADERS, headerType } from './policy.ts'

export const RangeHeaders = {
  range: Type.Optional(Type.String()),
  'if-range': Type.Optional(Type.String()),
  'if-none-match': Type.Optional(Type.String())
}

export interface RangeRequest {
  readonly range?: string
  readonly 'if-range'?: string
  readonly 'if-none-match'?: string
}

export interface ServedBytes {
  readonly type: string
  readonly length: number
  /** Quoted. */
  readonly tag: string
  readonly headers: Readonly<Record<string, string>>
  /** The bytes from `start` to `end`. */
  read(start: number, end: number): Uint8Array | ReadableStream<Uint8Array>
}

export const serveBytes = (served: ServedBytes, asked: RangeRequest): RouteResponse => {
  const { length, tag } = served
  const type = headerType(served.type)
  const headers = { ...CONTENT_HEADERS, ...served.headers, etag: tag, 'accept-ranges': 'bytes' }
  if (hasTag(asked['if-none-match'], tag)) return { status: 304, type, body: null, headers }
  const isCurrent = asked['if-range'] === undefined || asked['if-range'] === tag
  const range = isCurrent ? byteRange(asked.range, length) : undefined
  if (range === 'unsatisfiable') {
    const message = `the range begins behind the ${length} bytes of the content`
    const error = { status: 'error', code: 'ERR_REQUEST', message, description: message }
    return { ...json(error, 416), headers: { ...headers, 'content-range': `bytes */${length}` } }
  }
  const { start, end } = range ?? { start: 0, end: length }
  return {
    status: range ? 206 : 200,
    type,
    body: served.read(start, end),
    headers: {
      ...headers,
      'content-length': String(end - start),
      ...(range && { 'content-range': `bytes ${start}-${end - 1}/${length}` })
    }
  }
}
