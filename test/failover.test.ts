/**
 * Processes of a node on a primary of PostgreSQL with a synchronous standby. Under load the primary is killed and the
 * standby promoted: every acknowledged submission is there, and the processes go on by themselves. `npm run test:failover`
 * fails over many times, each time onto a standby on the port of the server before.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid, makeOutpoint, type Topic } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeKey, payTo, spend, withKeyHash } from '../packages/chain/src/verify/test-chain.testing.ts'
import { LiveClient } from '../packages/node/src/server/routes/live-client.testing.ts'
import {
  type PostgresServer,
  startPair,
  startPostgres,
  waitForStandby
} from '../packages/store/src/postgres/server.testing.ts'
import { Commands, type RunningNode } from './node.testing.ts'

const TOPIC = 'tm_any' as Topic
const FAILOVERS = Number(process.env['QUOIN_FAILOVERS'] ?? 1)
/** Submissions of each failover; it begins after half of them. */
const LOAD = 80
/** The time of a failover, of processes under load. */
const GOES_ON_MS = 20_000

const folder = mkdtempSync(join(tmpdir(), 'quoin-failover-'))
const commands = new Commands(folder)
const PLUGIN = join(folder, 'plugin.mjs')
writeFileSync(
  PLUGIN,
  `const about = { getDocumentation: async () => '', getMetaData: async () => ({ name: 'x', shortDescription: 'x' }) }
export const topics = { ${TOPIC}: { ...about, admit: () => ({ outputs: [0] }) } }
export const lookups = {}`
)
const key = makeKey('failover')
const chain = new DevChain({ seed: 'failover' })

const servers: PostgresServer[] = []
let url = ''
let nodes: RunningNode[] = []
beforeAll(async () => {
  const pair = await startPair({ settings: { fsync: 'on', full_page_writes: 'on' } })
  servers.push(pair.primary, pair.standby)
  url = pair.url
  const args = ['--port', '0', '--plugins', PLUGIN, '--chain', 'scripts-only', '--limits-rate', '0']
  const start = () => commands.serve(['serve', '--store', url, ...args, '--log-level', 'warn'])
  nodes = [await start()]
  nodes.push(await start())
})
afterAll(async () => {
  await commands.close()
  await Promise.all(servers.map(server => server.stop()))
  rmSync(folder, { recursive: true })
})

const prepared = async () => {
  const coin = chain.fund(payTo(key), 1000)
  const transaction = spend({
    inputs: [{ from: coin, vout: 0, unlock: withKeyHash(key) }],
    outputs: [{ satoshis: 900, script: payTo(key) }]
  })
  await chain.submit(transaction)
  return { txid: transaction.txid, beef: chain.beef(transaction.txid) }
}

/** Whether the submission was acknowledged; a node without its store refuses it. */
const submit = async (node: RunningNode, beef: Uint8Array): Promise<boolean> => {
  const response = await fetch(`${node.url}/submit`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream', 'x-topics': JSON.stringify([TOPIC]) },
    body: beef
  })
  const steak = (await response.json()) as Record<string, { outputsToAdmit: number[] }>
  return response.ok && steak[TOPIC]!.outputsToAdmit.length === 1
}

const storeOf = async (node: RunningNode): Promise<unknown> =>
  ((await (await fetch(`${node.url}/status`)).json()) as { store: unknown }).store

/** The changes of a live stream, which is opened again where it ended. */
const follow = (node: RunningNode) => {
  const url = `${node.url}/live?topics=${TOPIC}`
  const received: string[] = []
  let lastId: string | undefined
  let client = new LiveClient(url)
  const timer = setInterval(() => {
    if (!client.ended) return
    received.push(...client.txids)
    lastId = client.lastId ?? lastId
    client = new LiveClient(url, { 'last-event-id': lastId! })
  }, 50)
  return {
    isOpen: () => client.lastId !== undefined,
    txids: () => [...received, ...client.txids],
    close: () => {
      clearInterval(timer)
      client.close()
    }
  }
}

/** Submits at all nodes until each submission is acknowledged, and gives the longest time without one. */
const submitAll = async (
  submissions: Awaited<ReturnType<typeof prepared>>[],
  onAcknowledged: (count: number) => void
): Promise<number> => {
  const waiting = [...submissions]
  let [count, last, longest] = [0, performance.now(), 0]
  const clients = [...nodes, ...nodes].map(async node => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      while (!(await submit(node, next.beef))) expect(performance.now() - last).toBeLessThan(GOES_ON_MS)
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
      onAcknowledged(++count)
    }
  })
  await Promise.all(clients)
  return longest
}

it(
  `loses no acknowledged submission in ${FAILOVERS} failovers, and goes on by itself`,
  async () => {
    const acknowledged: Awaited<ReturnType<typeof prepared>>[] = []
    const pauses: number[] = []
    const streams = nodes.map(follow)
    for (const { isOpen } of streams) await expect.poll(isOpen).toBe(true)
    for (let failover = 1; failover <= FAILOVERS; failover++) {
      const [primary, standby] = servers as [PostgresServer, PostgresServer]
      for (const node of nodes) expect(await storeOf(node)).toMatchObject({ durability: 'standby' })
      const submissions = await Promise.all(Array.from({ length: LOAD }, prepared))
      chain.mine()
      let failing: Promise<void> | undefined
      const longest = await submitAll(submissions, count => {
        if (count === LOAD / 2) failing = primary.kill().then(() => standby.promote())
      })
      await failing
      acknowledged.push(...submissions)
      pauses.push(Math.round(longest))
      for (const node of nodes) {
        const store = { durability: 'server', warning: expect.stringContaining('no standby is synchronous') }
        expect(await storeOf(node)).toMatchObject(store)
      }
      if (failover === FAILOVERS) break
      await primary.stop()
      const next = await startPostgres({ standbyOf: standby, port: primary.port })
      await waitForStandby(standby)
      servers.splice(0, 2, standby, next)
    }
    const txids = acknowledged.map(({ txid }) => formatTxid(txid)).toSorted()
    for (const stream of streams) {
      // Each change once, from both processes.
      await expect.poll(() => stream.txids().toSorted(), { timeout: GOES_ON_MS }).toEqual(txids)
      stream.close()
    }
    process.stdout.write(`milliseconds without an acknowledgement: ${pauses.join(', ')}\n`)
    const store = await openStore(url)
    const outputs = new OutputStore(store)
    for (const { txid } of acknowledged)
      expect(await outputs.isInTopic(TOPIC, makeOutpoint(txid, 0))).toBe(true)
    await store.close()
    expect(await commands.run(['verify', url])).toMatchObject({ status: 0 })
    for (const node of nodes) {
      const ready = await fetch(`${node.url}/health/ready`)
      expect([ready.status, await ready.text()]).toEqual([200, expect.stringContaining('no standby')])
      await expect.poll(node.stderr, { timeout: 10_000 }).toContain('may lose commits')
    }
    const { stdout } = await commands.run(['status', '--url', nodes[0]!.url])
    expect(stdout).toMatch(/commits +on one server: a failover may lose the last ones/)
  },
  FAILOVERS * 60_000
)
