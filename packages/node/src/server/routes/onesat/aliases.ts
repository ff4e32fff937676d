/**
 * Routes that the 1Sat API has too, under a prefix of its own: the same declarations, the same answers. Its clients name
 * topics as a JSON array or with commas between them.
 */

import type { Route } from '@quoin/http'
import { QuoinError } from '@quoin/primitives'
import { Type } from '@sinclair/typebox'
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
    .map(each => under('/1sat/overlay', each.name === 'submit' ? withTopicList(each, context) : each)),
  ...beefRoutes(context).map(each => under('/1sat', each))
]

const under = (prefix: string, route: Route): Route => ({
  ...route,
  path: `${prefix}${route.path}`,
  name: `oneSat${route.name[0]!.toUpperCase()}${route.name.slice(1)}`,
  tag: '1sat'
})

const TOPIC = /^[a-zA-Z0-9._-]{1,128}$/

const withTopicList = (submit: Route, { limits }: Context): Route => ({
  ...submit,
  headers: {
    ...submit.headers,
    'x-topics': Type.String({
      minLength: 1,
      maxLength: limits.topics * 132 + 2,
      description: 'The topics, as a JSON array or with commas.'
    })
  },
  handle: asked =>
    submit.handle({
      ...asked,
      headers: { ...asked.headers, 'x-topics': topicsOf(asked.headers['x-topics'], limits.topics) }
    })
})

const topicsOf = (text: string, most: number): string[] => {
  const topics = text.trim().startsWith('[') ? parsed(text) : text.split(',').map(each => each.trim())
  const isList = Array.isArray(topics) && topics.every(each => typeof each === 'string' && TOPIC.test(each))
  if (isList && topics.length <= most) return topics
  throw new QuoinError('ERR_REQUEST', 'header /x-topics: is not a list of topics', {
    where: 'header',
    path: '/x-topics'
  })
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
