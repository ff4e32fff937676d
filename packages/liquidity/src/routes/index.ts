/** Routes for the concentrated liquidity in a node's store, read only. */

import { Cursor, JSON_TYPE, json, type Route, route } from '@quoin/http'
import { Type } from '@quoin/http/typebox'
import { fromHex, hasCode, QuoinError } from '@quoin/primitives'
import type { Store } from '@quoin/store'
import type { Coin, Liquidity, Pool, Position } from '../index.ts'
import {
  CoinText,
  Decimal,
  Depth,
  Id,
  Incentive,
  PoolState,
  PositionState,
  Quote,
  Tick,
  TickState,
  WholeCoin
} from './schemas.ts'

/** The limit on ticks of a request: crossed by a swap, or on each side of a price. */
const MAX_TICKS = 1000
const SVG_TYPE = 'image/svg+xml'

const tag = 'liquidity'
const unknown = { 404: { description: 'Unknown.' } }
const answer = (description: string, schema: ReturnType<typeof Type.Object>) => ({
  200: { description, content: { [JSON_TYPE]: schema } }
})

const idOf = (text: string): bigint => {
  const id = BigInt(text)
  if (id >= 2n ** 64n) throw new QuoinError('ERR_REQUEST', `invalid id: ${text}`)
  return id
}
const tickOf = (text: string): bigint => {
  const tick = BigInt(text)
  if (BigInt.asIntN(64, tick) !== tick) throw new QuoinError('ERR_REQUEST', `invalid tick: ${text}`)
  return tick
}
const coinOf = (text: string): Coin => {
  const [amount = ''] = /^[0-9]+/.exec(text) ?? []
  return { amount: BigInt(amount), denom: text.slice(amount.length) }
}

const missing = (name: string): QuoinError => new QuoinError('ERR_NOT_FOUND', `unknown ${name}`)
const poolOf = async (state: Liquidity, id: bigint): Promise<Pool> => {
  const pool = await state.pool(id)
  if (!pool) throw missing(`pool ${id}`)
  return pool
}

/** The first rows up to a limit, and the last of them when there are more. */
const pageOf = async <T>(
  items: AsyncIterable<T>,
  limit: number
): Promise<{ taken: T[]; last: T | undefined }> => {
  const taken: T[] = []
  for await (const item of items) {
    if (taken.length === limit) return { taken, last: taken.at(-1) }
    taken.push(item)
  }
  return { taken, last: undefined }
}

/** Imported with the first request, since it loads declarations. */
const library = () => import('../index.ts')

const positionViews = async (state: Liquidity, positions: readonly Position[]): Promise<unknown[]> => {
  const { positionView } = await library()
  return Promise.all(
    positions.map(async position =>
      positionView(position, await state.pool(position.pool), await state.lockOf(position.id))
    )
  )
}

export interface LiquidityRouteOptions {
  readonly store: Store
  /** The limit on rows of a page, and its default. */
  readonly limits: { readonly page: number; readonly defaultPage: number }
}

export const liquidityRoutes = ({ store, limits }: LiquidityRouteOptions): Route[] => {
  // Opening only reads; an import may have happened since the last request.
  const opened = async (): Promise<Liquidity> => (await library()).Liquidity.open(store)
  const Limit = Type.Integer({ minimum: 1, maximum: limits.page, default: limits.defaultPage })
  const After = Type.Optional(Id)

  return [
    route({
      method: 'get',
      path: '/liquidity/pools',
      name: 'liquidityPools',
      summary: 'The pools of concentrated liquidity, in the order of their keys.',
      tag,
      query: { limit: Limit, cursor: After },
      responses: answer('A page of them.', Type.Object({ pools: Type.Array(PoolState), cursor: Cursor })),
      async handle({ query: { limit, cursor } }) {
        const state = await opened()
        const { poolView } = await library()
        const walk = state.pools({ after: cursor === undefined ? undefined : idOf(cursor) })
        const { taken, last } = await pageOf(walk, limit)
        const pools = await Promise.all(
          taken.map(async pool => poolView(pool, await state.reserves(pool.id)))
        )
        return json({ pools, cursor: last ? `${last.id}` : null })
      }
    }),
    route({
      method: 'get',
      path: '/liquidity/pools/:pool',
      name: 'liquidityPool',
      summary: 'A pool, its reserves, and its liquidity over the whole range.',
      tag,
      params: { pool: Id },
      responses: {
        ...answer('The pool.', Type.Object({ pool: PoolState, fullRangeLiquidity: Decimal })),
        ...unknown
      },
      async handle({ params }) {
        const state = await opened()
        const { dec, poolView } = await library()
        const pool = await poolOf(state, idOf(params.pool))
        return json({
          pool: poolView(pool, await state.reserves(pool.id)),
          fullRangeLiquidity: dec.format(await state.fullRange(pool.id))
        })
      }
    }),
    route({
      method: 'get',
      path: '/liquidity/pools/:pool/ticks',
      name: 'liquidityTicks',
      summary: 'Ticks of a pool from most negative to most positive, or back; from any tick.',
      tag,
      params: { pool: Id },
      query: {
        from: Type.Optional(Tick),
        exclusive: Type.Optional(Type.Boolean({ description: 'Leaves out the tick to begin at.' })),
        reverse: Type.Optional(Type.Boolean()),
        limit: Limit
      },
      responses: {
        ...answer(
          'A page of them; the next begins behind the last.',
          Type.Object({ pool: Id, ticks: Type.Array(TickState), more: Type.Boolean() })
        ),
        ...unknown
      },
      async handle({ params, query: { from, exclusive = false, reverse, limit } }) {
        const state = await opened()
        const { tickView } = await library()
        const pool = await poolOf(state, idOf(params.pool))
        const walk = { from: from === undefined ? undefined : tickOf(from), inclusive: !exclusive, reverse }
        const { taken, last } = await pageOf(state.ticks(pool.id, walk), limit)
        return json({
          pool: params.pool,
          ticks: taken.map(tick => tickView(pool, tick)),
          more: last !== undefined
        })
      }
    }),
    route({
      method: 'get',
      path: '/liquidity/pools/:pool/positions',
      name: 'liquidityPositionsOfPool',
      summary: 'Positions of a pool, in the order of their numbers.',
      tag,
      params: { pool: Id },
      query: { limit: Limit, cursor: After },
      responses: {
        ...answer('A page of them.', Type.Object({ positions: Type.Array(PositionState), cursor: Cursor })),
        ...unknown
      },
      async handle({ params, query: { limit, cursor } }) {
        const state = await opened()
        const { id } = await poolOf(state, idOf(params.pool))
        const walk = { after: cursor === undefined ? undefined : idOf(cursor) }
        const { taken, last } = await pageOf(state.positionsIn(id, walk), limit)
        return json({ positions: await positionViews(state, taken), cursor: last ? `${last.id}` : null })
      }
    }),
    route({
      method: 'get',
      path: '/liquidity/pools/:pool/incentives',
      name: 'liquidityIncentives',
      summary: 'Incentive records of a pool, or of a pool and an uptime.',
      tag,
      params: { pool: Id },
      query: { uptime: Type.Optional(Type.Integer({ minimum: 0, maximum: 255 })), limit: Limit },
      responses: {
        ...answer('The records.', Type.Object({ incentives: Type.Array(Incentive), more: Type.Boolean() })),
        ...unknown
      },
      async handle({ params, query: { uptime, limit } }) {
        const state = await opened()
        const { incentiveView } = await library()
        const { id } = await poolOf(state, idOf(params.pool))
        const { taken, last } = await pageOf(state.incentives(id, uptime), limit)
        return json({ incentives: taken.map(incentiveView), more: last !== undefined })
      }
    }),
    ...depthRoutes(opened),
    route({
      method: 'get',
      path: '/liquidity/pools/:pool/quote',
      name: 'liquidityQuote',
      summary: 'The result or the cost of a swap. Exactly one of `pay` and `buy`.',
      tag,
      params: { pool: Id },
      query: { pay: Type.Optional(CoinText), buy: Type.Optional(CoinText) },
      responses: { ...answer('The quote.', Quote), ...unknown },
      async handle({ params, query: { pay, buy } }) {
        const given = pay ?? buy
        if (given === undefined || (pay !== undefined && buy !== undefined))
          throw new QuoinError('ERR_REQUEST', 'a quote is for `pay` or for `buy`')
        const state = await opened()
        const { quoteExactIn, quoteExactOut, quoteView } = await library()
        const { id } = await poolOf(state, idOf(params.pool))
        const quote = pay === undefined ? quoteExactOut : quoteExactIn
        const asked = { pool: id, coin: coinOf(given), maxTicks: MAX_TICKS }
        const swapped = await state.snapshot(reader => quote(reader, asked))
        return json({ pool: params.pool, ...quoteView(swapped) })
      }
    }),
    route({
      method: 'get',
      path: '/liquidity/positions/:position',
      name: 'liquidityPosition',
      summary: 'A position, and its value at the price of its pool.',
      tag,
      params: { position: Id },
      responses: { ...answer('The position.', Type.Object({ position: PositionState })), ...unknown },
      async handle({ params }) {
        const state = await opened()
        const position = await state.position(idOf(params.position))
        if (!position) throw missing(`position ${params.position}`)
        const [view] = await positionViews(state, [position])
        return json({ position: view })
      }
    }),
    route({
      method: 'get',
      path: '/liquidity/owners/:owner/positions',
      name: 'liquidityPositionsOfOwner',
      summary: 'Positions of an owner, or of an owner in a pool, in the order of their keys.',
      tag,
      params: { owner: Type.String({ pattern: '^[a-z0-9]{8,100}$' }) },
      query: {
        pool: After,
        limit: Limit,
        cursor: Type.Optional(Type.String({ pattern: '^(0|[1-9][0-9]{0,19})\\.(0|[1-9][0-9]{0,19})$' }))
      },
      responses: answer(
        'A page of them.',
        Type.Object({ positions: Type.Array(PositionState), cursor: Cursor })
      ),
      async handle({ params: { owner }, query: { pool, limit, cursor } }) {
        const state = await opened()
        const [lastPool, lastId] = cursor?.split('.') ?? []
        const after = lastId === undefined ? undefined : { pool: idOf(lastPool!), id: idOf(lastId) }
        const walk = state.positionsOf(owner, pool === undefined ? undefined : idOf(pool), { after })
        const { taken, last } = await pageOf(walk, limit)
        return json({
          positions: await positionViews(state, taken),
          cursor: last ? `${last.pool}.${last.id}` : null
        })
      }
    }),
    route({
      method: 'get',
      path: '/liquidity/total',
      name: 'liquidityTotal',
      summary: 'The reserves of all pools, by denom.',
      tag,
      query: { limit: Limit },
      responses: answer(
        'By denom.',
        Type.Object({ profile: Type.String(), total: Type.Array(WholeCoin), more: Type.Boolean() })
      ),
      async handle({ query: { limit } }) {
        const state = await opened()
        const { taken, last } = await pageOf(state.totalLiquidities(), limit)
        const total = taken.map(({ denom, amount }) => ({ denom, amount: `${amount}` }))
        return json({ profile: state.profile, total, more: last !== undefined })
      }
    }),
    route({
      method: 'get',
      path: '/liquidity/explain/:key',
      name: 'explainLiquidity',
      summary: "The meaning of a raw key of the chain, and of its value: the one given, or this store's.",
      tag,
      params: { key: Type.String({ pattern: '^([0-9a-fA-F]{2}){1,512}$' }) },
      query: { value: Type.Optional(Type.String({ pattern: '^([0-9a-fA-F]{2}){0,16384}$' })) },
      responses: {
        ...answer(
          'The explained key.',
          Type.Object({
            profile: Type.String(),
            collection: Type.String(),
            about: Type.String(),
            spans: Type.Array(Type.Record(Type.String(), Type.Unknown())),
            value: Type.Optional(Type.Unknown())
          })
        ),
        ...unknown
      },
      async handle({ params, query: { value } }) {
        const state = await opened()
        const { explainEntry } = await library()
        const key = fromHex(params.key)
        const held = value === undefined ? await store.get(key) : fromHex(value)
        const explained = entryOf(() => explainEntry(key, held, state.profile))
        if (!explained.found)
          throw new QuoinError('ERR_NOT_FOUND', 'unknown key: expected one of concentrated liquidity', {
            nearest: explained.nearest ?? null
          })
        return json(explained.entry)
      }
    })
  ]
}

/** An invalid value of a client is an error of the request. */
const entryOf = <T>(explain: () => T): T => {
  try {
    return explain()
  } catch (error) {
    if (hasCode(error, 'ERR_VALUE_DECODE'))
      throw new QuoinError('ERR_REQUEST', error.message, { ...error.details, cause: error })
    throw error
  }
}

const depthRoutes = (opened: () => Promise<Liquidity>): Route[] => {
  const params = { pool: Id }
  const query = {
    percent: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, maximum: 1000, description: 'How far to look, up and down.' })
    ),
    ticks: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_TICKS }))
  }
  const about = 'How far the price of a pool goes for how much'
  return [
    route({
      method: 'get',
      path: '/liquidity/pools/:pool/depth',
      name: 'liquidityDepth',
      summary: `${about}.`,
      tag,
      params,
      query,
      responses: { ...answer('Points down and up from the price.', Depth), ...unknown },
      async handle({ params: { pool }, query: given }) {
        const { depthOf, depthView } = await library()
        const state = await opened()
        return json(depthView(await state.snapshot(reader => depthOf(reader, idOf(pool), given))))
      }
    }),
    route({
      method: 'get',
      path: '/liquidity/pools/:pool/depth.svg',
      name: 'liquidityDepthPicture',
      summary: `${about}, as a picture.`,
      tag,
      params,
      query,
      responses: { 200: { description: 'A picture.', content: { [SVG_TYPE]: undefined } }, ...unknown },
      async handle({ params: { pool }, query: given }) {
        const { depthOf, depthPicture } = await library()
        const state = await opened()
        const body = depthPicture(await state.snapshot(reader => depthOf(reader, idOf(pool), given)))
        // The picture contains untrusted denoms, so the response forbids scripts.
        return { type: SVG_TYPE, body, headers: { 'content-security-policy': "default-src 'none'" } }
      }
    })
  ]
}
