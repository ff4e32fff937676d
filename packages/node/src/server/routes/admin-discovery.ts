/** Advertised hosts for the operator: the ban list, health checks, and the node's own advertisements. */
import { BAN_TYPES, type BanType, ban, banList, DOWN_AFTER, hostRecords, unban } from '@quoin/discovery'
import { type Route, route } from '@quoin/http'
import { Type } from '@sinclair/typebox'
import type { Context } from '../context.ts'
import { admin, success } from './admin-route.ts'

const BanKind = Type.Union(
  BAN_TYPES.map(type => Type.Literal(type)),
  { description: '`domain`: a host, in any spelling and for any scheme; `outpoint`: one advertisement.' }
)
const BanValue = Type.String({
  minLength: 1,
  maxLength: 1000,
  description: 'A URI as https://node.example.com, a host name, or an outpoint.'
})

export const discoveryRoutes = (context: Context): Route[] => {
  const { engine, logger, options } = context
  if (!engine.lookups.has('ls_ship')) return []
  const { store } = engine.outputs
  const tasks = options.discovery
  return [
    route({
      ...admin('get', 'bans', 'bans', 'The banned hosts and advertisements, which answers leave out.'),
      query: { type: Type.Optional(BanKind) },
      handle: async ({ query }) =>
        success({
          bans: (await banList(store)).filter(({ type }) => query.type === undefined || type === query.type)
        })
    }),
    route({
      ...admin('post', 'ban', 'ban', 'Bans a host or an advertisement.'),
      body: Type.Object({
        type: BanKind,
        value: BanValue,
        reason: Type.Optional(Type.String({ maxLength: 1000 }))
      }),
      async handle({ body: { type, value, reason }, id }) {
        const banned = await ban(store, type as BanType, value, reason)
        logger.warn('banned', { id, type, value: banned.value })
        return success(banned)
      }
    }),
    route({
      ...admin('post', 'unban', 'unban', 'Lifts a ban.'),
      body: Type.Object({ type: BanKind, value: BanValue }),
      async handle({ body: { type, value }, id }) {
        const lifted = await unban(store, type as BanType, value)
        if (lifted) logger.warn('ban lifted', { id, type, value })
        return success({ lifted })
      }
    }),
    route({
      ...admin('get', 'hosts', 'hosts', 'The advertised hosts that were checked, with their health.'),
      handle: async () =>
        success({
          hosts: (await hostRecords(engine.outputs)).map(each => ({
            ...each,
            isDown: each.failures >= DOWN_AFTER
          }))
        })
    }),
    ...(tasks
      ? [
          route({
            ...admin('post', 'janitor', 'janitor', 'Asks each advertised host for its health, once.'),
            handle: async () => success(await tasks.janitor.check(context.closing))
          })
        ]
      : []),
    ...(tasks?.advertiser
      ? [
          route({
            ...admin('get', 'advertisements', 'advertisements', "The node's own advertisements."),
            handle: async () => success(await tasks.advertiser!.report())
          }),
          route({
            ...admin(
              'post',
              'syncAdvertisements',
              'syncAdvertisements',
              'Advertises what is missing, revokes what is not served, and answers the advertisements.'
            ),
            async handle() {
              const isDone = await tasks.advertiser!.once()
              return success({ isDone, ...(await tasks.advertiser!.report()) })
            }
          })
        ]
      : [])
  ]
}
