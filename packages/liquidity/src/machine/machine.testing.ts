/** A pool on a store in memory, and the amounts that upstream's tables begin with. */

import { openStore, type Store } from '@quoin/store'
import { formatAddress } from '../bech32.ts'
import { bigDec } from '../decimal.ts'
import { floorToSpacing, priceToSqrtPrice, sqrtPriceToTick } from '../math/tick.ts'
import type { Profile } from '../profile.ts'
import { Liquidity } from '../state.ts'
import { parseTime, SECOND, type Time } from '../time.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { createPool, type NewPool } from './pool.ts'
import { createPosition, type NewPosition, type PositionReceipt } from './position.ts'

export const ETH = 'eth'
export const USDC = 'usdc'
const SPACING = 100n
export const LOWER = 30_545_000n
export const UPPER = 31_500_000n
export const AMOUNT_0 = 1_000_000n
export const AMOUNT_1 = 5_000_000_000n
export const HOUR: Time = 3600n * SECOND

export const START = parseTime('2023-07-12T00:00:00Z')

/** Somebody's address. */
export const address = (number: number): string =>
  formatAddress({ prefix: 'osmo', bytes: Uint8Array.from({ length: 20 }, (_, i) => (i === 19 ? number : 7)) })

export const ALICE = address(1)
export const BOB = address(2)

export const newPool = (given: Partial<NewPool> = {}): NewPool => ({
  id: 1n,
  token0: ETH,
  token1: USDC,
  tickSpacing: SPACING,
  spreadFactor: 0n,
  address: address(101),
  incentivesAddress: address(102),
  spreadRewardsAddress: address(103),
  now: START,
  ...given
})

export const open = async (unit: UnitOfWork, given: Partial<NewPosition> = {}): Promise<PositionReceipt> =>
  createPosition(unit, {
    pool: 1n,
    owner: ALICE,
    lowerTick: LOWER,
    upperTick: UPPER,
    amount0: AMOUNT_0,
    amount1: AMOUNT_1,
    now: START,
    ...given
  })

/** A state in memory with one pool. */
export const liquidityWithPool = async (
  given: Partial<NewPool> = {},
  profile: Profile = 'chain'
): Promise<{ readonly store: Store; readonly liquidity: Liquidity }> => {
  const store = await openStore('memory:')
  const liquidity = await Liquidity.open(store, { profile })
  await liquidity.change(unit => createPool(unit, newPool(given)))
  return { store, liquidity }
}

/** The tick of a price, as ranges in upstream's tables are given. */
export const tickOfPrice = (price: string): bigint =>
  floorToSpacing(sqrtPriceToTick(priceToSqrtPrice(bigDec.parse(price))), SPACING)
