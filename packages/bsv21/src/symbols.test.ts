/** Deployments by how their symbols begin: all of them once, in pages, at a bounded cost. */

import { sha256 } from '@quoin/chain'
import { compareBytes, makeOutpoint, type Outpoint, type Txid, toHex } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bsv21Events } from './keys.ts'
import { searchSymbols } from './symbols.ts'

const { index, spent } = bsv21Events.types.sym
const deployment = (name: string): Outpoint =>
  makeOutpoint(sha256(new TextEncoder().encode(name)) as Txid, name.length)

let store: Store
beforeEach(async () => {
  store = await openStore('memory:')
})
afterEach(() => store.close())

/** Deploys tokens, each by its symbol, one after the other. */
const deploy = async (symbols: readonly string[], isSpent: (i: number) => boolean = () => false) => {
  const batch = store.batch()
  for (const [i, symbol] of symbols.entries()) {
    const row = { member: deployment(`${i} ${symbol}`), score: i }
    batch.zadd(index.encode(symbol), row)
    if (isSpent(i)) batch.zadd(spent.encode(symbol), row)
  }
  await batch.commit()
}

const pagesOf = async (prefix: string, limit: number): Promise<string[][]> => {
  const pages: string[][] = []
  let cursor: string | undefined
  do {
    const page = await searchSymbols(store, prefix, { limit, cursor })
    pages.push(page.deployments.map(toHex))
    cursor = page.cursor
  } while (cursor !== undefined)
  return pages
}

/** By the definition: in the order of the symbols' keys, and of one symbol as they were deployed. */
const expected = (symbols: readonly string[], prefix: string): string[] =>
  symbols
    .map((symbol, i) => ({ symbol, i }))
    .filter(({ symbol }) => symbol.startsWith(prefix))
    .sort((a, b) => compareBytes(index.encode(a.symbol), index.encode(b.symbol)) || a.i - b.i)
    .map(({ symbol, i }) => toHex(deployment(`${i} ${symbol}`)))

describe('symbols that begin with a text', () => {
  it('are found once each, in full pages, whatever they are and however many have the same', async () => {
    const symbol = fc.oneof(
      fc.constantFrom('A', 'AB', 'AB:spnd', 'A%', 'Aé', 'A€', 'B', 'A B', 'A:', 'A\0'),
      fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom('A', 'B', ':', '%', 's', 'é') })
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(symbol, { maxLength: 60 }),
        fc.constantFrom('A', 'AB', 'A:', 'Aé', 'B', 'Z'),
        fc.integer({ min: 1, max: 25 }),
        async (symbols, prefix, limit) => {
          await store.close()
          store = await openStore('memory:')
          await deploy(symbols, i => i % 3 === 0)
          const pages = await pagesOf(prefix, limit)
          expect(pages.flat()).toEqual(expected(symbols, prefix))
          for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit)
        }
      ),
      { numRuns: 150 }
    )
  })

  it('goes on where it was, though symbols came and went since', async () => {
    await deploy(['AA', 'AC', 'AC', 'AE'])
    const first = await searchSymbols(store, 'A', { limit: 2 })
    await store
      .batch()
      .zadd(index.encode('AB'), { member: deployment('late'), score: 9 })
      .commit()
    await store.zrem(index.encode('AC'), first.deployments[1]!)
    const rest = await searchSymbols(store, 'A', { limit: 5, cursor: first.cursor })
    expect(rest.deployments.map(toHex)).toEqual(expected(['AA', 'AC', 'AC', 'AE'], 'A').slice(2))
  })

  it('cost a bounded number of keys and rows for a page, however many there are', async () => {
    const many = 3000
    await deploy(
      Array.from({ length: many }, (_, i) => (i < many / 2 ? 'MANY' : `M${i}`)),
      () => true
    )
    const [keys, rows] = [vi.spyOn(store, 'zkeys'), vi.spyOn(store, 'search')]
    expect((await searchSymbols(store, 'M', { limit: 10 })).deployments).toHaveLength(10)
    expect(keys).toHaveBeenCalledTimes(1)
    expect(await keys.mock.results[0]!.value).toHaveLength(512)
    const read = await Promise.all(rows.mock.results.map(({ value }) => value))
    expect(read.reduce((sum, page) => sum + page.rows.length, 0)).toBeLessThanOrEqual(16 * 10)
    expect((await pagesOf('M', 700)).flat()).toHaveLength(many)
  })

  it.each([
    ['is of another search', (cursor: string) => searchSymbols(store, 'B', { limit: 1, cursor })],
    ['has more behind it', (cursor: string) => searchSymbols(store, 'A', { limit: 1, cursor: `${cursor}=` })],
    ['is no text', () => searchSymbols(store, 'A', { limit: 1, cursor: '_w' })],
    ['is empty', () => searchSymbols(store, 'A', { limit: 1, cursor: '' })],
    ['has a place that is none', () => searchSymbols(store, 'A', { limit: 1, cursor: 'QUE.x' })]
  ])('are refused with a cursor that %s', async (_, search) => {
    await deploy(['AA', 'AA'])
    const { cursor } = await searchSymbols(store, 'A', { limit: 1 })
    await expect(search(cursor!)).rejects.toMatchObject({ code: 'ERR_STORE_CURSOR' })
  })
})
