/** `quoin liquidity quote`: simulates a swap. Nothing is written. */
import { EXIT, print, printJson, table } from '@quoin/primitives/command'
import { liquidity, parseCoin, parseId, withLiquidity } from './arguments.ts'
import { short } from './pools.ts'

export interface QuoteOptions {
  readonly store: string
  readonly buy?: boolean
  readonly json?: boolean
}

export const quote = async (
  id: string,
  given: string,
  { store, buy, json }: QuoteOptions
): Promise<number> => {
  const { quoteExactIn, quoteExactOut, quoteView } = await liquidity()
  const asked = { pool: parseId(id), coin: parseCoin(given) }
  const view = quoteView(
    await withLiquidity(store, state =>
      state.snapshot(reader => (buy ? quoteExactOut : quoteExactIn)(reader, asked))
    )
  )
  if (json) printJson({ pool: id, ...view })
  else
    print(
      table([
        ['pay', `${view.paid.amount} ${view.paid.denom}`],
        ['get', `${view.bought.amount} ${view.bought.denom}`],
        ['of which is reward', `${view.spreadReward.amount} ${view.spreadReward.denom}`],
        ['price afterwards', short(view.price)],
        ['ticks crossed', `${view.ticksCrossed}`]
      ])
    )
  return EXIT.ok
}
