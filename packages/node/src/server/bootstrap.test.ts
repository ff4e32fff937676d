/** The bootstrap of tokens from another node; topics of other kinds are bootstrapped by the command (`test/bootstrap.test.ts`). */
import { Tokens } from '@quoin/bsv21'
import type { Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { SILENT } from '@quoin/overlay'
import type { QuoinError } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { afterEach, expect, it } from 'vitest'
import { TokenNode } from '../../../bsv21/src/node.testing.ts'
import * as t from '../../../bsv21/src/tokens.testing.ts'
import { bootstrap } from './bootstrap.ts'
import { loadConfig } from './config.ts'
import { type OpenNode, openNode } from './node.ts'
import { createServer } from './server.ts'

const [alice, bob] = [t.person(1), t.person(2)]
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const opened = async (options: Readonly<Record<string, string>> = {}): Promise<OpenNode> => {
  const given = { store: 'memory:', chain: 'scripts-only', 'bsv21.activation': 'all', ...options }
  const node = await openNode(loadConfig({ options: given }).config, { logger: SILENT })
  closing.push(() => node.close())
  return node
}
const take = (node: OpenNode, from: string, topics?: readonly string[]) => {
  const warnings: QuoinError[] = []
  const progress: string[] = []
  const done = bootstrap(node, {
    from,
    topics,
    signal: new AbortController().signal,
    onProgress: topic => progress.push(topic),
    onWarning: error => warnings.push(error)
  })
  return { done, warnings, progress }
}

it('takes tokens with their transfers and burns, once', async () => {
  const chain = new DevChain()
  const store = await openStore('memory:')
  const peer = new TokenNode(store, { chain, activation: 'all' })
  const server = createServer({ engine: peer.engine })
  const { url } = await server.listen()
  closing.push(async () => {
    await server.close()
    await peer.close()
    await store.close()
  })
  const fund = (): t.Spent => t.at(chain.fund(alice.address, 1000), 0, alice)
  const submit = async (...transactions: readonly Transaction[]): Promise<void> => {
    for (const each of transactions) await chain.submit(each)
    chain.mine()
    for (const { txid } of transactions) await peer.pipeline.ingest.ingestBeef(chain.beef(txid))
    await peer.pipeline.settle()
  }
  const deployed = t.transaction([fund()], [t.deployMint(alice, 1000n)])
  const id = t.tokenIdOf(deployed)
  const moved = t.transaction(
    [t.at(deployed, 0, alice), fund()],
    [t.transfer(id, 400n, t.paidTo(bob)), t.transfer(id, 600n, t.paidTo(alice))]
  )
  await submit(deployed, moved, t.transaction([t.at(moved, 1, alice), fund()], [t.burn(id, 600n)]))
  const node = await opened()
  const first = take(node, url)
  const results = await first.done
  const ofTokens = results.find(({ topic }) => topic === 'tm_bsv21')
  expect(ofTokens).toMatchObject({ queued: 0, dead: 0, failures: [] })
  // The topic of the token lists three, and the discovery topic the deployment at least.
  expect(ofTokens!.submitted).toBeGreaterThanOrEqual(4)
  expect(first.warnings).toEqual([])
  expect(new Set(first.progress)).toContain('tm_bsv21')
  const tokens = new Tokens(node.engine.outputs)
  expect(await tokens.totals(id)).toEqual(await peer.tokens.totals(id))
  expect((await tokens.totals(id))?.burned).toBe(600n)
  expect(await tokens.holders(id, { limit: 10 })).toEqual(await peer.tokens.holders(id, { limit: 10 }))
  await take(node, url).done
  expect(await tokens.totals(id)).toEqual(await peer.tokens.totals(id))
})

it('ends with the reason at a peer that has none of the topics, or not the one that was named', async () => {
  const store = await openStore('memory:')
  const bare = new TokenNode(store, { chain: new DevChain() })
  const server = createServer({ engine: bare.engine })
  const { url } = await server.listen()
  closing.push(async () => {
    await server.close()
    await bare.close()
    await store.close()
  })
  const node = await opened({ 'bsv21.enabled': 'false' })
  await expect(take(node, url).done).rejects.toMatchObject({
    code: 'ERR_SYNC_PEER',
    message: expect.stringContaining('has none of the topics of this node')
  })
  await expect(take(node, url, ['tm_kvstore']).done).rejects.toMatchObject({
    code: 'ERR_SYNC_PEER',
    message: expect.stringContaining('does not have the topic tm_kvstore')
  })
})
