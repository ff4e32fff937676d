/**
 * The pipeline in processes of its own: killed in the middle of a backfill (SIGKILL), or several of them over one Redis.
 * The state in the end is that of the specification, whatever happened on the way.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseAddress } from '../../chain/index.ts'
import { overlay } from '../../overlay/index.ts'
import { openStore, type Queue, type Store } from '../../store/index.ts'
import { startRedis } from '../../store/redis/server.testing.ts'
import { verifyIndex } from '../../txo/index.ts'
import { Random } from '../../txo/simulation/random.testing.ts'
import { tokenLedger } from '../ledger.ts'
import { TOKEN_EVENTS, TokenNode } from '../node.testing.ts'
import { inOrder, specifiedState } from '../specification.testing.ts'
import { ranked, storedState } from '../state.testing.ts'
import { TokenWorld } from './world.testing.ts'

const PROGRAM = fileURLToPath(new URL('./worker.process.testing.ts', import.meta.url))
/** Given how many, more than `npm test` has time for. */
const { QUOIN_CRASHES } = process.env
const KILLS = Number(QUOIN_CRASHES ?? 2)
const PROCESSES = QUOIN_CRASHES === undefined ? [2] : [2, 4]
const ACTS = 120
/** Leases of a process that was killed are over after so many seconds. */
const LEASE = 200

let folder: string
let world: TokenWorld
let beefs: Uint8Array[]
const [chainFile, beefFile] = ['chain.json', 'beefs']

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-faults-'))
  const random = new Random(7)
  world = new TokenWorld(random)
  for (let i = 0; i < ACTS; i++) {
    await world.act()
    if (random.chance(0.2)) world.chain.mine()
  }
  world.chain.mine()
  const all = world.made.filter(made => world.isInChain(made))
  beefs = random.some(all, all.length).map(({ transaction: { txid } }) => world.chain.beef(txid))
  await writeFile(join(folder, chainFile), JSON.stringify(world.chain))
  await writeFile(join(folder, beefFile), beefs.map(beef => Buffer.from(beef).toString('hex')).join('\n'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const start = (url: string, brought: string, ahead: number) => {
  const args = [
    '--import',
    import.meta.resolve('tsx'),
    PROGRAM,
    url,
    join(folder, chainFile),
    brought,
    `${ahead}`
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  const said = new Set<string>()
  const lines = createInterface(child.stdout)
  lines.on('line', line => said.add(line))
  const says = async (what: string): Promise<void> => {
    const ended = exit.then(() => 'ended')
    while (!said.has(what)) {
      if ((await Promise.race([once(lines, 'line'), ended])) === 'ended' && !said.has(what)) {
        throw new Error(`a process ended before it was ${what}`)
      }
    }
  }
  return { child, exit, said, says }
}

/** What a process that was killed had begun to look at again is looked at now, not when its lease is over. */
const release = async <T>(queue: Queue<T>): Promise<void> => {
  for (const { item } of (await queue.list('leased')).items) {
    await queue.remove(item)
    await queue.enqueue(item, 0)
  }
}

const expectRight = async (store: Store): Promise<void> => {
  const node = new TokenNode(store, { chain: world.chain, activation: 'all' })
  await release(store.queueAt(overlay.collections.judgeAgain, []))
  await release(store.queueAt(overlay.collections.admitAgain, []))
  await node.engine.settle()
  const state = specifiedState(inOrder(world.history))
  expect(await storedState(node.outputs, Object.keys(state))).toEqual(
    ranked(state, address => parseAddress(address).hash)
  )
  await node.close()
  const { differences } = await verifyIndex(store, { events: TOKEN_EVENTS, ledger: tokenLedger })
  expect(differences).toEqual([])
}

it(`is right after ${KILLS} kills in the middle of a backfill`, {
  timeout: 60_000 + 10_000 * KILLS
}, async () => {
  const url = `lmdb:${join(folder, 'data')}`
  const random = new Random(8)
  let unfinished = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const { child, exit, said, says } = start(url, join(folder, beefFile), kill * LEASE)
    await says('ready')
    await sleep(random.between(0, 400))
    if (!said.has('done')) unfinished++
    child.kill('SIGKILL')
    await exit
  }
  expect(unfinished).toBeGreaterThan(0)
  const last = start(url, join(folder, beefFile), KILLS * LEASE)
  await last.says('done')
  await last.exit
  const store = await openStore(url)
  await expectRight(store)
  await store.close()
})

it.each(PROCESSES)(
  'is right when %i processes share the work over one Redis',
  { timeout: 120_000 },
  async count => {
    const server = await startRedis()
    const store = await openStore(server.url)
    try {
      const feeding = new TokenNode(store, { chain: world.chain, activation: 'all' })
      for (const beef of beefs) await feeding.pipeline.feed.takeBeef(beef)
      const workers = Array.from({ length: count }, () => start(server.url, '-', 0))
      await Promise.all(workers.map(({ says }) => says('done')))
      await Promise.all(workers.map(({ exit }) => exit))
      await expectRight(store)
      await feeding.close()
    } finally {
      await store.close()
      await server.stop()
    }
  }
)
