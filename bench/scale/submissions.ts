/** Submissions of one P2PKH input each through an overlay engine with one topic and one lookup. */
import { hex } from '@quoin/keyspace'
import { definePlugin, Engine, installPlugins, type Plugin } from '@quoin/overlay'
import { openStore } from '@quoin/store'
import { event, OutputStore } from '@quoin/txo'
import { makeCase, type SetName } from '../../packages/chain/src/verify/sets.testing.ts'
import type { TestChain } from '../../packages/chain/src/verify/test-chain.testing.ts'

const IN_FLIGHT = 256
export const TOPIC = 'tm_all'
const about = {
  getDocumentation: async () => '',
  getMetaData: async () => ({ name: '', shortDescription: '' })
}

/** Admits everything; finds outputs by the last byte of their txids. */
const plugin = definePlugin({
  name: 'all',
  setup: ({ events }) => {
    const { last } = events({ last: event('last', 'By the last byte.', hex('byte', { length: 1 })) })
    return {
      topics: {
        [TOPIC]: { ...about, admit: ({ transaction }) => ({ outputs: [...transaction.outputs.keys()] }) }
      },
      lookups: {
        ls_all: {
          ...about,
          index: ({ transaction }) => ({ events: [last.text(transaction.txid.subarray(31))] }),
          lookup: async () => []
        }
      }
    }
  }
})

export interface Submissions {
  readonly engine: Engine
  close(): Promise<void>
}

export const openSubmissions = async (
  url: string,
  chain: TestChain,
  plugins: readonly Plugin[] = [plugin]
): Promise<Submissions> => {
  const outputs = new OutputStore(await openStore(url))
  const engine = new Engine({ outputs, tracker: chain, ...(await installPlugins([...plugins], { outputs })) })
  return {
    engine,
    close: async () => {
      await engine.close()
      await outputs.store.close()
    }
  }
}

/** Transactions of a set from a seed on: distinct keys, proved parents. */
export const makeBeefs = async (
  chain: TestChain,
  seed: number,
  count: number,
  set: SetName = 'a'
): Promise<Uint8Array[]> => {
  const beefs: Uint8Array[] = []
  for (let i = seed; i < seed + count; i++)
    beefs.push(chain.beef((await makeCase(set, i, chain)).transactions))
  return beefs
}

/** Microseconds of processor time of this process for each submission. */
export const submitAll = async (
  engine: Engine,
  beefs: readonly Uint8Array[],
  topic = TOPIC
): Promise<number> => {
  const before = process.cpuUsage()
  let next = 0
  const client = async (): Promise<void> => {
    while (next < beefs.length) await engine.submit({ beef: beefs[next++]!, topics: [topic] })
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, client))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / beefs.length
}
