/** `quoin liquidity depth`: cumulated amounts by price, as a table, as JSON or as a picture. */
import { writeFileSync } from 'node:fs'
import { type Colour, EXIT, paint, print, printJson, table } from '@quoin/primitives/command'
import type { DepthPoint } from '../index.ts'
import { liquidity, parseId, parseLimit, parsePercent, withLiquidity } from './arguments.ts'
import { short } from './pools.ts'

export interface DepthOptions {
  readonly store: string
  readonly percent: string
  readonly ticks: string
  readonly svg?: string
  readonly json?: boolean
}

const BAR = 30
/** The limit on table rows of each side; `--json` prints all. */
const ROWS = 12

export const depth = async (id: string, options: DepthOptions): Promise<number> => {
  const { bigDec, depthOf, depthPicture, depthView } = await liquidity()
  const limits = { percent: parsePercent(options.percent), ticks: parseLimit(options.ticks) }
  const found = await withLiquidity(options.store, state =>
    state.snapshot(reader => depthOf(reader, parseId(id), limits))
  )
  const { pool, price, bids, asks } = found
  if (options.svg !== undefined) writeFileSync(options.svg, depthPicture(found))
  if (options.json) {
    printJson(depthView(found))
    return EXIT.ok
  }
  const deepest = [bids.at(-1), asks.at(-1)].reduce(
    (most, each) => (each && each.amount1 > most ? each.amount1 : most),
    1n
  )
  const row =
    (colour: Colour) =>
    (point: DepthPoint): string[] => [
      short(bigDec.format(point.price)),
      `${point.amount0} ${pool.token0}`,
      `${point.amount1} ${pool.token1}`,
      paint(colour, '█'.repeat(Number((point.amount1 * BigInt(BAR)) / deepest)))
    ]
  print(
    table([
      ['price', 'for so much', 'and so much', ''].map(each => paint('bold', each)),
      ...thinned(asks).map(row('red')).reverse(),
      [paint('bold', short(bigDec.format(price))), '', '', ''],
      ...thinned(bids).map(row('green'))
    ])
  )
  if (!found.isWhole) print('Not all ticks that far were looked at; --ticks looks at more.')
  if (options.svg !== undefined) print(`The picture is in ${options.svg}`)
  return EXIT.ok
}

/** Some of the points, the last one included. */
const thinned = (points: readonly DepthPoint[]): DepthPoint[] => {
  const step = Math.ceil(points.length / ROWS)
  return points.filter((_, i) => (points.length - 1 - i) % step === 0)
}
