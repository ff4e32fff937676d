/** Content over HTTP: files, ranges, caches, directories, parts, metadata and previews. */
import type { Transaction } from '@quoin/chain'
import { formatTxid, parseOutpoint } from '@quoin/primitives'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { payTo, spend, withKeyHash } from '../../../../../chain/src/verify/test-chain.testing.ts'
import { bitcom, inscription, MAP } from '../../../../../txo/src/scripts/scripts.testing.ts'
import { key, said, startNode, type TestNode } from '../../node.testing.ts'
import { byteRange, hasTag } from './byte-range.ts'
import { headerType } from './policy.ts'

const LOCK = payTo(key)
const LIMIT = 2000

let node: TestNode
/** Pointers: an inscription, its transfer, its reinscription, a directory, and the first of three parts. */
let first: string
let moved: string
let again: string
let directory: string
let parts: string

interface TestContent {
  readonly type: string
  readonly content: string | Uint8Array
  readonly map?: readonly string[]
  readonly parent?: Parameters<typeof inscription>[0]['parent']
}

const output = ({ type, content, map, parent }: TestContent) => ({
  satoshis: 1,
  script: Buffer.concat([
    inscription({ type, content, suffix: LOCK, ...(parent && { parent }) }),
    ...(map ? [bitcom([[MAP, 'SET', ...map]], Uint8Array.of())] : [])
  ])
})

/** Submits a transaction with these outputs, of the first output of another one or of a coin. */
const submitted = async (
  outputs: readonly { readonly satoshis: number; readonly script: Uint8Array }[],
  from?: Transaction
): Promise<Transaction> => {
  const { chain } = node
  const coin = from ?? chain.fund(LOCK, 1000)
  const transaction = spend({ inputs: [{ from: coin, vout: 0, unlock: withKeyHash(key) }], outputs })
  await chain.submit(transaction, { replace: true })
  expect((await node.submit(transaction, 'tm_ones')).status).toBe(200)
  return transaction
}
const pointer = (transaction: Transaction, vout = 0): string => `${formatTxid(transaction.txid)}_${vout}`
const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(node.url + path, { headers, redirect: 'manual' })
const text = async (path: string, headers: Record<string, string> = {}): Promise<string> =>
  (await get(path, headers)).text()

beforeAll(async () => {
  node = await startNode('memory:', { limits: { content: LIMIT } })
  const origin = await submitted([
    output({ type: 'text/plain', content: 'first', map: ['app', 'tests', 'name', '日本'] })
  ])
  first = pointer(origin)
  const transfer = await submitted([{ satoshis: 1, script: LOCK }], origin)
  moved = pointer(transfer)
  const rewritten = await submitted(
    [output({ type: 'text/plain', content: 'second', map: ['royalties', '[{"to":"x"}]'] })],
    transfer
  )
  again = pointer(rewritten)
  const files = { '.': '_1', 'index.html': '_2', 'notes.txt': `ord://${first}`, sub: '_3', gone: '_9' }
  directory = pointer(
    await submitted([
      output({ type: 'ord-fs/json', content: JSON.stringify(files) }),
      output({ type: 'text/css', content: 'p { color: red }' }),
      output({ type: 'text/html', content: '<p>index' }),
      output({ type: 'ord-fs/json', content: JSON.stringify({ 'deep.txt': first }) })
    ])
  )
  const one = await submitted([output({ type: 'audio/mpeg;stream=ordfs', content: 'abcde' })])
  const two = await submitted([output({ type: 'ordfs/stream', content: 'fgh' })], one)
  await submitted([output({ type: 'ordfs/stream', content: 'ij' })], two)
  parts = pointer(one)
})
afterAll(() => node.close())

describe('/content', () => {
  it('is the content of an output, its own type, kept for ever', async () => {
    const answer = await get(`/content/${first}?map=true`)
    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/plain',
      'content-length': '5',
      'cache-control': 'public, max-age=31536000, immutable',
      etag: `"${first}"`,
      'x-outpoint': first,
      'x-ord-seq': '0',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(/^sandbox allow-scripts;/)
    })
    expect(JSON.parse(answer.headers.get('x-map')!)).toEqual({ app: 'tests', name: '日本' })
    expect(await answer.text()).toBe('first')
    expect(await text(`/content/${first.slice(0, 64)}`)).toBe('first')
    expect(await text(`/content/${first.replace('_', '.')}`)).toBe('first')
    const head = await fetch(`${node.url}/content/${first}`, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '5', ''])
  })

  it('follows the ordinal to a sequence number', async () => {
    const at = async (path: string) => {
      const answer = await get(`/content/${path}`)
      const { headers } = answer
      return [
        await answer.text(),
        headers.get('x-ord-seq'),
        headers.get('x-outpoint'),
        headers.get('x-origin')
      ]
    }
    expect(await at(`${first}:0`)).toEqual(['first', '0', first, first])
    expect(await at(`${again}:1`)).toEqual(['first', '1', moved, first])
    expect(await at(`${first}:-1`)).toEqual(['second', '2', again, first])
    expect(await at(`${again}:-2`)).toEqual(['first', '0', again, first])
    expect((await get(`/content/${moved}`)).status).toBe(404)
    expect((await get(`/content/${first}:3`)).status).toBe(404)
    expect((await get(`/content/${first}:-3`)).status).toBe(400)
  })

  it('lets a client keep only what a spend cannot change', async () => {
    const caching = async (path: string) => (await get(`/content/${path}`)).headers.get('cache-control')
    expect(await caching(`${again}:1`)).toContain('immutable')
    expect(await caching(`${again}:-2`)).toContain('immutable')
    expect(await caching(`${first}:2`)).toBe('no-cache')
    expect(await caching(`${first}:-1`)).toBe('no-store')
  })

  it('answers ranges and conditions', async () => {
    const part = await get(`/content/${first}`, { range: 'bytes=1-3' })
    expect([
      part.status,
      await part.text(),
      part.headers.get('content-range'),
      part.headers.get('content-length')
    ]).toEqual([206, 'irs', 'bytes 1-3/5', '3'])
    expect(await text(`/content/${first}`, { range: 'bytes=-2' })).toBe('st')
    const behind = await get(`/content/${first}`, { range: 'bytes=5-' })
    expect([behind.status, behind.headers.get('content-range')]).toEqual([416, 'bytes */5'])
    expect(await text(`/content/${first}`, { range: 'bytes=0-0', 'if-range': '"another"' })).toBe('first')
    const known = await get(`/content/${first}`, { 'if-none-match': `"x", W/"${first}"` })
    expect([known.status, await known.text(), known.headers.get('etag')]).toEqual([304, '', `"${first}"`])
  })

  it('serves files of directories, and the index for an unknown last name', async () => {
    expect(await text(`/content/${directory}`)).toBe('p { color: red }')
    expect(await text(`/content/${directory}/notes.txt`)).toBe('first')
    expect(await text(`/content/${directory}/sub/deep.txt`)).toBe('first')
    expect(await text(`/content/${directory}/any/page`)).toContain('ERR_NOT_FOUND')
    expect(await text(`/content/${directory}/page`)).toBe('<p>index')
    expect(await said(get(`/content/${directory}?raw=true`))).toMatchObject({ '.': '_1' })
    expect((await get(`/content/${directory}/gone`)).status).toBe(404)
    expect((await get(`/content/${first}/file`)).status).toBe(404)
    const alone = pointer(
      await submitted([
        output({ type: 'ord-fs/json', content: '{"index.html":"_1"}' }),
        output({ type: 'text/html', content: 'x' })
      ])
    )
    const redirect = await get(`/content/${alone}:0`)
    expect([redirect.status, redirect.headers.get('location')]).toEqual([307, `./${alone}:0/index.html`])
    expect((await get(`/content/${alone}/`)).headers.get('location')).toBe('index.html')
    const html = await fetch(`${node.url}/content/${alone}`)
    expect([html.url, await html.text()]).toEqual([`${node.url}/content/${alone}/index.html`, 'x'])
    const empty = pointer(await submitted([output({ type: 'ord-fs/json', content: '["no object"]' })]))
    expect((await get(`/content/${empty}`)).status).toBe(404)
  })

  it('refuses directories that never end', async () => {
    const loop = pointer(await submitted([output({ type: 'ord-fs/json', content: '{"a":"_0"}' })]))
    const answer = await get(`/content/${loop}/${'a/'.repeat(9)}a`)
    expect(await said(answer)).toMatchObject({ code: 'ERR_CONTENT_LIMIT' })
  })

  it('serves nothing above the limit, and no type that is not one', async () => {
    const large = await submitted([
      output({ type: 'text/plain', content: 'x'.repeat(LIMIT + 1) }),
      output({ type: 'text/plain\r\nset-cookie: a=b', content: 'y' })
    ])
    const refused = await get(`/content/${pointer(large)}`, { range: 'bytes=0-0' })
    expect([refused.status, await said(refused)]).toMatchObject([413, { code: 'ERR_CONTENT_LIMIT' }])
    const typed = await get(`/content/${pointer(large, 1)}`)
    expect([typed.headers.get('content-type'), typed.headers.get('set-cookie')]).toEqual([
      'application/octet-stream',
      null
    ])
  })

  it('is no script or style of a page of the node', async () => {
    const site = { 'sec-fetch-site': 'same-origin' }
    for (const use of ['script', 'style', 'worker', 'serviceworker', 'object']) {
      expect((await get(`/content/${first}`, { ...site, 'sec-fetch-dest': use })).status, use).toBe(403)
    }
    for (const use of ['image', 'document', 'iframe', 'empty']) {
      expect((await get(`/content/${first}`, { ...site, 'sec-fetch-dest': use })).status, use).toBe(200)
    }
    // Sandboxed documents load their own scripts.
    const sandboxed = { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'script' }
    expect((await get(`/content/${first}`, sandboxed)).status).toBe(200)
  })
})

describe('/1sat/ordfs', () => {
  it('has metadata of one pointer, and of many', async () => {
    const latest = {
      outpoint: again,
      origin: first,
      sequence: 2,
      contentType: 'text/plain',
      contentLength: 6,
      map: { app: 'tests', name: '日本', royalties: [{ to: 'x' }] }
    }
    const answer = await get(`/1sat/ordfs/metadata/${first}:-1`)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(await said(answer)).toEqual(latest)
    const unknown = `${'ab'.repeat(32)}_0`
    expect(
      await said(
        node.post('/1sat/ordfs/metadata', { outpoints: [`${first}:-1`, unknown, moved, `${first}:0`] })
      )
    ).toMatchObject({
      [`${first}:-1`]: latest,
      [unknown]: null,
      [moved]: null,
      [`${first}:0`]: { sequence: 0 }
    })
    expect((await node.post('/1sat/ordfs/metadata', { outpoints: [] })).status).toBe(400)
    expect((await get(`/1sat/ordfs/metadata/${unknown}`)).status).toBe(404)
    expect((await get('/1sat/ordfs/metadata/nonsense')).status).toBe(400)
  })

  it('names the parent of an inscription', async () => {
    const child = await submitted([
      output({ type: 'text/plain', content: 'child', parent: parseOutpoint(first) })
    ])
    expect(await said(get(`/1sat/ordfs/metadata/${pointer(child)}`))).toMatchObject({ parent: first })
    expect((await get(`/content/${pointer(child)}?parent=true`)).headers.get('x-parent')).toBe(first)
  })

  it('streams a file in parts as one, whole and in ranges over their borders', async () => {
    const whole = await get(`/1sat/ordfs/stream/${parts}`)
    expect([
      whole.headers.get('content-type'),
      whole.headers.get('content-length'),
      await whole.text()
    ]).toEqual(['audio/mpeg;stream=ordfs', '10', 'abcdefghij'])
    const range = (bytes: string) => text(`/1sat/ordfs/stream/${parts}`, { range: `bytes=${bytes}` })
    expect(await range('3-8')).toBe('defghi')
    expect(await range('5-7')).toBe('fgh')
    expect(await range('-1')).toBe('j')
    expect((await get(`/1sat/ordfs/stream/${moved}`)).status).toBe(404)
  })

  it('shows previews, sandboxed', async () => {
    const html = '<p>preview?</p>'
    const shown = await get(`/1sat/ordfs/preview/${Buffer.from(html).toString('base64')}`)
    expect([shown.headers.get('content-type'), await shown.text()]).toEqual([
      'text/html; charset=utf-8',
      html
    ])
    const posted = await fetch(`${node.url}/1sat/ordfs/preview`, {
      method: 'POST',
      headers: { 'content-type': 'image/svg+xml' },
      body: '<svg/>'
    })
    expect([posted.headers.get('content-type'), await posted.text()]).toEqual(['image/svg+xml', '<svg/>'])
    for (const { headers } of [shown, posted]) {
      expect(headers.get('content-security-policy')).toMatch(/^sandbox allow-scripts;/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    }
    expect((await get('/1sat/ordfs/preview/%3Cp%3E')).status).toBe(400)
  })
})

it('counts requests that follow an ordinal as ten', async () => {
  const limited = await startNode('memory:', {
    limits: { rate: { perSecond: 0.001, burst: 25, loopback: true } }
  })
  const status = async (path: string) => (await limited.get(`/content/${first}${path}`)).status
  const statuses = [await status(':-1'), await status(':0'), await status(':-1'), await status('')]
  expect(statuses).toEqual([404, 404, 429, 404])
  await limited.close()
})

describe('an origin for content', () => {
  it('serves content and nothing else, and other hosts lead there', async () => {
    const apart = await startNode('memory:', { content: { origin: 'https://content.example:444' } })
    const from = (host: string, path: string) =>
      apart.server.fetch(new Request(`http://node${path}`, { headers: { host } }))
    const redirected = await from('node.example', `/content/${first}:-1/a%2Fb?map=true`)
    expect([redirected.status, redirected.headers.get('location')]).toEqual([
      307,
      `https://content.example:444/content/${first}:-1/a/b?map=true`
    ])
    expect((await from('node.example', `/1sat/ordfs/stream/${first}`)).status).toBe(307)
    expect((await from('node.example', '/1sat/ordfs/preview/PHA+')).headers.get('location')).toBe(
      'https://content.example:444/1sat/ordfs/preview/PHA+'
    )
    // Not stored here.
    expect((await from('content.example:444', `/content/${first}`)).status).toBe(404)
    expect((await from('content.example:444', '/listTopicManagers')).status).toBe(404)
    expect((await from('node.example', '/listTopicManagers')).status).toBe(200)
    expect((await from('content.example:444', '/health/live')).status).toBe(200)
    await apart.close()
  })

  it('may be nowhere', async () => {
    const without = await startNode('memory:', { content: false })
    expect(await said(without.get(`/content/${first}`))).toMatchObject({ code: 'ERR_ROUTE_NOT_FOUND' })
    expect(await said(without.get('/capabilities'))).not.toContain('ordfs')
    await without.close()
  })
})

it.each([
  [undefined, undefined],
  ['bytes=0-', { start: 0, end: 10 }],
  ['bytes=2-4', { start: 2, end: 5 }],
  ['bytes=2-99', { start: 2, end: 10 }],
  ['bytes=-3', { start: 7, end: 10 }],
  ['bytes=-99', { start: 0, end: 10 }],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=4-2', undefined],
  ['bytes=0-1,3-4', undefined],
  ['items=0-1', undefined],
  ['bytes=-', undefined]
])('the range %s of ten bytes', (header, expected) => {
  expect(byteRange(header, 10)).toEqual(expected)
})

it('compares tags weakly, and takes media types for themselves', () => {
  expect(hasTag('"a", W/"b"', '"b"')).toBe(true)
  expect(hasTag('*', '"b"')).toBe(true)
  expect(hasTag('"bb"', '"b"')).toBe(false)
  expect(hasTag(undefined, '"b"')).toBe(false)
  expect(headerType('text/html; charset=utf-8')).toBe('text/html; charset=utf-8')
  for (const type of ['html', 'text/html\n', 'text/html; x', 'text/é', 'a b/c', '']) {
    expect(headerType(type), type).toBe('application/octet-stream')
  }
})
