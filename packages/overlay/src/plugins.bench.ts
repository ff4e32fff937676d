/**
 * Plug-ins of others: the processor time that isolation adds to a submission, and submissions to another topic beside a
 * plug-in at fault. Engines are on durable LMDB. Each process of a plug-in is a real one.
 *
 * Beside a plug-in at fault, clients submit to a topic of Quoin's form, and a call to the plug-in begins every 50 ms. Slices
 * with the plug-in and without it take turns, so that a slow machine is slow for both.
 */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import { suite } from '../../../bench/harness.ts'
import { makeCase } from '../../chain/src/verify/sets.testing.ts'
import { TestChain } from '../../chain/src/verify/signed.testing.ts'
// @ts-expect-error: a plug-in without types.
import Everything from './hosting/fixtures/foreign.mjs'
import { FIXTURES, fixture, tell } from './hosting/hosting.testing.ts'
import { type AnyTopic, Engine, hostPlugins, type PluginHost, SILENT, type TopicManager } from './index.ts'

const OTHER = 'tm_other'
const CLIENTS = 8
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
  const openEngine = async (topics: Readonly<Record<string, AnyTopic>>): Promise<Engine> => {
    const folder = await mkdtemp(join(tmpdir(), 'quoin-bench-'))
    const outputs = new OutputStore(await openStore(`lmdb:${folder}`))
    const engine = new Engine({ outputs, tracker: chain, topics })
    after(async () => {
      await engine.close()
      await outputs.store.close()
      await rm(folder, { recursive: true, force: true })
    })
    return engine
  }
  const openHost = async (file: string, name: string, topicTimeout: number): Promise<PluginHost> => {
    const host = await hostPlugins([fixture(file, { name, directory: FIXTURES })], {
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
        const host = await openHost('foreign.mjs', 'tm_all', 10_000)
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

  for (const [fault, { behaviour, ...rest }] of Object.entries(FAULTS) as [string, { behaviour: string }][]) {
    let alone: number
    figure(`submit beside a plug-in that ${fault}, p50`, {
      unit: 'ms/op',
      ours: async () => {
        const engine = await openEngine({ [OTHER]: other })
        await submitAll(engine, OTHER, await makeBeefs(quick ? 500 : 1000))
        const slices = quick ? 3 : 8
        const count = quick ? 600 : 1500
        const beside: number[] = []
        const without: number[] = []
        for (let slice = 0; slice < slices; slice++) {
          const [some, more] = [await makeBeefs(count), await makeBeefs(count)]
          without.push(...(await submitAll(engine, OTHER, some)))
          // A process for each slice: one that ended several times would be refused for longer than a slice takes.
          const host = await openHost('misbehaving.mjs', 'tm_bad', 500)
          const calls = setInterval(() => {
            tell(host.topics['tm_bad']!, behaviour, rest).catch(() => undefined)
          }, 50)
          beside.push(...(await submitAll(engine, OTHER, more)))
          clearInterval(calls)
          await host.close()
        }
        alone = median(without)
        return median(beside)
      },
      peers: { 'no plug-in': () => alone }
    })
  }
})

const median = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)]!

/** Of a process of Linux, in steps of ten milliseconds. */
const processorMicroseconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}
