/** Changes of the output store as they are committed. */

import { type Route, route } from '@quoin/http'
import { Type } from '@sinclair/typebox'
import type { Context } from '../context.ts'
import { Position, streamOf } from '../journal-stream.ts'
import { TopicName } from '../schemas.ts'

export const liveRoutes = (context: Context): Route[] => {
  const { limits } = context
  const query = {
    events: Type.Optional(
      Type.Array(Type.String({ maxLength: 1024 }), {
        maxItems: limits.events,
        description: 'Only changes that touch one of these, repeated.'
      })
    ),
    topics: Type.Optional(
      Type.Array(TopicName, {
        maxItems: limits.topics,
        description: 'Or outputs of one of these, admitted or spent, repeated.'
      })
    ),
    after: Type.Optional(Position)
  }
  return [
    route({
      method: 'get',
      path: '/live',
      name: 'live',
      summary:
        'Changes as they are committed: `saved`, `moved` and `removed`, with the events and topics that the outputs have when they are sent. When the journal no longer has the entries after a position: 410, or on an open stream an event `gone`.',
      tag: 'live',
      query,
      headers: { 'last-event-id': Type.Optional(Position) },
      responses: {
        200: { description: 'A stream of events.', content: { 'text/event-stream': Type.String() } },
        410: { description: 'The journal no longer has the position.' }
      },
      async handle({ query: { events, topics, after: asked }, headers }) {
        const after = headers['last-event-id'] ?? asked
        return streamOf(context, after, { events, topics })
      }
    })
  ]
}
