/**
 * Hosted plug-ins: the processor time that isolation adds to a submission, that of a diamond of ancestors in the
 * node, and submissions to another topic beside a plug-in at fault. Engines are on durable LMDB, and each plug-in has
 * a process.
 *
 * Beside a plug-in at fault, clients submit to a topic of Quoin's form, and a call to the plug-in begins every 50 ms; a
 * lookup service at fault is told of each output of the topic. Slices with the plug-in and without it take turns, so that
 * a slow machine is slow for both.
 */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import { suite } from '../../../bench/harness.ts'
import { makeCase } from '../../chain/src/verify/sets.testing.ts'
import { makeKey, payTo, spend, TestChain, withKeyHash } from '../../chain/src/verify/test-chain.testing.ts'
// @ts-expect-error: a plug-in without types.
import Everything from './hosting/fixtures/foreign.mjs'
import { fixture, tell } from './hosting/hosting.testing.ts'
import {
  type AnyTopic,
  Engine,
  type EngineOptions,
  hostPlugins,
  type ModuleSpec,
  type PluginHost,
  SILENT,
  type TopicManager
} from './index.ts'

const OTHER = 'tm_other'
const CLIENTS = 8
/** The deadline of a call to a plug-in at fault. */
const CALL_MS = 500
const DIAMOND = 30
const about = {
  getDocumentation: async () => '',
  getMetaData: async () => ({ name: '', shortDescription: '' })
}
const other: AnyTopic = {
  ...about,
  admit: ({ transaction }) => ({ outputs: [...transaction.outputs.keys()] })
}

const FAULTS: Readonly<Record<string, object>> = {
  hangs: { behaviour: 'hang' },
  loops: { behaviour: 'loop' },
  'ends its process': { behaviour: 'exit', code: 1 },
  'fills the heap': { behaviour: 'heap' },
  'keeps buffers': { behaviour: 'buffers' },
  'lies with 80 MB': { behaviour: 'huge' },
  prints: { behaviour: 'print', bytes: 20e6 }
}

export default suite(({ race, figure, after, note, quick, progress }) => {
  note(`${CLIENTS} submissions are under way at once`)
  const chain = new TestChain()
  let seed = 0
  const makeBeefs = async (count: number): Promise<Uint8Array[]> => {
    const beefs: Uint8Array[] = []
    for (; beefs.length < count; seed++) {
      beefs.push(chain.beef((await makeCase('a', seed, chain)).transactions))
    }
    return beefs
  }
  const openEngine = async (
    topics: Readonly<Record<string, AnyTopic>>,
    { lookups, delivery }: Pick<EngineOptions, 'lookups' | 'delivery'> = {}
  ): Promise<Engine> => {
    const folder = await mkdtemp(join(tmpdir(), 'quoin-bench-'))
    const outputs = new OutputStore(await openStore(`lmdb:${folder}`))
    const engine = new Engine({
      outputs,
      tracker: chain,
      topics,
      lookups: lookups ?? {},
      delivery: delivery ?? {},
      lookupTimeout: CALL_MS
    })
    engine.start()
    after(async () => {
      await engine.close()
      await outputs.store.close()
      await rm(folder, { recursive: true, force: true })
    })
    return engine
  }
  const openHost = async (spec: ModuleSpec, topicTimeout: number): Promise<PluginHost> => {
    const host = await hostPlugins([spec], {
      logger: SILENT,
      topicTimeout,
      lookupTimeout: topicTimeout,
      memoryMb: 256
    })
    after(() => host.close())
    return host
  }
  /** Milliseconds of each submission. */
  const submitAll = async (
    engine: Engine,
    topic: string,
    beefs: readonly Uint8Array[]
  ): Promise<number[]> => {
    const times: number[] = []
    let next = 0
    const client = async (): Promise<void> => {
      while (next < beefs.length) {
        const begin = performance.now()
        const { [topic]: answer } = await engine.submit({ beef: beefs[next++]!, topics: [topic] })
        if (answer?.outputsToAdmit.length === 0) throw new Error(`nothing admitted: ${answer.error?.message}`)
        times.push(performance.now() - begin)
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    return times
  }

  {
    const slices = quick ? 4 : 10
    const ops = quick ? 300 : 1000
    const used = { hosted: 0, inProcess: 0 }
    const side = (name: keyof typeof used, open: () => Promise<[AnyTopic, () => number]>) => async () => {
      const [topic, childMicroseconds] = await open()
      const engine = await openEngine({ tm_all: topic })
      await submitAll(engine, 'tm_all', await makeBeefs(quick ? 500 : 2000))
      progress('making transactions')
      const beefs = await makeBeefs(slices * ops)
      let slice = 0
      return async () => {
        const some = beefs.slice(slice++ * ops, slice * ops)
        const before = process.cpuUsage()
        const childBefore = childMicroseconds()
        await submitAll(engine, 'tm_all', some)
        const { user, system } = process.cpuUsage(before)
        used[name] += (user + system + childMicroseconds() - childBefore) / (slices * ops)
      }
    }
    race('submit to a topic of others', {
      unit: 'us/op',
      slices,
      ops,
      ours: side('hosted', async () => {
        const host = await openHost(fixture('foreign.mjs', { name: 'tm_all' }), 10_000)
        return [host.topics['tm_all']!, () => processorMicroseconds(host.states()[0]!.pid!)]
      }),
      peers: { 'in process': side('inProcess', async () => [new Everything() as TopicManager, () => 0]) }
    })
    figure('submit to a topic of others, processor time of both processes', {
      unit: 'us/op',
      ours: () => used.hosted,
      peers: { 'in process': () => used.inProcess }
    })
  }

  {
    const key = makeKey('diamond')
    const pay = (satoshis: number) => ({ satoshis, script: payTo(key) })
    const diamond = (): Uint8Array => {
      const all = [chain.fund([pay(1000), pay(1000)])]
      for (let level = 0; level < DIAMOND; level++) {
        const inputs = [0, 1].map(vout => ({ from: all.at(-1)!, vout, unlock: withKeyHash(key) }))
        all.push(spend({ inputs, outputs: [pay(1000), pay(999)] }))
      }
      return chain.beef(all)
    }
    figure(`submit a diamond of ${DIAMOND} levels, processor time of the node`, {
      unit: 'ms/op',
      ours: async () => {
        const host = await openHost(fixture('foreign.mjs', { name: 'tm_all' }), 10_000)
        const engine = await openEngine({ tm_all: host.topics['tm_all']! })
        const times: number[] = []
        for (let i = 0; i < 15; i++) {
          const beef = diamond()
          const before = process.cpuUsage()
          await submitAll(engine, 'tm_all', [beef])
          const { user, system } = process.cpuUsage(before)
          times.push((user + system) / 1000)
        }
        return median(times)
      },
      peers: {}
    })
  }

  /** The median time of submissions to a topic beside a fault, and that without it, in slices that take turns. */
  const compareBeside = (fault: string, open: () => Promise<Sides>): void => {
    let alone: number
    figure(`submit beside a ${fault}, p50`, {
      unit: 'ms/op',
      ours: async () => {
        const { beside, without, during } = await open()
        for (const engine of new Set([beside, without]))
          await submitAll(engine, OTHER, await makeBeefs(quick ? 300 : 1000))
        const times = { beside: [] as number[], without: [] as number[] }
        const count = quick ? 300 : 1500
        for (let slice = 0; slice < (quick ? 3 : 8); slice++) {
          times.without.push(...(await submitAll(without, OTHER, await makeBeefs(count))))
          const beefs = await makeBeefs(count)
          await during(async () => {
            times.beside.push(...(await submitAll(beside, OTHER, beefs)))
          })
        }
        alone = median(times.without)
        return median(times.beside)
      },
      peers: { 'no plug-in': () => alone }
    })
  }

  for (const [fault, { behaviour, ...rest }] of Object.entries(FAULTS) as [string, { behaviour: string }][]) {
    compareBeside(`plug-in that ${fault}`, async () => {
      const engine = await openEngine({ [OTHER]: other })
      const during = async (work: () => Promise<void>): Promise<void> => {
        // A process for each slice: one that ended several times would be refused for longer than a slice takes.
        const host = await openHost(fixture('misbehaving.mjs', { name: 'tm_bad' }), CALL_MS)
        const calls = setInterval(() => {
          tell(host.topics['tm_bad']!, behaviour, rest).catch(() => undefined)
        }, 50)
        await work()
        clearInterval(calls)
        await host.close()
      }
      return { beside: engine, without: engine, during }
    })
  }

  compareBeside('lookup service that hangs', async () => {
    const host = await openHost(
      fixture('misbehaving.mjs', { export: 'HangingLookup', name: 'ls_bad' }),
      CALL_MS
    )
    // As in a node: submissions to the topics of other plug-ins do not wait for it, and it is told of them.
    const delivery = { ls_bad: { home: ['tm_bad'] } }
    return {
      beside: await openEngine({ [OTHER]: other }, { lookups: host.lookups, delivery }),
      without: await openEngine({ [OTHER]: other }),
      during: work => work()
    }
  })
})

interface Sides {
  readonly beside: Engine
  readonly without: Engine
  /** Runs work while the plug-in is at fault. */
  readonly during: (work: () => Promise<void>) => Promise<void>
}

const median = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)]!

/** Of a process of Linux, in steps of ten milliseconds. */
const processorMicroseconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}
