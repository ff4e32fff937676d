/** Hosts for tests that are not what they should be: real servers that lie, break off, or stand between client and node. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  MerklePath,
  OverlayAdminTokenTemplate,
  PrivateKey,
  ProtoWallet,
  Transaction,
  UnlockingScript,
  type WalletInterface
} from '@bsv/sdk'

export interface TestHost {
  readonly url: string
  /** Paths that were asked for. */
  readonly asked: string[]
  /** Ends all connections. */
  cut(): void
  close(): Promise<void>
}

type Handle = (request: IncomingMessage, body: Buffer, response: ServerResponse) => Promise<void> | void

export const startHost = async (handle: Handle): Promise<TestHost> => {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    asked.push(request.url!)
    const body = Buffer.concat(await request.toArray())
    await handle(request, body, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    cut: () => server.closeAllConnections(),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

/** Answers every lookup with the same. */
export const startAnswering = (answer: unknown): Promise<TestHost> =>
  startHost((_, __, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer))
  })

export interface Between extends TestHost {
  /** Paths of which requests break off. */
  readonly broken: Set<string>
}

/** Passes on what it is asked to a node. */
export const startBetween = async (node: string): Promise<Between> => {
  const broken = new Set<string>()
  const host = await startHost(async ({ method, url, headers }, body, response) => {
    if ([...broken].some(path => url!.startsWith(path))) return void response.destroy()
    const passed = Object.entries(headers).filter(([name]) => /^(content-type|x-.*|accept)$/.test(name))
    const answer = await fetch(node + url, {
      method: method!,
      headers: Object.fromEntries(passed) as Record<string, string>,
      ...(method === 'POST' && { body: Uint8Array.from(body) })
    })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.flushHeaders()
    const stream = answer.body?.getReader()
    response.on('close', () => stream?.cancel())
    for (let chunk = await stream?.read(); chunk && !chunk.done; chunk = await stream!.read()) {
      response.write(chunk.value)
    }
    response.end()
  })
  return { ...host, broken }
}

/** A tracker that knows these hosts for the lookup service and for the topic. */
export const startTracker = (lookup: readonly string[], submit: readonly string[]): Promise<TestHost> => {
  const tracker = startHost(async ({ headers }, body, response) => {
    const { service, query } = JSON.parse(String(body)) as { service: string; query: { service?: string } }
    const asks = query.service ?? service
    const ads =
      asks === 'ls_kvstore'
        ? await Promise.all(lookup.map(url => advertisement('SLAP', url, 'ls_kvstore')))
        : asks === 'ls_ship' && service === 'ls_slap'
          ? [await advertisement('SLAP', `http://${headers.host}`, 'ls_ship')]
          : await Promise.all(submit.map(url => advertisement('SHIP', url, 'tm_kvstore')))
    const outputs = ads.map(beef => ({ beef, outputIndex: 0 }))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ type: 'output-list', outputs }))
  })
  return tracker
}

/** What trackers answer: a transaction that advertises one host. */
const advertisement = async (protocol: 'SHIP' | 'SLAP', url: string, name: string): Promise<number[]> => {
  const wallet = new ProtoWallet(new PrivateKey(1)) as unknown as WalletInterface
  const transaction = new Transaction(
    1,
    [
      {
        sourceTXID: '11'.repeat(32),
        sourceOutputIndex: 0,
        unlockingScript: new UnlockingScript(),
        sequence: 0
      }
    ],
    [{ satoshis: 1, lockingScript: await new OverlayAdminTokenTemplate(wallet).lock(protocol, url, name) }]
  )
  transaction.merklePath = new MerklePath(1, [
    [
      { offset: 0, hash: '22'.repeat(32) },
      { offset: 1, hash: transaction.id('hex'), txid: true }
    ]
  ])
  return transaction.toBEEF()
}
