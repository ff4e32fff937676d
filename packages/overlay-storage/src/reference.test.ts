/**
 * The engine of `@bsv/overlay` itself, unmodified, on Quoin and on the storage it comes with: whatever well-behaved
 * programs do, both give the same answers. Well-behaved means that none of the faults which `engine-storage.test.ts`
 * lists comes into play: every coin is spent once, and every output is of one topic.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Engine, type LookupService, type Storage, type TopicManager } from '@bsv/overlay'
import { MerklePath, Transaction as SdkTransaction } from '@bsv/sdk'
import { Beef, type Bump, type Transaction } from '@quoin/chain'
import { formatTxid, parseTxid } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { OutputStore, verifyIndex } from '@quoin/txo'
import fc from 'fast-check'
import type { Knex } from 'knex'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { beefContent } from './compare.testing.ts'
import { EngineStorage } from './engine-storage.ts'
import { openKnex } from './knex-storage.testing.ts'
import type { EngineOutpoint, EngineOutput } from './output-rows.ts'
import { idOf, TOPICS, World } from './world.testing.ts'

/** What an output's number says: its topic, or none, and whether its transaction keeps the coins it spends. */
const NO_TOPIC = TOPICS.length
const KEEPS = 128
const outpointText = ({ txid, outputIndex }: EngineOutpoint): string => `${txid}.${outputIndex}`

const manager = (topic: number): TopicManager => ({
  identifyAdmissibleOutputs: async (bytes, previousCoins) => {
    const beef = Beef.parse(Uint8Array.from(bytes))
    const { outputs } = beef.find(beef.subject)!.transaction!
    const numbers = outputs.map(({ script }) => script[1]!)
    return {
      outputsToAdmit: [...numbers.keys()].filter(vout => numbers[vout]! % KEEPS === topic),
      coinsToRetain: numbers[0]! >= KEEPS ? previousCoins : []
    }
  },
  getDocumentation: async () => 'Admits what is numbered for it.',
  getMetaData: async () => ({ name: TOPICS[topic]!, shortDescription: 'Numbers' })
})

/** Knows what is there and not spent. */
class Unspent implements LookupService {
  readonly admissionMode = 'locking-script'
  readonly spendNotificationMode = 'txid'
  readonly #outputs = new Map<string, EngineOutpoint>()

  outputAdmittedByTopic(payload: Parameters<LookupService['outputAdmittedByTopic']>[0]): void {
    if (payload.mode !== 'locking-script') throw new Error(payload.mode)
    this.#outputs.set(outpointText(payload), { txid: payload.txid, outputIndex: payload.outputIndex })
  }

  outputSpent(payload: EngineOutpoint): void {
    this.#outputs.delete(outpointText(payload))
  }

  outputEvicted(txid: string, outputIndex: number): void {
    this.#outputs.delete(outpointText({ txid, outputIndex }))
  }

  async lookup({ query }: { query: unknown }): Promise<(EngineOutpoint & { history?: number })[]> {
    const history = (query as { history?: number }).history
    const all = [...this.#outputs.values()].toSorted((a, b) => (outpointText(a) < outpointText(b) ? -1 : 1))
    return all.map(each => (history === undefined ? each : { ...each, history }))
  }

  async getDocumentation(): Promise<string> {
    return 'What is there.'
  }

  async getMetaData(): Promise<{ name: string; shortDescription: string }> {
    return { name: 'ls_unspent', shortDescription: 'What is there.' }
  }
}

/** An engine, and when all that it has left to its storage is done: it does not wait for everything itself. */
class Running {
  readonly engine: Engine
  readonly storage: Storage
  #calls = 0

  constructor(storage: Storage, world: World) {
    const count = async (call: Promise<unknown>): Promise<unknown> => {
      this.#calls++
      return call.finally(() => this.#calls--)
    }
    this.storage = new Proxy(storage, {
      get: (target, name) => {
        const method = Reflect.get(target, name)
        return (...parameters: unknown[]) => count(Reflect.apply(method as never, target, parameters))
      }
    })
    this.engine = new Engine(
      Object.fromEntries(TOPICS.map((topic, i) => [topic, manager(i)])),
      { ls_unspent: new Unspent() },
      this.storage,
      world.tracker
    )
    this.engine.logger = { ...console, error: () => undefined }
  }

  async idle(): Promise<void> {
    for (let quiet = 0; quiet < 3; quiet = this.#calls === 0 ? quiet + 1 : 0) await new Promise(setImmediate)
  }
}

let world: World
let store: Store
let outputs: OutputStore
let knex: Knex
let ours: Running
let theirs: Running

const folders: string[] = []
const newFolder = (): string => {
  folders.push(mkdtempSync(join(tmpdir(), 'quoin-engine-')))
  return folders.at(-1)!
}
const ENGINES = { memory: () => 'memory:', lmdb: () => `lmdb:${newFolder()}` }

const open = async (url: string): Promise<void> => {
  world = new World()
  store = await openStore(url)
  outputs = new OutputStore(store)
  ours = new Running(new EngineStorage(outputs), world)
  const opened = await openKnex()
  knex = opened.knex
  theirs = new Running(opened.storage, world)
}
const close = async (): Promise<void> => {
  await knex.destroy()
  await store.close()
}
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_700_000_000_000 })
})
afterEach(async () => {
  vi.useRealTimers()
  await close()
})
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** What each answers, at the same time of the clock; what is thrown is an answer too. */
const both = async <T>(ask: (running: Running) => Promise<T>): Promise<[T | string, T | string]> => {
  const answers: (T | string)[] = []
  for (const running of [ours, theirs]) {
    answers.push(await ask(running).catch((error: Error) => error.message))
    await running.idle()
  }
  vi.setSystemTime(Date.now() + 1000)
  return answers as [T | string, T | string]
}

/** Both give the same answer, or are at a loss in the same way. */
const sameOutcome = async (ask: (running: Running) => Promise<unknown>): Promise<void> => {
  const [a, b] = await both(ask)
  expect(a).toEqual(b)
}

const same = async (ask: (running: Running) => Promise<object>): Promise<void> => {
  const [a, b] = await both(ask)
  expect(a).toBeInstanceOf(Object)
  expect(a).toEqual(b)
}

const submit = (transaction: Transaction): Promise<void> =>
  same(({ engine }) => engine.submit({ beef: world.beef(transaction, true), topics: [...TOPICS] }))

const prove = (transaction: Transaction): Promise<void> => {
  const bump = world.mine(transaction)
  const path = MerklePath.fromBinary([...bump.toBytes()])
  return same(async ({ engine }) => {
    await engine.handleNewMerkleProof(idOf(transaction), path as never, bump.height)
    return {}
  })
}

/** Whether the engine knows anything of a transaction: it has no use for proofs of others. */
const isHere = async (transaction: Transaction): Promise<boolean> =>
  (await ours.storage.findOutputsForTransaction(idOf(transaction))).length > 0

/** All that an engine and its storage can be asked. Scores are compared by the order they make. */
const compareEngines = async (proofs: ReadonlyMap<string, Bump>): Promise<void> => {
  const row = ({ score: _, blockHeight: __, beef, ...rest }: EngineOutput): object => ({
    ...rest,
    consumedBy: rest.consumedBy.map(outpointText).sort(),
    beef: beef && beefContent(beef, rest.txid, proofs)
  })
  const sorted = (rows: readonly EngineOutput[]): object[] =>
    rows.toSorted((a, b) => (outpointText(a) < outpointText(b) ? -1 : 1)).map(row)
  for (const topic of TOPICS) {
    await same(async ({ storage }) => sorted(await storage.findUTXOsForTopic(topic, 0, 0, true)))
    if (proofs.size === 0) {
      await same(async ({ storage }) => (await storage.findUTXOsForTopic(topic)).map(({ txid }) => txid))
      await same(async ({ engine }) => {
        const { UTXOList } = await engine.provideForeignSyncResponse(
          { version: 1, since: 0, limit: 3 },
          topic
        )
        return UTXOList.map(({ txid }) => txid)
      })
    }
  }
  for (const transaction of world.transactions) {
    const txid = idOf(transaction)
    await same(async ({ storage }) => sorted(await storage.findOutputsForTransaction(txid, true)))
    await same(({ storage }) =>
      Promise.all(TOPICS.map(topic => storage.doesAppliedTransactionExist({ txid, topic })))
    )
    for (const vout of transaction.outputs.keys()) {
      await sameOutcome(({ engine }) => engine.provideForeignGASPNode(`${txid}.${vout}`, txid, vout))
    }
  }
  const lookup = async ({ engine }: Running, query: object): Promise<object[]> => {
    const { outputs: found } = await engine.lookup({ service: 'ls_unspent', query })
    return found.map(({ beef, outputIndex }) => {
      const { subject } = Beef.parse(Uint8Array.from(beef))
      return { outputIndex, beef: beefContent(beef, formatTxid(subject), proofs) }
    })
  }
  await same(running => lookup(running, {}))
  // The engine fails on the history of what has any.
  await sameOutcome(running => lookup(running, { history: 2 }))
}

interface Token {
  readonly of: number
  readonly vout: number
}

const submissions = (inputs: number) =>
  fc.record({
    coins: fc.array(fc.nat(1_000_000), { minLength: 1, maxLength: inputs }),
    numbers: fc.array(fc.nat(NO_TOPIC), { minLength: 1, maxLength: 3 }),
    keeps: fc.boolean(),
    again: fc.boolean(),
    proves: fc.option(fc.nat(1_000_000), { nil: undefined })
  })

const RUNS = Number(process.env['QUOIN_RANDOM_RUNS'] ?? 0)

describe.each(Object.entries(ENGINES))('the engine of @bsv/overlay on %s', (_, urlOf) => {
  beforeEach(() => open(urlOf()))

  const programs = (inputs: number, withProofs: boolean) =>
    fc.asyncProperty(
      fc.array(submissions(inputs), { minLength: 1, maxLength: 8, size: 'max' }),
      async program => {
        await close()
        await open(urlOf())
        const proofs = new Map<string, Bump>()
        const free: Token[] = [0, 1].flatMap(of => [0, 1, 2].map(vout => ({ of, vout })))
        for (const { coins, numbers, keeps, again, proves } of program) {
          const spent = coins.flatMap(coin => (free.length > 0 ? free.splice(coin % free.length, 1) : []))
          if (spent.length === 0) continue
          const transaction = world.create(
            world.coins(spent),
            numbers.length,
            vout => numbers[vout]! + (keeps ? KEEPS : 0)
          )
          free.push(...numbers.map((_, vout) => ({ of: world.transactions.length - 1, vout })))
          await submit(transaction)
          if (again) await submit(transaction)
          const proved = proves === undefined ? undefined : world.pick(proves)
          if (withProofs && proved && (await isHere(proved))) {
            await prove(proved)
            proofs.set(idOf(proved), world.mine(proved))
          }
          await compareEngines(proofs)
        }
        await checkStored()
      }
    )

  it('gives the same answers, whatever is created, updated and ended', async () => {
    await fc.assert(programs(3, false), { numRuns: RUNS || 10 })
  })

  it('gives the same answers as proofs arrive', async () => {
    await fc.assert(programs(1, true), { numRuns: RUNS || 10 })
  })

  /** Every BEEF that Quoin gives holds, for the SDK; and the index is what follows from what is stored. */
  const checkStored = async (): Promise<void> => {
    for (const { txid } of world.transactions) {
      for (const { beef } of await ours.storage.findOutputsForTransaction(formatTxid(txid), true)) {
        expect(await SdkTransaction.fromBEEF(beef!).verify(world.tracker)).toBe(true)
      }
    }
    expect((await verifyIndex(store)).differences).toEqual([])
  }

  const spend = (numbers: readonly number[], ...coins: Token[]): Transaction =>
    world.create(world.coins(coins), numbers.length, vout => numbers[vout]!)

  it('a proof does not spoil what else its children spend, as it does on the other storage', async () => {
    const parent = spend([KEEPS], { of: 0, vout: 0 })
    const child = spend([KEEPS], { of: 2, vout: 0 }, { of: 1, vout: 0 })
    await submit(parent)
    await submit(child)
    await prove(parent)
    const [a, b] = await both(async ({ storage }) => {
      const found = await storage.findOutput(idOf(child), 0, TOPICS[0], undefined, true)
      return SdkTransaction.fromBEEF(found!.beef!).verify(world.tracker)
    })
    expect(a).toBe(true)
    expect(b).not.toBe(true)
    await checkStored()
  })

  it('does not let two transactions spend one coin, as it does on the other storage', async () => {
    const [first, second] = [spend([KEEPS], { of: 0, vout: 0 }), spend([KEEPS, 0], { of: 0, vout: 0 })]
    await submit(first)
    const [a, b] = await both(({ engine }) =>
      engine.submit({ beef: world.beef(second, true), topics: [TOPICS[0]] })
    )
    expect(a).toMatch(/is already spent by/)
    expect(b).toMatchObject({ [TOPICS[0]]: { outputsToAdmit: [0, 1] } })
    expect(await ours.storage.findUTXOsForTopic(TOPICS[0])).toHaveLength(1)
    expect(await outputs.conflicts((await outputs.record(first.txid))!.spends[0]!.outpoint)).toEqual([
      parseTxid(idOf(second))
    ])
  })
})
