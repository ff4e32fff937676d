/** The explorer is served to browsers, whole and with a strict policy, and takes nothing away from the interface. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { Route, RouteResponse } from '@quoin/http'
import { Hono } from 'hono'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { explorerRoutes } from './explorer.ts'
import { startNode, type TestNode } from './node.testing.ts'

const SCRIPT = 'export const answer = 42\n'.repeat(100)
let folder: string
let node: TestNode
let routes: Route[]
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-page-'))
  await mkdir(join(folder, 'assets'))
  await writeFile(
    join(folder, 'index.html'),
    '<!doctype html><title>Explorer</title><script src="./assets/index-abc123.js"></script>'
  )
  await writeFile(join(folder, 'assets', 'index-abc123.js'), SCRIPT)
  await writeFile(join(folder, '..', 'quoin-secret.txt'), 'not for you')
  node = await startNode()
  routes = explorerRoutes(node.server.routes, folder)
})
afterAll(async () => {
  await node.close()
  await rm(join(folder, '..', 'quoin-secret.txt'))
  await rm(folder, { recursive: true })
})

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

/** As the server finds the route of a path. */
const get = async (path: string, headers: Record<string, string> = {}): Promise<RouteResponse> => {
  let found: Promise<RouteResponse> | undefined
  const app = new Hono()
  for (const route of routes) {
    app.get(route.path, c => {
      found = Promise.resolve(
        route.handle({
          params: c.req.param(),
          query: {},
          headers,
          body: undefined,
          id: '',
          client: undefined
        })
      )
      return c.text('')
    })
  }
  await app.request(path)
  if (!found) throw new Error(`${path} is not of the explorer`)
  return found
}
const text = (answer: RouteResponse): string => Buffer.from(answer.body as Uint8Array).toString()

it('the page is at / for browsers, and what was there is there for everybody else', async () => {
  expect(text(await get('/', HTML))).toContain('<title>Explorer</title>')
  for (const accept of ['application/json', '*/*', '']) {
    const { body } = await get('/', { accept })
    expect(String(body)).toContain('/txo/outpoint/{outpoint}')
  }
})

it('every view is the page', async () => {
  for (const path of ['/explore', '/explore/tx/00', '/explore/kv/entry?key=a', '/explore/a/b/c']) {
    expect(text(await get(path, HTML))).toContain('<title>Explorer</title>')
  }
})

it('the page finds its files from every view, so that a proxy may serve it under any path', async () => {
  const scriptOf = async (path: string) => {
    const [, script = ''] = /src="([^"]+)"/.exec(text(await get(path, HTML))) ?? []
    return new URL(script, `http://node/under${path}`).pathname
  }
  for (const path of [
    '/',
    '/explore',
    '/explore/',
    '/explore/tokens',
    '/explore/tx/00',
    '/explore/a/b/c?d=/e'
  ])
    expect(await scriptOf(path), path).toBe('/under/assets/index-abc123.js')
  await expect(get(`/explore/${'a/'.repeat(9)}`, HTML)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
})

it('the policy of the page allows its own files and nothing else', async () => {
  const { headers } = await get('/', HTML)
  const policy = headers!['content-security-policy']!
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("script-src 'self'")
  expect(policy).toContain("require-trusted-types-for 'script'")
  expect(policy).not.toMatch(/unsafe|https?:|\*/)
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache'
  })
})

it('files keep for ever, since their names change, and are sent small', async () => {
  const plain = await get('/assets/index-abc123.js')
  expect(plain.type).toBe('text/javascript; charset=utf-8')
  expect(plain.headers!['cache-control']).toBe('public, max-age=31536000, immutable')
  expect(text(plain)).toBe(SCRIPT)
  const brotli = await get('/assets/index-abc123.js', { 'accept-encoding': 'gzip, deflate, br;q=0.9' })
  expect(brotli.headers!['content-encoding']).toBe('br')
  expect(brotliDecompressSync(brotli.body as Uint8Array).toString()).toBe(SCRIPT)
  const zipped = await get('/assets/index-abc123.js', { 'accept-encoding': 'gzip, br;q=0' })
  expect(zipped.headers!['content-encoding']).toBe('gzip')
  expect(gunzipSync(zipped.body as Uint8Array).toString()).toBe(SCRIPT)
})

it('there is no way out of its folder', async () => {
  for (const file of [
    '..%2f..%2fquoin-secret.txt',
    '..%2findex.html',
    'none.js',
    '%2fetc%2fpasswd',
    '__proto__'
  ]) {
    await expect(get(`/assets/${file}`)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
  }
})

it('a route that a browser opens is what it is for everybody', async () => {
  for (const path of ['/status', '/keyspace', '/health/live']) {
    const response = await node.get(path, HTML)
    expect(response.headers.get('content-type')).toBe('application/json')
  }
  const own = new Set(routes.map(({ path }) => path))
  expect(node.server.routes.map(({ path }) => path).filter(path => own.has(path))).toEqual(['/'])
})

it('is not there where it was not built', () => {
  expect(explorerRoutes(node.server.routes, join(folder, 'nowhere'))).toEqual([])
})
