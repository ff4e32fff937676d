/** `quoin bootstrap` between real nodes over HTTP: verified, resumed after a kill, followed live, and refused what is wrong. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatOutpoint, type Topic } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore, outputs as outputKeys } from '@quoin/txo'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { oneSat, serve, type TestService } from '../packages/chain/src/headers/services.testing.ts'
import { makeKey, payTo, spend, withKeyHash } from '../packages/chain/src/verify/test-chain.testing.ts'
import { Commands, type RunningNode } from './node.testing.ts'

const TOPIC = 'tm_first' as Topic
const CHAINS = 6
const LENGTH = 10
const folder = mkdtempSync(join(tmpdir(), 'quoin-bootstrap-'))
const commands = new Commands(folder)
const PLUGIN = join(folder, 'plugin.mjs')
writeFileSync(
  PLUGIN,
  `const about = { getDocumentation: async () => '', getMetaData: async () => ({ name: 'x', shortDescription: 'x' }) }
const admit = ({ previousCoins }) => ({ outputs: [0], retain: previousCoins.map(({ input }) => input) })
export const topics = { ${TOPIC}: { ...about, admit }, tm_second: { ...about, admit } }`
)
const key = makeKey('bootstrap')
const chain = new DevChain({ seed: 'bootstrap' })
const submitted: Transaction[] = []
let source: TestService
let peer: RunningNode
const proxies: Server[] = []

const storeOf = (name: string): string => `lmdb:${join(folder, name)}`
const settings = (name: string): string[] => [
  ...['--store', storeOf(name), '--plugins', PLUGIN, '--chain', `headers:${source.url}`],
  ...['--network', 'regtest', '--bsv21-enabled', 'false', '--kvstore', 'false', '--log-level', 'warn']
]
const bootstrap = (name: string, from: string, ...more: string[]) =>
  commands.run(['bootstrap', '--from', from, ...settings(name), ...more])

interface TopicResult {
  readonly topic: string
  readonly submitted: number
  readonly queued: number
  readonly dead: number
  readonly failures: readonly { readonly reason: string }[]
}
const topicIn = (stdout: string, topic: string = TOPIC): TopicResult =>
  (JSON.parse(stdout) as { topics: TopicResult[] }).topics.find(each => each.topic === topic)!

const spendOf = async (from: Transaction): Promise<Transaction> => {
  const transaction = spend({
    inputs: [{ from, vout: 0, unlock: withKeyHash(key) }],
    outputs: [{ satoshis: from.outputs[0]!.satoshis - 1, script: payTo(key) }]
  })
  await chain.submit(transaction)
  return transaction
}
const submit = async (transaction: Transaction): Promise<void> => {
  const response = await fetch(`${peer.url}/submit`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream', 'x-topics': JSON.stringify([TOPIC]) },
    body: chain.beef(transaction.txid)
  })
  expect([response.status, await response.json()]).toMatchObject([200, { [TOPIC]: { outputsToAdmit: [0] } }])
  submitted.push(transaction)
}
const statusOf = async (node: RunningNode) =>
  (await (await fetch(`${node.url}/status`)).json()) as {
    readonly sync: readonly {
      readonly state: string
      readonly live: boolean
      readonly lastError?: string
    }[]
  }

beforeAll(async () => {
  source = await serve(oneSat(chain))
  const coins = Array.from({ length: CHAINS }, () => chain.fund(payTo(key), 1000))
  const mined = Array.from({ length: CHAINS }, () => chain.fund(payTo(key), 1000))
  chain.mine()
  peer = await commands.serve(['serve', '--port', '0', ...settings('peer')])
  // It is ready when it has the headers.
  const ready = async (): Promise<number> => (await fetch(`${peer.url}/health/ready`)).status
  await vi.waitUntil(async () => (await ready()) === 200, { timeout: 20_000, interval: 50 })
  for (const coin of coins) {
    let last = await spendOf(coin)
    await submit(last)
    for (let i = 1; i < LENGTH; i++) {
      last = await spendOf(last)
      await submit(last)
    }
  }
  for (const each of mined) await submit(each)
})
afterEach(() => {
  for (const proxy of proxies.splice(0)) {
    proxy.closeAllConnections()
    proxy.close()
  }
})
afterAll(async () => {
  await commands.close()
  await source?.close()
  rmSync(folder, { recursive: true })
})

/** The members of the topic, each with its spender, and the scores of the mined ones. */
const stateOf = async (name: string): Promise<unknown> => {
  const store = await openStore(`${storeOf(name)}?read-only`)
  try {
    const outputs = new OutputStore(store)
    const rows = await store.use(outputKeys.collections.topicOutputs).at(TOPIC).range()
    const spends = await outputs.spends(rows.map(({ member }) => member))
    return rows
      .map(({ member, score }, i) => [
        formatOutpoint(member),
        spends[i] && Buffer.from(spends[i]).toString('hex'),
        // Of an unmined transaction the score is when this node saw it first.
        score < 1e8 ? score : 'unmined'
      ])
      .sort()
  } finally {
    await store.close()
  }
}
const expectSame = async (name: string): Promise<void> => {
  expect(await stateOf(name)).toEqual(await stateOf('peer'))
  expect(await commands.run(['verify', storeOf(name)])).toMatchObject({ status: 0 })
}

interface Request {
  readonly path: string
  readonly body: Buffer
}
/** A server that answers by itself, or passes a request on to the peer. */
const proxy = async (
  answer: (request: Request, response: ServerResponse) => Promise<Buffer | undefined> | Buffer | undefined
): Promise<string> => {
  const server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = await answer({ path: request.url!, body: Buffer.concat(chunks) }, response)
    if (!body) return
    const headers = {
      'content-type': 'application/json',
      'x-bsv-topic': String(request.headers['x-bsv-topic'])
    }
    const passed = await fetch(peer.url + request.url, { method: 'POST', headers, body })
    response.writeHead(passed.status).end(Buffer.from(await passed.arrayBuffer()))
  })
  proxies.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
/** A request for a batch, with the first few of its transactions. */
const shortened = (body: Buffer, count: number): Buffer => {
  const { version, txids } = JSON.parse(body.toString())
  return Buffer.from(JSON.stringify({ version, txids: txids.slice(0, count) }))
}

it('fills a store with the topics of a peer, verified, and changes nothing when run again', async () => {
  const { status, stdout } = await bootstrap('whole', peer.url, '--json')
  expect(status).toBe(0)
  expect(topicIn(stdout)).toMatchObject({ submitted: submitted.length, queued: 0, dead: 0 })
  expect(topicIn(stdout, 'tm_second')).toMatchObject({ submitted: 0, queued: 0, dead: 0 })
  await expectSame('whole')
  const again = await bootstrap('whole', peer.url)
  expect(again.stdout).toMatch(/tm_first +0 transactions +complete/)
})

it('goes on after a kill, and requests nothing that it has', async () => {
  let [requested, batches] = [0, 0]
  let hanging: () => void = () => undefined
  const hangs = new Promise<void>(resolve => {
    hanging = resolve
  })
  const from = await proxy(({ path, body }) => {
    if (path !== '/requestTransactions') return body
    if (++batches <= 3) {
      requested += 7
      return shortened(body, 7)
    }
    hanging()
    return undefined
  })
  const killed = commands.start(['bootstrap', '--from', from, ...settings('killed')])
  await hangs
  killed.child.kill('SIGKILL')
  expect(await killed.ended).toBe('SIGKILL')
  let requestedAgain = 0
  const whole = await proxy(({ path, body }) => {
    if (path === '/requestTransactions') requestedAgain += JSON.parse(body.toString()).txids.length
    return body
  })
  expect(await bootstrap('killed', whole)).toMatchObject({ status: 0 })
  // The submissions of the last batch may have been under way.
  expect(requestedAgain).toBeLessThanOrEqual(submitted.length - requested + 7)
  expect(requestedAgain).toBeGreaterThanOrEqual(submitted.length - requested)
  await expectSame('killed')
})

it('repeats what a peer cuts, and ends with the reason when the peer is wrong', async () => {
  let cuts = 0
  const cutting = await proxy(({ path, body }, response) => {
    if (path !== '/requestTransactions' || ++cuts > 2) return body
    response.writeHead(200, { 'content-length': 1_000_000 })
    response.write('x')
    setTimeout(() => response.destroy(), 10)
    return undefined
  })
  const cut = await bootstrap('cut', cutting)
  expect([cut.status, cut.stderr]).toEqual([0, expect.stringContaining('trying again')])
  await expectSame('cut')
  const nonsense = await proxy((_, response) => void response.end('<html>'))
  expect(await bootstrap('wrong', nonsense)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('sent an answer that is not JSON [ERR_SYNC_PEER]')
  })
  expect((await bootstrap('wrong', peer.url, '--topic', 'tm_none')).stderr).toContain(
    'no topic is called tm_none'
  )
  expect((await bootstrap('wrong', peer.url, '--sample', '101')).stderr).toContain(
    'a percentage from 0 to 100'
  )
})

it('refuses proofs of blocks that its headers do not have', async () => {
  const other = await serve(oneSat(new DevChain({ seed: 'another chain' })))
  const store = ['--store', storeOf('elsewhere'), '--chain', `headers:${other.url}`]
  const { status, stdout } = await bootstrap('elsewhere', peer.url, ...store, '--json')
  await other.close()
  expect(status).toBe(1)
  const { queued, failures } = topicIn(stdout)
  expect(queued).toBe(submitted.length)
  expect(failures[0]!.reason).toMatch(/its merkle path does not lead to block|waits for transaction/)
  expect(await stateOf('elsewhere')).toEqual([])
})

it('then follows the peer, and has its submissions at once', async () => {
  const node = await commands.serve([
    ...['bootstrap', '--from', peer.url, '--follow', '--port', '0', '--sync-interval', '3600'],
    ...settings('following'),
    ...['--sample', '10']
  ])
  await expect.poll(async () => (await statusOf(node)).sync[0]?.live, { timeout: 10_000 }).toBe(true)
  const has = async (): Promise<number> => {
    const { txid } = submitted.at(-1)!
    return (await fetch(`${node.url}/txo/outpoint/${Buffer.from(txid).reverse().toString('hex')}.0`)).status
  }
  await submit(await spendOf(submitted.at(-1)!))
  await expect.poll(has, { timeout: 10_000 }).toBe(200)
  const { stdout } = await commands.run(['status', '--url', node.url])
  expect(stdout).toMatch(/peer tm_first +http.*: working, live for/)
  await commands.stop(node)
  expect(await stateOf('following')).toEqual(await stateOf('peer'))
})

it('says in its status why a peer that starts late or answers wrongly is not synced, and goes on', async () => {
  const reserved = await proxy(() => undefined)
  const { port } = new URL(reserved)
  const [first] = proxies.splice(0)
  await new Promise(resolve => first!.close(resolve))
  const node = await commands.serve([
    ...['serve', '--port', '0', '--sync-interval', '1', '--peers', `${TOPIC}=${reserved}`],
    ...settings('late')
  ])
  const sync = async () => (await statusOf(node)).sync[0]!
  await expect.poll(sync, { timeout: 10_000 }).toMatchObject({
    state: 'failing',
    live: false,
    lastError: expect.stringContaining('cannot be reached')
  })
  let isWrong = true
  const late = createServer(async (request, response) => {
    if (isWrong) return void response.end('[]')
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const headers = { 'content-type': 'application/json', 'x-bsv-topic': TOPIC }
    const passed = await fetch(peer.url + request.url, {
      method: 'POST',
      headers,
      body: Buffer.concat(chunks)
    })
    response.writeHead(passed.status).end(Buffer.from(await passed.arrayBuffer()))
  })
  proxies.push(late)
  await new Promise<void>(resolve => late.listen(Number(port), '127.0.0.1', resolve))
  await expect.poll(sync, { timeout: 10_000 }).toMatchObject({
    state: 'failing',
    lastError: expect.stringContaining('malformed answer')
  })
  isWrong = false
  await expect.poll(sync, { timeout: 10_000 }).toMatchObject({ state: 'working' })
  await commands.stop(node)
  expect(await stateOf('late')).toEqual(await stateOf('peer'))
})
