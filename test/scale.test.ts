/**
 * Three processes of a node on one Redis: roles, tasks that run in one process and move when it is killed, and submissions
 * at several processes at once.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid, makeOutpoint, type Topic } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { oneSat, serve, type TestService } from '../packages/chain/src/headers/services.testing.ts'
import { makeKey, payTo, spend, withKeyHash } from '../packages/chain/src/verify/test-chain.testing.ts'
import { type RedisServer, startRedis } from '../packages/store/src/redis/server.testing.ts'
import { Commands, type RunningNode } from './node.testing.ts'

const TOPIC = 'tm_first' as Topic
const PAIRS = Number(process.env['QUOIN_PAIRS'] ?? 40)
/** Submissions while the process is killed that has the leases. */
const LOAD = 120
/** The lease of 5 seconds, an interval of 1.5, and the time of a process under load. */
const TAKEOVER_MS = 15_000

const folder = mkdtempSync(join(tmpdir(), 'quoin-scale-'))
const commands = new Commands(folder)
const PLUGIN = join(folder, 'plugin.mjs')
const DELIVERED = join(folder, 'delivered')
writeFileSync(DELIVERED, '')
writeFileSync(
  PLUGIN,
  `import { appendFileSync } from 'node:fs'
const about = { getDocumentation: async () => '', getMetaData: async () => ({ name: 'x', shortDescription: 'x' }) }
export const topics = { ${TOPIC}: { ...about, admit: () => ({ outputs: [0] }) } }
export const lookups = { ls_first: {
  ...about, admissionMode: 'locking-script', spendNotificationMode: 'none',
  outputAdmittedByTopic: async ({ txid }) => appendFileSync(${JSON.stringify(DELIVERED)}, txid + '\\n'),
  outputEvicted: async () => {}, lookup: async () => []
} }`
)
const key = makeKey('scale')
const chain = new DevChain({ seed: 'scale' })
const coins = Array.from({ length: PAIRS + LOAD }, () => chain.fund(payTo(key), 1000))
chain.mine()

let redis: RedisServer
let source: TestService
let [all, other, api]: RunningNode[] = []
const start = (roles: string): Promise<RunningNode> =>
  commands.serve([
    ...['serve', '--store', redis.url, '--roles', roles, '--port', '0', '--plugins', PLUGIN],
    ...[
      '--chain',
      `headers:${source.url}`,
      '--network',
      'regtest',
      '--limits-rate',
      '0',
      '--log-level',
      'warn'
    ]
  ])
beforeAll(async () => {
  redis = await startRedis()
  source = await serve(oneSat(chain))
  // The processes share the claim of the key layouts, and the first headers.
  all = await start('api,worker,sources')
  ;[other, api] = await Promise.all([start('api,worker,sources'), start('api')])
})
afterAll(async () => {
  await commands.close()
  await source?.close()
  await redis?.stop()
  rmSync(folder, { recursive: true })
})

interface Status {
  readonly roles: readonly string[]
  readonly leases: Readonly<Record<string, boolean>>
  readonly parts: readonly { readonly name: string; readonly status: string; readonly message?: string }[]
  readonly chain: { readonly height: number }
}
const statusOf = async (node: RunningNode): Promise<Status> =>
  (await (await fetch(`${node.url}/status`)).json()) as Status

const spendOf = async (from: Transaction, satoshis: number): Promise<Transaction> => {
  const transaction = spend({
    inputs: [{ from, vout: 0, unlock: withKeyHash(key) }],
    outputs: [{ satoshis, script: payTo(key) }]
  })
  await chain.submit(transaction, { replace: true })
  return transaction
}

/** A transaction with its BEEF, which the chain has until the coin is spent again. */
const prepared = async (from: Transaction, satoshis: number) => {
  const { txid } = await spendOf(from, satoshis)
  return { txid, beef: chain.beef(txid) }
}

/** Whether the submission was acknowledged. */
const submit = async (node: RunningNode, beef: Uint8Array): Promise<boolean> => {
  const response = await fetch(`${node.url}/submit`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream', 'x-topics': JSON.stringify([TOPIC]) },
    body: beef
  })
  const steak = (await response.json()) as Record<string, { outputsToAdmit: number[] }>
  return response.ok && steak[TOPIC]!.outputsToAdmit.length === 1
}

it.concurrent('has a development chain in one process, which another has after a kill, and never two', async ({
  expect
}) => {
  const store = `${redis.url}/1`
  const args = ['serve', '--port', '0', '--store', store, '--block-time', '0', '--log-level', 'warn']
  const first = await commands.serve(args)
  const mine = async ({ url }: RunningNode) => {
    const response = await fetch(`${url}/dev/mine`, { method: 'POST' })
    return [response.status, await response.json()]
  }
  expect((await mine(first))[0]).toBe(200)
  // A process that stands still for longer than its lease.
  first.child.kill('SIGSTOP')
  const second = await commands.serve(args)
  const { stderr, status } = await commands.run(args)
  expect([status, stderr]).toEqual([2, expect.stringContaining('another process has the development chain')])
  expect((await mine(second))[0]).toBe(200)
  first.child.kill('SIGCONT')
  expect(await mine(first)).toMatchObject([503, { code: 'ERR_UNAVAILABLE' }])
  const ready = await Promise.all([first, second].map(({ url }) => fetch(`${url}/health/ready`)))
  expect(ready.map(({ status: code }) => code)).toEqual([503, 200])
  expect((await statusOf(second)).chain.height).toBe(2)
  second.child.kill('SIGKILL')
  // Its blocks are not those of the store any more.
  await expect
    .poll(async () => (await statusOf(first)).leases, { timeout: TAKEOVER_MS })
    .toEqual({ chain: true })
  expect(await mine(first)).toMatchObject([
    503,
    { description: expect.stringContaining('start this node again') }
  ])
  expect(await commands.stop(first)).toBe(0)
  const third = await commands.serve(args)
  expect((await mine(third))[0]).toBe(200)
  expect((await statusOf(third)).chain.height).toBe(3)
  await commands.stop(third)
})

it('says its roles, and has the parts of these only', async () => {
  const [first, second, third] = await Promise.all([statusOf(all!), statusOf(other!), statusOf(api!)])
  expect([first.roles, third.roles]).toEqual([['api', 'worker', 'sources'], ['api']])
  expect([first.leases, second.leases, third.leases]).toEqual([{ chain: true }, { chain: false }, {}])
  const [held, standby] = [first, second].map(({ parts }) =>
    parts.find(({ name }) => name.startsWith('headers of'))
  )
  expect([held?.status, standby?.status, standby?.message]).toEqual([
    'ok',
    'ok',
    'another process has the lease'
  ])
  const names = third.parts.map(({ name }) => name)
  expect(names.some(name => name.startsWith('headers of') || name.startsWith('lookup'))).toBe(false)
  const ready = (await (await fetch(`${api!.url}/health/ready`)).json()) as { context: unknown }
  expect(ready.context).toEqual({ roles: ['api'] })
  const { stdout } = await commands.run(['status', '--url', other!.url])
  expect(stdout).toMatch(/roles +api, worker, sources\n +lease chain +held by another process/)
})

it('refuses roles that it cannot have', async () => {
  const refused = async (...args: string[]) => (await commands.run(['serve', ...args])).stderr
  expect(await refused('--roles', 'api,miner')).toContain('expected a list of api, worker, sources')
  expect(await refused('--roles', 'api')).toMatch(
    /without worker and sources, and lmdb:.* has no other process/
  )
  expect(await refused('--roles', 'api', '--store', redis.url)).toContain(
    'the chain dev is mined by the process'
  )
})

it('has exactly one live of two spends of a coin that are submitted to two processes at once', async () => {
  const pairs: { txid: Transaction['txid']; isAdmitted: boolean }[][] = []
  for (const coin of coins.slice(0, PAIRS)) {
    const [left, right] = [await prepared(coin, 900), await prepared(coin, 800)]
    const admitted = await Promise.all([submit(all!, left.beef), submit(other!, right.beef)])
    pairs.push([left, right].map(({ txid }, i) => ({ txid, isAdmitted: admitted[i]! })))
  }
  expect(pairs.map(pair => pair.filter(({ isAdmitted }) => isAdmitted).length)).toEqual(pairs.map(() => 1))
  const store = await openStore(redis.url)
  const outputs = new OutputStore(store)
  for (const { txid, isAdmitted } of pairs.flat())
    expect(await outputs.isInTopic(TOPIC, makeOutpoint(txid, 0))).toBe(isAdmitted)
  await store.close()
})

it('goes on at another process when the one with the leases is killed, and loses nothing', async () => {
  const submissions: Awaited<ReturnType<typeof prepared>>[] = []
  for (const coin of coins.slice(PAIRS)) submissions.push(await prepared(coin, 900))
  const { height } = chain.mine(2).at(-1)!
  let killedAt = 0
  const acknowledged: string[] = []
  const clients = [api!, other!].map(async (node, client) => {
    for (const [i, { txid, beef }] of submissions.entries()) {
      if (i % 2 !== client) continue
      if (i === LOAD / 3) {
        all!.child.kill('SIGKILL')
        killedAt = performance.now()
      }
      if (await submit(node, beef)) acknowledged.push(formatTxid(txid))
    }
  })
  await Promise.all(clients)
  expect(acknowledged).toHaveLength(LOAD)
  await expect.poll(async () => (await statusOf(other!)).chain.height, { timeout: TAKEOVER_MS }).toBe(height)
  expect(performance.now() - killedAt).toBeLessThan(TAKEOVER_MS)
  expect((await statusOf(other!)).leases).toEqual({ chain: true })
  const delivered = (): string[] => readFileSync(DELIVERED, 'utf8').trim().split('\n')
  await expect
    .poll(() => acknowledged.filter(txid => !delivered().includes(txid)), { timeout: TAKEOVER_MS })
    .toEqual([])
  // Each process that delivers repeats at most the calls that the kill cut off.
  expect(delivered().length).toBeLessThanOrEqual(new Set(delivered()).size + 8)
  expect(await commands.run(['verify', redis.url])).toMatchObject({ status: 0 })
})
