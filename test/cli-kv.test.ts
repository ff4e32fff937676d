/** `quoin kv` and `quoin dev-wallet` beside a node, as a developer runs them. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HTTPWalletJSON, type WalletInterface } from '@bsv/sdk'
import { GlobalKV, LocalKV } from '@quoin/kvstore-client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Commands, type RunningNode } from './node.testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-kv-'))
const file = join(folder, 'wallets', 'wallet.json')
const commands = new Commands(folder)
let node: RunningNode
beforeAll(async () => {
  node = await commands.serve(['serve', '--store', 'memory:', '--port', '0'])
})
afterAll(async () => {
  await commands.close()
  rmSync(folder, { recursive: true })
})

const kv = async (...args: readonly string[]) => {
  const { status, stdout, stderr } = await commands.run(['kv', ...args, '--url', node.url, '--wallet', file])
  return { status, output: stdout.trim(), stderr }
}

it('sets, gets, lists, walks the history of and removes an entry, with a wallet that it makes', async () => {
  expect(await kv('get', 'name')).toMatchObject({ status: 1, output: 'no entry' })
  expect(await kv('set', 'name', 'Ty', '--tag', 'profile', 'public')).toMatchObject({ status: 0 })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await kv('get', 'name')).toMatchObject({ status: 0, output: 'Ty' })
  const { output } = await kv('set', 'name', 'Ty Everett', '--tag', 'profile', '--json')
  const { outpoint } = JSON.parse(output)
  const listed = JSON.parse((await kv('list', '--json')).output)
  expect(listed.entries).toMatchObject([{ key: 'name', value: 'Ty Everett', outpoint, tags: ['profile'] }])
  expect((await kv('list', '--tag', 'public', 'profile', '--any')).output).toContain('1 entry')
  expect((await kv('list', '--tag', 'public')).output).toBe('0 entries')
  const history = JSON.parse((await kv('history', 'name', '--json')).output)
  expect(history.entries.map(({ value }: { value: string }) => value)).toEqual(['Ty', 'Ty Everett'])
  expect(await kv('get', 'name', '--protocol', '[1,"another one"]')).toMatchObject({ status: 1 })
  expect(await kv('rm', 'name')).toMatchObject({ status: 0 })
  expect(await kv('rm', 'name')).toMatchObject({ status: 1 })
}, 120_000)

it('says what is wrong with its arguments', async () => {
  for (const [args, said] of [
    [['get', 'name', '--protocol', 'kvstore'], '--protocol is JSON'],
    [['list', '--limit', '0'], '--limit is a number'],
    [['set', 'name', ''], 'value must be a string that is not empty']
  ] as const) {
    const { status, stderr } = await kv(...args)
    expect(status).toBe(2)
    expect(stderr).toContain(said)
  }
}, 60_000)

it('serves a wallet that clients of the SDK use over HTTP', async () => {
  const served = commands.start(['dev-wallet', '--url', node.url, '--port', '0', '--json'])
  while (!served.stdout().includes('}')) await new Promise(resolve => setTimeout(resolve, 50))
  const { url, identityKey } = JSON.parse(served.stdout())
  const wallet = new HTTPWalletJSON('localhost', url) as unknown as WalletInterface
  const store = new GlobalKV({ wallet, host: node.url })
  expect(await store.identity()).toBe(identityKey)
  await store.set('from', 'afar')
  await store.set('from', 'afar again')
  expect((await store.history('from')).map(({ value }) => value)).toEqual(['afar', 'afar again'])
  const local = new LocalKV({ wallet, context: 'over http' })
  await local.set('k', 'v')
  expect(await local.get('k')).toBe('v')
  const through = ['get', 'from', '--url', node.url, '--wallet', url]
  expect(await commands.run(['kv', ...through])).toMatchObject({ status: 0, stdout: 'afar again\n' })

  // Errors of wallets keep their number and fields.
  const output = { satoshis: 9, lockingScript: '51', outputDescription: 'an output of a test' }
  const { txid } = await wallet.createAction({ description: 'an output of a test', outputs: [output] })
  const inputs = [{ outpoint: `${txid}.0`, unlockingScript: '', inputDescription: 'input of a test' }]
  const spend = { description: 'a spend of a test', inputs, outputs: [output] }
  const first = await wallet.createAction(spend)
  await expect(wallet.createAction(spend)).rejects.toMatchObject({
    code: 5,
    reviewActionResults: [{ competingTxs: [first.txid] }]
  })
  for (const path of ['/constructor', '/nothing']) {
    const refused = await fetch(`${url}${path}`, { method: 'POST', body: '{}' })
    const { code } = (await refused.json()) as { code: string }
    expect([refused.status, code]).toEqual([400, 'ERR_REQUEST'])
  }
  served.child.kill('SIGTERM')
  expect(await served.ended).toBe(0)
}, 120_000)
