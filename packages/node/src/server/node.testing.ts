/** A node on a development chain with a server on a real socket, for tests. */
import type { LookupQuestion } from '@bsv/sdk'
import type { Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { liquidityRoutes } from '@quoin/liquidity/routes'
import type { LookupService, Engine as OverlayEngine, QuoinTopic } from '@quoin/overlay'
import { Engine, type EngineOptions } from '@quoin/overlay'
import { openStore } from '@quoin/store'
import { OutputStore, type OutputStoreOptions } from '@quoin/txo'
import { makeKey, payTo, spend, withKeyHash } from '../../../chain/src/verify/test-chain.testing.ts'
import { createServer, type Server, type ServerOptions } from './index.ts'

const about = (name: string) => ({
  getDocumentation: async () => `# ${name}`,
  getMetaData: async () => ({ name, shortDescription: `about ${name}` })
})

/** Admits whatever pays 1 satoshi, and keeps the history of coins. */
const ones: QuoinTopic = {
  ...about('ones'),
  admit: ({ transaction, previousCoins }) => ({
    outputs: [...transaction.outputs.keys()].filter(vout => transaction.outputs[vout]!.satoshis === 1),
    retain: previousCoins.map(({ input }) => input)
  })
}

/** Finds what it was told of, the last first: all, or what a query of `{ history }` says. */
class RecordingLookup implements LookupService {
  readonly admissionMode = 'locking-script'
  readonly spendNotificationMode = 'txid'
  readonly getDocumentation = about('remembering').getDocumentation
  readonly getMetaData = about('remembering').getMetaData
  readonly #known = new Map<string, { txid: string; outputIndex: number; offChainValues?: number[] }>()
  failing = false

  async outputAdmittedByTopic(payload: {
    txid?: string
    outputIndex: number
    offChainValues?: number[]
  }): Promise<void> {
    if (this.failing) throw new Error('out of order')
    const { txid = '', outputIndex, offChainValues } = payload
    this.#known.set(`${txid}.${outputIndex}`, {
      txid,
      outputIndex,
      ...(offChainValues && { offChainValues })
    })
  }
  async outputSpent({ txid, outputIndex }: { txid: string; outputIndex: number }): Promise<void> {
    this.#known.delete(`${txid}.${outputIndex}`)
  }
  async outputEvicted(txid: string, outputIndex: number): Promise<void> {
    this.#known.delete(`${txid}.${outputIndex}`)
  }
  async lookup({ query }: LookupQuestion) {
    if (typeof query !== 'object' || query === null) throw new Error('A valid query must be provided')
    const { history } = query as { history?: number }
    return [...this.#known.values()].reverse().map(({ txid, outputIndex, offChainValues }) => ({
      txid,
      outputIndex,
      ...(typeof history === 'number' && { history }),
      ...(offChainValues && { context: offChainValues })
    }))
  }
}

/** What a response says, for a test to look into. */
// biome-ignore lint/suspicious/noExplicitAny: the test is what checks it.
export const said = (response: Response | Promise<Response>): Promise<any> =>
  Promise.resolve(response).then(each => each.json())

export const key = makeKey('server')

export interface TestNode {
  readonly chain: DevChain
  readonly engine: OverlayEngine
  readonly server: Server
  readonly service: RecordingLookup
  readonly url: string
  /** A transaction of a coin of 1 satoshi, and change. */
  minted(): Promise<Transaction>
  /** One that spends an output of another into coins of 1 satoshi. */
  spent(from: Transaction, vout: number, satoshis?: readonly number[]): Promise<Transaction>
  submit(transaction: Transaction, ...topics: string[]): Promise<Response>
  get(path: string, headers?: Record<string, string>): Promise<Response>
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>
  close(): Promise<void>
}

export const startNode = async (
  url = 'memory:',
  options: ServerOptions = {},
  more: { readonly engine?: Partial<EngineOptions>; readonly outputs?: OutputStoreOptions } = {}
): Promise<TestNode> => {
  const chain = new DevChain({ seed: 'server' })
  const service = new RecordingLookup()
  const engine = new Engine({
    outputs: new OutputStore(await openStore(url), more.outputs),
    tracker: chain,
    topics: { tm_ones: ones },
    lookups: { ls_ones: service },
    index: true,
    ...more.engine
  })
  const server = createServer({ engine, options: { mounts: [liquidityRoutes], ...options } })
  const { url: base } = await server.listen()
  const spent: TestNode['spent'] = async (from, vout, satoshis = [1]) => {
    const transaction = spend({
      inputs: [{ from, vout, unlock: withKeyHash(key) }],
      outputs: satoshis.map(each => ({ satoshis: each, script: payTo(key) }))
    })
    await chain.submit(transaction, { replace: true })
    return transaction
  }
  return {
    chain,
    engine,
    server,
    service,
    url: base,
    minted: () => spent(chain.fund(payTo(key), 1000), 0, [1, 900]),
    spent,
    submit: (transaction, ...topics) =>
      fetch(`${base}/submit`, {
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream', 'x-topics': JSON.stringify(topics) },
        body: chain.beef(transaction.txid)
      }),
    get: (path, headers = {}) => fetch(base + path, { headers }),
    post: (path, body, headers = {}) =>
      fetch(base + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body)
      }),
    async close() {
      await server.close()
      await engine.close()
      await engine.outputs.store.close()
    }
  }
}
