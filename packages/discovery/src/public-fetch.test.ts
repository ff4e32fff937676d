import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fetchReasonOf } from '@quoin/primitives'
import { afterEach, describe, expect, it } from 'vitest'
import { isPublicAddress } from './public-address.ts'
import { publicFetch, type ResolveHost } from './public-fetch.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise(done => server.close(done))
  }
})

const serve = async (answer: RequestListener): Promise<number> => {
  const server = createServer(answer)
  servers.push(server)
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return (server.address() as AddressInfo).port
}

const reasonOf = (response: Promise<Response>): Promise<string> =>
  response.then(() => 'no error', fetchReasonOf)

const to =
  (...addresses: readonly string[]): ResolveHost =>
  (_, done) =>
    done(
      null,
      addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 }))
    )

describe('an address', () => {
  it.each([
    ['93.184.216.34', true],
    ['2606:2800:220:1:248:1893:25c8:1946', true],
    ['0.0.0.0', false],
    ['10.1.2.3', false],
    ['100.64.0.1', false],
    ['127.0.0.1', false],
    ['127.255.255.254', false],
    ['169.254.169.254', false],
    ['172.31.255.255', false],
    ['172.32.0.1', true],
    ['192.168.1.1', false],
    ['198.18.0.1', false],
    ['224.0.0.1', false],
    ['255.255.255.255', false],
    ['::', false],
    ['::1', false],
    ['::ffff:10.0.0.1', false],
    ['::ffff:93.184.216.34', false],
    ['64:ff9b::a00:1', false],
    ['fc00::1', false],
    ['fe80::1', false],
    ['ff02::1', false],
    ['2001::1', false],
    ['2001:db8::1', false],
    ['2002:a00:1::', false],
    ['localhost', false]
  ])('%s: %s', (address, expected) => expect(isPublicAddress(address)).toBe(expected))
})

describe('a request to an address of a stranger', () => {
  it.each([
    'http://127.0.0.1:1',
    'http://[::1]:1',
    'http://[::ffff:127.0.0.1]:1',
    'http://2130706433:1',
    'http://0x7f.1:1',
    'http://169.254.169.254/latest/meta-data'
  ])('%s is refused before a connection', async url => {
    await expect(reasonOf(publicFetch()(url))).resolves.toContain('is not a public address')
  })

  it('is refused when one address of the name is private', async () => {
    let asked = 0
    const port = await serve((_, response) => {
      asked++
      response.end()
    })
    const get = publicFetch({ resolve: to('93.184.216.34', '127.0.0.1') })
    expect(await reasonOf(get(`http://node.example.com:${port}`))).toBe(
      'node.example.com is 127.0.0.1, which is not a public address; the setting privateHosts permits it'
    )
    expect(asked).toBe(0)
  })

  it('resolves the name once, and connects to that address', async () => {
    let resolved = 0
    const port = await serve((request, response) => {
      response.setHeader('x-host', request.headers.host!)
      response.end('{}')
    })
    const resolve: ResolveHost = (_, done) => {
      resolved++
      to('127.0.0.1')('', done)
    }
    const response = await publicFetch({ allowPrivate: true, resolve })(`http://node.example.com:${port}/a`)
    expect(await response.json()).toEqual({})
    expect(response.headers.get('x-host')).toBe(`node.example.com:${port}`)
    expect(resolved).toBe(1)
  })

  it('sends method, headers and body, and reads status and body', async () => {
    const port = await serve(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      response.writeHead(418, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify([request.method, request.headers['x-bsv-topic'], Buffer.concat(chunks).toString()])
      )
    })
    const response = await publicFetch({ allowPrivate: true })(`http://127.0.0.1:${port}`, {
      method: 'POST',
      headers: { 'x-bsv-topic': 'tm_a' },
      body: '{"a":1}'
    })
    expect(response.status).toBe(418)
    expect(await response.json()).toEqual(['POST', 'tm_a', '{"a":1}'])
  })

  it('refuses redirects, so that a host cannot name another', async () => {
    const port = await serve((_, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/' })
      response.end()
    })
    expect(await reasonOf(publicFetch({ allowPrivate: true })(`http://127.0.0.1:${port}`))).toContain(
      'redirects, which is not followed'
    )
  })

  it('ends with its signal, also within the body', async () => {
    const port = await serve((_, response) => {
      response.write('a')
    })
    const abort = new AbortController()
    const response = await publicFetch({ allowPrivate: true })(`http://127.0.0.1:${port}`, {
      signal: abort.signal
    })
    const reading = response.text()
    abort.abort()
    await expect(reading).rejects.toThrow()
  })

  it('refuses a certificate that is not of the host', async () => {
    const port = await serve((_, response) => response.end())
    await expect(publicFetch({ allowPrivate: true })(`https://127.0.0.1:${port}`)).rejects.toThrow()
  })
})
