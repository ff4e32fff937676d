/** Leases of processes that are killed, on files: others get their items at once, and those of the living when they end. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { bytes } from '../../store-contract/src/steps.ts'
import { openStore, type Store } from './store.ts'
import { latin1 } from './stores.testing.ts'

const HOLDER = fileURLToPath(new URL('./queue.holder.testing.ts', import.meta.url))
const QUEUE = 'queue'
const ITEMS = ['a', 'b', 'c']
const LONG = 3600

const folder = mkdtempSync(join(tmpdir(), 'quoin-owners-'))
const stop: (() => unknown)[] = []
afterEach(async () => {
  for (const each of stop.splice(0).reverse()) await each()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let stores = 0
const newUrl = (kind: string): string => `${kind}:${folder}/${stores++}`

const open = async (url: string): Promise<Store> => {
  const store = await openStore(url)
  stop.push(() => store.close())
  return store
}

/** Puts the items into the queue of a store that is closed again. */
const fill = async (url: string): Promise<void> => {
  const store = await openStore(url)
  for (const item of ITEMS) await store.queue(bytes(QUEUE)).enqueue(bytes(item), 0)
  await store.close()
}

/** A process that has leased so many items. */
const startHolder = async (url: string, count: number) => {
  const child = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), HOLDER, url, QUEUE, `${count}`, `${LONG}`],
    { stdio: ['pipe', 'pipe', 'inherit'] }
  )
  const exit = once(child, 'exit')
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exit
  }
  stop.push(kill)
  expect((await lines.next()).value).toBe(`leased ${count}`)
  return {
    kill,
    acknowledge: async (): Promise<unknown> => {
      child.stdin.write('now')
      return (await lines.next()).value
    }
  }
}

const leasedFrom = async (store: Store, attempts = 10): Promise<readonly (readonly [string, number])[]> =>
  (await store.queue(bytes(QUEUE), { attempts }).lease(9, LONG)).map(each => [
    latin1(each.item),
    each.attempts
  ])

describe.each(['lmdb', 'level'])('%s', kind => {
  it('the next process gets what a killed one had leased, at once', async () => {
    const url = newUrl(kind)
    await fill(url)
    const holder = await startHolder(url, 2)
    await holder.kill()
    expect(await leasedFrom(await open(url))).toStrictEqual([
      ['a', 2],
      ['b', 2],
      ['c', 1]
    ])
  })

  it('an item that killed its process as often as allowed is dead', async () => {
    const url = newUrl(kind)
    await fill(url)
    for (let attempt = 0; attempt < 2; attempt++) await (await startHolder(url, 1)).kill()
    const store = await open(url)
    expect((await leasedFrom(store, 2)).map(([item]) => item)).toStrictEqual(['b', 'c'])
    const { items } = await store.queue(bytes(QUEUE)).list('dead')
    expect(items).toMatchObject([{ item: bytes('a'), attempts: 2, errorClass: 'expired' }])
  })
})

describe('lmdb', () => {
  it('a process beside it gets what a killed one had leased, and nothing while that one lives', async () => {
    const url = newUrl('lmdb')
    await fill(url)
    const store = await open(url)
    const [dead, living] = [await startHolder(url, 1), await startHolder(url, 1)]
    expect(await leasedFrom(store)).toStrictEqual([['c', 1]])
    expect(await leasedFrom(store)).toStrictEqual([])
    await dead.kill()
    expect(await leasedFrom(store)).toStrictEqual([['a', 2]])
    expect(await leasedFrom(store)).toStrictEqual([])
    expect(await living.acknowledge()).toBe('done')
  })

  it('looking at the leases of others writes nothing', async () => {
    const url = newUrl('lmdb')
    await fill(url)
    await startHolder(url, 3)
    const store = await open(url)
    for (let look = 0; look < 3; look++) expect(await leasedFrom(store)).toStrictEqual([])
    expect(store.lastWrite).toBeUndefined()
  })

  it('two stores of one process have the same owner', async () => {
    const url = newUrl('lmdb')
    await fill(url)
    const [one, other] = [await open(url), await open(url)]
    expect(await leasedFrom(one)).toHaveLength(3)
    expect(await leasedFrom(other)).toStrictEqual([])
  })
})
