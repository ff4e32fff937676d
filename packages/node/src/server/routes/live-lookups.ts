/** Live lookups (BRC-193, a draft): open, read by long polls, close. */
import { BYTES, JSON_TYPE, type Route, type RouteResponse, route } from '@quoin/http'
import { QuoinError } from '@quoin/primitives'
import { Type } from '@sinclair/typebox'
import type { Context } from '../context.ts'
import { LiveLookups } from '../live-lookups/live-lookups.ts'
import { Close, LiveError, Open, parserOf, Read, VERSION } from '../live-lookups/protocol.ts'

const HEADERS = {
  'cache-control': 'private, no-store',
  vary: 'Authorization, x-bsv-auth-identity-key, x-bsv-overlay-capability, x-bsv-overlay-profile'
}
const U64 = Type.String({ pattern: '^(0|[1-9][0-9]*)$' })
const Batch = Type.Object({
  version: Type.Literal(VERSION),
  session: Type.String(),
  scope: Type.Record(Type.String(), Type.Unknown()),
  phase: Type.Union([Type.Literal('snapshot'), Type.Literal('live')]),
  groups: Type.Array(
    Type.Object({
      id: Type.String(),
      sequence: U64,
      observations: Type.Array(Type.Record(Type.String(), Type.Unknown()))
    })
  ),
  cursor: Type.String(),
  snapshotComplete: Type.Boolean(),
  through: U64,
  highWater: U64,
  expiresAt: U64,
  replayUntil: U64,
  limits: Type.Record(Type.String(), Type.Integer())
})
const Closed = Type.Object({ version: Type.Literal(VERSION), closed: Type.Literal(true) })

export const liveLookupRoutes = (context: Context): Route[] => {
  const { engine, headers, closing, options, logger } = context
  const { liveLookups } = options
  if (!liveLookups) return []
  const lookups = new LiveLookups({ engine, headers, closing, provider: liveLookups.provider })
  const answer = async (id: string, work: () => Promise<object>): Promise<RouteResponse> => {
    try {
      return reply(200, await work())
    } catch (error) {
      if (error instanceof LiveError) return reply(error.status, error.body)
      const reason = error instanceof QuoinError ? error.code : 'ERR_INTERNAL'
      logger.error('live lookup failed', { id, reason: String(error) })
      const failed = new LiveError('unavailable', `the node cannot answer: ${reason}`, {
        retryable: true,
        retryAfterMs: 1000
      })
      return reply(failed.status, failed.body)
    }
  }
  const message = (path: string, name: string, summary: string, schema: typeof Batch | typeof Closed) => ({
    method: 'post' as const,
    path: `/overlay/v1/lookup/${path}`,
    name,
    summary: `${summary} BRC-193, a draft: its version 1 alone.`,
    tag: 'live',
    body: BYTES as typeof BYTES,
    responses: { 200: { description: 'JSON, as BRC-193 has it.', content: { [JSON_TYPE]: schema } } }
  })
  const [open, read, close] = [parserOf(Open), parserOf(Read), parserOf(Close)]
  return [
    route({
      ...message(
        'open',
        'openLiveLookup',
        'Opens a live lookup, and answers the first part of its snapshot.',
        Batch
      ),
      cost: 10,
      handle: ({ body, id }) => answer(id, async () => lookups.open(open(body)))
    }),
    route({
      ...message(
        'read',
        'readLiveLookup',
        'The next part of a snapshot, or changes after a cursor, by a long poll.',
        Batch
      ),
      handle: ({ body, id }) =>
        answer(id, async () => {
          const { session, cursor, limits } = read(body)
          return lookups.read(session, cursor, limits)
        })
    }),
    route({
      ...message(
        'close',
        'closeLiveLookup',
        'Closes a live lookup; the answer is the same for an unknown one.',
        Closed
      ),
      handle: ({ body, id }) =>
        answer(id, async () => {
          await lookups.close(close(body).session)
          return { version: VERSION, closed: true }
        })
    })
  ]
}

const reply = (status: number, value: object): RouteResponse => ({
  status,
  type: JSON_TYPE,
  body: JSON.stringify(value),
  headers: HEADERS
})
