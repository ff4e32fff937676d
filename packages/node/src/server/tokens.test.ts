/** Where a node takes tokens from: another node gives it the headers and the transactions. */

import { Tokens } from '@quoin/bsv21'
import { SILENT } from '@quoin/overlay'
import { formatTxid } from '@quoin/primitives'
import { afterEach, expect, it } from 'vitest'
import * as t from '../../../bsv21/src/tokens.testing.ts'
import { loadConfig } from './config.ts'
import { type Node, startNode } from './node.ts'

const nodes: Node[] = []
afterEach(async () => {
  for (const node of nodes.splice(0).reverse()) await node.close()
})

const started = async (options: Readonly<Record<string, string>>): Promise<Node> => {
  const config = loadConfig({
    options: { store: 'memory:', port: '0', blockTime: '0', 'bsv21.activation': 'all', ...options }
  }).config
  const node = await startNode(config, { logger: SILENT })
  nodes.push(node)
  return node
}

it('a node that follows another has its headers and its tokens', async () => {
  const first = await started({})
  const { chain } = first.dev!
  const [alice, bob] = [t.person(1), t.person(2)]
  const fund = async (): Promise<t.Spent> => t.at(await first.dev!.fund(alice.address, 1000), 0, alice)
  const deployed = t.transaction([await fund()], [t.deployMint(alice, 1000n, { sym: 'FOLLOW' })])
  const id = t.tokenIdOf(deployed)
  const moved = t.transaction(
    [t.at(deployed, 0, alice), await fund()],
    [t.transfer(id, 300n, t.paidTo(bob)), t.transfer(id, 700n, t.paidTo(alice))]
  )
  for (const each of [deployed, moved]) await chain.submit(each)
  await first.dev!.mine()
  for (const { txid } of [deployed, moved]) {
    await first.tokens!.pipeline.ingest.ingestBeef(chain.beef(txid))
  }
  const of = ({ engine }: Node): Tokens => new Tokens(engine.outputs)
  await expect.poll(() => of(first).totals(id), { timeout: 20_000 }).toMatchObject({ holders: 2 })

  const second = await started({
    chain: `headers:${first.url}/1sat/chaintracks`,
    network: 'regtest',
    'bsv21.peers': first.url
  })
  await expect.poll(() => of(second).totals(id), { timeout: 20_000 }).toMatchObject({ holders: 2 })
  expect(await of(second).totals(id)).toEqual(await of(first).totals(id))
  expect(await of(second).holders(id, { limit: 10 })).toEqual(await of(first).holders(id, { limit: 10 }))
  const beef = await fetch(`${second.url}/1sat/beef/${formatTxid(moved.txid)}`)
  expect(beef.status).toBe(200)
})

it('a subscription without a JungleBus, or the other way round, is refused', async () => {
  await expect(started({ 'bsv21.subscription': 'ab'.repeat(32) })).rejects.toMatchObject({
    code: 'ERR_CONFIG'
  })
  await expect(started({ 'bsv21.junglebus': 'http://127.0.0.1:1' })).rejects.toMatchObject({
    code: 'ERR_CONFIG'
  })
})
