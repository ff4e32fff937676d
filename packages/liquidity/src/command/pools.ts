/** `quoin liquidity pools`: all pools, in the order of their numbers. */
import { EXIT, paint, print, printJson, table } from '@quoin/primitives/command'
import { liquidity, withLiquidity } from './arguments.ts'

export const pools = async (url: string, json: boolean): Promise<number> => {
  const { poolView } = await liquidity()
  const found = await withLiquidity(url, async state => {
    const views: ReturnType<typeof poolView>[] = []
    for await (const pool of state.pools()) views.push(poolView(pool, await state.reserves(pool.id)))
    return views.sort((a, b) => a.id.length - b.id.length || (a.id < b.id ? -1 : 1))
  })
  if (json) printJson({ pools: found })
  else if (found.length === 0) print('There are no pools.')
  else
    print(
      table([
        ['pool', 'price', 'tick', 'liquidity', 'has', ''].map(each => paint('bold', each)),
        ...found.map(pool => [
          pool.id,
          `${short(pool.price)} ${pool.token1}/${pool.token0}`,
          pool.tick,
          short(pool.liquidity),
          `${pool.reserve0} ${pool.token0}`,
          `${pool.reserve1} ${pool.token1}`
        ])
      ])
    )
  return EXIT.ok
}

/** Twelve digits of a decimal for tables; `--json` prints all. */
export const short = (decimal: string): string => {
  const [whole = '', fraction = ''] = decimal.split('.')
  const zeros = /^0*/.exec(fraction)![0].length
  if (/^-?0$/.test(whole) && zeros > 6 && zeros < fraction.length) return Number(decimal).toExponential()
  const shown = fraction.slice(0, Math.max(0, 12 - whole.length)).replace(/0+$/, '')
  return shown ? `${whole}.${shown}` : whole
}
