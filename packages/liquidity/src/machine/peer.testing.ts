/** The same questions put to `@osmosis-labs/math`, which answers on a list of ticks. Its numbers are objects of its own. */
import {
  ConcentratedLiquidityMath,
  priceToTick,
  BigDec as TheirBigDec,
  tickToSqrtPrice
} from '@osmosis-labs/math'
import { type BigDec, bigDec, type Dec, dec } from '../decimal.ts'
import type { Reader } from '../reader.ts'
import type { Pool } from '../values.ts'
import type { Coin } from './coins.ts'

const theirDec = (value: Dec) => new TheirBigDec(dec.format(value)).toDec()
const theirInt = (value: bigint) => new TheirBigDec(value.toString()).truncate()

export const peerSqrtPrice = (tick: bigint): Dec => dec.parse(tickToSqrtPrice(theirInt(tick)).toString())
export const peerTick = (price: Dec): bigint => BigInt(priceToTick(theirDec(price)).toString())

type Ticks = Parameters<typeof ConcentratedLiquidityMath.calcOutGivenIn>[0]['inittedTicks']
type QuoteParams = Omit<Parameters<typeof ConcentratedLiquidityMath.calcOutGivenIn>[0], 'tokenIn'>

export interface PeerQuote {
  readonly amount: bigint
  readonly sqrtPrice: BigDec
}

/** All that it needs to know of a pool, for one direction. */
export const peerPool = async (
  reader: Reader,
  pool: Pool,
  direction: 'down' | 'up'
): Promise<QuoteParams> => {
  const inittedTicks: Ticks = []
  const walk =
    direction === 'down'
      ? reader.ticks(pool.id, { from: pool.tick, reverse: true })
      : reader.ticks(pool.id, { from: pool.tick, inclusive: false })
  for await (const { index, info } of walk)
    inittedTicks.push({ tickIndex: theirInt(index), netLiquidity: theirDec(info.liquidityNet) })
  return {
    tokenDenom0: pool.token0,
    poolLiquidity: theirDec(pool.liquidity),
    inittedTicks,
    curSqrtPrice: new TheirBigDec(bigDec.format(pool.sqrtPrice)),
    swapFee: theirDec(pool.spreadFactor)
  }
}

type TheirCoin = Parameters<typeof ConcentratedLiquidityMath.calcOutGivenIn>[0]['tokenIn']
/** It reads only these two fields. */
export const peerCoin = ({ denom, amount }: Coin): TheirCoin =>
  ({ denom, amount: theirInt(amount) }) as unknown as TheirCoin

export const peerExactIn = (pool: QuoteParams, tokenIn: TheirCoin): PeerQuote | undefined => {
  const quote = ConcentratedLiquidityMath.calcOutGivenIn({ ...pool, tokenIn })
  if (quote === 'no-more-ticks') return undefined
  return {
    amount: BigInt(quote.amountOut.toString()),
    sqrtPrice: bigDec.parse(quote.afterSqrtPrice.toString())
  }
}

export const peerExactOut = (pool: QuoteParams, tokenOut: TheirCoin): PeerQuote | undefined => {
  const quote = ConcentratedLiquidityMath.calcInGivenOut({ ...pool, tokenOut })
  if (quote === 'no-more-ticks') return undefined
  return {
    amount: BigInt(quote.amountIn.toString()),
    sqrtPrice: bigDec.parse(quote.afterSqrtPrice.toString())
  }
}
