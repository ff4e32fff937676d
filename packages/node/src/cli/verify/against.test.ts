/** `quoin verify --against` on real nodes: a store and a node's address, each against another node. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid } from '@quoin/primitives'
import { claimLayouts, openStore } from '@quoin/store'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { TokenNode } from '../../../../bsv21/src/node.testing.ts'
import * as t from '../../../../bsv21/src/tokens.testing.ts'
import { nodeStore } from '../../keyspaces.ts'
import { createServer } from '../../server/server.ts'
import { verifyAgainst } from './against.ts'

const alice = t.person(1)
const closing: (() => Promise<unknown>)[] = []
const chain = new DevChain()
const deployed = t.transaction([t.at(chain.fund(alice.address, 1000), 0, alice)], [t.deployMint(alice, 9n)])
const spender = t.transaction([t.at(deployed, 0, alice)], [{ satoshis: 1, script: t.paidTo(alice) }])
let folder: string
let whole: string
let behind: string

/** A node with a chain's transactions, served until the end of the tests. */
const serve = async (store: string, transactions: readonly { readonly txid: typeof spender.txid }[]) => {
  const opened = await openStore(store)
  await claimLayouts(opened, nodeStore().members)
  const node = new TokenNode(opened, { chain, activation: 'all' })
  for (const { txid } of transactions) await node.pipeline.ingest.ingestBeef(chain.beef(txid))
  await node.pipeline.settle()
  const { engine, activation, pipeline } = node
  const server = createServer({ engine, options: { tokens: { activation, pipeline, sources: [] } } })
  closing.push(async () => {
    await server.close()
    await node.close()
    await opened.close()
  })
  return (await server.listen({ port: 0 })).url
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-against-'))
  await t.mined(chain, deployed, spender)
  whole = await serve('memory:', [deployed, spender])
  behind = await serve(`lmdb:${folder}/data`, [deployed])
})
afterAll(async () => {
  for (const close of closing.reverse()) await close()
  await rm(folder, { recursive: true, force: true })
})

const asked = async (subject: string, against: string, more: { json?: boolean; after?: string } = {}) => {
  let out = ''
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation(chunk => {
    out += String(chunk)
    return true
  })
  try {
    return { code: await verifyAgainst(subject, { against, limit: '10', ...more }), out: () => out }
  } finally {
    spy.mockRestore()
  }
}

it('names the output that the store has unspent and the node spent', async () => {
  const { code, out } = await asked(`lmdb:${folder}/data`, whole)
  expect(code).toBe(1)
  expect(out()).toContain(`token-output  ${t.tokenIdOf(deployed)} of token ${t.tokenIdOf(deployed)}`)
  expect(out()).toContain('found     unspent (lmdb:')
  expect(out()).toContain(`expected  spent by ${formatTxid(spender.txid)} (${whole})`)
})

it('finds no difference of a node and itself, and compares two addresses', async () => {
  expect((await asked(whole, whole)).code).toBe(0)
  const { code, out } = await asked(behind, whole, { json: true })
  expect(code).toBe(1)
  expect(JSON.parse(out())).toMatchObject({
    here: behind,
    there: whole,
    equal: false,
    tokens: 1,
    results: { different: 1 },
    findings: [{ kind: 'token-output' }]
  })
  expect((await asked(behind, whole, { after: t.tokenIdOf(deployed) })).code).toBe(0)
})
