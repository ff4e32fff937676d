/**
 * Quoin as the storage of the overlay engine, beside the storage that the engine comes with. Where the two differ, and
 * the difference is a fault of the other one, it is in the table below: each is shown, and the comparison treats it as
 * the table says. Everything else has to be the same. A failure prints its seed and the shortest program found.
 */
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KnexStorage, Storage as OverlayStorage } from '@bsv/overlay'
import type { Transaction } from '@quoin/chain'
import { parseTxid } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { OutputStore, verifyIndex } from '@quoin/txo'
import fc from 'fast-check'
import type { Knex } from 'knex'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { beefContent, compareAnswers, differences } from './compare.testing.ts'
import { EngineStorage } from './engine-storage.ts'
import { Conflict, CorrectedStorage, openKnex } from './knex-storage.testing.ts'
import { type Inserted, plan, programs } from './program.testing.ts'
import { idOf, TOPICS, World } from './world.testing.ts'

const [ONE, TWO] = TOPICS
const NO_PROOFS = new Map()

let world: World
let store: Store
let outputs: OutputStore
let ours: EngineStorage
let knex: Knex
let theirs: KnexStorage

beforeEach(async () => {
  world = new World()
  store = await openStore('memory:')
  outputs = new OutputStore(store, { now: () => world.clock / 1000 })
  ours = new EngineStorage(outputs)
  const opened = await openKnex()
  knex = opened.knex
  theirs = opened.storage
})
afterEach(async () => {
  await knex.destroy()
  await store.close()
})

const both = async (act: (storage: OverlayStorage) => Promise<unknown>): Promise<void> => {
  await act(theirs)
  await act(ours)
}

const conflicts = { code: 'ERR_TXO_CONFLICT' }

interface Divergence {
  readonly name: string
  /** What is wrong with it. */
  readonly why: string
  /** What the random comparison makes of it. */
  readonly treatment: string
  readonly show: () => Promise<void>
}

const DIVERGENCES: readonly Divergence[] = [
  {
    name: 'DELETE EVERYWHERE',
    why: 'deleteOutput ignores the topic, and deletes the output from all',
    treatment: 'the corrected storage deletes the row of the topic',
    show: async () => {
      const [a] = world.transactions as [Transaction]
      await both(async storage => {
        await storage.insertOutput(world.output(a, 0, ONE))
        await storage.insertOutput(world.output(a, 0, TWO))
        await storage.deleteOutput(idOf(a), 0, ONE)
      })
      expect(await theirs.findOutput(idOf(a), 0, TWO)).toBeNull()
      expect(await ours.findOutput(idOf(a), 0, ONE)).toBeNull()
      expect(await ours.findOutput(idOf(a), 0, TWO)).not.toBeNull()
    }
  },
  {
    name: 'DROPPED BEEF',
    why: 'with the last output of a transaction its BEEF is gone, whoever needs it',
    treatment: 'the corrected storage keeps it',
    show: async () => {
      const [a] = world.transactions as [Transaction]
      await both(async storage => {
        await storage.insertOutput(world.output(a, 0, ONE))
        await storage.deleteOutput(idOf(a), 0, ONE)
      })
      expect(await knex('transactions').select()).toEqual([])
      expect((await outputs.transactions.get(a.txid))?.raw).toEqual(a.raw)
    }
  },
  {
    name: 'CONFLICT',
    why: 'two transactions that spend one coin are both admitted, mined or not',
    treatment:
      'the corrected storage refuses the second; it takes back the first if that is not mined and the second is',
    show: async () => {
      const [a] = world.transactions as [Transaction]
      const [first, second, mined] = [world.spend(a, 0, 1), world.spend(a, 0, 2), world.spend(a, 0, 3)]
      world.mine(mined)
      await both(storage => storage.insertOutput(world.output(first, 0, ONE)))
      await theirs.insertOutput(world.output(second, 0, ONE))
      await theirs.insertOutput(world.output(mined, 0, ONE))
      expect(await theirs.findUTXOsForTopic(ONE)).toHaveLength(3)
      await expect(ours.insertOutput(world.output(second, 0, ONE))).rejects.toMatchObject(conflicts)
      expect((await ours.findUTXOsForTopic(ONE)).map(({ txid }) => txid)).toEqual([idOf(first)])
      await ours.insertOutput(world.output(mined, 0, ONE))
      expect((await ours.findUTXOsForTopic(ONE)).map(({ txid }) => txid)).toEqual([idOf(mined)])
      await expect(ours.insertOutput(world.output(first, 0, ONE))).rejects.toMatchObject(conflicts)
    }
  },
  {
    name: 'SPENT ELSEWHERE',
    why: 'a coin that a transaction of another topic spends, or an ancestor of it, stays unspent',
    treatment:
      'the corrected storage marks the coins of every transaction that it learns of as spent, in all topics',
    show: async () => {
      const [a] = world.transactions as [Transaction]
      const parent = world.spend(a, 0)
      const child = world.spend(parent, 1)
      await both(async storage => {
        await storage.insertOutput(world.output(a, 0, ONE))
        await storage.insertOutput(world.output(child, 0, TWO))
      })
      expect(await theirs.findUTXOsForTopic(ONE)).toHaveLength(1)
      expect(await ours.findUTXOsForTopic(ONE)).toEqual([])
      expect(await ours.findOutput(idOf(a), 0, ONE, true)).not.toBeNull()
    }
  },
  {
    name: 'LATE COIN',
    why: 'a coin that comes after its spender is unspent, and knows nothing of what consumed it',
    treatment: 'the corrected storage inserts it as spent, with the outputs of its spender as consumers',
    show: async () => {
      const [a] = world.transactions as [Transaction]
      const child = world.spend(a, 0)
      await both(async storage => {
        await storage.insertOutput(world.output(child, 1, ONE))
        await storage.insertOutput(world.output(a, 0, ONE))
      })
      expect(await theirs.findOutput(idOf(a), 0, ONE)).toMatchObject({ spent: false, consumedBy: [] })
      expect(await ours.findOutput(idOf(a), 0, ONE)).toMatchObject({
        spent: true,
        consumedBy: [{ txid: idOf(child), outputIndex: 1 }]
      })
    }
  },
  {
    name: 'REPEATED INSERT',
    why: 'an output that is inserted again is there twice',
    treatment: 'the corrected storage leaves the row that is there as it is',
    show: async () => {
      const [a, b] = world.transactions as [Transaction, Transaction]
      await both(async storage => {
        await storage.insertOutput(
          world.output(a, 0, ONE, { outputsConsumed: [{ txid: idOf(b), outputIndex: 0 }] })
        )
        await storage.insertOutput(world.output(a, 0, ONE))
      })
      expect(await theirs.findOutputsForTransaction(idOf(a))).toHaveLength(2)
      const rows = await ours.findOutputsForTransaction(idOf(a))
      expect(rows.map(row => row.outputsConsumed)).toEqual([[{ txid: idOf(b), outputIndex: 0 }]])
    }
  },
  {
    name: 'REPEATED APPLICATION',
    why: 'a transaction that is applied again is listed again',
    treatment: 'the corrected storage has a set',
    show: async () => {
      const applied = { txid: idOf(world.transactions[0]!), topic: ONE }
      await both(async storage => {
        await storage.insertAppliedTransaction(applied)
        await storage.insertAppliedTransaction(applied)
      })
      expect(await knex('applied_transactions').select()).toHaveLength(2)
      const [record] = [await outputs.record(parseTxid(applied.txid))]
      expect(record?.topics).toEqual([ONE])
      expect(await ours.doesAppliedTransactionExist(applied)).toBe(true)
    }
  },
  {
    name: 'UNREAD HEIGHT',
    why: 'the height of the block is written and never read',
    treatment: 'the corrected storage adds it to what it reads',
    show: async () => {
      const [a] = world.transactions as [Transaction]
      await both(async storage => {
        await storage.insertOutput(world.output(a, 0, ONE))
        await storage.updateOutputBlockHeight!(idOf(a), 0, ONE, 1)
      })
      expect(await theirs.findOutput(idOf(a), 0, ONE)).not.toHaveProperty('blockHeight')
      expect(await ours.findOutput(idOf(a), 0, ONE)).toHaveProperty('blockHeight', 1)
    }
  },
  {
    name: 'WALL CLOCK',
    why: 'a score is the time of the insertion for ever, so every node has another order (D3)',
    treatment: 'the corrected storage keeps the score of D3 in its column, and moves it when a proof arrives',
    show: async () => {
      const [a] = world.transactions as [Transaction]
      const child = world.spend(a, 0)
      const score = world.clock
      await both(storage => storage.insertOutput(world.output(child, 0, ONE)))
      expect(await ours.findOutput(idOf(child), 0, ONE)).toHaveProperty('score', score / 1000)
      const { height } = world.mine(child)
      await both(storage => storage.updateTransactionBEEF(idOf(child), world.beef(child, true)))
      expect(await theirs.findOutput(idOf(child), 0, ONE)).toHaveProperty('score', score)
      expect(await ours.findOutput(idOf(child), 0, ONE)).toHaveProperty('score', height + 2e-9)
    }
  },
  {
    name: 'LOST PROOFS',
    why: 'a proof is kept in the BEEF that it came in only: what rests on the transaction does not get shorter',
    treatment:
      'the BEEF of the corrected storage is cut where a proof is known; a proof counts for every transaction of any BEEF',
    show: async () => {
      const [a] = world.transactions as [Transaction]
      const parent = world.spend(a, 0)
      const child = world.spend(parent, 0)
      await both(async storage => {
        await storage.insertOutput(world.output(parent, 0, ONE))
        await storage.insertOutput(world.output(child, 0, ONE))
      })
      world.mine(parent)
      await both(storage => storage.updateTransactionBEEF(idOf(parent), world.beef(parent, true)))
      const [long, short] = [
        await theirs.findOutput(idOf(child), 0, ONE, undefined, true),
        await ours.findOutput(idOf(child), 0, ONE, undefined, true)
      ]
      expect(Object.keys(beefContent(long!.beef!, idOf(child), NO_PROOFS))).toHaveLength(3)
      expect(Object.keys(beefContent(short!.beef!, idOf(child), NO_PROOFS))).toEqual([
        idOf(child),
        idOf(parent)
      ])
    }
  },
  {
    name: 'ANY BEEF',
    why: 'a BEEF that does not hold together replaces one that does',
    treatment: 'programs do not have such BEEF; the engine makes them when a proof arrives, see its own test',
    show: async () => {
      const [a] = world.transactions as [Transaction]
      await both(async storage => {
        await storage.insertOutput(world.output(a, 0, ONE))
        await storage.updateTransactionBEEF(idOf(a), [1, 2, 3, 4])
      })
      expect(await theirs.findOutput(idOf(a), 0, ONE, undefined, true)).toHaveProperty('beef', [1, 2, 3, 4])
      const kept = await ours.findOutput(idOf(a), 0, ONE, undefined, true)
      expect(beefContent(kept!.beef!, idOf(a), NO_PROOFS)).toHaveProperty(idOf(a))
    }
  },
  {
    name: 'NO BEEF',
    why: 'an output that was inserted without BEEF cannot be read with it: the answer is a TypeError',
    treatment: 'programs always have BEEF, as the engine does',
    show: async () => {
      const [a] = world.transactions as [Transaction]
      const { beef: _, ...bare } = world.output(a, 0, ONE)
      await theirs.insertOutput(bare)
      await expect(theirs.findOutput(idOf(a), 0, ONE, undefined, true)).rejects.toThrow(TypeError)
      await expect(ours.insertOutput(bare)).rejects.toMatchObject({ code: 'ERR_TX_UNKNOWN' })
      await ours.insertOutput(world.output(a, 1, ONE))
      await ours.insertOutput(bare)
      expect(await ours.findOutput(idOf(a), 0, ONE, undefined, true)).toHaveProperty('beef')
    }
  },
  {
    name: 'NO ORDER',
    why: 'outputs of equal score come in the order of insertion, so pages of them differ from node to node',
    treatment:
      'rows of equal score are sorted before they are compared; a page has to begin what there is without limit',
    show: async () => {
      const [a, b] = world.transactions as [Transaction, Transaction]
      const [first, second] = [a, b]
        .map(each => world.spend(each, 0))
        .sort((x, y) => Buffer.compare(x.txid, y.txid))
      await both(async storage => {
        await storage.insertOutput(world.output(second!, 0, ONE))
        await storage.insertOutput(world.output(first!, 1, ONE))
        await storage.insertOutput(world.output(first!, 0, ONE))
      })
      const order = async (storage: OverlayStorage): Promise<string[]> =>
        (await storage.findUTXOsForTopic(ONE)).map(({ txid, outputIndex }) => `${txid}.${outputIndex}`)
      const [x, y, z] = [`${idOf(first!)}.0`, `${idOf(first!)}.1`, `${idOf(second!)}.0`]
      expect(await order(theirs)).toEqual([z, y, x])
      expect(await order(ours)).toEqual([x, y, z])
    }
  },
  {
    name: 'STALE CONSUMERS',
    why: 'an output that was deleted is still among the consumers of what it consumed',
    treatment: 'consumers that the topic does not have are left out',
    show: async () => {
      const [a] = world.transactions as [Transaction]
      const child = world.spend(a, 0)
      const coin = { txid: idOf(a), outputIndex: 0 }
      const consumers = [0, 1].map(outputIndex => ({ txid: idOf(child), outputIndex }))
      await both(async storage => {
        await storage.insertOutput(world.output(a, 0, ONE))
        for (const vout of [0, 1])
          await storage.insertOutput(world.output(child, vout, ONE, { outputsConsumed: [coin] }))
        await storage.updateConsumedBy(coin.txid, coin.outputIndex, ONE, consumers)
      })
      expect(await theirs.findOutput(idOf(a), 0, ONE)).toHaveProperty('consumedBy', consumers)
      expect(await ours.findOutput(idOf(a), 0, ONE)).toHaveProperty('consumedBy', consumers)
      await both(storage => storage.deleteOutput(idOf(child), 0, ONE))
      expect(await theirs.findOutput(idOf(a), 0, ONE)).toHaveProperty('consumedBy', consumers)
      expect(await ours.findOutput(idOf(a), 0, ONE)).toHaveProperty('consumedBy', consumers.slice(1))
    }
  },
  {
    name: 'REPEATED CONSUMERS',
    why: 'a consumer is listed as often as anyone says it, and the engine does say it again',
    treatment: 'consumers are a set',
    show: async () => {
      const [a] = world.transactions as [Transaction]
      const child = world.spend(a, 0)
      const consumer = { txid: idOf(child), outputIndex: 0 }
      await both(async storage => {
        await storage.insertOutput(world.output(a, 0, ONE))
        await storage.insertOutput(world.output(child, 0, ONE))
        await storage.updateConsumedBy(idOf(a), 0, ONE, [consumer, consumer])
      })
      expect(await theirs.findOutput(idOf(a), 0, ONE)).toHaveProperty('consumedBy', [consumer, consumer])
      expect(await ours.findOutput(idOf(a), 0, ONE)).toHaveProperty('consumedBy', [consumer])
    }
  }
]

describe('what the other storage gets wrong', () => {
  for (const { name, why, show } of DIVERGENCES) it(`${name}: ${why}`, show)
})

const outcome = (act: Promise<void>): Promise<string> =>
  act.then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof Conflict || (error as { code?: string }).code === 'ERR_TXO_CONFLICT')
        return 'conflict'
      throw error
    }
  )

const RUNS = Number(process.env['QUOIN_RANDOM_RUNS'] ?? 0)
const SECONDS = 2
const RUNS_OF_A_SEED = 3
const SEED = Number(process.env['QUOIN_SEED'])

describe('random programs', () => {
  const folders: string[] = []
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })
  const openEach = async (): Promise<Store[]> => {
    const folder = await mkdtemp(join(tmpdir(), 'quoin-engine-'))
    folders.push(folder)
    return [await openStore('memory:'), await openStore(`lmdb:${folder}`)]
  }

  it('every answer after every step is that of the corrected storage', {
    timeout: RUNS ? 86_400_000 : 600_000
  }, async () => {
    const outcomes = { done: 0, conflict: 0 }
    const property = fc.asyncProperty(programs(20), async program => {
      const other = new World()
      const now = (): number => other.clock / 1000
      const corrected = await openKnex()
      const reference = new CorrectedStorage(corrected.knex, now)
      const stores = await openEach()
      const storages = stores.map(each => new EngineStorage(new OutputStore(each, { now })))
      const inserted: Inserted = new Map()
      try {
        for (const [turn, step] of program.entries()) {
          const play = plan(step, other, inserted)
          const expected = await outcome(play(reference))
          outcomes[expected as keyof typeof outcomes]++
          for (const storage of storages) {
            expect(await outcome(play(storage))).toBe(expected)
            await compareAnswers(storage, reference, other, turn)
          }
        }
        for (const each of stores) await takeBackEverything(each, other)
      } finally {
        await corrected.knex.destroy()
        for (const each of stores) await each.close()
      }
    })
    const end = Date.now() + SECONDS * 1000
    for (let runs = 0; RUNS ? runs < RUNS : runs === 0 || Date.now() < end; runs += RUNS_OF_A_SEED) {
      await fc.assert(property, { numRuns: RUNS_OF_A_SEED, seed: SEED + runs })
    }
    expect(outcomes.done).toBeGreaterThan(20)
    expect(outcomes.conflict).toBeGreaterThan(0)
  })

  /** The index is what follows from what is stored, and nothing of it outlives its transactions. */
  const takeBackEverything = async (from: Store, { transactions, clock }: World): Promise<void> => {
    expect((await verifyIndex(from)).differences).toEqual([])
    const empty = await openStore('memory:')
    const index = new OutputStore(from)
    for (const { txid } of clock % 2000 ? transactions : transactions.toReversed()) await index.rollback(txid)
    expect(await differences(from, empty)).toEqual([])
    await empty.close()
  }
})
