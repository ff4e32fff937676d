/** `quoin verify` on a store that was written by the index, and on one that was changed by hand. */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DevChain } from '../src/chain/index.ts'
import { openStore } from '../src/store/index.ts'
import { Indexer, OutputStore } from '../src/txo/index.ts'

const BIN = fileURLToPath(new URL('../bin/quoin.js', import.meta.url))
const ADDRESS = '1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc'
const verify = (...args: string[]) =>
  spawnSync(process.execPath, [BIN, 'verify', ...args], { encoding: 'utf8' })

let folder: string
let url: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-verify-'))
  url = `lmdb:${folder}`
  const store = await openStore(url)
  const chain = new DevChain()
  const indexer = new Indexer(new OutputStore(store), chain)
  for (let i = 0; i < 5; i++) await indexer.index(chain.beef(chain.fund(ADDRESS, 1000 + i).txid))
  await store.close()
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('finds nothing wrong with what the index wrote', () => {
  const { status, stdout, stderr } = verify('--store', url)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(/^lmdb:.*: \d+ transactions, everything is what follows from the transactions\n$/)
})

it('names every difference, and exits with 1', async () => {
  const store = await openStore(url)
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
  await store.ztally(bytes('z:balance:satoshis'), bytes(`own:${ADDRESS}`), 1)
  await store.close()
  const { status, stdout } = verify('--store', url)
  expect(status).toBe(1)
  expect(stdout).toMatch(/^outputs\.balances .*\n {2}found {5}5011\n {2}expected {2}5010\n.*1 difference\n$/)
  const json = verify('--store', url, '--json')
  expect(json.status).toBe(1)
  expect(JSON.parse(json.stdout)).toMatchObject({
    valid: false,
    differences: [{ collection: 'outputs.balances', found: '5011', expected: '5010' }]
  })
})

it('says what is wrong with a question', () => {
  for (const [args, reason] of [
    [[], "required option '--store <url>' not specified"],
    [['--store', 'lmdb:/nowhere/at/all'], 'nowhere'],
    [['--store', url, '--limit', '0'], '--limit is a whole number from 1']
  ] as const) {
    const { status, stderr } = verify(...args)
    expect({ args, status }).toEqual({ args, status: 2 })
    expect(stderr).toContain(reason)
  }
})
