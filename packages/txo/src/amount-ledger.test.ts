/** Sums of what outputs carry: exact, ranked, in the commit that changes them, and taken back with it. */

import { sha256 } from '@quoin/chain'
import { makeOutpoint, type Outpoint, type Topic, type Txid } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Book } from './amount-book.ts'
import type { AmountLedger } from './amount-ledger.ts'
import { type Amounts, amounts } from './amounts.ts'
import { OutputStore } from './output-store.ts'
import { TxUpdate } from './tx-update.ts'
import { verifyIndex } from './verify.ts'

const TOPIC = 'tm_money' as Topic
const BOOK = makeOutpoint(sha256(Uint8Array.of(0)) as Txid, 7)
const txid = (name: string): Txid => sha256(new TextEncoder().encode(name)) as Txid
const holder = (number: number): Uint8Array => new Uint8Array(20).fill(number)
const at = (name: string, vout = 0): Outpoint => makeOutpoint(txid(name), vout)

/** Counts unspent outputs of the topic, with what their data says. */
const ledger: AmountLedger = ({ topics, isSpent, data }) => {
  const said = data('money') as { amount: string; holder: number } | undefined
  if (!topics.includes(TOPIC) || isSpent || !said) return []
  const amount = BigInt(said.amount)
  return [
    { book: BOOK, account: undefined, name: 'supply', amount, outputs: 1 },
    { book: BOOK, account: holder(said.holder), name: 'held', amount, outputs: 1 }
  ]
}

const paying = (
  name: string,
  ...outputs: readonly (readonly [amount: bigint, holder: number])[]
): TxUpdate => {
  const change = new TxUpdate(txid(name), { vouts: outputs.length })
  for (const [vout, [amount, to]] of outputs.entries()) {
    change.output(vout, { data: { money: { amount: `${amount}`, holder: to } } }).admit(TOPIC, vout)
  }
  return change
}

describe('a ledger', () => {
  let store: Store
  let outputs: OutputStore
  let book: Book

  beforeEach(async () => {
    store = await openStore('memory:')
    outputs = new OutputStore(store, { ledger })
    book = new Book(store, BOOK)
  })
  afterEach(() => store.close())

  const held = async (number: number): Promise<Amounts> => (await book.accounts([holder(number)]))[0]!
  const ranked = async (): Promise<[number, bigint][]> =>
    (await book.ranked({ limit: 100 })).accounts.map(({ account, total }) => [account[0]!, total])

  it('adds up what outputs carry, beyond what a score can hold', async () => {
    const much = 2n ** 64n - 1n
    await outputs.commit(paying('a', [much, 1], [much, 1], [1n, 2]))
    expect(await book.totals()).toEqual({ supply: { amount: 2n * much + 1n, outputs: 3 } })
    expect(await held(1)).toEqual({ held: { amount: 2n * much, outputs: 2 } })
    expect(await held(3)).toEqual({})
    expect(await book.count()).toBe(2)
  })

  it('posts nothing before a topic admits an output, nor twice', async () => {
    const unknown = new TxUpdate(txid('a'), { vouts: 1 }).output(0, {
      data: { money: { amount: '5', holder: 1 } }
    })
    await outputs.commit(unknown)
    expect(await book.totals()).toEqual({})
    await outputs.commit(paying('a', [5n, 1]))
    await outputs.commit(paying('a', [5n, 1]))
    expect(await book.totals()).toEqual({ supply: { amount: 5n, outputs: 1 } })
  })

  it('takes away what is spent or leaves its topic, and gives it back when that is taken back', async () => {
    await outputs.commit(paying('a', [5n, 1], [7n, 2], [9n, 3]))
    await outputs.commit(new TxUpdate(txid('a')).removeFromTopic(TOPIC, 2))
    await outputs.commit(paying('b', [5n, 4]).spend(at('a')))
    expect(await ranked()).toEqual([
      [2, 7n],
      [4, 5n]
    ])
    await outputs.rollback(txid('b'))
    expect(await ranked()).toEqual([
      [2, 7n],
      [1, 5n]
    ])
    await outputs.rollback(txid('a'))
    expect(await book.totals()).toEqual({})
    expect(await book.count()).toBe(0)
  })

  it('knows of an output that it was spent before it came', async () => {
    await outputs.commit(new TxUpdate(txid('b'), { vouts: 1 }).spend(at('a')))
    await outputs.commit(paying('a', [5n, 1]))
    expect(await book.totals()).toEqual({})
    await outputs.rollback(txid('b'))
    expect(await held(1)).toEqual({ held: { amount: 5n, outputs: 1 } })
  })

  it('ranks by amount however large, equals by whose it is, in pages that join', async () => {
    const large = 2n ** 100n
    const rows = [1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n, large, large + 1n, 2n ** 53n, 255n, 256n]
    rows.push(2n ** 32n - 1n, 2n ** 53n - 1n, 2n ** 63n + 1n, 2n ** 96n - 1n, 2n ** 127n + 2n ** 32n + 1n)
    await outputs.commit(paying('a', ...rows.map((amount, i) => [amount, i + 1] as const)))
    const all = await ranked()
    const expected = rows
      .map((amount, i): [number, bigint] => [i + 1, amount])
      .sort(([a, x], [b, y]) => (x === y ? a - b : x > y ? -1 : 1))
    expect(all).toEqual(expected)
    const paged: bigint[] = []
    let cursor: string | undefined
    do {
      const page = await book.ranked({ limit: 2, cursor })
      paged.push(...page.accounts.map(({ total }) => total))
      cursor = page.cursor
    } while (cursor !== undefined)
    expect(paged).toEqual(expected.map(([, amount]) => amount))
  })

  it.each(['memory:', 'another process'])(
    'loses nothing when many post to one account at once, %s',
    async kind => {
      const writers = kind === 'memory:' ? [outputs] : [outputs, new OutputStore(store, { ledger })]
      const many = 200
      await outputs.commit(paying('a', ...Array.from({ length: many }, () => [10n, 1] as const)))
      await Promise.all(
        Array.from({ length: many }, (_, i) =>
          writers[i % writers.length]!.commit(paying(`b${i}`, [3n, 2], [7n, 1]).spend(at('a', i)))
        )
      )
      expect(await held(1)).toEqual({ held: { amount: 7n * 200n, outputs: many } })
      expect(await held(2)).toEqual({ held: { amount: 3n * 200n, outputs: many } })
      expect(await book.totals()).toEqual({ supply: { amount: 2000n, outputs: 2 * many } })
      expect((await verifyIndex(store, { ledger })).differences).toEqual([])
    }
  )

  it('that is wrong in the store is found by verifying', async () => {
    await outputs.commit(paying('a', [5n, 1]))
    const [place] = await store.zkeys(new TextEncoder().encode('z:rank:'))
    await store.zadd(place!, { member: new Uint8Array(36), score: 0 })
    expect((await verifyIndex(store, { ledger })).differences).toHaveLength(1)
  })
})

it('amounts are read as they were written', () => {
  const amount = fc.record({ amount: fc.bigInt({ min: 1n, max: 2n ** 128n - 1n }), outputs: fc.nat() })
  fc.assert(
    fc.property(
      fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), amount, { noNullPrototype: true }),
      given => {
        expect(amounts.codec.decode(amounts.codec.encode(given))).toEqual(given)
      }
    )
  )
  const damaged = ['\x01', 'null', '5', '[]', '{"held":5}', '{"held":["x",1]}']
  for (const text of damaged) {
    expect(() => amounts.codec.decode(new TextEncoder().encode(text)), text).toThrow(
      expect.objectContaining({ code: 'ERR_VALUE_DECODE' })
    )
  }
})
