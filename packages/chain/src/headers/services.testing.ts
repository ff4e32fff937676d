/** Services on this machine that speak what the real ones do, over real HTTP. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DevChain } from '@quoin/dev-chain'
import { parseTxid } from '@quoin/primitives'
import { type ChainHeader, formatHash, headerJson } from './header.ts'

export interface TestService {
  readonly url: string
  /** What was asked, in order: the path with its query. */
  readonly asked: string[]
  close(): Promise<void>
}

export type Handler = (url: URL, response: ServerResponse, request: IncomingMessage) => unknown

export const serve = async (handler: Handler): Promise<TestService> => {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    asked.push(request.url!)
    await handler(new URL(request.url!, 'http://test'), response, request)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

export const sendJson = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(JSON.stringify(value))
}

export const sendBytes = (response: ServerResponse, bytes: Uint8Array): void => {
  response.writeHead(200, { 'content-type': 'application/octet-stream' })
  response.end(bytes)
}

const whole = (url: URL, name: string): number => Number(url.searchParams.get(name))
const headersFrom = (chain: DevChain, from: number, count: number): ChainHeader[] =>
  Array.from({ length: count }, (_, i) => chain.header(from + i)).filter(each => each !== undefined)

/** Chaintracks and the proofs of a 1Sat stack, under any path before them. */
export const oneSat =
  (chain: DevChain, form: 'bytes' | 'list' | 'single' = 'bytes'): Handler =>
  async ({ pathname, searchParams, href }, response) => {
    const url = new URL(href)
    if (pathname.endsWith('/tip')) {
      const tip = chain.header(chain.height)!
      const { prevHash, ...json } = headerJson(tip)
      sendJson(response, { ...json, previousHash: prevHash })
    } else if (pathname.endsWith('/headers') && form !== 'single') {
      const found = headersFrom(chain, whole(url, 'height'), whole(url, 'count'))
      if (form === 'list') sendJson(response, found.map(headerJson))
      else if (found.length > 0) sendBytes(response, Buffer.concat(found.map(({ header }) => header.raw)))
      else sendJson(response, { error: 'not found' }, 404)
    } else if (/\/header\/height\/\d+$/.test(pathname)) {
      const found = chain.header(Number(pathname.split('/').at(-1)))
      if (found) sendJson(response, headerJson(found))
      else sendJson(response, { error: 'not found' }, 404)
    } else if (/\/beef\/[0-9a-f]{64}\/proof$/.test(pathname)) {
      const answer = await chain.proof(parseTxid(pathname.split('/').at(-2)!))
      if (answer.status === 'mined') sendBytes(response, answer.bump.toBytes())
      else sendJson(response, { error: 'not found' }, 404)
    } else if (/\/beef\/[0-9a-f]{64}\/tx$/.test(pathname)) {
      const transaction = chain.transaction(parseTxid(pathname.split('/').at(-2)!))
      if (transaction) sendBytes(response, transaction.raw)
      else sendJson(response, { error: 'not found' }, 404)
    } else sendJson(response, { error: `no route ${pathname}${searchParams}` }, 404)
  }

/** The Block Headers Service. It also gives headers of other branches, which it calls stale, in no order. */
export const blockHeadersService =
  (chain: DevChain, stale: readonly ChainHeader[] = [], token?: string): Handler =>
  async (url, response, request) => {
    const said = ({ header, work }: ChainHeader): Record<string, unknown> => ({
      hash: formatHash(header.hash),
      version: header.version,
      prevBlockHash: formatHash(header.previous),
      merkleRoot: formatHash(header.merkleRoot),
      creationTimestamp: header.time,
      difficultyTarget: header.bits,
      nonce: header.nonce,
      work: work.toString()
    })
    const state = (each: ChainHeader, is: string): Record<string, unknown> => ({
      header: said(each),
      state: is,
      chainWork: each.work.toString(),
      height: each.height
    })
    const path = url.pathname.replace('/api/v1/chain', '')
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
      sendJson(response, { code: 'ErrUnauthorized', message: 'unauthorized' }, 401)
    } else if (path === '/tip/longest') {
      sendJson(response, state(chain.header(chain.height)!, 'LONGEST_CHAIN'))
    } else if (path === '/header/byHeight') {
      const [from, count] = [whole(url, 'height'), whole(url, 'count')]
      const others = stale.filter(({ height }) => height >= from && height < from + count)
      sendJson(response, [...others, ...headersFrom(chain, from, count).reverse()].map(said))
    } else if (path.startsWith('/header/state/')) {
      const hash = path.split('/').at(-1)!
      const isHash = ({ header }: ChainHeader): boolean => formatHash(header.hash) === hash
      const found = headersFrom(chain, 0, chain.height + 1).find(isHash)
      const other = stale.find(isHash)
      if (found) sendJson(response, state(found, 'LONGEST_CHAIN'))
      else if (other) sendJson(response, state(other, 'STALE'))
      else sendJson(response, { code: 'ErrHeaderNotFound', message: 'header not found' }, 404)
    } else if (path === '/merkleroot/verify') {
      const chunks: Uint8Array[] = []
      for await (const chunk of request) chunks.push(chunk as Uint8Array)
      const [{ merkleRoot, blockHeight }] = JSON.parse(Buffer.concat(chunks).toString())
      const known = blockHeight <= chain.height
      const good = await chain.isValidRootForHeight(merkleRoot, blockHeight)
      const confirmation = good ? 'CONFIRMED' : known ? 'INVALID' : 'UNABLE_TO_VERIFY'
      sendJson(response, {
        confirmationState: confirmation,
        confirmations: [{ merkleRoot, blockHeight, confirmation }]
      })
    } else sendJson(response, { message: 'not found' }, 404)
  }
