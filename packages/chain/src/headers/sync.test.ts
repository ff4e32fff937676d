/** Following a source: from nothing, over its reorgs, and only as far as its work goes. */

import { DevChain } from '@quoin/dev-chain'
import { openStore, type Store } from '@quoin/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { formatHash } from './header.ts'
import { peerSource } from './header-services.ts'
import { HeaderStore } from './header-store.ts'
import { GENESIS, joined, mineLine } from './headers.testing.ts'
import { oneSat, serve } from './services.testing.ts'
import type { HeaderSource } from './sources.ts'
import { type SyncProgress, syncHeaders } from './sync.ts'

let store: Store
let headers: HeaderStore
let chain: DevChain
beforeEach(async () => {
  store = await openStore('memory:')
  headers = await HeaderStore.open(store, { network: 'regtest' })
  chain = new DevChain()
})
afterEach(() => store.close())

/** A long chain of headers alone, which takes a development chain too long to mine. */
const LINE = [GENESIS, ...mineLine(GENESIS, 4500)]
const lineUpTo = (height: number): HeaderSource => ({
  name: 'line',
  tip: async () => ({ height, hash: LINE[height]!.hash }),
  headers: async (from, count) => joined(LINE.slice(from, Math.min(from + count, height + 1)))
})

/** A source that says which headers it was asked for, and may change between two questions. */
const watched = (of: HeaderSource, before: (from: number) => unknown = () => {}) => {
  const asked: [from: number, count: number][] = []
  const source: HeaderSource = {
    name: of.name,
    tip: () => of.tip(),
    async headers(from, count) {
      asked.push([from, count])
      await before(from)
      return of.headers(from, count)
    }
  }
  return { source, asked }
}
const tipsAgree = async (): Promise<void> =>
  expect(formatHash((await headers.tip()).header.hash)).toBe(formatHash((await chain.tip()).hash))

describe('a store', () => {
  it('comes to where the source is, page by page, and then asks for nothing', async () => {
    const { source, asked } = watched(lineUpTo(4500))
    const progress: SyncProgress[] = []
    const synced = await syncHeaders(headers, source, { onProgress: each => progress.push(each) })
    expect([synced.tip.height, synced.added, synced.removed]).toStrictEqual([4500, 4500, 0])
    expect(asked).toStrictEqual([
      [0, 1],
      [1, 2000],
      [2001, 2000],
      [4001, 500]
    ])
    expect(progress).toStrictEqual([2000, 4000, 4500].map(height => ({ height, target: 4500 })))
    expect(await syncHeaders(headers, source)).toMatchObject({ added: 0, removed: 0 })
    expect(asked).toHaveLength(4)
  })

  it.each([1, 2, 3, 7, 20, 64, 200])(
    'follows a reorg of %i blocks, which it finds by looking back twice as far each time',
    async depth => {
      chain.mine(300)
      await syncHeaders(headers, chain)
      await chain.reorg(depth)
      const { source, asked } = watched(chain)
      const { removed, added } = await syncHeaders(headers, source)
      expect([added, removed]).toStrictEqual([depth + 1, depth])
      await tipsAgree()
      expect(asked.length).toBeLessThan(4 + Math.log2(depth))
    }
  )

  it('stays where it is when the source has less work', async () => {
    chain.mine(10)
    const other = new DevChain({ seed: 'other' })
    other.mine(12)
    await syncHeaders(headers, other)
    const { tip, added, removed } = await syncHeaders(headers, chain)
    expect([tip.height, added, removed]).toStrictEqual([12, 10, 0])
    chain.mine(3)
    expect(await syncHeaders(headers, chain)).toMatchObject({ added: 3, removed: 12 })
    await tipsAgree()
  })

  it('follows a source that changes its mind between two pages', async () => {
    const other = [...LINE.slice(0, 1801), ...mineLine(LINE[1800]!, 1300, 'other')]
    let theirs = LINE
    const source: HeaderSource = {
      name: 'changing',
      tip: async () => ({ height: 3000, hash: theirs[3000]!.hash }),
      async headers(from, count) {
        if (from > 2000) theirs = other
        return joined(theirs.slice(from, from + count))
      }
    }
    const { removed, tip } = await syncHeaders(headers, source)
    expect([tip.height, removed]).toStrictEqual([3000, 200])
    expect(formatHash(tip.header.hash)).toBe(formatHash(other[3000]!.hash))
  })

  it('does not follow one that never makes up its mind', async () => {
    chain.mine(30)
    let tries = 0
    const wavering: HeaderSource = {
      name: 'wavering',
      tip: () => chain.tip(),
      headers: async (from, count) => {
        if (count > 1) tries++
        return chain.headers(count > 1 ? from + 1 : from, count)
      }
    }
    await expect(syncHeaders(headers, wavering)).rejects.toMatchObject({ code: 'ERR_HEADER_UNKNOWN' })
    expect(tries).toBe(6)
  })

  it('ends when it is told to', async () => {
    const stop = new AbortController()
    const { source } = watched(lineUpTo(4500))
    const syncing = syncHeaders(headers, source, {
      signal: stop.signal,
      onProgress: () => stop.abort(new Error('enough'))
    })
    await expect(syncing).rejects.toThrow('enough')
    expect(await headers.currentHeight()).toBe(2000)
    expect((await syncHeaders(headers, source)).added).toBe(2500)
  })

  it('that began at a checkpoint follows too, and knows a source of another chain', async () => {
    chain.mine(50)
    const begun = await openStore('memory:')
    const checkpoint = { height: 40, header: chain.header(40)!.header }
    const later = await HeaderStore.open(begun, { network: 'regtest', checkpoint })
    expect((await syncHeaders(later, chain)).added).toBe(10)
    const other = new DevChain({ seed: 'other' })
    other.mine(60)
    await expect(syncHeaders(later, other)).rejects.toMatchObject({ code: 'ERR_CHAIN_SOURCE' })
    await begun.close()
  })

  it('refuses a source that is wrong, and keeps what was right before', async () => {
    const right = lineUpTo(2500)
    const wrong: HeaderSource = {
      ...right,
      async headers(from, count) {
        const bytes = await right.headers(from, count)
        if (from > 2000) bytes[75]! ^= 0x40
        return bytes
      }
    }
    await expect(syncHeaders(headers, wrong)).rejects.toMatchObject({ code: 'ERR_HEADER_INVALID' })
    expect(await headers.currentHeight()).toBe(2000)
  })

  it('does not wait for headers that a source only claims to have', async () => {
    const boasting: HeaderSource = {
      name: 'boasting',
      tip: async () => ({ height: 0xffffffff, hash: new Uint8Array(32).fill(7) }),
      headers: async from => (from === 0 ? GENESIS.raw : new Uint8Array())
    }
    expect(await syncHeaders(headers, boasting)).toMatchObject({ added: 0 })
  })

  it('follows another Quoin over HTTP', async () => {
    chain.mine(30)
    const { url, close } = await serve(oneSat(chain))
    await syncHeaders(headers, peerSource(url))
    await tipsAgree()
    await chain.reorg(5)
    await syncHeaders(headers, peerSource(url))
    await tipsAgree()
    await close()
  })
})

describe('headers that a source has and the store had before it', () => {
  it('are asked for no deeper than both have something in common', async () => {
    await headers.add(mineLine(GENESIS, 30, 'ours'))
    chain.mine(40)
    const { source, asked } = watched(chain)
    await syncHeaders(headers, source)
    // 30, 29, 27, 23, 15, and then the first one of all.
    expect(asked.map(([from]) => from)).toStrictEqual([30, 29, 27, 23, 15, 0, 1])
    await tipsAgree()
  })
})
