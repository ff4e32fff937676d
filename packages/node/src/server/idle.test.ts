/** A node with nothing to do writes nothing, with every part that works by itself switched on. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { DevChain } from '@quoin/dev-chain'
import { SILENT } from '@quoin/overlay'
import { afterAll, expect, it } from 'vitest'
import { oneSat, serve } from '../../../chain/src/headers/services.testing.ts'
import { startRedis } from '../../../store/src/redis/server.testing.ts'
import { loadConfig } from './config.ts'
import { type Node, startNode } from './node.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-idle-'))
const PLUGIN = join(folder, 'plugin.mjs')
writeFileSync(
  PLUGIN,
  `const about = { getDocumentation: async () => '', getMetaData: async () => ({ name: 'x', shortDescription: 'x' }) }
export const topics = { tm_first: { ...about, admit: () => ({ outputs: [0] }) } }
export const lookups = { ls_first: {
  ...about, admissionMode: 'locking-script', spendNotificationMode: 'none',
  outputAdmittedByTopic: async () => {}, outputEvicted: async () => {}, lookup: async () => []
} }`
)
/** Long enough for several rounds of everything that runs each second. */
const IDLE_MS = 4000

const closing: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closing.reverse()) await close()
  rmSync(folder, { recursive: true })
})

const started = async (options: Readonly<Record<string, string>>): Promise<Node> => {
  const { config } = loadConfig({ options: { port: '0', plugins: PLUGIN, ...options } })
  const node = await startNode(config, { logger: SILENT })
  closing.push(() => node.close())
  return node
}

/** With a peer, a source of tokens and one of headers, or a chain of its own. */
const settings = async (): Promise<Readonly<Record<string, string>>[]> => {
  const other = await started({ store: 'memory:', chain: 'scripts-only' })
  const chain = new DevChain({ seed: 'idle' })
  chain.mine(3)
  const service = await serve(oneSat(chain))
  closing.push(() => service.close())
  const more = { peers: `tm_first=${other.url}`, 'bsv21.peers': other.url }
  return [
    { ...more, chain: 'dev', blockTime: '1' },
    { ...more, chain: `headers:${service.url}`, network: 'regtest', proofs: service.url }
  ]
}

const filesIn = (path: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(path)
      // The table of readers of LMDB, which every read enters.
      .filter(name => name !== 'lock.mdb')
      .map(name => [
        name,
        createHash('sha256')
          .update(readFileSync(join(path, name)))
          .digest('hex')
      ])
  )

const ready = async (nodes: readonly Node[]): Promise<void> => {
  const status = async ({ url }: Node): Promise<number> => (await fetch(`${url}/health/ready`)).status
  for (const node of nodes) await expect.poll(() => status(node), { timeout: 60_000 }).toBe(200)
}

/** Observations before and after a time without work: of the first such time, or of the last of several. */
const observedIdle = async <T>(
  observe: () => T | Promise<T>,
  isSame: (before: T, after: T) => boolean
): Promise<[T, T]> => {
  for (let attempt = 1; ; attempt++) {
    const before = await observe()
    await sleep(IDLE_MS)
    const after = await observe()
    if (attempt === ATTEMPTS || isSame(before, after)) return [before, after]
  }
}
/** On a busy machine the work of a start goes on for a while. */
const ATTEMPTS = 8

it.concurrent.each(['lmdb', 'level'])(
  'on %s it leaves every file as it is',
  { timeout: 120_000 },
  async kind => {
    const paths = [1, 2].map(each => join(folder, `${kind}-${each}`))
    const all = (await settings()).map((each, i) => started({ ...each, store: `${kind}:${paths[i]}` }))
    const nodes = await Promise.all(all)
    await ready(nodes)
    const observe = () => [paths.map(filesIn), nodes.map(({ store }) => store.lastWrite)]
    const [before, after] = await observedIdle(observe, isDeepStrictEqual)
    expect(after).toEqual(before)
  }
)

/** Of a node: of the chain, its peers and its sources of tokens. */
const LEASES = 3

it.concurrent('on redis it writes nothing but its leases', { timeout: 120_000 }, async () => {
  const server = await startRedis({ config: { save: '' } })
  closing.push(() => server.stop())
  const info = async (section: string): Promise<string> => (await server.command('INFO', section)) ?? ''
  const writes = async () => ({
    changes: Number(/rdb_changes_since_last_save:(\d+)/.exec(await info('persistence'))?.[1]),
    calls: Object.fromEntries(
      [...(await info('commandstats')).matchAll(WRITES)].map(([, name, calls]) => [name!, Number(calls)])
    )
  })
  const all = (await settings()).map((each, i) => started({ ...each, store: `${server.url}/${i}` }))
  const nodes = await Promise.all(all)
  await ready(nodes)
  const leased = ({ hset, zadd, ...others }: Readonly<Record<string, number>>) => ({
    ...others,
    difference: hset! - zadd!
  })
  const [before, after] = await observedIdle(writes, (a, b) =>
    isDeepStrictEqual(leased(a.calls), leased(b.calls))
  )
  expect(Object.keys(before.calls).length).toBeGreaterThan(0)
  // To renew a lease sets its record and its end. Each is renewed every 1.5 seconds.
  const renewals = after.calls['hset']! - before.calls['hset']!
  expect(renewals).toBeGreaterThan(0)
  expect(renewals).toBeLessThanOrEqual(nodes.length * LEASES * Math.ceil(IDLE_MS / 1500))
  expect(after).toEqual({
    changes: before.changes + 2 * renewals,
    calls: {
      ...before.calls,
      hset: before.calls['hset']! + renewals,
      zadd: before.calls['zadd']! + renewals
    }
  })
})

/** Of the statistics of commands, how often each that writes was called. */
const WRITES = /cmdstat_(set|del|unlink|incr|incrby|[hsz](?:set|add|del|rem|incrby)):calls=(\d+)/g
