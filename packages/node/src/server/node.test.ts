/** What a node does by itself: follows headers, puts proofs right after a reorg, loads plug-ins, and closes whole. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sharedInterpreter, type Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import type { Logger } from '@quoin/overlay'
import { makeOutpoint, type Topic } from '@quoin/primitives'
import { verifyIndex } from '@quoin/txo'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  blockHeadersService,
  oneSat,
  serve,
  type TestService
} from '../../../chain/src/headers/services.testing.ts'
import { makeKey, payTo, spend, withKeyHash } from '../../../chain/src/verify/test-chain.testing.ts'
import { loadConfig } from './config.ts'
import { type Node, openNode, startNode } from './node.ts'
import type { NamedState } from './parts.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-node-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = (name: string, content: string): string => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}
const about = `getDocumentation: async () => '# x', getMetaData: async () => ({ name: 'x', shortDescription: 'x' })`
const PLUGIN = file(
  'first.mjs',
  `export const topics = { tm_first: { ${about}, admit: () => ({ outputs: [0] }) } }`
)
const TOPIC = 'tm_first' as Topic
const TOKEN = 'correct-horse-battery-staple'

const key = makeKey('node')
let logged: (readonly [event: string, fields: unknown])[]
const log = (event: string, fields: unknown): void => void logged.push([event, fields])
const logger: Logger = { info: log, warn: log, error: log }
const events = (): string[] => logged.map(([event]) => event)

let node: Node | undefined
const started = async (options: Readonly<Record<string, string>>): Promise<Node> => {
  node = await startNode(
    loadConfig({ options: { store: 'memory:', port: '0', plugins: PLUGIN, blockTime: '0', ...options } })
      .config,
    { logger }
  )
  return node
}
beforeEach(() => {
  logged = []
})
afterEach(async () => {
  await node?.close()
  node = undefined
})

const pay = (chain: DevChain): Transaction =>
  spend({
    inputs: [{ from: chain.fund(payTo(key), 1000), vout: 0, unlock: withKeyHash(key) }],
    outputs: [{ satoshis: 900, script: payTo(key) }]
  })
const submit = async ({ url }: Node, beef: Uint8Array): Promise<unknown> => {
  const response = await fetch(`${url}/submit`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream', 'x-topics': '["tm_first"]' },
    body: Buffer.from(beef)
  })
  return response.json()
}
const readiness = async ({ url }: Node): Promise<{ status: number; reasons: string[] }> => {
  const response = await fetch(`${url}/health/ready`)
  const { checks } = (await response.json()) as { checks: { status: string; message?: string }[] }
  return {
    status: response.status,
    reasons: checks.filter(({ status }) => status !== 'ok').map(({ message }) => message ?? '')
  }
}

describe('a node with a chain of its own', () => {
  it('mines what is submitted, and the engine has the proof', async () => {
    const { dev, engine } = (await started({})) as Node & { dev: NonNullable<Node['dev']> }
    const paid = await dev.fund(payTo(key), 1000)
    const transaction = spend({
      inputs: [{ from: paid, vout: 0, unlock: withKeyHash(key) }],
      outputs: [{ satoshis: 900, script: payTo(key) }]
    })
    await dev.chain.submit(transaction)
    const bytes = dev.chain.beef(transaction.txid)
    expect(await submit(node!, bytes)).toMatchObject({ tm_first: { outputsToAdmit: [0] } })
    expect(await engine.outputs.transactions.proof(transaction.txid)).toBeUndefined()
    await dev.mine()
    expect((await engine.outputs.transactions.proof(transaction.txid))?.height).toBe(dev.chain.height)
    const { fork } = await dev.reorg(1)
    await expect
      .poll(async () => (await engine.outputs.transactions.proof(transaction.txid))?.height)
      .toBe(fork + 2)
    expect(events()).toContain('reorg')
    expect((await verifyIndex(node!.store, { events: engine.outputs.events })).differences).toEqual([])
  })

  it('what is mined before it is committed has its proof with the next block', async () => {
    const { dev, engine } = (await started({})) as Node & { dev: NonNullable<Node['dev']> }
    const from = await dev.fund(payTo(key), 1000)
    const transaction = spend({
      inputs: [{ from, vout: 0, unlock: withKeyHash(key) }],
      outputs: [{ satoshis: 900, script: payTo(key) }]
    })
    await dev.chain.submit(transaction)
    const unproved = dev.chain.beef(transaction.txid)
    await dev.mine()
    const { height } = dev.chain
    await submit(node!, unproved)
    await dev.mine()
    expect((await engine.outputs.transactions.proof(transaction.txid))?.height).toBe(height)
    expect((await engine.outputs.transactions.proof(from.txid))?.height).toBe(height)
  })

  it('mines by itself when it is told how often', async () => {
    const { dev } = (await started({ blockTime: '1' })) as Node & { dev: NonNullable<Node['dev']> }
    await dev.fund(payTo(key), 1000)
    const { height } = dev.chain
    await expect.poll(() => dev.chain.height, { timeout: 5000 }).toBe(height + 1)
    expect(dev.chain.mempool).toEqual([])
  })

  it('refuses a second spender of a coin that waits, and says which is the first', async () => {
    const { dev } = (await started({})) as Node & { dev: NonNullable<Node['dev']> }
    const from = await dev.fund(payTo(key), 1000)
    const [first, second] = [900, 800].map(satoshis =>
      spend({
        inputs: [{ from, vout: 0, unlock: withKeyHash(key) }],
        outputs: [{ satoshis, script: payTo(key) }]
      })
    )
    await dev.chain.submit(first!)
    await submit(node!, dev.chain.beef(first!.txid))
    const rival = DevChain.from(dev.chain.toJSON())
    await rival.submit(second!, { replace: true })
    expect(await submit(node!, rival.beef(second!.txid))).toMatchObject({ code: 'ERR_TXO_CONFLICT' })
  })
})

describe('a node that follows headers', () => {
  let chain: DevChain
  let service: TestService
  beforeEach(async () => {
    chain = new DevChain({ seed: 'headers' })
    chain.mine(5)
    service = await serve(oneSat(chain))
  })
  afterEach(() => service.close())

  it('is ready when it has them, believes what they prove, and nothing else', async () => {
    await started({ chain: `headers:${service.url}`, network: 'regtest' })
    await expect.poll(() => readiness(node!)).toEqual({ status: 200, reasons: [] })
    expect((await node!.headers!.tip()).height).toBe(5)
    const transaction = pay(chain)
    await chain.submit(transaction)
    expect(await submit(node!, chain.beef(transaction.txid))).toMatchObject({
      tm_first: { outputsToAdmit: [0] }
    })
    const other = new DevChain({ seed: 'another' })
    other.mine(5)
    const foreign = pay(other)
    await other.submit(foreign)
    other.mine()
    expect(await submit(node!, other.beef(foreign.txid))).toMatchObject({ code: 'ERR_TX_INVALID' })
  })

  it('after a reorg asks for the proofs anew, and takes back what is gone', async () => {
    await started({ chain: `headers:${service.url}`, network: 'regtest', proofs: service.url })
    const [kept, lost] = [pay(chain), pay(chain)]
    for (const each of [kept, lost]) await chain.submit(each)
    chain.mine()
    await node!.sync!.once()
    for (const { txid } of [kept, lost]) {
      expect(await submit(node!, chain.beef(txid))).toMatchObject({ tm_first: { outputsToAdmit: [0] } })
    }
    const { fork } = await chain.reorg(1, { drop: [lost.txid] })
    await node!.sync!.once()
    const { outputs } = node!.engine
    await expect.poll(async () => (await outputs.transactions.proof(kept.txid))?.height).toBe(fork + 2)
    await expect.poll(() => outputs.isInTopic(TOPIC, makeOutpoint(lost.txid, 0))).toBe(false)
    expect(await outputs.isInTopic(TOPIC, makeOutpoint(kept.txid, 0))).toBe(true)
  })

  it('asks for the proofs of what waits when a block comes', async () => {
    await started({ chain: `headers:${service.url}`, network: 'regtest', proofs: service.url })
    await expect.poll(() => readiness(node!)).toEqual({ status: 200, reasons: [] })
    const transaction = pay(chain)
    await chain.submit(transaction)
    await submit(node!, chain.beef(transaction.txid))
    chain.mine()
    await node!.sync!.once()
    const { transactions } = node!.engine.outputs
    await expect.poll(async () => (await transactions.proof(transaction.txid))?.height).toBe(chain.height)
  })

  it('gets them of a Block Headers Service too, with its token', async () => {
    const other = await serve(blockHeadersService(chain, [], 'a-token-of-some-length'))
    await started({
      chain: `block-headers:${other.url}`,
      network: 'regtest',
      chainToken: 'a-token-of-some-length'
    })
    await expect.poll(() => readiness(node!)).toEqual({ status: 200, reasons: [] })
    expect((await node!.headers!.tip()).height).toBe(5)
    await other.close()
  })

  it('that cannot get them is not ready, says why, and closes at once', async () => {
    await service.close()
    await started({ chain: `headers:${service.url}`, network: 'regtest' })
    await expect.poll(async () => (await readiness(node!)).reasons.join()).toContain('cannot be reached')
    expect((await readiness(node!)).status).toBe(503)
    const before = performance.now()
    await node!.close()
    expect(performance.now() - before).toBeLessThan(2000)
  })

  it('does not take the headers of another network', async () => {
    const store = `lmdb:${join(folder, 'network')}`
    await (await started({ store, chain: 'headers', network: 'test' })).close()
    await expect(started({ store })).rejects.toThrow('the store has headers of test, not of regtest')
    // What was opened until then is closed again.
    await (await started({ store, chain: 'headers', network: 'test' })).close()
  })
})

it('answers reads beside a store that it may not write, without its headers or its sources', async () => {
  const store = `lmdb:${join(folder, 'reading')}`
  await (await started({ store })).close()
  const node = await started({ store, readOnly: 'true' })
  expect([node.dev, (await node.headers?.tip())?.height]).toEqual([undefined, 0])
  const ready = await fetch(`${node.url}/health/ready`)
  expect([ready.status, await ready.json()]).toMatchObject([200, { context: { roles: ['api'] } }])
  await node.close()
})

describe('a node without its server', () => {
  it('has its engine, and listens to nobody', async () => {
    const { config } = loadConfig({ options: { store: 'memory:', chain: 'scripts-only', plugins: PLUGIN } })
    const opened = await openNode(config, { logger })
    const chain = new DevChain()
    const transaction = pay(chain)
    await chain.submit(transaction)
    const beef = chain.beef(transaction.txid)
    expect(await opened.engine.submit({ beef, topics: ['tm_first'] })).toMatchObject({ tm_first: {} })
    expect(events()).not.toContain('listening')
    await opened.close()
    await opened.close()
  })
})

it('has a pool of interpreters of its own, of the size that is set', async () => {
  await started({ 'limits.interpreters': '3' })
  expect(node!.engine.interpreter).not.toBe(sharedInterpreter())
  expect(node!.engine.interpreter.state).toMatchObject({ processes: 3, busy: 0 })
})

describe('plug-ins', () => {
  it('are modules that export topics and lookups, or one of Quoin’s', async () => {
    const own = file(
      'own.mjs',
      `export default { name: 'own', setup: () => ({ topics: { tm_own: { ${about}, admit: () => ({ outputs: [] }) } } }) }`
    )
    await started({ plugins: `${PLUGIN},${own}` })
    expect([...node!.engine.topics.keys()]).toEqual([
      'tm_bsv21',
      'tm_kvstore',
      'tm_ship',
      'tm_slap',
      'tm_first',
      'tm_own'
    ])
  })

  it('of the form of @bsv/overlay run in a process, which is a part of the node and of its metrics', async () => {
    const topic = file(
      'topic.mjs',
      `export default class {
        constructor(options) { this.options = options }
        async identifyAdmissibleOutputs() { return { outputsToAdmit: this.options.outputs, coinsToRetain: [] } }
        async getDocumentation() { return '# x' }
        async getMetaData() { return { name: 'x', shortDescription: 'x' } }
      }`
    )
    const lookup = file(
      'lookup.mjs',
      `export const create = () => {
        const known = []
        return {
          admissionMode: 'locking-script',
          spendNotificationMode: 'none',
          outputAdmittedByTopic: async ({ txid, outputIndex }) => void known.push({ txid, outputIndex }),
          outputEvicted: async () => {
            process.exit(7)
          },
          lookup: async () => known,
          ${about}
        }
      }`
    )
    const plugins = [
      JSON.stringify({ module: topic, name: 'tm_hosted', options: { outputs: [0] } }),
      `ls_hosted=${lookup}#create`
    ].join(',')
    const {
      url,
      engine,
      plugins: host
    } = await started({ plugins, chain: 'scripts-only', adminToken: TOKEN })
    const chain = new DevChain()
    const transaction = pay(chain)
    await chain.submit(transaction)
    const beef = chain.beef(transaction.txid)
    expect(await engine.submit({ beef, topics: ['tm_hosted'] })).toMatchObject({
      tm_hosted: { outputsToAdmit: [0] }
    })
    await expect.poll(async () => (await engine.lookup('ls_hosted', {})).length).toBe(1)
    const authorization = { authorization: `Bearer ${TOKEN}` }
    const admin = async () => (await fetch(`${url}/admin/lookups`, { headers: authorization })).json()
    const { data } = (await admin()) as { data: { service: string; process: { pid: number } | null }[] }
    const hosted = data.find(({ service }) => service === 'ls_hosted')
    expect(hosted).toMatchObject({ delivery: { dead: 0 }, process: { module: lookup, state: 'running' } })
    expect(hosted!.process!.pid).not.toBe(process.pid)
    expect(data.find(({ service }) => service === 'ls_kvstore')).toMatchObject({
      delivery: null,
      process: null
    })
    const replayed = await fetch(`${url}/admin/lookups/ls_kvstore/replay`, {
      method: 'POST',
      headers: authorization,
      body: '{}'
    })
    expect([replayed.status, ((await replayed.json()) as { message: string }).message]).toEqual([
      400,
      expect.stringContaining('is written in the commits of the node')
    ])
    const metrics = await (await fetch(`${url}/metrics`)).text()
    expect(metrics).toContain('quoin_plugin_up{plugin="ls_hosted"} 1')
    expect(metrics).toMatch(/quoin_lookup_entries\{service="ls_hosted",state="dead"\} 0/)

    // A crash of the service: the node stays ready, and names it.
    await engine.evict(makeOutpoint(transaction.txid, 0))
    const health = async () => (await (await fetch(`${url}/health/ready`)).json()) as { checks: NamedState[] }
    const degraded = async () =>
      (await health()).checks.filter(({ status }) => status !== 'ok').map(({ name }) => name)
    await expect.poll(degraded, { timeout: 20_000 }).toContain('lookup ls_hosted')
    expect((await fetch(`${url}/health/ready`)).status).toBe(200)
    expect(host!.states().find(({ module }) => module === lookup)!.restarts).toBeGreaterThan(0)
    expect(events()).toContain('a lookup service failed')
  })

  it('do not have the name of a topic or a lookup service that the node has', async () => {
    const topic = file(
      'clash.mjs',
      `export const topics = { tm_kvstore: { identifyAdmissibleOutputs: async () => ({}), ${about} } }`
    )
    await expect(started({ plugins: topic })).rejects.toMatchObject({
      code: 'ERR_PLUGIN',
      message: expect.stringContaining('the topic tm_kvstore exists twice')
    })
    await started({ plugins: topic, kvstore: 'false' })
    expect([...node!.engine.topics.keys()]).toContain('tm_kvstore')
  })

  it('in Quoin’s form are one export, or what a function makes of their options', async () => {
    const own = file(
      'options.mjs',
      `export const make = options => ({
        name: 'made',
        setup: context => ({
          topics: {
            ['tm_' + options.name]: { ${about}, admit: () => ({ outputs: context.options.outputs }) }
          }
        })
      })`
    )
    const plugins = JSON.stringify({ module: own, export: 'make', options: { name: 'made', outputs: [0] } })
    await started({ plugins })
    expect([...node!.engine.topics.keys()]).toContain('tm_made')
    await expect(started({ plugins: `${own}#none` })).rejects.toMatchObject({
      code: 'ERR_PLUGIN',
      message: expect.stringMatching(/none/)
    })
  })

  it('the key-value store is one that every node has, unless it is told otherwise', async () => {
    await started({})
    expect([...node!.engine.lookups.keys()]).toContain('ls_kvstore')
    expect((await fetch(`${node!.url}/kv?key=nothing`)).status).toBe(200)
    await node!.close()
    await started({ kvstore: 'false' })
    expect([...node!.engine.lookups.keys()]).not.toContain('ls_kvstore')
    expect((await fetch(`${node!.url}/kv?key=nothing`)).status).toBe(404)
  })

  it('so are tokens', async () => {
    await started({})
    expect([...node!.engine.topics.keys()]).toContain('tm_bsv21')
    expect(node!.tokens).toBeDefined()
    await node!.close()
    await started({ 'bsv21.enabled': 'false' })
    expect([...node!.engine.topics.keys()]).not.toContain('tm_bsv21')
    expect(node!.tokens).toBeUndefined()
  })

  it.each([
    ['nothing.mjs', 'export const x = 1', 'exports no plug-in'],
    ['wrong.mjs', 'export const topics = { tm_x: 5 }', 'wrong.mjs has a topic tm_x that'],
    ['throws.mjs', 'throw new Error("no database")', 'throws.mjs cannot be loaded: no database'],
    ['absent.mjs', undefined, 'absent.mjs is missing']
  ])('%s is refused', async (name, content, reason) => {
    const path = content === undefined ? join(folder, name) : file(name, content)
    await expect(started({ plugins: path })).rejects.toThrow(reason)
  })

  it('that bring the same topic are refused', async () => {
    await expect(started({ plugins: `${PLUGIN},${PLUGIN}` })).rejects.toMatchObject({ code: 'ERR_PLUGIN' })
  })
})

describe('requests of this machine', () => {
  const limits = { 'limits.rate': '1', 'limits.burst': '2' }
  const statuses = async (): Promise<number[]> => {
    const found: number[] = []
    for (let i = 0; i < 3; i++) found.push((await fetch(`${node!.url}/health/live`)).status)
    return found
  }

  it('count in the rate limit, since a proxy may send them, unless the chain is dev', async () => {
    await started({ ...limits, chain: 'headers' })
    expect(await statuses()).toEqual([200, 200, 429])
    await node!.close()
    await started(limits)
    expect(await statuses()).toEqual([200, 200, 200])
  })

  it('count as the setting says', async () => {
    await started({ ...limits, chain: 'headers', 'limits.loopback': 'false' })
    expect(await statuses()).toEqual([200, 200, 200])
  })
})
