/** `quoin liquidity positions`: one position, or the positions of an owner, of a pool, or of both. */

import { QuoinError } from '@quoin/primitives'
import { EXIT, paint, print, printJson, table } from '@quoin/primitives/command'
import type { Liquidity, Position } from '../index.ts'
import { liquidity, parseId, parseLimit, take, withLiquidity } from './arguments.ts'

export interface PositionsOptions {
  readonly store: string
  readonly owner?: string
  readonly pool?: string
  readonly limit: string
  readonly json?: boolean
}

export const positions = async (id: string | undefined, options: PositionsOptions): Promise<number> => {
  const { positionView } = await liquidity()
  const { found, more } = await withLiquidity(options.store, async state => {
    const listed = await take(
      id === undefined ? listOf(state, options) : one(state, id),
      parseLimit(options.limit)
    )
    const views = []
    for (const position of listed.taken) {
      const pool = await state.pool(position.pool)
      views.push(positionView(position, pool, await state.lockOf(position.id)))
    }
    return { found: views, more: listed.more }
  })
  if (options.json) printJson({ positions: found, more })
  else {
    print(
      table([
        ['position', 'pool', 'owner', 'from', 'to', 'liquidity', 'is worth', ''].map(each =>
          paint('bold', each)
        ),
        ...found.map(view => [
          view.id,
          view.pool,
          view.owner,
          view.lowerTick,
          view.upperTick,
          view.liquidity,
          view.amount0 ?? '',
          view.amount1 ?? ''
        ])
      ])
    )
    if (more) print('There are more; --limit shows them.')
  }
  return EXIT.ok
}

const listOf = (state: Liquidity, { owner, pool }: PositionsOptions): AsyncIterable<Position> => {
  const id = pool === undefined ? undefined : parseId(pool)
  if (owner !== undefined) return state.positionsOf(owner, id)
  return id === undefined ? state.positions() : state.positionsIn(id)
}

async function* one(state: Liquidity, id: string): AsyncGenerator<Position> {
  const position = await state.position(parseId(id))
  if (!position) throw new QuoinError('ERR_NOT_FOUND', `unknown position ${id}`, { position: id })
  yield position
}
