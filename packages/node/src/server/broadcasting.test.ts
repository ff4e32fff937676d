/** A node in front of a transaction processor: `/submit`, callbacks, the 1Sat API with its own client, and what operators see. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ArcadeClient, OneSatServices } from '@1sat/client'
import { Beef as SdkBeef } from '@bsv/sdk'
import { Beef, formatHash, type Transaction, writeBeef, writeExtended } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { eventsOf, formatTxid, type ServerEvent, toHex } from '@quoin/primitives'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { oneSat, serve, type TestService } from '../../../chain/src/headers/services.testing.ts'
import { makeKey, payTo, spend, withKeyHash } from '../../../chain/src/verify/test-chain.testing.ts'
import { ProcessorServer } from '../../../overlay/src/broadcast/processor-server.testing.ts'
import { loadConfig } from './config.ts'
import { said } from './node.testing.ts'
import { type Node, startNode } from './node.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-broadcasting-'))
const PLUGIN = join(folder, 'ones.mjs')
const ARC_TOKEN = 'secret-of-the-callbacks'
const PROCESSOR_TOKEN = 'secret-of-the-processor'
const key = makeKey('broadcasting')
const chain = new DevChain({ seed: 'broadcasting' })
let headers: TestService
let arc: ProcessorServer
let node: Node

/** A port for a callback URL, which the configuration names before the node listens. */
const freePort = (): Promise<number> =>
  new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

const open = async (options: Readonly<Record<string, string>> = {}): Promise<Node> => {
  const port = await freePort()
  const { config } = loadConfig({
    options: {
      store: 'memory:',
      port: String(port),
      network: 'regtest',
      chain: `headers:${headers.url}`,
      plugins: PLUGIN,
      arcToken: ARC_TOKEN,
      logLevel: 'silent',
      'broadcast.processors': `arc:${arc.url}`,
      'broadcast.tokens': PROCESSOR_TOKEN,
      'broadcast.callback': `http://127.0.0.1:${port}/arc-ingest`,
      ...options
    }
  })
  const started = await startNode(config)
  await started.sync!.once()
  return started
}

beforeAll(async () => {
  const about = `getDocumentation: async () => '', getMetaData: async () => ({ name: 'x', shortDescription: 'x' })`
  writeFileSync(
    PLUGIN,
    `export const topics = { tm_ones: { ${about}, admit: ({ transaction }) =>
      ({ outputs: [...transaction.outputs.keys()].filter(vout => transaction.outputs[vout].satoshis === 1) }) } }`
  )
  // The client tells the console what it does.
  vi.spyOn(console, 'log').mockImplementation(() => undefined)
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  headers = await serve(oneSat(chain))
  arc = await ProcessorServer.start('arc', chain, PROCESSOR_TOKEN)
})
afterAll(async () => {
  vi.restoreAllMocks()
  await Promise.all([headers.close(), arc.close()])
  rmSync(folder, { recursive: true })
})

/** Mined before a node of a test starts, so that its headers have them. */
const funded = Array.from({ length: 20 }, () => chain.fund(payTo(key), 1000))
chain.mine()
const paid = (satoshis: readonly number[] = [1, 900], from = funded.pop()!, vout = 0): Transaction =>
  spend({
    inputs: [{ from, vout, unlock: withKeyHash(key) }],
    outputs: satoshis.map(each => ({ satoshis: each, script: payTo(key) }))
  })
const proof = async (txid: Transaction['txid']) => {
  const answer = await chain.proof(txid)
  return answer.status === 'mined' ? answer.bump : undefined
}
const beefOf = async (transaction: Transaction): Promise<Uint8Array> => {
  const parents = await Promise.all(
    transaction.inputs.map(async ({ txid }) => ({
      txid,
      transaction: chain.transaction(txid),
      bump: await proof(txid)
    }))
  )
  return writeBeef({
    version: 1,
    atomic: transaction.txid,
    transactions: [...parents, { txid: transaction.txid, transaction, bump: undefined }]
  })
}
const submit = async (transaction: Transaction) =>
  fetch(`${node.url}/submit`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream', 'x-topics': 'tm_ones' },
    body: Buffer.from(await beefOf(transaction))
  })
const statusOf = ({ txid }: Transaction) => said(fetch(`${node.url}/tx/${formatTxid(txid)}/status`))
const isAdmitted = async ({ txid }: Transaction) => {
  const why = await said(fetch(`${node.url}/why/${formatTxid(txid)}.0?topic=tm_ones`))
  return why.reasons.some(({ code }: { code: string }) => code === 'admitted')
}

describe('a node that broadcasts before admission', () => {
  beforeAll(async () => {
    node = await open()
  })
  afterAll(() => node.close())
  afterEach(() => {
    arc.behaviour = 'right'
    arc.verdicts.clear()
  })

  it('admits what the network takes, and answers what became of it', async () => {
    const transaction = paid()
    expect(await said(submit(transaction))).toMatchObject({ tm_ones: { outputsToAdmit: [0] } })
    expect(await statusOf(transaction)).toMatchObject({
      status: 'seen',
      txStatus: 'SEEN_ON_NETWORK',
      submissions: 1,
      processor: `arc ${arc.url}`
    })
    expect((await fetch(`${node.url}/tx/${'ab'.repeat(32)}/status`)).status).toBe(404)
  })

  it('refuses what the network refuses with 400, and answers 503 when it does not decide', async () => {
    const transaction = paid()
    arc.verdicts.set(formatTxid(transaction.txid), { txStatus: 'REJECTED', extraInfo: 'no' })
    const refused = await submit(transaction)
    expect([refused.status, await refused.json()]).toMatchObject([400, { code: 'ERR_BROADCAST' }])
    arc.verdicts.clear()
    arc.behaviour = 'failing'
    const undecided = await submit(transaction)
    expect([undecided.status, undecided.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await undecided.json()).toMatchObject({ code: 'ERR_BROADCAST_UNAVAILABLE' })
    expect(await isAdmitted(transaction)).toBe(false)
    arc.behaviour = 'right'
    expect((await submit(transaction)).status).toBe(200)
  })

  it('acts on the callbacks of the processor', async () => {
    const transaction = paid()
    await submit(transaction)
    const txid = formatTxid(transaction.txid)
    expect(await arc.callback(txid, { txStatus: 'SEEN_MULTIPLE_NODES' })).toBe(200)
    expect(await statusOf(transaction)).toMatchObject({ status: 'seen', txStatus: 'SEEN_MULTIPLE_NODES' })
    const competingTxs = ['cd'.repeat(32)]
    expect(await arc.callback(txid, { txStatus: 'DOUBLE_SPEND_ATTEMPTED', competingTxs })).toBe(200)
    const status = await statusOf(transaction)
    expect(status).toMatchObject({ status: 'rejected', competing: competingTxs })
    expect(Object.keys(status).sort()).toEqual(
      ['at', 'competing', 'processor', 'reason', 'since', 'status', 'submissions', 'txStatus', 'txid'].sort()
    )
    expect(await isAdmitted(transaction)).toBe(false)
    const why = await said(fetch(`${node.url}/why/${txid}.0`))
    expect(why.reasons).toContainEqual(expect.objectContaining({ code: 'network-refused' }))
    const stranger = await fetch(`${node.url}/arc-ingest`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer somebody-elses-token' },
      body: JSON.stringify({ txid, txStatus: 'REJECTED' })
    })
    expect(stranger.status).toBe(403)
  })

  it('tells operators of the processor, and shows its token nowhere', async () => {
    arc.behaviour = 'failing'
    await submit(paid())
    const status = await said(fetch(`${node.url}/status`))
    expect(status.broadcast).toMatchObject({
      when: 'before',
      processors: [{ name: `arc ${arc.url}`, state: 'failing' }],
      transactions: { seen: expect.any(Number) }
    })
    expect(status.parts).toContainEqual(
      expect.objectContaining({ name: `broadcast arc ${arc.url}`, status: 'degraded' })
    )
    expect((await fetch(`${node.url}/health/ready`)).status).toBe(200)
    const metrics = await (await fetch(`${node.url}/metrics`)).text()
    expect(metrics).toContain('quoin_broadcast_transactions{status="seen"}')
    expect(metrics).toMatch(
      /quoin_broadcast_seconds_count\{processor="arc [^"]+",outcome="unavailable"\} [1-9]/
    )
    expect(JSON.stringify(status) + metrics).not.toContain(PROCESSOR_TOKEN)
  })

  describe('with @1sat/client', () => {
    const arcade = () => new ArcadeClient(node.url) as unknown as Arcade

    it('posts a BEEF, and knows double spends', async () => {
      const from = funded.pop()!
      const [first, rival] = [paid([700], from), paid([800], from)]
      const services = new OneSatServices('main', node.url) as unknown as Services
      const posted = async (transaction: Transaction) =>
        services.postBeef(SdkBeef.fromBinary([...(await beefOf(transaction))]), [
          formatTxid(transaction.txid)
        ])
      expect(await posted(first)).toMatchObject([{ status: 'success' }])
      expect(await posted(rival)).toMatchObject([
        {
          status: 'error',
          txidResults: [
            { data: { txStatus: 'DOUBLE_SPEND_ATTEMPTED', competingTxs: [formatTxid(first.txid)] } }
          ]
        }
      ])
      expect(await services.getStatusForTxids([formatTxid(first.txid)])).toMatchObject({
        results: [{ status: 'known' }]
      })
      expect(await said(fetch(`${node.url}/capabilities`))).toContain('arcade')
    })

    it('submits transactions alone and together, and reads statuses and the policy', async () => {
      const [first, second, third] = [paid([700]), paid([700]), paid([700])]
      const parents = [first, second, third].flatMap(({ inputs }) =>
        inputs.map(({ txid }) => chain.transaction(txid)!)
      )
      // The parents are in the index.
      for (const parent of parents) await submitParent(parent)
      expect(await arcade().submitTransactionHex(toHex(first.raw))).toMatchObject({
        txStatus: 'SEEN_ON_NETWORK'
      })
      expect(await arcade().submitTransactions([second.raw, third.raw])).toMatchObject([
        { txid: formatTxid(second.txid), txStatus: 'SEEN_ON_NETWORK' },
        { txid: formatTxid(third.txid), txStatus: 'SEEN_ON_NETWORK' }
      ])
      expect(await arcade().getStatus(formatTxid(third.txid))).toMatchObject({ txStatus: 'SEEN_ON_NETWORK' })
      await expect(arcade().getStatus('ab'.repeat(32))).rejects.toMatchObject({ status: 404 })
      expect(await arcade().getPolicy()).toMatchObject({
        policy: { miningFee: { satoshis: 1, bytes: 1000 } }
      })
    })

    it('streams the statuses of its submissions', async () => {
      vi.stubGlobal('EventSource', FetchedEvents)
      const statuses: unknown[] = []
      const unsubscribe = arcade().subscribeEvents(status => statuses.push(status), 'my-token')
      await expect.poll(() => FetchedEvents.opened).toBe(1)
      const [mine, others] = [paid([700]), paid([700])]
      await arcade().submitTransaction(await beefOf(others), { callbackToken: 'another-token' })
      await arcade().submitTransaction(await beefOf(mine), { callbackToken: 'my-token' })
      await arc.callback(formatTxid(mine.txid), { txStatus: 'SEEN_MULTIPLE_NODES' })
      await expect
        .poll(() => statuses)
        .toMatchObject([
          { txid: formatTxid(mine.txid), txStatus: 'SEEN_ON_NETWORK' },
          { txid: formatTxid(mine.txid), txStatus: 'SEEN_MULTIPLE_NODES' }
        ])
      unsubscribe()
      vi.unstubAllGlobals()
      await resumed(mine)
    })
  })

  it('takes Extended Format, hex and JSON at /1sat/tx, and answers a refusal with its status', async () => {
    const post = (body: string | Uint8Array) =>
      fetch(`${node.url}/1sat/tx`, {
        method: 'POST',
        body: typeof body === 'string' ? body : Buffer.from(body)
      })
    const bodies = [
      (each: Transaction) => writeExtended(each, of => chain.transaction(of))!,
      (each: Transaction) => toHex(each.raw),
      (each: Transaction) => JSON.stringify({ rawTx: toHex(each.raw) })
    ]
    for (const bodyOf of bodies) {
      const transaction = paid([600])
      await submitParent(chain.transaction(transaction.inputs[0]!.txid)!)
      const response = await post(bodyOf(transaction))
      expect([response.status, await response.json()]).toMatchObject([
        200,
        { txid: formatTxid(transaction.txid) }
      ])
      arc.verdicts.clear()
    }
    const refused = paid([600])
    arc.verdicts.set(formatTxid(refused.txid), { txStatus: 'REJECTED', extraInfo: 'no' })
    const response = await post(await beefOf(refused))
    expect([response.status, await response.json()]).toMatchObject([400, { txStatus: 'REJECTED' }])
    for (const body of ['', 'zz', '{', '{"rawTx":1}', '0100', new Uint8Array(40)]) {
      expect((await post(body)).status).toBe(400)
    }
  })
})

it('a node with a development chain broadcasts into it', async () => {
  const { config } = loadConfig({
    options: { store: 'memory:', port: '0', blockTime: '0', logLevel: 'silent', plugins: PLUGIN }
  })
  node = await startNode(config)
  const dev = node.dev!
  const from = await dev.fund(payTo(key), 1000)
  const transaction = paid([1, 900], from)
  const beef = Beef.of([
    ...Beef.parse(dev.chain.beef(from.txid)).transactions,
    { txid: transaction.txid, transaction, bump: undefined }
  ])
  const services = new OneSatServices('main', node.url) as unknown as Services
  const txid = formatTxid(transaction.txid)
  expect(await services.postBeef(SdkBeef.fromBinary([...beef.bytes]), [txid])).toMatchObject([
    { status: 'success' }
  ])
  expect(dev.chain.transaction(transaction.txid)).toBeDefined()
  const rival = paid([1, 800], from)
  const refused = await fetch(`${node.url}/1sat/tx`, {
    method: 'POST',
    body: Buffer.from(
      Beef.of([
        ...Beef.parse(dev.chain.beef(from.txid)).transactions,
        { txid: rival.txid, transaction: rival, bump: undefined }
      ]).bytes
    )
  })
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { txid: formatTxid(rival.txid), txStatus: 'DOUBLE_SPEND_ATTEMPTED', competingTxs: [txid] }
  ])
  await dev.mine()
  expect(await said(fetch(`${node.url}/1sat/tx/${txid}`))).toMatchObject({
    txStatus: 'MINED',
    blockHeight: dev.chain.height,
    blockHash: formatHash(dev.chain.header(dev.chain.height)!.header.hash),
    merklePath: expect.any(String)
  })
  const events = await eventsAfter('0', 'callbackToken=test-callback-token', 2)
  expect(events.map(({ data }) => JSON.parse(data))).toMatchObject([
    { txid, txStatus: 'SEEN_ON_NETWORK' },
    { txid, txStatus: 'MINED', blockHeight: dev.chain.height, merklePath: expect.any(String) }
  ])
  await node.close()
})

interface Status {
  readonly txid: string
  readonly txStatus: string
}
interface Arcade {
  submitTransaction(bytes: Uint8Array, options?: { readonly callbackToken: string }): Promise<Status>
  submitTransactionHex(hex: string): Promise<Status>
  submitTransactions(raw: readonly Uint8Array[]): Promise<Status[]>
  getStatus(txid: string): Promise<Status>
  getPolicy(): Promise<unknown>
  subscribeEvents(listener: (status: Status) => void, token?: string): () => void
}
interface Services {
  postBeef(beef: SdkBeef, txids: readonly string[]): Promise<unknown>
  getStatusForTxids(txids: readonly string[]): Promise<unknown>
}

const submitParent = async (parent: Transaction): Promise<void> => {
  const beef = chain.beef(parent.txid)
  const response = await fetch(`${node.url}/1sat/tx`, { method: 'POST', body: Buffer.from(beef) })
  expect(response.status).toBe(200)
}

/** With `Last-Event-ID` the stream goes on with what followed, and with the names of Arcade where it is asked so. */
const resumed = async (transaction: Transaction): Promise<void> => {
  const txid = formatTxid(transaction.txid)
  const named = await eventsAfter('0', 'callbackToken=my-token', 2)
  expect(named.map(({ event, data }) => [event, JSON.parse(data)])).toMatchObject([
    ['status', { txid, txStatus: 'SEEN_ON_NETWORK' }],
    ['status', { txid, txStatus: 'SEEN_MULTIPLE_NODES' }]
  ])
  const [last] = await eventsAfter(named[0]!.id, 'token=my-token', 1)
  expect([last!.event, JSON.parse(last!.data)]).toMatchObject([
    'message',
    { txStatus: 'SEEN_MULTIPLE_NODES' }
  ])
  const [gap] = await eventsAfter('1000000', 'token=my-token', 1)
  expect([gap!.event, JSON.parse(gap!.data)]).toMatchObject(['gap', { reason: 'replay_unavailable' }])
}

const eventsAfter = async (id: string, query: string, count: number): Promise<ServerEvent[]> => {
  const stopping = new AbortController()
  const found: ServerEvent[] = []
  const options = { headers: { 'last-event-id': id }, silence: 60_000, signal: stopping.signal }
  for await (const events of eventsOf(`${node.url}/1sat/arcade/events?${query}`, options)) {
    found.push(...events.filter(({ data }) => data !== ''))
    if (found.length >= count) break
  }
  stopping.abort()
  return found
}

/** The part of `EventSource` that the client uses, which Node 20 does not have. */
class FetchedEvents {
  static opened = 0
  onmessage: ((event: { readonly data: string }) => void) | undefined
  onerror: (() => void) | undefined
  readonly #stopping = new AbortController()

  constructor(url: string) {
    void this.#read(url)
  }

  async #read(url: string): Promise<void> {
    try {
      const options = { silence: 60_000, signal: this.#stopping.signal }
      for await (const events of eventsOf(url, options)) {
        FetchedEvents.opened = 1
        for (const { event, data } of events)
          if (event === 'message' && data !== '') this.onmessage?.({ data })
      }
    } catch {
      this.onerror?.()
    }
  }

  close(): void {
    this.#stopping.abort()
  }
}
