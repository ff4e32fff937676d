/** Sums over amounts of several denoms: by denom, each once, none of amount 0. */
import { type Dec, dec } from '../decimal.ts'
import type { DecCoin, DecCoins } from '../values.ts'

/** Whole coins of one denom. */
export interface Coin {
  readonly denom: string
  readonly amount: bigint
}

export const NOTHING: DecCoins = []

const merge = (a: DecCoins, b: DecCoins, sign: 1n | -1n): DecCoins => {
  const sum: DecCoin[] = []
  const add = (denom: string, amount: Dec): void => {
    if (amount !== 0n) sum.push({ denom, amount })
  }
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    const left = a[i]
    const right = b[j]
    if (right === undefined || (left !== undefined && left.denom < right.denom)) {
      add(left!.denom, left!.amount)
      i++
    } else if (left === undefined || right.denom < left.denom) {
      add(right.denom, sign * right.amount)
      j++
    } else {
      add(left.denom, left.amount + sign * right.amount)
      i++
      j++
    }
  }
  return sum
}

export const plus = (a: DecCoins, b: DecCoins): DecCoins =>
  b.length === 0 ? a : a.length === 0 ? b : merge(a, b, 1n)

/** The difference, which may be negative. */
export const minus = (a: DecCoins, b: DecCoins): DecCoins => (b.length === 0 ? a : merge(a, b, -1n))

const each = (coins: DecCoins, change: (amount: Dec) => Dec): DecCoins => {
  const changed: DecCoin[] = []
  for (const { denom, amount } of coins) {
    const next = change(amount)
    if (next !== 0n) changed.push({ denom, amount: next })
  }
  return changed
}

export const times = (coins: DecCoins, shares: Dec): DecCoins =>
  each(coins, amount => dec.mul(amount, shares))

export const perShare = (coins: DecCoins, shares: Dec): DecCoins =>
  each(coins, amount => dec.quoDown(amount, shares))

/** Amounts without their fractions. */
export const wholes = (coins: DecCoins): DecCoins => each(coins, amount => dec.whole(dec.floor(amount)))

/** Whole coins of amounts that are scaled by `scale`. */
export const payable = (coins: DecCoins, scale: bigint): Coin[] => {
  const paid: Coin[] = []
  for (const { denom, amount } of coins) {
    const whole = dec.floor(amount) / scale
    if (whole !== 0n) paid.push({ denom, amount: whole })
  }
  return paid
}

/** The sum of lists of whole coins. */
export const total = (...lists: readonly (readonly Coin[])[]): Coin[] => {
  const sums = new Map<string, bigint>()
  for (const list of lists)
    for (const { denom, amount } of list) sums.set(denom, (sums.get(denom) ?? 0n) + amount)
  return [...sums]
    .filter(([, amount]) => amount !== 0n)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([denom, amount]) => ({ denom, amount }))
}
