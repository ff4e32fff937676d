/**
 * The pipeline in processes of its own: killed in the middle of a backfill (SIGKILL), or several of them over one Redis.
 * The state in the end is that of the specification, whatever happened on the way.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseAddress } from '@quoin/chain'
import { openStore, type Store } from '@quoin/store'
import { OutputStore, verifyIndex } from '@quoin/txo'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startRedis } from '../../../store/src/redis/server.testing.ts'
import { Random } from '../../../txo/src/simulation/random.testing.ts'
import { compareTokens } from '../digests/compare-tokens.ts'
import { StoredStates } from '../digests/stored-states.ts'
import { bsv21 } from '../keys.ts'
import { tokenLedger } from '../ledger.ts'
import { TOKEN_EVENTS, TokenNode } from '../node.testing.ts'
import { discoveryQueue, queueOfToken } from '../pipeline/queues.ts'
import { inOrder, specifiedState } from '../specification.testing.ts'
import { ranked, storedState } from '../state.testing.ts'
import { type WorkerFiles, WorkerProcess, writeWorkerFiles } from './worker.testing.ts'
import { TokenWorld } from './world.testing.ts'

/** Given how many, more than `npm test` has time for. */
const { QUOIN_CRASHES } = process.env
const KILLS = Number(QUOIN_CRASHES ?? 2)
const PROCESSES = QUOIN_CRASHES === undefined ? [2] : [2, 4]
const ACTS = 120

let folder: string
let world: TokenWorld
let beefs: Uint8Array[]
const STORED = { events: TOKEN_EVENTS, ledger: tokenLedger }
let files: WorkerFiles

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
  files = await writeWorkerFiles(folder, world.chain, beefs)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const workers: WorkerProcess[] = []
afterEach(() => Promise.all(workers.splice(0).map(worker => worker.kill())))

const start = (...args: ConstructorParameters<typeof WorkerProcess>): WorkerProcess => {
  const worker = new WorkerProcess(...args)
  workers.push(worker)
  return worker
}

const expectRight = async (store: Store): Promise<void> => {
  const node = new TokenNode(store, { chain: world.chain, activation: 'all' })
  await node.engine.settle()
  const state = specifiedState(inOrder(world.history))
  expect(await storedState(node.outputs, Object.keys(state))).toEqual(
    ranked(state, address => parseAddress(address).hash)
  )
  await node.close()
  const { differences } = await verifyIndex(store, STORED)
  expect(differences).toEqual([])
}

it(`is right after ${KILLS} kills in the middle of a backfill`, {
  timeout: 60_000 + 10_000 * KILLS
}, async () => {
  const url = `lmdb:${join(folder, 'data')}`
  const random = new Random(8)
  let unfinished = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const worker = start(url, files)
    await worker.prints('ready')
    await sleep(random.between(0, 400))
    if (!worker.isDone) unfinished++
    await worker.kill()
  }
  expect(unfinished).toBeGreaterThan(0)
  await start(url, files).finish()
  const store = await openStore(url)
  await expectRight(store)
  await store.close()
})

const STAGES = ['discovery', 'tokens'] as const

/** Transactions that are leased for dispatch, or outputs of tokens that are leased for their topics. */
const leasedBy = async (store: Store, stage: (typeof STAGES)[number]): Promise<number> => {
  if (stage === 'discovery') return (await discoveryQueue(store).stats()).leased
  let leased = 0
  for (const { member: token } of await store.use(bsv21.collections.ready).at().range()) {
    leased += (await queueOfToken(store, token).stats()).leased
  }
  return leased
}

const leasedOf = async (store: Store): Promise<number> =>
  (await leasedBy(store, 'discovery')) + (await leasedBy(store, 'tokens'))

it(`is equal to a fresh node after ${KILLS} kills during discovery and during token work`, {
  timeout: 60_000 + 20_000 * KILLS
}, async () => {
  const url = `lmdb:${join(folder, 'stages')}`
  const { chain } = files
  const store = await openStore(url)
  const feeding = new TokenNode(store, { chain: world.chain, activation: 'all', isShared: true })
  const killed = { discovery: 0, tokens: 0 }
  const part = Math.ceil(beefs.length / KILLS)
  for (let kill = 0; kill < KILLS; kill++) {
    const stage = STAGES[kill % STAGES.length]!
    for (const beef of beefs.slice(kill * part, (kill + 1) * part)) {
      await feeding.pipeline.ingest.ingestBeef(beef)
    }
    const doomed = start(url, { chain }, 'queues')
    while ((await leasedBy(store, stage)) === 0 && !doomed.isDone) await sleep(1)
    await doomed.kill()
    if ((await leasedBy(store, stage)) > 0) killed[stage]++
  }
  for (const stage of STAGES) expect(killed[stage], stage).toBeGreaterThan(0)
  await feeding.close()
  await start(url, { chain }, 'queues').finish()
  await expectRight(store)
  const fresh = await openStore('memory:')
  const other = new TokenNode(fresh, { chain: world.chain, activation: 'all' })
  for (const beef of beefs) await other.pipeline.ingest.ingestBeef(beef)
  await other.pipeline.settle()
  const states = [store, fresh].map(each => new StoredStates(new OutputStore(each, STORED)))
  let tokens = 0
  for await (const { result, differences } of compareTokens(states[0]!, states[1]!, { attempts: 1 })) {
    expect({ result, differences }).toEqual({ result: 'equal', differences: [] })
    tokens++
  }
  expect(tokens).toBeGreaterThanOrEqual(world.tokens.size)
  await other.close()
  await fresh.close()
  await store.close()
})

it('goes on at once with what a process that was killed had leased', async () => {
  const url = `lmdb:${join(folder, 'leased')}`
  const store = await openStore(url)
  const feeding = new TokenNode(store, { chain: world.chain, activation: 'all', isShared: true })
  for (const beef of beefs) await feeding.pipeline.ingest.ingestBeef(beef)
  await feeding.close()
  const { chain } = files
  const doomed = start(url, { chain })
  while ((await leasedOf(store)) === 0) await sleep(1)
  await doomed.kill()
  expect(await leasedOf(store)).toBeGreaterThan(0)
  await start(url, { chain }).finish()
  expect(await leasedOf(store)).toBe(0)
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
      for (const beef of beefs) await feeding.pipeline.ingest.ingestBeef(beef)
      const { chain } = files
      await Promise.all(Array.from({ length: count }, () => start(server.url, { chain }).finish()))
      await expectRight(store)
      await feeding.close()
    } finally {
      await store.close()
      await server.stop()
    }
  }
)
