/** Content that is not on the chain yet, shown as it would be: the client sends it, and the node sends it back. */
import { BYTES, type Route, type RouteResponse, route } from '@quoin/http'
import { QuoinError } from '@quoin/primitives'
import { Type } from '@sinclair/typebox'
import {
  CONTENT_HEADERS,
  type ContentRequest,
  ContentRequestHeaders,
  checkUse,
  elsewhere,
  headerType
} from './policy.ts'

const PATH = '/1sat/ordfs/preview'
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
const responses = {
  200: { description: 'The content.', content: { '*/*': undefined } },
  307: { description: 'Another host serves content.' }
}

export const previewRoutes = (origin?: string): Route[] => {
  const served = (path: string, headers: ContentRequest, show: () => RouteResponse): RouteResponse => {
    const redirect = elsewhere(origin, headers.host, path)
    if (redirect) return redirect
    checkUse(headers)
    return show()
  }
  return [
    route({
      method: 'get',
      path: `${PATH}/:html{.+}`,
      name: 'previewHtml',
      summary: 'HTML from the path, in base64.',
      tag: 'content',
      params: { html: Type.String({ maxLength: 64 * 1024 }) },
      headers: ContentRequestHeaders,
      responses,
      handle: ({ params: { html }, headers }) =>
        served(`${PATH}/${html}`, headers as ContentRequest, () => {
          if (!BASE64.test(html)) throw new QuoinError('ERR_REQUEST', 'the path is not base64')
          return shown(Buffer.from(html, 'base64'), 'text/html; charset=utf-8')
        })
    }),
    route({
      method: 'post',
      path: PATH,
      name: 'previewContent',
      summary: 'The body, with the media type of the request.',
      tag: 'content',
      headers: { ...ContentRequestHeaders, 'content-type': Type.Optional(Type.String()) },
      body: BYTES,
      responses,
      handle: ({ body, headers }) =>
        served(PATH, headers as ContentRequest, () => shown(body, headers['content-type'] ?? ''))
    })
  ]
}

const shown = (body: Uint8Array, type: string): RouteResponse => ({
  type: headerType(type),
  body: new Uint8Array(body),
  headers: { ...CONTENT_HEADERS, 'cache-control': 'no-store' }
})
