/** `quoin verify` on a store that was written by the index, and on one that was changed by hand. */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DevChain } from '@quoin/dev-chain'
import { claimLayouts, openStore } from '@quoin/store'
import { Indexer, OutputStore } from '@quoin/txo'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { nodeStore } from '../packages/node/src/keyspaces.ts'

const BIN = fileURLToPath(new URL('../packages/node/bin/quoin.js', import.meta.url))
const ADDRESS = '1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc'
const quoin = (...args: string[]) => spawnSync(process.execPath, [BIN, ...args], { encoding: 'utf8' })
const verify = (...args: string[]) => quoin('verify', ...args)

let folder: string
let url: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-verify-'))
  url = `lmdb:${folder}`
  const store = await openStore(url)
  await claimLayouts(store, nodeStore().members)
  const chain = new DevChain()
  const indexer = new Indexer(new OutputStore(store), chain)
  for (let i = 0; i < 5; i++) await indexer.index(chain.beef(chain.fund(ADDRESS, 1000 + i).txid))
  await store.close()
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('finds nothing wrong with what the index wrote', () => {
  const { status, stdout, stderr } = verify(url)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(/^lmdb:.*: \d+ transactions, everything is what follows from the transactions\n$/)
})

it('names every difference, and exits with 1', async () => {
  const store = await openStore(url)
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
  await store.zcounter(bytes('z:balance:satoshis'), bytes(`own:${ADDRESS}`), 1)
  await store.close()
  const { status, stdout } = verify(url)
  expect(status).toBe(1)
  expect(stdout).toMatch(
    /^index-different {2}outputs\.balances .*\n {2}found {5}5011\n {2}expected {2}5010\n.*1 finding \(index-different 1\)\n$/
  )
  const json = verify(url, '--json')
  expect(json.status).toBe(1)
  expect(JSON.parse(json.stdout)).toMatchObject({
    valid: false,
    counts: { 'index-different': 1 },
    findings: [{ kind: 'index-different', found: '5011', expected: '5010' }]
  })
})

it('is mended by quoin repair, which says so', () => {
  const dry = quoin('repair', url, '--dry-run')
  expect(dry.stdout).toContain('would mend 1 index-different\n')
  const { status, stdout, stderr } = quoin('repair', url)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toBe(`mended 1 index-different\n${url}: nothing else is wrong\n`)
  expect(verify(url).status).toBe(0)
  expect(quoin('repair', url).stdout).toBe(`${url}: nothing to mend\n`)
})

it('says what is wrong with a question', () => {
  for (const [args, reason] of [
    [[], "missing required argument 'store'"],
    [['lmdb:/nowhere/at/all'], 'nowhere'],
    [[url, '--temp', '/nowhere/at/all'], 'Use --temp DIR'],
    [[url, '--limit', '0'], '--limit is a whole number from 1']
  ] as const) {
    const { status, stderr } = verify(...args)
    expect({ args, status }).toEqual({ args, status: 2 })
    expect(stderr).toContain(reason)
  }
})
