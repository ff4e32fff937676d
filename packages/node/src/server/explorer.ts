/**
 * The explorer, as `npm run build` leaves it in `dist/explorer`: its page at `/` for requests that accept HTML and
 * at `/explore/…` for each of its views, and its files under `/assets`, whose names change with their content.
 *
 * The content security policy forbids every other script, style, picture and connection, because the page shows data of
 * strangers.
 */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type Route, type RouteRequest, type RouteResponse, route } from '@quoin/http'
import { QuoinError } from '@quoin/primitives'
import { Type } from '@sinclair/typebox'
import { EXPLORER_FOLDER } from '../package-files.ts'

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types quoin'
].join('; ')

const PAGE_HEADERS = {
  'cache-control': 'no-cache',
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff'
}
const ASSET_HEADERS = {
  // For the worker that proves layouts, which has no page and no network: the prover makes functions of its own.
  'content-security-policy': "default-src 'none'; script-src 'self' 'unsafe-eval'",
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff'
}

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml'
}

const PAGE = 'index.html'
/** Segments below `/explore`; views have two. */
const MAX_DEPTH = 8

const Headers = {
  accept: Type.Optional(Type.String()),
  'accept-encoding': Type.Optional(Type.String())
}
type AcceptHeaders = RouteRequest['headers'] & {
  readonly accept?: string
  readonly 'accept-encoding'?: string
}

/** Beside the routes of the interface; none where the explorer was not built. */
export const explorerRoutes = (routes: readonly Route[], folder: string = EXPLORER_FOLDER): Route[] => {
  if (!existsSync(join(folder, PAGE))) return []
  const files = new Files(folder)
  const index = routes.find(({ method, path }) => method === 'get' && path === '/')
  const page = (headers: AcceptHeaders, rest?: string): Promise<RouteResponse> =>
    files.page(rest === undefined ? 0 : rest.split('/').length, headers)
  const view = (path: string, params: Route['params'] = {}): Route =>
    served(path, 'A view of the explorer.', params, request =>
      page(request.headers as AcceptHeaders, (request.params as { rest?: string }).rest)
    )
  return [
    served('/', 'The explorer, for browsers.', {}, async asked =>
      !index || acceptsHtml(asked.headers as AcceptHeaders)
        ? page(asked.headers as AcceptHeaders)
        : index.handle(asked)
    ),
    view('/explore'),
    view('/explore/:rest{.*}', { rest: Type.String() }),
    served('/assets/:file', 'A file of the explorer.', { file: Type.String() }, ({ params, headers }) =>
      files.answer(`assets/${(params as { file: string }).file}`, headers as AcceptHeaders, ASSET_HEADERS)
    )
  ]
}

const served = (
  path: string,
  summary: string,
  params: Route['params'],
  handle: (request: RouteRequest) => Promise<RouteResponse>
): Route =>
  route({
    method: 'get',
    path,
    name: `explorer ${path}`,
    summary,
    tag: 'explorer',
    params,
    headers: Headers,
    responses: { 200: { description: summary } },
    handle: request => handle(request as RouteRequest)
  })

const acceptsHtml = ({ accept = '' }: AcceptHeaders): boolean => /\btext\/html\b/i.test(accept)

const compressed = {
  br: (bytes: Uint8Array) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes, { level: 9 })
}
type Encoding = keyof typeof compressed

const encodingOf = ({ 'accept-encoding': accepted = '' }: AcceptHeaders): Encoding | undefined => {
  const offered = new Set(
    accepted.split(',').flatMap(each => {
      const [name = '', quality = ''] = each.split(';')
      return /q=0(\.0*)?$/.test(quality.trim()) ? [] : [name.trim().toLowerCase()]
    })
  )
  return (['br', 'gzip'] as const).find(each => offered.has(each))
}

/** The files of the folder, read once; a request can name no other. */
class Files {
  readonly #folder: string
  #read: Promise<ReadonlyMap<string, Uint8Array>> | undefined
  /** Made when first asked for. */
  readonly #encoded = new Map<string, Promise<Uint8Array>>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The page in a view that is so many segments below its first. Its addresses are relative, so it is at home under any path. */
  async page(depth: number, wanted: AcceptHeaders): Promise<RouteResponse> {
    if (depth > MAX_DEPTH) throw new QuoinError('ERR_NOT_FOUND', 'the explorer has no view of this address')
    const bytes = (await this.#all()).get(PAGE)
    if (!bytes) throw new QuoinError('ERR_NOT_FOUND', `the explorer has no file ${PAGE}`)
    const above = depth === 0 ? './' : '../'.repeat(depth)
    const text = new TextDecoder().decode(bytes).replaceAll('="./', `="${above}`)
    return this.#answer(`${depth} ${PAGE}`, new TextEncoder().encode(text), wanted, PAGE_HEADERS)
  }

  async answer(
    name: string,
    wanted: AcceptHeaders,
    headers: Readonly<Record<string, string>>
  ): Promise<RouteResponse> {
    const bytes = (await this.#all()).get(name)
    if (!bytes) throw new QuoinError('ERR_NOT_FOUND', `the explorer has no file ${name}`)
    return this.#answer(name, bytes, wanted, headers)
  }

  #all(): Promise<ReadonlyMap<string, Uint8Array>> {
    this.#read ??= readAll(this.#folder)
    return this.#read
  }

  async #answer(
    name: string,
    bytes: Uint8Array,
    wanted: AcceptHeaders,
    headers: Readonly<Record<string, string>>
  ): Promise<RouteResponse> {
    const encoding = encodingOf(wanted)
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
    const vary = { vary: 'accept, accept-encoding' }
    if (!encoding) return { type, body: bytes, headers: { ...headers, ...vary } }
    return {
      type,
      body: await this.#encode(name, bytes, encoding),
      headers: { ...headers, ...vary, 'content-encoding': encoding }
    }
  }

  #encode(name: string, bytes: Uint8Array, encoding: Encoding): Promise<Uint8Array> {
    const key = `${encoding} ${name}`
    const known = this.#encoded.get(key) ?? compressed[encoding](bytes)
    this.#encoded.set(key, known)
    return known
  }
}

const readAll = async (folder: string): Promise<ReadonlyMap<string, Uint8Array>> => {
  const names = (await readdir(folder, { recursive: true })).filter(name => /\.\w+$/.test(name))
  return new Map(
    await Promise.all(
      names.map(
        async name =>
          [name.replaceAll('\\', '/'), new Uint8Array(await readFile(join(folder, name)))] as const
      )
    )
  )
}
