import type { KeyValue } from '@quoin/store'
import { describe, expect, it } from 'vitest'
import { decodeRows } from './decode-rows.ts'

const rowOf = (n: number): KeyValue => ({ key: Uint8Array.of(n), value: Uint8Array.of(n + 100) })

async function* pagesOf(...pages: readonly (readonly number[])[]): AsyncGenerator<readonly KeyValue[]> {
  for (const page of pages) yield page.map(rowOf)
}

const sum = (key: Uint8Array, value: Uint8Array): number => key[0]! + value[0]!

describe('the rows of pages', () => {
  it('come one after the other, decoded, past pages that are empty', async () => {
    const found: number[] = []
    for await (const each of decodeRows(pagesOf([], [1, 2], [], [3]), sum)) found.push(each)
    expect(found).toEqual([102, 104, 106])
  })

  it('are decoded no sooner than they are asked for', async () => {
    const seen: number[] = []
    const walk = decodeRows(pagesOf([1, 2, 3]), key => seen.push(key[0]!))
    for await (const count of walk) if (count === 2) break
    expect(seen).toEqual([1, 2])
    for await (const _ of walk) expect.unreachable('a walk that was left is over')
  })

  it('come in order to those who ask for several at once', async () => {
    const rows = decodeRows(pagesOf([1], [2, 3], [4]), sum)[Symbol.asyncIterator]()
    const asked = await Promise.all(Array.from({ length: 5 }, () => rows.next()))
    expect(asked.map(({ value }) => value)).toEqual([102, 104, 106, 108, undefined])
    expect(asked.map(({ done }) => done)).toEqual([false, false, false, false, true])
  })

  it('fail as the page or the row fails', async () => {
    const failing = (async function* () {
      yield [rowOf(1)]
      throw new Error('no page')
    })()
    const rows = decodeRows(failing, sum)[Symbol.asyncIterator]()
    expect((await rows.next()).value).toBe(102)
    await expect(rows.next()).rejects.toThrow('no page')
    const undecodable = decodeRows(pagesOf([1]), () => {
      throw new Error('no row')
    })
    await expect(undecodable[Symbol.asyncIterator]().next()).rejects.toThrow('no row')
  })
})
