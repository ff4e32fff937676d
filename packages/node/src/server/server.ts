/**
 * The HTTP server of a node (D14): the routes of overlay-express at `/`, the seeds' routes under `/txo`, and routes for
 * operators. Errors are JSON everywhere.
 *
 * @example
 * import { DevChain } from '@quoin/dev-chain'
 * import { Engine } from '@quoin/overlay'
 * import { openStore } from '@quoin/store'
 * import { OutputStore } from '@quoin/txo'
 * const outputs = new OutputStore(await openStore('memory:'))
 * const engine = new Engine({ outputs, tracker: new DevChain(), topics: {} })
 * const server = createServer({ engine })
 * const { url } = await server.listen({ port: 0 })
 * (await fetch(`${url}/health/live`)).status // 200
 * await server.close()
 * await engine.close()
 */

import { randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import type { HttpBindings } from '@hono/node-server'
import type { HeaderStore } from '@quoin/chain'
import { JSON_TYPE, type Route, type RouteResponse, toJson } from '@quoin/http'
import { type Engine, type Logger, SILENT } from '@quoin/overlay'
import { QuoinError } from '@quoin/primitives'
import { Hono, type Context as HonoContext } from 'hono'
import { type Client, ClientAddresses } from './client-address.ts'
import type { Context, ServerOptions } from './context.ts'
import { httpError } from './errors.ts'
import { explorerRoutes } from './explorer.ts'
import { LIMITS, networkOf, RateLimiter } from './limits.ts'
import { Metrics } from './metrics.ts'
import { nodeParts, Parts } from './parts.ts'
import { nodeQueues } from './queues.ts'
import { RequestReader } from './request.ts'
import { checkHost } from './routes/content/policy.ts'
import { allRoutes } from './routes/index.ts'
import { drain, nodeServer } from './sockets.ts'
import { StoreWatch } from './store-watch.ts'

export interface CreateServer {
  readonly engine: Engine
  /** The headers of the node, where it keeps any. */
  readonly headers?: HeaderStore | undefined
  readonly options?: ServerOptions
}

export interface ServerAddress {
  readonly host: string
  readonly port: number
  readonly url: string
}

export interface Server {
  /** All of them, as they are described in `/openapi.json`. */
  readonly routes: readonly Route[]
  /** On `127.0.0.1` and any free port unless told otherwise. */
  listen(at?: { readonly host?: string; readonly port?: number }): Promise<ServerAddress>
  /** Accepts nothing more, ends live streams, and waits for requests that are being answered. */
  close(): Promise<void>
  /** Answers a request without a socket. */
  fetch(request: Request): Promise<Response>
}

/** Without a socket there is no `incoming`. */
type Env = { Bindings: Partial<HttpBindings> }

const CORS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': '*'
}
const PREFLIGHT: Readonly<Record<string, string>> = {
  ...CORS,
  // The star does not stand for this one.
  'access-control-allow-headers': '*, Authorization',
  'access-control-allow-methods': '*',
  'access-control-allow-private-network': 'true',
  'access-control-max-age': '86400'
}

export const createServer = ({ engine, headers, options = {} }: CreateServer): Server => {
  const closing = new AbortController()
  // Each live stream listens.
  setMaxListeners(0, closing.signal)
  const queues = nodeQueues(engine, options.sync, options.broadcaster)
  const logger = options.logger ?? SILENT
  const store = new StoreWatch(engine.outputs.store, logger, options.isReadOnly ?? false)
  const parts = new Parts(() => nodeParts({ engine, headers, options, store, closing: closing.signal }))
  const context: Context = {
    engine,
    headers,
    options,
    limits: { ...LIMITS, ...options.limits },
    logger,
    metrics: new Metrics(engine, {
      headers,
      sync: options.sync,
      plugins: options.plugins,
      broadcaster: options.broadcaster,
      queues,
      parts,
      tokens: options.tokens,
      backups: options.backups
    }),
    parts,
    store,
    queues,
    started: Date.now(),
    closing: closing.signal
  }
  const routes = allRoutes(context)
  const hasApi = options.roles?.includes('api') ?? true
  const app = appOf([...(hasApi ? explorerRoutes(routes) : []), ...routes], context)
  const node = nodeServer((request, env) => app.fetch(request, env))
  return {
    routes,
    listen: ({ host = '127.0.0.1', port = 0 } = {}) =>
      new Promise((resolve, reject) => {
        store.start()
        node.once('error', reject)
        node.listen(port, host, () => {
          node.off('error', reject)
          const { port: bound } = node.address() as AddressInfo
          const name = host.includes(':') ? `[${host}]` : host
          resolve({ host, port: bound, url: `http://${name}:${bound}` })
        })
      }),
    close: () => {
      closing.abort()
      store.stop()
      return drain(node, options.drain ?? 10_000)
    },
    fetch: async request => app.fetch(request)
  }
}

const appOf = (routes: readonly Route[], context: Context): Hono<Env> => {
  const app = new Hono<Env>()
  const { rate } = context.limits
  const { content, tracing } = context.options
  const limiter = rate && new RateLimiter(rate)
  const clients = new ClientAddresses(context.options.trustProxy ?? [])
  const warnOnce = untrustedProxies(context.logger)
  const nextId = requestIds()

  const answered = (
    given: RouteResponse,
    id: string,
    method: string,
    path: string,
    since: number
  ): Response => {
    const { status = 200, type, body, headers } = given
    const seconds = (performance.now() - since) / 1000
    context.metrics.requested(method, path, status, seconds)
    context.logger.info('request', { id, method, path, status, ms: Math.round(seconds * 1e6) / 1000 })
    return new Response(body as ReadableStream, {
      status,
      headers: {
        ...CORS,
        'content-type': type,
        'x-request-id': id,
        ...(context.closing.aborted && { connection: 'close' }),
        ...headers
      }
    })
  }
  const failed = (error: unknown, id: string): RouteResponse => {
    const { status, body, headers } = httpError(error)
    if (status === 500) {
      const reason = error instanceof Error ? inspect(error) : String(error)
      context.logger.error('request failed', { id, status, reason })
    } else if (status > 500) {
      context.logger.warn('request refused', { id, status, reason: (error as QuoinError).message })
      void context.store.state()
    }
    // The rest of a body that is too long is not worth waiting for.
    const more = status === 413 ? { connection: 'close' } : {}
    return {
      status,
      type: JSON_TYPE,
      body: toJson({ ...body, requestId: id }),
      headers: { ...headers, ...more }
    }
  }

  for (const route of routes) {
    // Most routes are never asked, and compiling the schemas of all takes a while at the start.
    let reader: RequestReader | undefined
    const method = route.method.toUpperCase()
    const answer = async (c: HonoContext<Env>, client: Client | undefined): Promise<Response> => {
      const since = performance.now()
      const incoming = c.env?.incoming
      const header = (name: string): string | undefined => {
        if (!incoming) return c.req.header(name)
        const value = incoming.headers[name]
        return Array.isArray(value) ? value.join(', ') : value
      }
      const id = nextId(header('x-request-id'))
      let answering: RouteResponse
      try {
        if (context.closing.aborted && route.tag !== 'health') {
          throw new QuoinError('ERR_UNAVAILABLE', 'the server is closing', { seconds: 1 })
        }
        if (content) checkHost(content.origin, header('host'), route)
        if (client?.untrustedProxy !== undefined) warnOnce(client.untrustedProxy)
        if (limiter && client) limiter.take(client, costOf(route, c.req.param()))
        route.auth?.check(header('authorization'))
        const { url } = c.req
        const mark = url.indexOf('?')
        reader ??= new RequestReader(route, context.limits)
        const asked = await reader.read(
          {
            params: c.req.param(),
            search: mark < 0 ? '' : url.slice(mark),
            header,
            source: incoming ?? c.req.raw,
            client: client && networkOf(client.address)
          },
          id
        )
        answering = await route.handle(asked)
      } catch (error) {
        answering = failed(error, id)
      }
      return answered(answering, id, method, route.path, since)
    }
    app.on(method, route.path, c => {
      const incoming = c.env?.incoming
      const client = incoming && clients.of(incoming)
      if (!tracing) return answer(c, client)
      // A stranger's trace is not continued.
      const caller = client?.isTrusted ? incoming?.headers : undefined
      return tracing.request(caller, method, route.path, () => answer(c, client))
    })
  }
  app.options('*', () => new Response(null, { status: 200, headers: { ...PREFLIGHT } }))
  app.notFound(c => {
    const id = nextId(c.req.header('x-request-id'))
    const error = new QuoinError('ERR_ROUTE_NOT_FOUND', 'unknown route; /openapi.json lists all routes')
    return answered(failed(error, id), id, c.req.method, 'none', performance.now())
  })
  app.onError((error, c) => {
    const id = nextId(c.req.header('x-request-id'))
    return answered(failed(error, id), id, c.req.method, 'none', performance.now())
  })
  return app
}

const costOf = ({ cost }: Route, params: Readonly<Record<string, string>>): number | undefined =>
  typeof cost === 'function' ? cost(params) : cost

/** The id of the client if it is fit for a log, else one of this process. */
const requestIds = (): ((given: string | undefined) => string) => {
  const prefix = randomBytes(4).toString('hex')
  let count = 0
  return given => (given && /^[\w.-]{1,64}$/.test(given) ? given : `${prefix}-${(++count).toString(36)}`)
}

/** Says once for each address that a proxy forwards requests and is not trusted. */
const untrustedProxies = (logger: Logger): ((address: string) => void) => {
  const warned = new Set<string>()
  return address => {
    if (warned.has(address) || warned.size >= 100) return
    warned.add(address)
    logger.warn('requests of an untrusted proxy', {
      address,
      reason: 'all its clients share one rate limit; trustProxy with this address lets each have its own'
    })
  }
}
