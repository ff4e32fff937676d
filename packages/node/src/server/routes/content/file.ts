/** `/content/{pointer}`: the content of an output, or a file of a directory. */
import { type Route, type RouteResponse, route, toJson } from '@quoin/http'
import { formatOutpoint, QuoinError } from '@quoin/primitives'
import { OrdinalWalk } from '@quoin/txo'
import { Type } from '@sinclair/typebox'
import type { Context } from '../../context.ts'
import { defaultOf, fileAt, INDEX, isDirectory } from './directory.ts'
import { costOfPointer } from './pointer.ts'
import { CONTENT_HEADERS, type ContentRequest, ContentRequestHeaders, checkUse, elsewhere } from './policy.ts'
import { mapJson, type ResolvedContent, resolveContent } from './resolved-content.ts'
import { RangeHeaders, type RangeRequest, serveBytes } from './served-bytes.ts'

/** Longer MAP is in the metadata alone: clients limit the headers of an answer. */
const MAX_MAP_HEADER = 8 * 1024
const CACHING = {
  settled: 'public, max-age=31536000, immutable',
  followed: 'no-cache',
  latest: 'no-store'
} as const

export const contentFileRoute = ({ engine, limits }: Context, origin?: string): Route =>
  route({
    method: 'get',
    path: '/content/:path{.+}',
    name: 'content',
    summary: 'The content of an output: an inscription, a B file, or a file of a directory.',
    tag: 'content',
    cost: ({ path }) => costOfPointer(path),
    params: {
      path: Type.String({
        maxLength: 4096,
        description: '`txid_vout` or a txid, `:sequence` behind it, and the path of a file in a directory.'
      })
    },
    query: {
      map: Type.Boolean({ default: false, description: 'Whether the header `X-Map` has the metadata.' }),
      parent: Type.Boolean({ default: false, description: 'Whether the header `X-Parent` has the parent.' }),
      raw: Type.Optional(Type.String({ description: 'With any value a directory is its JSON.' }))
    },
    headers: { ...ContentRequestHeaders, ...RangeHeaders },
    responses: {
      200: { description: 'The content, with its media type.', content: { '*/*': undefined } },
      206: { description: 'A part of it.', content: { '*/*': undefined } },
      304: { description: 'The client has it.' },
      307: { description: 'Another host serves content, or the index of a directory.' },
      404: { description: 'The output is not stored, or has no content.' },
      413: { description: 'The content is larger than the limit of the node.' },
      416: { description: 'The content ends before the range.' }
    },
    async handle({ params: { path }, query, headers }) {
      const host = (headers as ContentRequest).host
      const redirect = elsewhere(origin, host, contentPath(path, query))
      if (redirect) return redirect
      checkUse(headers as ContentRequest)
      const [pointer = '', ...names] = path.split('/').filter(name => name !== '')
      const walk = new OrdinalWalk(engine.outputs)
      const resolved = await resolveContent(walk, pointer)
      const shown = { map: query.map, parent: query.parent }
      const file = (found: ResolvedContent) =>
        serveFile(found, limits.content, headers as RangeRequest, shown)
      if (names.length > 0) return file(await fileAt(walk, resolved, names))
      if (!isDirectory(resolved) || query.raw !== undefined) return file(resolved)
      const name = defaultOf(resolved)
      if (name !== INDEX) return file(await fileAt(walk, resolved, [name]))
      return {
        status: 307,
        type: 'text/plain; charset=utf-8',
        body: '',
        // Relative, so that it holds behind a proxy that serves the node under a path.
        headers: {
          ...CONTENT_HEADERS,
          location: path.endsWith('/') ? INDEX : `./${pointer}/${INDEX}`,
          'cache-control': CACHING[resolved.permanence]
        }
      }
    }
  })

const serveFile = (
  resolved: ResolvedContent,
  most: number,
  asked: RangeRequest,
  shown: { readonly map: boolean; readonly parent: boolean }
): RouteResponse => {
  const { content, holder, origin, parent, map, permanence } = resolved
  if (!content || !holder) throw new QuoinError('ERR_NOT_FOUND', 'the output has no content')
  const { bytes, type } = content
  checkLength(bytes.length, most)
  const mapText = shown.map && map ? headerJson(mapJson(map)) : undefined
  return serveBytes(
    {
      type,
      length: bytes.length,
      tag: `"${formatOutpoint(holder, '_')}"`,
      headers: {
        'cache-control': CACHING[permanence],
        'x-outpoint': formatOutpoint(resolved.outpoint, '_'),
        'x-ord-seq': String(resolved.sequence),
        ...(origin && { 'x-origin': formatOutpoint(origin, '_') }),
        ...(mapText !== undefined && mapText.length <= MAX_MAP_HEADER && { 'x-map': mapText }),
        ...(shown.parent && parent && { 'x-parent': formatOutpoint(parent, '_') })
      },
      read: (start, end) => bytes.subarray(start, end)
    },
    asked
  )
}

export const checkLength = (length: number, most: number): void => {
  if (length <= most) return
  throw new QuoinError(
    'ERR_CONTENT_LIMIT',
    `the content has ${length} bytes; this node serves up to ${most} (limits.content)`,
    { length, most }
  )
}

/** JSON in ASCII, as a header takes it. */
const headerJson = (value: unknown): string =>
  toJson(value).replace(/[^\x20-\x7e]/g, each => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)

const contentPath = (path: string, query: Readonly<Record<string, unknown>>): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== false)
  const search = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)])
  ).toString()
  return `/content/${path.split('/').map(encodeURIComponent).join('/').replaceAll('%3A', ':')}${search && `?${search}`}`
}
