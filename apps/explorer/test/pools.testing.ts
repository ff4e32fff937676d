/** A pool of concentrated liquidity with positions of two owners. */
import { createPool, Liquidity } from '@quoin/liquidity'
import type { Node } from 'quoin'
import { BOB, newPool, open } from '../../../packages/liquidity/src/machine/machine.testing.ts'

export const writePools = async ({ store }: Node): Promise<void> => {
  const liquidity = await Liquidity.open(store, { profile: 'chain' })
  await liquidity.change(draft => createPool(draft, newPool({ spreadFactor: 3n * 10n ** 15n })))
  const range = (lowerTick: bigint, upperTick: bigint) => ({ lowerTick, upperTick })
  for (const [i, each] of [
    range(30_545_000n, 31_500_000n),
    range(30_900_000n, 31_100_000n),
    range(30_000_000n, 32_000_000n),
    range(30_980_000n, 31_050_000n)
  ].entries()) {
    await liquidity.change(draft => open(draft, { ...each, ...(i % 2 === 1 && { owner: BOB }) }))
  }
}
