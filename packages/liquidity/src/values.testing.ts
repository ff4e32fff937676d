/** Values of concentrated liquidity that tests share. */
import { formatAddress } from './bech32.ts'
import { BIG_DEC, DEC } from './decimal.ts'
import { parseTime } from './time.ts'
import type { Pool, Position, TickInfo } from './values.ts'

export const NOW = parseTime('2024-01-02T03:04:05.000000006Z')

/** Address number `n`: 20 bytes that contain both separators. */
export const address = (n: number): string =>
  formatAddress({
    prefix: 'osmo',
    bytes: Uint8Array.from({ length: 20 }, (_, i) => [n, 0x7c, 0x2f, 0][i % 4]!)
  })

const ANN = address(1)

export const poolOf = (id: bigint, overrides: Partial<Pool> = {}): Pool => ({
  address: ANN,
  incentivesAddress: '',
  spreadRewardsAddress: '',
  id,
  liquidity: 0n,
  token0: 'uatom',
  token1: 'uosmo',
  sqrtPrice: BIG_DEC,
  tick: 0n,
  tickSpacing: 1n,
  exponentAtPriceOne: -6n,
  spreadFactor: DEC / 1000n,
  lastLiquidityUpdate: NOW,
  ...overrides
})

export const positionOf = (id: bigint, overrides: Partial<Position> = {}): Position => ({
  id,
  owner: ANN,
  pool: 1n,
  lowerTick: -100n,
  upperTick: 100n,
  joinTime: NOW,
  liquidity: 5n * DEC,
  ...overrides
})

export const tickOf = (liquidityGross: bigint, liquidityNet: bigint): TickInfo => ({
  liquidityGross,
  liquidityNet,
  spreadRewardGrowth: [],
  uptimeGrowth: []
})
