/** A move from overlay-express: the database that the engine and the storage of `@bsv/overlay` wrote, imported. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Engine as TheirEngine } from '@bsv/overlay'
import type { Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid } from '@quoin/primitives'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeKey, payTo, spend, withKeyHash } from '../packages/chain/src/verify/test-chain.testing.ts'
import { openKnex } from '../packages/overlay-storage/src/knex-storage.testing.ts'
import { Commands } from './node.testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-move-'))
const commands = new Commands(folder)
const key = makeKey('move')
const chain = new DevChain()
const about = {
  getDocumentation: async () => 'x',
  getMetaData: async () => ({ name: 'x', shortDescription: 'x' })
}
/** Admits the first output, and keeps no coin. */
const theirs = {
  ...about,
  identifyAdmissibleOutputs: async () => ({ outputsToAdmit: [0], coinsToRetain: [] })
}

const plugin = (name: string, outputs: string): string => {
  const path = join(folder, name)
  const documented = `getDocumentation: async () => 'x', getMetaData: async () => ({ name: 'x', shortDescription: 'x' })`
  writeFileSync(
    path,
    `export const topics = { tm_first: { ${documented}, admit: () => ({ outputs: ${outputs} }) } }`
  )
  return path
}
const pay = async (from: Transaction, vout: number): Promise<Transaction> => {
  const made = spend({
    inputs: [{ from, vout, unlock: withKeyHash(key) }],
    outputs: [
      { satoshis: 1, script: payTo(key) },
      { satoshis: from.outputs[vout]!.satoshis - 100, script: payTo(key) }
    ]
  })
  await chain.submit(made)
  return made
}

let [child, mined]: [Transaction, Transaction] = [] as never
beforeAll(async () => {
  const { knex, storage } = await openKnex(join(folder, 'overlay.sqlite'), 'delete')
  const engine = new TheirEngine({ tm_first: theirs, tm_other: theirs } as never, {}, storage, 'scripts only')
  engine.logger = { ...console, error: () => undefined, log: () => undefined }
  const submit = (transaction: Transaction, topic: string) =>
    engine.submit({ beef: [...chain.beef(transaction.txid)], topics: [topic] })
  const parent = spend({
    inputs: [{ from: chain.fund(payTo(key), 5000), vout: 0, unlock: withKeyHash(key) }],
    outputs: [{ satoshis: 4000, script: payTo(key) }]
  })
  await chain.submit(parent)
  await submit(parent, 'tm_first')
  // The only output of the parent is spent, and not retained: overlay-express deletes its BEEF.
  child = await pay(parent, 0)
  await submit(child, 'tm_first')
  mined = await pay(child, 1)
  chain.mine()
  await submit(mined, 'tm_first')
  const other = await pay(mined, 1)
  await submit(other, 'tm_other')
  expect(await knex('transactions').where({ txid: formatTxid(parent.txid) })).toEqual([])
  const damaged = { txid: 'ab'.repeat(32), topic: 'tm_damaged' }
  await knex('transactions').insert({ txid: damaged.txid, beef: Buffer.from('damaged') })
  await knex('applied_transactions').insert(damaged)
  await knex.destroy()
})
afterAll(async () => {
  await commands.close()
  rmSync(folder, { recursive: true })
})

const imported = async (...args: readonly string[]) => {
  const command = [
    'import',
    'overlay-express',
    '--from',
    join(folder, 'overlay.sqlite'),
    '--chain',
    'scripts-only'
  ]
  return commands.run([...command, ...args])
}

it('submits every transaction to its topics, and finds the live outputs of the database', async () => {
  const args = ['--store', `lmdb:${folder}/store`, '--plugins', plugin('first.mjs', '[0]'), '--json']
  const { status, stdout, stderr } = await imported(...args)
  expect(stderr).toMatch(/^quoin: (ab){32}: .* \[ERR_BEEF_FORMAT\]\n$/)
  expect([status, JSON.parse(stdout)]).toEqual([
    1,
    {
      interrupted: false,
      submitted: 3,
      recovered: 1,
      lost: 0,
      failed: 1,
      unknownTopics: { tm_other: 1 },
      live: 2,
      missing: []
    }
  ])
  const again = await imported(...args)
  expect([again.status, JSON.parse(again.stdout)]).toMatchObject([1, { submitted: 3, live: 2, missing: [] }])
})

it('names the outputs that the topics of this node do not admit', async () => {
  const { status, stdout } = await imported('--store', 'memory:', '--plugins', plugin('none.mjs', '[]'))
  expect(status).toBe(1)
  for (const { txid } of [child, mined])
    expect(stdout).toContain(`  not admitted: tm_first ${formatTxid(txid)}.0\n`)
  expect(stdout).toContain('0 of 2 live outputs of these topics are here, 2 are not')
  expect(stdout).toContain('tm_other: 1 transaction left out; name the plug-in of the topic with --plugins')
})

it.each([
  ['absent.sqlite', '--from is the path of a SQLite file'],
  ['first.mjs', 'file is not a database']
])('%s is refused', async (from, reason) => {
  plugin('first.mjs', '[0]')
  const { status, stderr } = await commands.run([
    'import',
    'overlay-express',
    '--from',
    from,
    '--store',
    'memory:'
  ])
  expect([status, stderr]).toEqual([2, expect.stringContaining(reason)])
})
