/** A node that is killed between admission and broadcast: what it admitted reaches the network, once. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Transaction, writeBeef } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid } from '@quoin/primitives'
import { afterAll, expect, it } from 'vitest'
import { oneSat, serve } from '../packages/chain/src/headers/services.testing.ts'
import { makeKey, payTo, spend, withKeyHash } from '../packages/chain/src/verify/test-chain.testing.ts'
import { ProcessorServer } from '../packages/overlay/src/broadcast/processor-server.testing.ts'
import { Commands, type RunningNode } from './node.testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-broadcast-kill-'))
const commands = new Commands(folder)
const key = makeKey('broadcast kill')
const chain = new DevChain({ seed: 'broadcast kill' })
const funded = Array.from({ length: 6 }, () => chain.fund(payTo(key), 1000))
chain.mine()

const PLUGIN = join(folder, 'first.mjs')
writeFileSync(
  PLUGIN,
  `const about = { getDocumentation: async () => '', getMetaData: async () => ({ name: 'x', shortDescription: 'x' }) }
export const topics = { tm_first: { ...about, admit: () => ({ outputs: [0] }) } }`
)
const closing: (() => Promise<void>)[] = [() => commands.close()]
afterAll(async () => {
  for (const close of closing) await close()
  rmSync(folder, { recursive: true })
})

const beefOf = async (from: Transaction): Promise<{ readonly txid: string; readonly beef: Buffer }> => {
  const transaction = spend({
    inputs: [{ from, vout: 0, unlock: withKeyHash(key) }],
    outputs: [{ satoshis: 900, script: payTo(key) }]
  })
  const answer = await chain.proof(from.txid)
  const bump = answer.status === 'mined' ? answer.bump : undefined
  const parent = { txid: from.txid, transaction: from, bump }
  const { txid } = transaction
  const beef = writeBeef({ version: 1, transactions: [parent, { txid, transaction, bump: undefined }] })
  return { txid: formatTxid(txid), beef: Buffer.from(beef) }
}

it('sends what a killed node admitted, and nothing twice', { timeout: 180_000 }, async () => {
  const headers = await serve(oneSat(chain))
  const arc = await ProcessorServer.start('arc', chain)
  closing.push(
    () => headers.close(),
    () => arc.close()
  )
  const started = async (): Promise<RunningNode> => {
    const node = await commands.serve([
      ...['serve', '--store', `lmdb:${join(folder, 'store')}`, '--port', '0', '--plugins', PLUGIN],
      ...['--chain', `headers:${headers.url}`, '--network', 'regtest', '--log-level', 'warn'],
      ...['--broadcast', `arc:${arc.url}`, '--broadcast-when', 'with', '--broadcast-timeout', '60000']
    ])
    const isReady = async () => (await fetch(`${node.url}/health/ready`)).ok
    await expect.poll(isReady, { timeout: 60_000, interval: 50 }).toBe(true)
    return node
  }
  arc.behaviour = 'holding'
  const first = await started()
  const submitted = await Promise.all(funded.map(beefOf))
  for (const { beef } of submitted) {
    const headers = { 'content-type': 'application/octet-stream', 'x-topics': 'tm_first' }
    const response = await fetch(`${first.url}/submit`, { method: 'POST', headers, body: beef })
    expect(await response.json()).toMatchObject({ tm_first: { outputsToAdmit: [0] } })
  }
  // Some are on the way, and the processor has not answered.
  await arc.until(() => arc.held > 0)
  first.child.kill('SIGKILL')
  await first.ended
  arc.release()
  const second = await started()
  for (const { txid } of submitted) {
    const status = async () =>
      ((await (await fetch(`${second.url}/tx/${txid}/status`)).json()) as { status: string }).status
    await expect.poll(status, { timeout: 90_000, interval: 100 }).toBe('seen')
  }
  expect(arc.submissions.toSorted()).toEqual(submitted.map(({ txid }) => txid).sort())
  expect(await commands.stop(second)).toBe(0)
})
