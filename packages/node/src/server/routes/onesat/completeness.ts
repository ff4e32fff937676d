/**
 * How complete answers about tokens are, in the body where it is an object, and in a header: a dictionary of RFC 8941.
 * It is read before the answer, which has at least what it says.
 */
import type { Completeness, PendingCounts } from '@quoin/bsv21'
import { json, type RouteResponse } from '@quoin/http'
import type { TokenId } from '@quoin/primitives'
import { Type } from '@sinclair/typebox'
import type { TokenContext } from './bsv21.ts'

const COMPLETENESS_HEADER = 'x-completeness'

const Count = Type.Integer({ minimum: 0 })
export const PendingJson = Type.Object({
  due: Count,
  leased: Count,
  waiting: Type.Integer({ minimum: 0, description: 'For transactions that are not known.' }),
  dead: Type.Integer({ minimum: 0, description: 'Dead letters: refused, or attempted in vain.' })
})
const NumberOrNull = Type.Union([Type.Number(), Type.Null()])

export const CompletenessJson = Type.Object(
  {
    complete: Type.Boolean({
      description:
        'No work is pending that may change the answer, and each source that knows its end has reached it.'
    }),
    height: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The last block whose header the node has; null without headers.'
    }),
    sources: Type.Array(
      Type.Object({
        name: Type.String(),
        at: NumberOrNull,
        end: NumberOrNull
      }),
      {
        description:
          'Positions: blocks of JungleBus, changes of a node. The process that follows a source knows its end.'
      }
    ),
    pending: PendingJson,
    discovery: Type.Composite([PendingJson], { description: 'Transactions whose tokens are not known yet.' })
  },
  { $id: 'Completeness' }
)

export const WithCompleteness = Type.Object({ completeness: CompletenessJson })

interface StatedCompleteness extends Completeness {
  readonly height: number | null
}

/** The completeness of a token's state, or of all tokens. */
export const completenessOf = async (
  { node, headers }: TokenContext,
  token: TokenId | undefined
): Promise<StatedCompleteness> => {
  const tip = headers?.tip()
  return { ...(await node.pipeline.completeness(token)), height: (await tip)?.height ?? null }
}

export const completenessJson = ({
  isComplete,
  height,
  sources,
  pending,
  discovery
}: StatedCompleteness) => ({
  complete: isComplete,
  height,
  sources: sources.map(({ name, at, end }) => ({ name, at: at ?? null, end: end ?? null })),
  pending,
  discovery
})

const headerOf = ({ isComplete, height, sources, pending, discovery }: StatedCompleteness): string =>
  [
    `complete=?${isComplete ? 1 : 0}`,
    ...(height === null ? [] : [`height=${height}`]),
    ...(sources.length === 0 ? [] : [`sources=(${sources.map(({ at }) => at ?? 0).join(' ')})`]),
    ...countsOf('', pending),
    ...countsOf('discovery-', discovery)
  ].join(', ')

const countsOf = (prefix: string, counts: PendingCounts): string[] =>
  (['due', 'leased', 'waiting', 'dead'] as const).map(state => `${prefix}${state}=${counts[state]}`)

/** Answers with an object, and its completeness in it. */
export const answerWith = async (
  context: TokenContext,
  token: TokenId | undefined,
  answer: () => Promise<object>
): Promise<RouteResponse> => {
  const stated = await completenessOf(context, token)
  const body = { ...(await answer()), completeness: completenessJson(stated) }
  return { ...json(body), headers: { [COMPLETENESS_HEADER]: headerOf(stated) } }
}

/** Answers with a list, and its completeness in a header. */
export const answerWithList = async (
  context: TokenContext,
  token: TokenId | undefined,
  answer: () => Promise<RouteResponse>
): Promise<RouteResponse> => {
  const stated = await completenessOf(context, token)
  const response = await answer()
  return { ...response, headers: { ...response.headers, [COMPLETENESS_HEADER]: headerOf(stated) } }
}
