/**
 * Submissions and lookups through this engine on durable LMDB, and through that of `@bsv/overlay` on SQLite: as SQLite
 * comes, where what it has answered is on the disk as with ours, and with a write-ahead log that is not synced before an
 * answer. All get the same transactions, in turn. Each has a topic that admits all outputs and a lookup that is told of
 * them: ours writes an event for each in the commit, that of the other engine keeps them in memory.
 *
 * Ours has many submissions under way, which share commits; the other engine gets them one after the other. Its topic
 * parses the BEEF with the SDK, as those written for it do.
 *
 * Over HTTP the node and those who send to it share the machine.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LookupService, Engine as TheirEngine, type TopicManager } from '@bsv/overlay'
import { Transaction as SdkTransaction } from '@bsv/sdk'
import type { Transaction } from '@quoin/chain'
import { hex } from '@quoin/keyspace'
import { answerBeef, definePlugin, Engine, installPlugins, type LookupFormula } from '@quoin/overlay'
import { openStore } from '@quoin/store'
import { event, OutputStore } from '@quoin/txo'
import { suite } from '../../../../bench/harness.ts'
import { percentile } from '../../../../bench/latency.ts'
import { makeCase, type SetName } from '../../../chain/src/verify/sets.testing.ts'
import {
  makeKey,
  payTo,
  spend,
  TestChain,
  withKeyHash
} from '../../../chain/src/verify/test-chain.testing.ts'
import { openKnex } from '../../../overlay-storage/src/knex-storage.testing.ts'
import { onKnown } from './cost/submissions.testing.ts'
import { serve } from './served.testing.ts'

const TOPIC = 'tm_all'
const DURABLE = '@bsv/overlay on SQLite'
const NOT_SYNCED = '@bsv/overlay on SQLite, not synced'
const about = {
  getDocumentation: async () => '',
  getMetaData: async () => ({ name: '', shortDescription: '' })
}
const key = makeKey('bench')
const pay = (satoshis: number) => ({ satoshis, script: payTo(key) })
const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

/** Admits everything; finds outputs by the last byte of their txids. */
const plugin = definePlugin({
  name: 'all',
  setup: ({ events, outputs }) => {
    const { last } = events({ last: event('last', 'By the last byte.', hex('byte', { length: 1 })) })
    return {
      topics: {
        [TOPIC]: { ...about, admit: ({ transaction }) => ({ outputs: range(transaction.outputs.length) }) }
      },
      lookups: {
        ls_all: {
          ...about,
          index: ({ transaction }) => ({ events: [last.text(transaction.txid.subarray(31))] }),
          lookup: async (query: unknown) =>
            (await outputs.search({ keys: [`tp:${TOPIC}`], limit: Number(query) })).rows
        }
      }
    }
  }
})

const theirTopic: TopicManager = {
  ...about,
  identifyAdmissibleOutputs: async beef => ({
    outputsToAdmit: range(SdkTransaction.fromBEEF(beef).outputs.length),
    coinsToRetain: []
  })
}

class TheirLookup implements LookupService {
  readonly admissionMode = 'locking-script'
  readonly spendNotificationMode = 'none'
  readonly getDocumentation = about.getDocumentation
  readonly getMetaData = about.getMetaData
  readonly #outputs: LookupFormula = []
  outputAdmittedByTopic(payload: { txid?: string; outputIndex: number }): void {
    this.#outputs.push({ txid: payload.txid!, outputIndex: payload.outputIndex })
  }
  outputEvicted(): void {}
  async lookup({ query }: { query: unknown }): Promise<LookupFormula> {
    return this.#outputs.slice(0, Number(query))
  }
}

export default suite(({ race, figure, compare, sheet, after, note, quick, scale, progress }) => {
  const folder = async (): Promise<string> => {
    const path = await mkdtemp(join(tmpdir(), 'quoin-bench-'))
    after(() => rm(path, { recursive: true, force: true }))
    return path
  }
  const openOurs = async (chain: TestChain): Promise<Engine> => {
    const outputs = new OutputStore(await openStore(`lmdb:${await folder()}`))
    const engine = new Engine({ outputs, tracker: chain, ...(await installPlugins([plugin], { outputs })) })
    after(async () => {
      await engine.close()
      await outputs.store.close()
    })
    return engine
  }
  const openTheirs = async (chain: TestChain, journal: 'wal' | 'delete' = 'wal'): Promise<TheirEngine> => {
    const { knex, storage } = await openKnex(join(await folder(), 'overlay.sqlite'), journal)
    after(() => knex.destroy())
    return new TheirEngine({ [TOPIC]: theirTopic }, { ls_all: new TheirLookup() }, storage, chain as never)
  }
  /** So many are under way, as when they come from many clients. */
  const submitAll = async (engine: Engine, beefs: readonly Uint8Array[]): Promise<void> => {
    let next = 0
    const client = async (): Promise<void> => {
      while (next < beefs.length) await engine.submit({ beef: beefs[next++]!, topics: [TOPIC] })
    }
    await Promise.all(range(IN_FLIGHT).map(client))
  }
  const submitEach = async (engine: TheirEngine, beefs: readonly Uint8Array[]): Promise<void> => {
    for (const beef of beefs) await engine.submit({ beef: [...beef], topics: [TOPIC] })
  }
  /** Both begin as they are after a while, not as they are after a start. */
  const warmUp = async (): Promise<void> => {
    if (isWarm) return
    isWarm = true
    progress('warming up')
    const chain = new TestChain()
    await submitAll(await openOurs(chain), await makeBeefs('a', quick ? 1000 : 8000, chain))
    await submitEach(await openTheirs(chain), await makeBeefs('a', quick ? 50 : 200, chain, 1e6))
  }
  let isWarm = false

  note(
    `${IN_FLIGHT} submissions of ours are under way at once; the other engine is given one after the other`
  )
  const slices = quick ? 2 : 3
  for (const set of ['a', 'cu', 'b10'] as const) {
    // Several times as many as are under way: it is not about how the first begin and the last end.
    const ops = quick ? 100 : { a: 3000, cu: 2000, b10: 1000 }[set]
    const chain = new TestChain()
    let beefs: Uint8Array[]
    const used = { ours: 0, wal: 0, delete: 0 }
    const counted = async (side: keyof typeof used, work: () => Promise<void>): Promise<void> => {
      const before = process.cpuUsage()
      await work()
      const { user, system } = process.cpuUsage(before)
      used[side] += (user + system) / (slices * ops)
    }
    const slice = (number: number): Uint8Array[] => beefs.slice(number * ops, (number + 1) * ops)
    const theirs = (journal: 'wal' | 'delete') => async () => {
      const engine = await openTheirs(chain, journal)
      let next = 0
      return () => counted(journal, () => submitEach(engine, slice(next++)))
    }
    race(`submit ${set}`, {
      unit: 'us/op',
      slices,
      ops,
      ours: async () => {
        await warmUp()
        progress(`making ${slices * ops} transactions`)
        beefs = await makeBeefs(set, slices * ops, chain)
        const engine = await openOurs(chain)
        let next = 0
        return () => counted('ours', () => submitAll(engine, slice(next++)))
      },
      peers: { [DURABLE]: theirs('delete'), [NOT_SYNCED]: theirs('wal') }
    })
    figure(`submit ${set}, processor time`, {
      unit: 'us/op',
      ours: () => used.ours,
      peers: { [DURABLE]: () => used.delete, [NOT_SYNCED]: () => used.wal }
    })
  }

  {
    const chain = new TestChain()
    let ours: Engine
    let theirs: TheirEngine
    compare('look up 100 outputs, with their BEEF', {
      unit: 'ms/op',
      prepare: async () => {
        const beefs = await makeBeefs('a', 200, chain)
        ours = await openOurs(chain)
        theirs = await openTheirs(chain)
        await submitAll(ours, beefs)
        await submitEach(theirs, beefs)
      },
      ours: async () => expectCount((await ours.lookup('ls_all', 100)).map(answerBeef)),
      peers: {
        [NOT_SYNCED]: async () =>
          expectCount((await theirs.lookup({ service: 'ls_all', query: 100 })).outputs)
      }
    })
  }

  sheet('submit into a store with', async () => {
    const sizes = { quick: [0, 1e3, 1e4], normal: [0, 1e3, 1e4, 1e5], full: [0, 1e3, 1e4, 1e5, 1e6] }[scale]
    const chain = new TestChain()
    const engine = await openOurs(chain)
    await warmUp()
    const rows: [number, number][] = []
    let stored = 0
    for (const size of sizes) {
      for (; stored < size; stored += 500) {
        await submitAll(engine, [fanOut(chain, 500)])
        if (stored % 1e5 === 0) progress(`${stored.toLocaleString('en-US')} outputs`)
      }
      const beefs = await makeBeefs('a', 1000, chain, stored)
      rows.push([size, await timed(beefs, beef => submitAll(engine, beef))])
    }
    return { columns: ['outputs', 'us/submit'], rows }
  })

  sheet('submit on known ancestors', async () => {
    const depths = quick ? [1, 10, 100] : [1, 10, 100, 1000]
    const chain = new TestChain()
    const engine = await openOurs(chain)
    let tips = range(quick ? 16 : 32).map(() => chain.fund([pay(1_000_000)]))
    await submitAll(
      engine,
      tips.map(tip => chain.beef([tip]))
    )
    await warmUp()
    const rows: [number, number][] = []
    for (let depth = 1; depth <= depths.at(-1)! + ROUNDS; depth++) {
      const next = tips.map(extend)
      const beefs = next.map((each, i) => onKnown(tips[i]!, each))
      const measured = depths.find(each => each <= depth && depth < each + ROUNDS)
      const took = await timed(beefs, group => submitAll(engine, group))
      if (measured !== undefined) {
        const row = rows.find(([each]) => each === measured)
        if (row) row[1] = Math.min(row[1], took)
        else rows.push([measured, took])
      }
      tips = next
    }
    return { columns: ['depth', 'us/submit'], rows }
  })

  sheet('a node in a process of its own, over HTTP', async () => {
    const count = { quick: 2000, normal: 10_000, full: 40_000 }[scale]
    progress(`making ${2 * count} transactions`)
    const beefs = await makeBeefs('a', 2 * count, new TestChain())
    const node = await serve(await folder())
    after(() => node.close())
    const idle = await node.memory()
    progress('sending as many as it takes')
    await node.submit(beefs.slice(0, count / 4))
    const start = performance.now()
    const fast = await node.submit(beefs.slice(count / 4, count))
    const perSecond = Math.round((fast.length * 1000) / (performance.now() - start))
    progress('sending half as many')
    const half = await node.submit(beefs.slice(count), perSecond / 2)
    return {
      columns: ['', ''],
      rows: [
        ['ms until it listens', Math.round(node.startMs)],
        ['MB when it has nothing to do', idle],
        ['submits/s', perSecond],
        ['p99 ms at that', latencyOf(fast, 0.99)],
        ['p50 ms at half of that', latencyOf(half, 0.5)],
        ['p99 ms at half of that', latencyOf(half, 0.99)],
        ['MB afterwards', await node.memory()]
      ]
    }
  })
})

const latencyOf = (times: readonly number[], part: number): number =>
  Number(percentile(times, part).toFixed(1))

/** Submissions of ours that are under way. */
const IN_FLIGHT = 512
/** Submissions at each depth, of which the fastest counts. */
const ROUNDS = 8

const makeBeefs = async (set: SetName, count: number, chain: TestChain, first = 0): Promise<Uint8Array[]> => {
  const beefs: Uint8Array[] = []
  for (let seed = first; seed < first + count; seed++) {
    beefs.push(chain.beef((await makeCase(set, seed, chain)).transactions))
  }
  return beefs
}

/** Microseconds for each. */
const timed = async (
  beefs: readonly Uint8Array[],
  submit: (beefs: readonly Uint8Array[]) => Promise<unknown>
): Promise<number> => {
  const start = performance.now()
  await submit(beefs)
  return Math.round(((performance.now() - start) * 1000) / beefs.length)
}

const expectCount = <T>(found: readonly T[]): readonly T[] => {
  if (found.length !== 100) throw new Error(`${found.length} outputs, not 100`)
  return found
}

const fanOut = (chain: TestChain, outputs: number): Uint8Array => {
  const from = chain.fund([pay(1_000_000)])
  const made = spend({
    inputs: [{ from, vout: 0, unlock: withKeyHash(key) }],
    outputs: range(outputs).map(() => pay(1))
  })
  return chain.beef([from, made])
}

const extend = (from: Transaction): Transaction =>
  spend({
    inputs: [{ from, vout: 0, unlock: withKeyHash(key) }],
    outputs: [pay(from.outputs[0]!.satoshis - 1)]
  })
