/** The 1Sat API, as `@1sat/client` uses it. */

import { JSON_TYPE, json, type Route, route } from '@quoin/http'
import { Type } from '@sinclair/typebox'
import type { Context } from '../../context.ts'
import { oneSatAdminRoutes } from './admin.ts'
import { oneSatAliases } from './aliases.ts'
import { arcadeRoutes, canBroadcast } from './arcade.ts'
import { oneSatTokenRoutes, type TokenContext, tokenContext } from './bsv21.ts'
import { digestRoutes } from './digests.ts'
import { outputStates } from './output-states.ts'
import { oneSatOwnerRoutes } from './owner.ts'
import { tokenRoutes } from './tokens.ts'
import { oneSatTxoRoutes } from './txo.ts'

export const oneSatRoutes = (context: Context): Route[] => [
  capabilities(context),
  ...oneSatTxoRoutes(context),
  ...oneSatOwnerRoutes(context),
  ...oneSatAliases(context),
  ...arcadeRoutes(context),
  ...bsv21Routes(tokenContext(context))
]

const bsv21Routes = (context: TokenContext | undefined): Route[] =>
  context
    ? [
        ...digestRoutes(context),
        ...tokenRoutes(context),
        ...oneSatTokenRoutes(context),
        outputStates(context),
        ...oneSatAdminRoutes(context)
      ]
    : []

/** Not under `/1sat`: that is where the client asks. */
const capabilities = (context: Context): Route => {
  const { headers, options } = context
  return route({
    method: 'get',
    path: '/capabilities',
    name: 'capabilities',
    summary: 'Which parts of the 1Sat API the node has.',
    tag: '1sat',
    responses: { 200: { description: 'Their names.', content: { [JSON_TYPE]: Type.Array(Type.String()) } } },
    handle: () =>
      json([
        'beef',
        'txo',
        'owner',
        ...(options.tokens ? ['bsv21'] : []),
        'overlay',
        ...(options.content === false ? [] : ['ordfs']),
        ...(headers ? ['chaintracks'] : []),
        ...(canBroadcast(context) ? ['arcade'] : [])
      ])
  })
}
