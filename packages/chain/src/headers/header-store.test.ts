/** The headers of a store: the most work wins, whatever the order, the engine and the number of processes. */

import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equalBytes } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import fc from 'fast-check'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chain } from '../keys.ts'
import { commitHeaders } from './commit.ts'
import { formatHash, type Header, parseHeader } from './header.ts'
import { MAX_SIDE_DEPTH } from './header-addition.ts'
import { type HeaderChange, HeaderStore } from './header-store.ts'
import { GENESIS, joined, MAIN_1, MAIN_2, mineLine, mineOn } from './headers.testing.ts'
import { NETWORKS } from './networks.ts'

const INVALID = { code: 'ERR_HEADER_INVALID' }
const heights = (headers: readonly { readonly height: number }[]): number[] =>
  headers.map(({ height }) => height)
const hashes = (headers: readonly { readonly header: Header }[]): string[] =>
  headers.map(({ header }) => formatHash(header.hash))
const hashesOf = (headers: readonly Header[]): string[] => headers.map(({ hash }) => formatHash(hash))

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
const ENGINES: [string, () => Promise<string>][] = [
  ['memory', async () => 'memory:'],
  [
    'lmdb',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'quoin-headers-'))
      folders.push(folder)
      return `lmdb:${folder}`
    }
  ]
]

describe.each(ENGINES)('on %s', (_, url) => {
  let store: Store
  let headers: HeaderStore
  beforeEach(async () => {
    store = await openStore(await url())
    headers = await HeaderStore.open(store, { network: 'regtest' })
  })
  afterEach(() => store.close())

  it('begins with the first header of the network', async () => {
    const tip = await headers.tip()
    expect(tip.height).toBe(0)
    expect(equalBytes(tip.header.raw, NETWORKS.regtest.genesis)).toBe(true)
    expect(await headers.currentHeight()).toBe(0)
    expect(headers.start).toBe(0)
  })

  it('takes a line of headers as bytes, and finds each by height and by hash', async () => {
    const line = mineLine(GENESIS, 30)
    const change = await headers.add(joined(line))
    expect(change.tip.height).toBe(30)
    expect(heights(change.added)).toStrictEqual(Array.from({ length: 30 }, (_, i) => i + 1))
    expect(change.reorg).toBeUndefined()
    for (const [i, header] of line.entries()) {
      const found = await headers.header(i + 1)
      expect(found).toMatchObject({ height: i + 1, work: 2n * BigInt(i + 2) })
      expect(found!.header.raw).toStrictEqual(header.raw)
      expect((await headers.headerOf(header.hash))!.height).toBe(i + 1)
    }
    expect(hashes(await headers.range(29, 10))).toStrictEqual(hashesOf(line.slice(28)))
    expect(await headers.range(31, 10)).toStrictEqual([])
    expect(await headers.range(-1, 10)).toStrictEqual([])
    expect(await headers.range(5, 0)).toStrictEqual([])
    expect(await headers.header(31)).toBeUndefined()
    expect(await headers.header(1.5)).toBeUndefined()
    expect(await headers.headerOf(new Uint8Array(32))).toBeUndefined()
  })

  it('is a ChainTracker of the SDK', async () => {
    const line = mineLine(GENESIS, 3)
    await headers.add(line)
    const root = formatHash(line[1]!.merkleRoot)
    expect(await headers.isValidRootForHeight(root, 2)).toBe(true)
    expect(await headers.isValidRootForHeight(root.toUpperCase(), 2)).toBe(true)
    expect(await headers.isValidRootForHeight('00'.repeat(32), 2)).toBe(false)
    expect(await headers.isValidRootForHeight(root, 4)).toBe(false)
  })

  it('adds what it has once, and nothing of a list in which a header is wrong', async () => {
    const line = mineLine(GENESIS, 5)
    await headers.add(line.slice(0, 3))
    expect(heights((await headers.add(line)).added)).toStrictEqual([4, 5])
    expect((await headers.add([...line, GENESIS, ...line])).added).toStrictEqual([])
    const more = mineLine(line[4]!, 2)
    const wrong = mineOn(more[1]!, 0, { bits: 0x201fffff })
    await expect(headers.add([...more, wrong])).rejects.toMatchObject(INVALID)
    expect(await headers.headerOf(more[0]!.hash)).toBeUndefined()
    // What was good in it is not known either.
    await expect(headers.add([mineOn(more[1]!)])).rejects.toMatchObject({ code: 'ERR_HEADER_UNKNOWN' })
    expect((await headers.add(more)).tip.height).toBe(7)
    expect((await headers.add([])).tip.height).toBe(7)
  })

  it('refuses a header whose parent it does not know, and bytes that are no headers', async () => {
    const line = mineLine(GENESIS, 3)
    await expect(headers.add(line.slice(1))).rejects.toMatchObject({
      code: 'ERR_HEADER_UNKNOWN',
      details: { hash: formatHash(line[1]!.hash), previous: formatHash(line[0]!.hash) }
    })
    expect(() => headers.add(joined(line).subarray(1))).toThrow(
      expect.objectContaining({ code: 'ERR_HEADER_FORMAT' })
    )
    expect(await headers.currentHeight()).toBe(0)
  })

  it('keeps to the first of two chains with the same work', async () => {
    const [first, second] = [mineLine(GENESIS, 3, 'first'), mineLine(GENESIS, 3, 'second')]
    await headers.add(first)
    const change = await headers.add(second)
    expect(hashes([change.tip])).toStrictEqual(hashesOf([first[2]!]))
    expect(hashes(change.added)).toStrictEqual(hashesOf(second))
    expect(change.reorg).toBeUndefined()
    expect((await headers.headerOf(second[0]!.hash))!.height).toBe(1)
  })

  it('goes over to the chain of more work, and back, and says what changed', async () => {
    const trunk = mineLine(GENESIS, 12)
    const short = mineLine(trunk[11]!, 3, 'short')
    const long = mineLine(trunk[11]!, 5, 'long')
    const told: HeaderChange[] = []
    const reorgs: number[][] = []
    headers.onTip(change => told.push(change))
    const end = headers.onReorg(({ fork, removed, added }, tip) =>
      reorgs.push([fork, removed.length, added.length, tip.height])
    )
    await headers.add([...trunk, ...short])
    await headers.add(long.slice(0, 3))
    const { reorg, tip } = await headers.add(long.slice(3))
    expect(tip.height).toBe(17)
    expect(reorg!.fork).toBe(12)
    expect(hashes(reorg!.removed)).toStrictEqual(hashesOf(short))
    expect(hashes(reorg!.added)).toStrictEqual(hashesOf(long))
    expect(hashes(await headers.range(12, 100))).toStrictEqual(hashesOf([trunk[11]!, ...long]))
    expect(await headers.isValidRootForHeight(formatHash(short[0]!.merkleRoot), 13)).toBe(false)

    const back = mineLine(short[2]!, 4, 'back')
    await headers.add(back)
    expect(hashes(await headers.range(13, 100))).toStrictEqual(hashesOf([...short, ...back]))
    // Nothing is told of headers that change nothing.
    expect(told.map(({ tip: each }) => each.height)).toStrictEqual([15, 17, 19])
    expect(reorgs).toStrictEqual([
      [12, 3, 5, 17],
      [12, 5, 7, 19]
    ])
    end()
    await headers.add(mineLine(long[4]!, 10))
    expect(reorgs).toHaveLength(2)
    expect(told).toHaveLength(4)
  })

  it('takes several branches at once, in any order that has parents first', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((salt, i) => mineLine(GENESIS, 3 + i, salt)) as [
      Header[],
      Header[],
      Header[]
    ]
    const mixed = [a[0], b[0], a[1], c[0], c[1], b[1], b[2], c[2], a[2], c[3], c[4], b[3]] as Header[]
    const change = await headers.add(mixed)
    expect(change.added).toHaveLength(12)
    expect(hashes(await headers.range(1, 100))).toStrictEqual(hashesOf(c))
  })

  it('opens again where it was', async () => {
    await headers.add(mineLine(GENESIS, 5))
    const again = await HeaderStore.open(store, { network: 'regtest' })
    expect(await again.tip()).toStrictEqual(await headers.tip())
    await again.add(mineLine((await again.tip()).header, 2))
    expect(await headers.currentHeight()).toBe(7)
    await expect(HeaderStore.open(store, { network: 'main' })).rejects.toMatchObject({
      ...INVALID,
      details: { network: 'main', stored: 'regtest' }
    })
  })

  it('is one chain, whoever adds to it at the same time', async () => {
    // Each has its own idea of the tip, as processes have; the condition of the batch makes them one.
    const others = await Promise.all(
      Array.from({ length: 4 }, () => HeaderStore.open(store, { network: 'regtest' }))
    )
    const lines = others.map((_, i) => mineLine(GENESIS, 20 + i, `line ${i}`))
    await Promise.all(
      others.flatMap((other, i) => [other.add(lines[i]!.slice(0, 9)), other.add(lines[i]!.slice(9))])
    )
    expect(hashes(await headers.range(1, 100))).toStrictEqual(hashesOf(lines[3]!))
    for (const line of lines) for (const { hash } of line) expect(await headers.headerOf(hash)).toBeDefined()
  })
})

describe('a branch far below the tip', () => {
  it('is refused, unless it wins and is given whole', async () => {
    const store = await openStore('memory:')
    const headers = await HeaderStore.open(store, { network: 'regtest' })
    const line = mineLine(GENESIS, MAX_SIDE_DEPTH + 10)
    await headers.add(line)
    // The lowest height at which a header may be that is not on the chain of most work.
    await headers.add(mineLine(line[8]!, 3, 'shallow'))
    const deep = mineLine(line[7]!, MAX_SIDE_DEPTH + 3, 'deep')
    await expect(headers.add(deep.slice(0, 1))).rejects.toMatchObject({
      ...INVALID,
      details: { height: 9, reason: 'too far below the tip' }
    })
    expect(await headers.headerOf(deep[0]!.hash)).toBeUndefined()
    await expect(headers.add(deep.slice(0, -1))).rejects.toMatchObject(INVALID)
    const { reorg, tip } = await headers.add(deep)
    expect([reorg!.fork, reorg!.removed.length, tip.height]).toStrictEqual([8, 1002, 1011])
    await store.close()
  })
})

describe('the main network', () => {
  const [one, two] = [MAIN_1, MAIN_2].map(hex => parseHeader(new Uint8Array(Buffer.from(hex, 'hex'))))

  it('is followed from its first block', async () => {
    const store = await openStore('memory:')
    const headers = await HeaderStore.open(store, { network: 'main' })
    expect((await headers.add([one!, two!])).tip).toMatchObject({ height: 2, work: 3n * 0x100010001n })
    await store.close()
  })

  it('is followed from a checkpoint, without what is before', async () => {
    const store = await openStore('memory:')
    const checkpoint = { height: 1, header: one!, work: 0x200020002n }
    const headers = await HeaderStore.open(store, { network: 'main', checkpoint })
    expect(headers.start).toBe(1)
    expect((await headers.add([one!, two!])).tip).toMatchObject({ height: 2, work: 3n * 0x100010001n })
    expect(await headers.header(0)).toBeUndefined()
    // It begins there without being told again, and no other header may be there.
    expect((await HeaderStore.open(store, { network: 'main' })).start).toBe(1)
    const other = { height: 2, header: one!.raw }
    await expect(HeaderStore.open(store, { network: 'main', checkpoint: other })).rejects.toMatchObject(
      INVALID
    )
    await store.close()
  })

  it('has no checkpoint without proof of work', async () => {
    const store = await openStore('memory:')
    const broken = one!.raw.slice()
    broken[0] = 2
    for (const checkpoint of [
      { height: 1, header: broken },
      { height: -1, header: one! }
    ]) {
      await expect(HeaderStore.open(store, { network: 'main', checkpoint })).rejects.toMatchObject(INVALID)
    }
    await store.close()
  })

  it('takes a checkpoint for a header that is still to come', async () => {
    const store = await openStore('memory:')
    await HeaderStore.open(store, { network: 'regtest' })
    const [good, bad] = [mineLine(GENESIS, 3, 'good'), mineLine(GENESIS, 3, 'bad')]
    const checkpoint = { height: 3, header: good[2]! }
    const headers = await HeaderStore.open(store, { network: 'regtest', checkpoint })
    await expect(headers.add(bad)).rejects.toMatchObject({
      ...INVALID,
      details: { reason: 'the network has another block at this checkpoint' }
    })
    expect((await headers.add(good)).tip.height).toBe(3)
    await store.close()
  })
})

describe('a listener', () => {
  it('that throws does not keep others from being told, nor the headers from being there', async () => {
    const store = await openStore('memory:')
    const headers = await HeaderStore.open(store, { network: 'regtest' })
    const told: number[] = []
    headers.onTip(() => {
      throw new Error('of the listener')
    })
    headers.onTip(({ tip }) => told.push(tip.height))
    await expect(headers.add(mineLine(GENESIS, 2))).rejects.toThrow('of the listener')
    expect(told).toStrictEqual([2])
    expect(await headers.currentHeight()).toBe(2)
    await store.close()
  })
})

describe('a header that cannot be yet', () => {
  it('is refused until the clock is near it', async () => {
    const store = await openStore('memory:')
    let now = GENESIS.time
    const headers = await HeaderStore.open(store, { network: 'regtest', clock: () => now })
    const header = mineOn(GENESIS, 0, { time: GENESIS.time + 10_000 })
    await expect(headers.add([header])).rejects.toMatchObject(INVALID)
    now += 2800
    expect((await headers.add([header])).tip.height).toBe(1)
    await store.close()
  })
})

describe('a store that was damaged', () => {
  it('is said to be', async () => {
    const store = await openStore('memory:')
    const headers = await HeaderStore.open(store, { network: 'regtest' })
    await headers.add(mineLine(GENESIS, 2))
    const { header } = (await headers.header(1))!
    await store.del(chain.collections.header.encode(header.hash))
    await expect(headers.header(1)).rejects.toMatchObject({ code: 'ERR_STORE_CORRUPT' })
    await store.close()
  })
})

describe('the chain of most work', () => {
  it('is found in whatever order and pieces the headers come', async () => {
    /** A tree of headers: each on one of those before it. */
    const tree = fc.array(fc.nat(), { minLength: 1, maxLength: 24 }).map(parents => {
      const nodes: Header[] = [GENESIS]
      for (const [i, parent] of parents.entries()) nodes.push(mineOn(nodes[parent % nodes.length]!, i))
      return nodes.slice(1)
    })
    const cuts = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 24, maxLength: 24 })
    const shuffled = tree.chain(nodes =>
      fc.tuple(fc.shuffledSubarray(nodes, { minLength: nodes.length }), cuts)
    )
    await fc.assert(
      fc.asyncProperty(shuffled, async ([nodes, sizes]) => {
        const memory = await openStore('memory:')
        const subject = await HeaderStore.open(memory, { network: 'regtest' })
        let left = nodes
        const told: HeaderChange[] = []
        subject.onTip(change => told.push(change))
        while (left.length > 0) {
          const rest: Header[] = []
          for (let at = 0, i = 0; at < left.length; at += sizes[i++ % sizes.length]!) {
            const part = left.slice(at, at + sizes[i % sizes.length]!)
            await subject.add(part).catch(error => {
              expect(error.code).toBe('ERR_HEADER_UNKNOWN')
              rest.push(...part)
            })
          }
          // Parts whose parents are not there come again, one by one at the latest when nothing else goes.
          left = rest.length < left.length ? rest : rest.sort((a, b) => a.time - b.time)
        }
        const work = new Map([[formatHash(GENESIS.hash), 2n]])
        const byTime = [...nodes].sort((a, b) => a.time - b.time)
        for (const node of byTime) work.set(formatHash(node.hash), work.get(formatHash(node.previous))! + 2n)
        const most = [...work.values()].sort((a, b) => (a < b ? 1 : -1))[0]
        const tip = await subject.tip()
        expect(tip.work).toBe(most)
        // The active chain is the line that ends at the tip, and what was told leads to it step by step.
        const line = await subject.range(0, 100)
        expect(heights(line)).toStrictEqual(Array.from({ length: tip.height + 1 }, (_, i) => i))
        for (const [i, { header }] of line.entries()) {
          if (i > 0) expect(equalBytes(header.previous, line[i - 1]!.header.hash)).toBe(true)
        }
        expect(told.at(-1)!.tip.height).toBe(tip.height)
        await memory.close()
      }),
      { numRuns: 60 }
    )
  })

  it('may be the shorter one', async () => {
    // On the regression test network no header has more work than another, so these are given theirs.
    const store = await openStore('memory:')
    const headers = await HeaderStore.open(store, { network: 'regtest' })
    await headers.add(mineLine(GENESIS, 5))
    const tip = await headers.tip()
    const best = { header: mineOn(GENESIS, 'heavy'), height: 1, work: 1000n }
    await commitHeaders(store, { tip, fresh: [best], activated: [best], best })
    expect(await headers.tip()).toStrictEqual({ ...best, header: expect.anything() })
    expect(hashes(await headers.range(0, 10))).toStrictEqual(hashesOf([GENESIS, best.header]))
    await store.close()
  })
})
