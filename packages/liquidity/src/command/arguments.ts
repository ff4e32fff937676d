/** Arguments that several commands share: the store, pools, ticks and coins. */

import { QuoinError } from '@quoin/primitives'
import type { Coin, Liquidity, Pool, Profile } from '../index.ts'

/** Imported by the commands that need it, so that `quoin --help` does not load it. */
export const liquidity = () => import('../index.ts')

/** Opens the store of a URL for reading, beside any writer. */
export const withLiquidity = async <T>(url: string, look: (state: Liquidity) => Promise<T>): Promise<T> => {
  const { openStore, readOnlyUrl } = await import('@quoin/store')
  const { Liquidity } = await liquidity()
  const store = await openStore(readOnlyUrl(url), { create: false })
  try {
    return await look(await Liquidity.open(store))
  } finally {
    await store.close()
  }
}

const wrong = (what: string, given: string): QuoinError =>
  new QuoinError('ERR_USAGE', `${given} is not ${what}`)

export const parseId = (given: string): bigint => {
  if (!/^(?:0|[1-9][0-9]{0,19})$/.test(given) || BigInt(given) >= 2n ** 64n) throw wrong('an id', given)
  return BigInt(given)
}

export const parseTick = (given: string): bigint => {
  if (!/^(?:0|-?[1-9][0-9]{0,18})$/.test(given)) throw wrong('a tick', given)
  const tick = BigInt(given)
  if (BigInt.asIntN(64, tick) !== tick) throw wrong('a tick', given)
  return tick
}

export const parseLimit = (given: string): number => {
  if (!/^[1-9][0-9]{0,8}$/.test(given)) throw wrong('a whole number from 1', given)
  return Number(given)
}

export const parsePercent = (given: string): number => {
  const percent = /^[0-9]{1,4}(\.[0-9]{1,4})?$/.test(given) ? Number(given) : 0
  if (percent <= 0 || percent > 1000) throw wrong('a percentage up to 1000', given)
  return percent
}

/** `1000uosmo`. */
export const parseCoin = (given: string): Coin => {
  const [, amount, denom] = /^([1-9][0-9]{0,77})([a-zA-Z][a-zA-Z0-9/:._-]{2,127})$/.exec(given) ?? []
  if (amount === undefined || denom === undefined) throw wrong('a coin, like 1000uosmo', given)
  return { amount: BigInt(amount), denom }
}

export const parseProfile = (given: string | undefined): Profile | undefined => {
  if (given !== undefined && given !== 'chain' && given !== 'seed')
    throw wrong('a profile: chain, seed', given)
  return given
}

export const poolOf = async (state: Liquidity, id: bigint): Promise<Pool> => {
  const pool = await state.pool(id)
  if (!pool) throw new QuoinError('ERR_NOT_FOUND', `unknown pool ${id}`, { pool: `${id}` })
  return pool
}

/** The first items up to a limit, and whether there are more. */
export const take = async <T>(
  items: AsyncIterable<T>,
  limit: number
): Promise<{ taken: T[]; more: boolean }> => {
  const taken: T[] = []
  for await (const item of items) {
    if (taken.length === limit) return { taken, more: true }
    taken.push(item)
  }
  return { taken, more: false }
}
