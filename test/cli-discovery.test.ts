/** `quoin advertise` beside a node, as an operator runs it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Commands, type RunningNode } from './node.testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-advertise-'))
const commands = new Commands(folder)
let node: RunningNode
const TOKEN = 'a-token-of-some-length'
beforeAll(async () => {
  node = await commands.serve(['serve', '--store', 'memory:', '--port', '0', '--admin-token', TOKEN])
})
afterAll(async () => {
  await commands.close()
  rmSync(folder, { recursive: true })
})

const URI = 'https://node.example.com'
const advertise = (verb: string, ...args: readonly string[]) =>
  commands.run(['advertise', verb, '--url', node.url, '--wallet', join(folder, 'wallet.json'), ...args])

it('advertises what the node serves, says what cannot be advertised, and revokes', async () => {
  const before = await advertise('status', '--uri', URI)
  expect(before).toMatchObject({ status: 1 })
  expect(before.stdout).toMatch(/tm_kvstore +missing/)
  expect(before.stdout).toMatch(/tm_bsv21 +cannot be advertised: it has digits/)
  expect(before.stdout).toContain('Give a plug-in another name')

  const synced = await advertise('sync', '--uri', `${URI}/`, '--json')
  expect(synced).toMatchObject({ status: 0, stderr: '' })
  const { current, missing, refused } = JSON.parse(synced.stdout)
  expect(current.map(({ name }: { name: string }) => name).sort()).toEqual(['ls_kvstore', 'tm_kvstore'])
  expect(missing).toEqual([])
  expect(refused).toEqual(['tm_bsv21', 'ls_bsv21'])
  const again = JSON.parse((await advertise('sync', '--uri', URI, '--json')).stdout)
  expect(again.current).toEqual(current)

  expect(await advertise('revoke', '--uri', URI)).toMatchObject({ status: 0 })
  expect(JSON.parse((await advertise('status', '--uri', URI, '--json')).stdout)).toMatchObject({
    current: []
  })
}, 120_000)

it('refuses an address that clients cannot use', async () => {
  for (const uri of ['http://node.example.com', 'https://localhost:8080']) {
    const { status, stderr } = await advertise('sync', '--uri', uri)
    expect(status).toBe(2)
    expect(stderr).toContain('--uri is an address as https://node.example.com')
  }
}, 60_000)

it('bans a host, lists it, and lifts the ban', async () => {
  const hosts = (...args: readonly string[]) =>
    commands.run(['hosts', ...args, '--url', node.url, '--token', TOKEN])
  expect((await hosts()).stdout).toBe('no host was checked or banned\n')
  const banned = await hosts('ban', 'https://Spam.example.com/', '--reason', 'spam')
  expect(banned).toMatchObject({ status: 0, stdout: 'banned: spam.example.com\n' })
  expect((await hosts()).stdout).toMatch(/^spam\.example\.com +banned +.* ago +spam\n$/)
  expect(JSON.parse((await hosts('check', '--json')).stdout)).toMatchObject({ checked: 0, down: 0 })
  expect(await hosts('unban', 'spam.example.com')).toMatchObject({ status: 0 })
  expect(await hosts('unban', 'spam.example.com')).toMatchObject({ status: 1 })
}, 60_000)
