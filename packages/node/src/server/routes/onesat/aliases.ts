/**
 * Routes that the 1Sat API has too, under a prefix of its own: the same declarations, the same answers.
 */

import type { Route } from '@quoin/http'
import type { Context } from '../../context.ts'
import { beefRoutes } from '../beef.ts'
import { overlayRoutes } from '../overlay.ts'
import { syncRoutes } from '../sync.ts'

const SERVED = [
  'submit',
  'lookup',
  'listTopicManagers',
  'listLookupServiceProviders',
  'getDocumentationForTopicManager',
  'getDocumentationForLookupServiceProvider',
  'requestSyncResponse',
  'requestForeignGASPNode'
]

export const oneSatAliases = (context: Context): Route[] => [
  ...[...overlayRoutes(context), ...syncRoutes(context)]
    .filter(({ name }) => SERVED.includes(name))
    .map(each => under('/1sat/overlay', each)),
  ...beefRoutes(context).map(each => under('/1sat', each)),
  ...(context.options.tokens ? tokenSubmission(context) : [])
]

/** Newer clients submit token transactions here. */
const tokenSubmission = (context: Context): Route[] =>
  overlayRoutes(context)
    .filter(({ name }) => name === 'submit')
    .map(each => ({ ...under('/1sat/bsv21/overlay', each), name: 'oneSatSubmitTokens' }))

const under = (prefix: string, route: Route): Route => ({
  ...route,
  path: `${prefix}${route.path}`,
  name: `oneSat${route.name[0]!.toUpperCase()}${route.name.slice(1)}`,
  tag: '1sat'
})
