/**
 * Every method of `@1sat/client` 0.0.9 against a node as an operator starts it. The table of `docs/1sat-client.md` is written
 * from the answers: `npx vitest run packages/node/src/server/routes/onesat/client-methods.test.ts -u`.
 */
import * as oneSat from '@1sat/client'
import { formatHash } from '@quoin/chain'
import { SILENT } from '@quoin/overlay'
import { formatTxid } from '@quoin/primitives'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import * as t from '../../../../../bsv21/src/tokens.testing.ts'
import { inscription } from '../../../../../txo/src/scripts/scripts.testing.ts'
import { loadConfig } from '../../config.ts'
import { type Node, startNode } from '../../node.ts'
import { LiveClient } from '../live-client.testing.ts'
import { clientsOf } from './client.testing.ts'
import {
  type ClientName,
  type Facts,
  type Methods,
  NOT_IN_CLIENT,
  PARTS,
  type Row,
  rowsOf
} from './client-methods.testing.ts'

const ADMIN = 'the-operator-of-this-node'
const [alice, bob] = [t.person(1), t.person(2)]

/** Node 20 has none; the client uses this much of it. */
class FetchEventSource {
  onmessage: ((event: { data: string }) => void) | undefined
  onerror: (() => void) | undefined
  readonly #client: LiveClient
  readonly #timer: NodeJS.Timeout
  #told = 0

  constructor(url: string) {
    this.#client = new LiveClient(url)
    this.#timer = setInterval(() => {
      const events = this.#client.told.slice(this.#told)
      this.#told += events.length
      for (const { event, data } of events) if (event === undefined) this.onmessage?.({ data: data! })
      if (this.#client.ended) this.onerror?.()
    }, 5)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#client.close()
  }
}

let node: Node
let asked: string[]
let templates: { readonly name: string; readonly pattern: RegExp }[]
const originalFetch = globalThis.fetch

let facts: Facts

beforeAll(async () => {
  for (const method of ['log', 'error'] as const)
    vi.spyOn(console, method).mockImplementation(() => undefined)
  vi.stubGlobal('EventSource', FetchEventSource)
  const { config } = loadConfig({
    options: { store: 'memory:', port: '0', blockTime: '0', 'bsv21.activation': 'all', adminToken: ADMIN }
  })
  node = await startNode(config, { logger: SILENT })
  const { dev, engine } = node
  const { chain } = dev!
  const fund = async (): Promise<t.Spent> => t.at(await dev!.fund(alice.address, 1000), 0, alice)
  const deployed = t.transaction([await fund()], [t.deployMint(alice, 1000n, { sym: 'GOLD' })])
  const tokenId = t.tokenIdOf(deployed)
  const moved = t.transaction(
    [t.at(deployed, 0, alice), await fund()],
    [t.transfer(tokenId, 300n, t.paidTo(bob)), t.transfer(tokenId, 700n, t.paidTo(alice))]
  )
  for (const each of [deployed, moved]) await chain.submit(each)
  const art = await dev!.fund(inscription({ type: 'text/plain', content: 'art', suffix: t.paidTo(alice) }), 1)
  const next = t.transaction([await fund()], [t.deployMint(bob, 5n, { sym: 'SILVER' })])
  const last = t.transaction([await fund()], [t.deployMint(bob, 6n, { sym: 'COPPER' })])
  await chain.submit(next)
  await dev!.mine()
  // Not mined, so that it is broadcast.
  await chain.submit(last)
  for (const { txid } of [deployed, moved, art]) {
    await engine.submit({ beef: chain.beef(txid), topics: ['tm_bsv21', `tm_${tokenId}`] })
  }
  facts = {
    url: node.url,
    owners: [alice, bob],
    tip: formatHash((await node.headers!.tip()).header.hash),
    txid: formatTxid(moved.txid),
    coin: `${formatTxid(moved.txid)}_0`,
    tokenId,
    moved: formatTxid(moved.txid),
    inscribed: `${formatTxid(art.txid)}_0`,
    fresh: { beef: Array.from(chain.beef(next.txid)), txid: formatTxid(next.txid) },
    later: Array.from(chain.beef(last.txid))
  }
  const description = (await (await fetch(`${node.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>
  }
  templates = Object.entries(description.paths)
    .flatMap(([path, methods]) =>
      Object.keys(methods).map(method => ({
        name: `${method.toUpperCase()} ${path}`,
        pattern: new RegExp(
          `^${method} ${path.replace(/\{(\w+)\}/g, (_, name) => (name === 'path' ? '.+' : '[^/]+'))}$`,
          'i'
        ),
        parameters: path.split('{').length
      }))
    )
    .sort((a, b) => a.parameters - b.parameters)
  globalThis.fetch = (input, init) => {
    const { pathname } = new URL(String(input))
    const request = `${init?.method ?? 'GET'} ${pathname}`
    const known = templates.find(({ pattern }) => pattern.test(request))?.name
    asked.push(known ?? `${request.replace(/[0-9a-f]{64}/, '{txid}')}${UNKNOWN}`)
    const isAdmin = pathname.startsWith('/1sat/admin')
    return originalFetch(input, {
      ...init,
      ...(isAdmin && { headers: { ...(init?.headers as object), authorization: `Bearer ${ADMIN}` } })
    })
  }
})
afterAll(async () => {
  globalThis.fetch = originalFetch
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
  await node.close()
})

/** Private in its declaration. */
const PRIVATE = new Set([
  'parseResponseHeaders',
  'buildSubmitHeaders',
  'buildOutputQuery',
  'getStatusFromBeef'
])

const methodsOf = (part: ClientName): string[] =>
  Object.entries(
    Object.getOwnPropertyDescriptors(
      (oneSat as unknown as Record<string, { prototype: object }>)[PARTS[part]]!.prototype
    )
  )
    .filter(([name, { get }]) => name !== 'constructor' && !get && !PRIVATE.has(name))
    .map(([name]) => name)

/** Whether the route that a method asks for is one of the node. */
const isUnknown = (route: string): boolean => route.endsWith(UNKNOWN)
const UNKNOWN = ' (unknown)'
/** The routes of a method that asks for one after the other until it has an answer. */
const ALTERNATIVES: Readonly<Record<string, readonly string[]>> = {
  getStatusForTxids: ['GET /1sat/arcade/tx/{txid}', 'GET /1sat/beef/{txid}']
}
const worksFor = async (name: string, { call, answers }: Row, client: Methods): Promise<string> => {
  if (answers === NOT_IN_CLIENT) {
    await expect((async () => call(client))()).rejects.toThrow(/not implemented/i)
    return 'not in the client: it has no route'
  }
  try {
    expect({ answer: await call(client) }).toMatchObject({ answer: answers })
    expect(asked.filter(isUnknown)).toEqual([])
  } catch (error) {
    throw new Error(name, { cause: error })
  }
  return 'yes'
}

it('works, method by method, as the table says', async () => {
  const rows = rowsOf(facts)
  const lines: string[] = []
  for (const part of Object.keys(PARTS) as ClientName[]) {
    expect(Object.keys(rows[part]).sort(), part).toEqual(methodsOf(part).sort())
    for (const [method, each] of Object.entries(rows[part])) {
      asked = []
      // Of their own, since some remember answers.
      const clients = clientsOf(node.url)
      const services = clients.services as unknown as Record<string, Methods>
      const client = part === 'services' ? (clients.services as unknown as Methods) : services[part]!
      const name = part === 'services' ? method : `${part}.${method}`
      const works = await worksFor(name, each, client)
      clients.services.close()
      const routes = [...new Set(ALTERNATIVES[name] ?? asked)].map(
        route => `\`${route.replace(UNKNOWN, '')}\``
      )
      lines.push(`| \`${name}\` | ${routes.join(', ') || 'none'} | ${works} |`)
    }
  }
  await expect(`${HEAD}\n${lines.join('\n')}\n`).toMatchFileSnapshot('../../../../../../docs/1sat-client.md')
})

const HEAD = `# Methods of \`@1sat/client\`

What a node answers to each method of \`@1sat/client\` 0.0.9, the newest on npm: \`new OneSatServices('main', 'http://localhost:8080')\`.
A test calls every method and writes this table. "none" asks nothing of a node. Methods of \`arcade\`, and \`postBeef\`, work
where the node broadcasts ([broadcast](broadcast.md)); methods of \`admin\` need the admin token:
\`new AdminClient(url, { fetch })\` with a \`fetch\` that sends it. Headers come from a node that has them
([headers](chaintracks.md)); [content](content.md) has a page of its own.

| method | routes | works |
|---|---|---|`
