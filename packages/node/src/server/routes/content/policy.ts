/**
 * Content is written by strangers and served by the node, so no part of it may act in the name of the node's own pages.
 *
 * A document is sandboxed: its scripts run in an origin of their own, which no other document shares, and reach this node
 * only. A page of the node does not get content as a script or a style sheet. With an origin for content (the setting
 * `content.origin`) documents are not even served under the host of the node's pages.
 */
import type { Route, RouteResponse } from '@quoin/http'
import { QuoinError } from '@quoin/primitives'
import { Type } from '@sinclair/typebox'

const SANDBOX = [
  'sandbox allow-scripts',
  "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'",
  "base-uri 'none'",
  "form-action 'none'",
  "object-src 'none'"
].join('; ')

export const CONTENT_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': SANDBOX,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  // Sandboxed documents and other sites embed content.
  'cross-origin-resource-policy': 'cross-origin',
  vary: 'sec-fetch-site, sec-fetch-dest'
}

/** Headers that decide whether and where content is served. */
export const ContentRequestHeaders = {
  host: Type.Optional(Type.String()),
  'sec-fetch-site': Type.Optional(Type.String()),
  'sec-fetch-dest': Type.Optional(Type.String())
}

export interface ContentRequest {
  readonly host?: string
  readonly 'sec-fetch-site'?: string
  readonly 'sec-fetch-dest'?: string
}

/** What a page runs, or lets change its look. */
const OBEYED = new Set([
  'script',
  'style',
  'worker',
  'sharedworker',
  'serviceworker',
  'audioworklet',
  'paintworklet',
  'xslt',
  'manifest',
  'embed',
  'object'
])

/** Refuses content as a part of a page of the same origin. A sandboxed document is of no origin but its own. */
export const checkUse = (headers: ContentRequest): void => {
  const use = headers['sec-fetch-dest'] ?? ''
  if (headers['sec-fetch-site'] === 'same-origin' && OBEYED.has(use)) {
    throw new QuoinError('ERR_FORBIDDEN', `content of outputs is not served to pages of the node as a ${use}`)
  }
}

/** Where another host serves content, the answer that leads there. */
export const elsewhere = (
  origin: string | undefined,
  host: string | undefined,
  path: string
): RouteResponse | undefined =>
  origin === undefined || host === new URL(origin).host
    ? undefined
    : {
        status: 307,
        type: 'text/plain; charset=utf-8',
        body: '',
        headers: { location: origin + path, 'cache-control': 'no-store' }
      }

/** Refuses the pages and interfaces of the node under the host of content. */
export const checkHost = (
  origin: string | undefined,
  host: string | undefined,
  { tag }: Pick<Route, 'tag'>
): void => {
  if (origin === undefined || host !== new URL(origin).host || tag === 'content' || tag === 'health') return
  throw new QuoinError('ERR_ROUTE_NOT_FOUND', 'this host serves the content of outputs and nothing else')
}

const MEDIA_TYPE =
  /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:\s*;\s*[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[^"\\\r\n]*"))*$/

/** A media type as a header may have it; other text is not one. */
export const headerType = (type: string): string =>
  MEDIA_TYPE.test(type) && /^[\x20-\x7e]+$/.test(type) ? type : 'application/octet-stream'
