/** `quoin liquidity ticks`: the ticks of a pool, from any tick, in either direction. */
import { EXIT, paint, print, printJson, table } from '@quoin/primitives/command'
import { liquidity, parseId, parseLimit, parseTick, poolOf, take, withLiquidity } from './arguments.ts'
import { short } from './pools.ts'

export interface TicksOptions {
  readonly store: string
  readonly from?: string
  readonly exclusive?: boolean
  readonly reverse?: boolean
  readonly limit: string
  readonly json?: boolean
}

export const ticks = async (id: string, options: TicksOptions): Promise<number> => {
  const { tickView } = await liquidity()
  const { store, from, exclusive = false, reverse = false, limit, json = false } = options
  const walk = { from: from === undefined ? undefined : parseTick(from), inclusive: !exclusive, reverse }
  const { pool, taken, more } = await withLiquidity(store, async state => {
    const found = await poolOf(state, parseId(id))
    return { pool: found, ...(await take(state.ticks(found.id, walk), parseLimit(limit))) }
  })
  const views = taken.map(tick => tickView(pool, tick))
  if (json) printJson({ pool: id, ticks: views, more })
  else {
    print(
      table([
        ['tick', 'price', 'net', 'gross'].map(each => paint('bold', each)),
        ...views.map(view => [view.tick, short(view.price), view.liquidityNet, view.liquidityGross])
      ])
    )
    if (more) print(`More: --from ${views.at(-1)?.tick} --exclusive${reverse ? ' --reverse' : ''}`)
  }
  return EXIT.ok
}
