import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEC } from '../decimal.ts'
import type { DecCoins } from '../values.ts'
import { minus, payable, perShare, plus, times, total, wholes } from './coins.ts'

const amounts = fc.dictionary(
  fc.constantFrom('atom', 'btc', 'ibc/27', 'usdc'),
  fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n })
)
/** By denom, each once, none of amount 0. */
const coins: fc.Arbitrary<DecCoins> = amounts.map(given =>
  Object.entries(given)
    .filter(([, amount]) => amount !== 0n)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([denom, amount]) => ({ denom, amount }))
)
const amountOf = (list: DecCoins, denom: string): bigint =>
  list.find(coin => coin.denom === denom)?.amount ?? 0n
const isInOrder = (list: DecCoins): boolean =>
  list.every(({ denom, amount }, i) => amount !== 0n && (i === 0 || list[i - 1]!.denom < denom))

describe('coins', () => {
  it('are added and taken away denom by denom, and stay in order', () => {
    fc.assert(
      fc.property(coins, coins, (a, b) => {
        expect(isInOrder(plus(a, b)) && isInOrder(minus(a, b))).toBe(true)
        for (const denom of ['atom', 'btc', 'ibc/27', 'usdc'])
          expect(amountOf(plus(a, b), denom)).toBe(amountOf(a, denom) + amountOf(b, denom))
        expect(minus(plus(a, b), b)).toEqual(a)
        expect(minus(a, a)).toEqual([])
      })
    )
  })

  it('of amount 0 are left out of products, quotients and payments', () => {
    const dust = [{ denom: 'atom', amount: 1n }]
    expect(times(dust, DEC / 10n)).toEqual([])
    expect(perShare(dust, 2n * DEC)).toEqual([])
    expect(wholes(dust)).toEqual([])
    expect(payable(dust, 1n)).toEqual([])
    expect(total([{ denom: 'atom', amount: 1n }], [{ denom: 'atom', amount: -1n }])).toEqual([])
  })

  it('are paid in whole coins of what is counted many times over', () => {
    const scale = 10n ** 27n
    const owed = [{ denom: 'atom', amount: (3n * scale - 1n) * DEC }]
    expect(payable(owed, scale)).toEqual([{ denom: 'atom', amount: 2n }])
  })

  it('of several payments come together by denom', () => {
    expect(
      total([{ denom: 'btc', amount: 1n }], [{ denom: 'atom', amount: 2n }], [{ denom: 'btc', amount: 3n }])
    ).toEqual([
      { denom: 'atom', amount: 2n },
      { denom: 'btc', amount: 4n }
    ])
  })
})
