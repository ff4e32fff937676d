/** Reorgs, of the headers that this process adds and of the headers that another process adds. */
import { HeaderStore, syncHeaders } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { SILENT } from '@quoin/overlay'
import type { TaskGate } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { OutputStore, Proofs } from '@quoin/txo'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Reorgs } from './reorgs.ts'

const OPEN: TaskGate = { signal: new AbortController().signal, onOpen: () => () => undefined }
const BLOCKS = 8

let chain: DevChain
let store: Store
/** Of this process and of another one. */
let headers: HeaderStore
let others: HeaderStore
/** Heights from which proofs were checked. */
let checked: number[]
let warnings: unknown[]
let reorgs: Reorgs

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  chain = new DevChain({ seed: 'reorgs' })
  chain.mine(BLOCKS)
  store = await openStore('memory:')
  headers = await HeaderStore.open(store, { network: 'regtest' })
  others = await HeaderStore.open(store, { network: 'regtest' })
  await syncHeaders(headers, chain)
  checked = []
  warnings = []
  const proofs = new Proofs(new OutputStore(store), headers)
  const reconcile = proofs.reconcile.bind(proofs)
  vi.spyOn(proofs, 'reconcile').mockImplementation(from => {
    checked.push(from)
    return reconcile(from)
  })
  const logger = {
    ...SILENT,
    warn: (event: string, fields?: object) => void warnings.push({ event, ...fields })
  }
  reorgs = new Reorgs(headers, proofs, logger, OPEN)
  await reorgs.start()
})
afterEach(async () => {
  vi.useRealTimers()
  await reorgs.close()
  await store.close()
})

const interval = () => vi.advanceTimersByTimeAsync(5000)

it('checks the proofs of all blocks that a reorg can replace when it begins, and then none', async () => {
  await interval()
  await interval()
  expect([checked, warnings]).toEqual([[0], []])
})

it.each([
  ['this process', () => headers],
  ['another process', () => others]
])('checks the proofs above the fork of a reorg whose headers %s added', async (_, adder) => {
  await chain.reorg(3)
  await syncHeaders(adder(), chain)
  await interval()
  expect(checked).toEqual([0, BLOCKS - 3 + 1])
  // A process may have saved a proof of a replaced block meanwhile, and been killed.
  for (let passed = 0; passed < 60_000; passed += 5000) await interval()
  expect(checked).toEqual([0, BLOCKS - 3 + 1, BLOCKS - 3 + 1])
  expect(warnings).toEqual([{ event: 'reorg', fork: BLOCKS - 3, blocks: 3 }])
})

it.each([
  ['this process', () => headers],
  ['another process', () => others]
])('checks the proofs of blocks that %s added and replaced since the last pass', async (_, adder) => {
  chain.mine()
  await syncHeaders(adder(), chain)
  await chain.reorg(1)
  await syncHeaders(adder(), chain)
  await interval()
  expect(checked).toContain(BLOCKS + 1)
})

it('is silent about blocks that another process added on top', async () => {
  chain.mine(2)
  await syncHeaders(others, chain)
  await interval()
  expect([checked, warnings]).toEqual([[0, BLOCKS + 1], []])
})
