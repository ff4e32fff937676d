/** Lookup services for their operator: the delivery to each, the process that has it, and replays. */

import { type Route, route } from '@quoin/http'
import type { DeliveryState, HostedModuleState } from '@quoin/overlay'
import { QuoinError, type Topic } from '@quoin/primitives'
import { Type } from '@sinclair/typebox'
import type { Context } from '../context.ts'
import { admin, success } from './admin-route.ts'

/** A lookup service of the node. */
interface LookupState {
  readonly service: string
  /** Null for a service that is written in the commits of the node. */
  readonly delivery: DeliveryState | null
  /** Null for a service of the node's own process. */
  readonly process: HostedModuleState | null
}

export const lookupRoutes = (context: Context): Route[] => {
  const { engine, logger, options } = context
  const lookupStates = async (): Promise<LookupState[]> => {
    const deliveries = new Map(
      (await engine.outbox.states()).map(({ service, ...state }) => [service, state])
    )
    const processes = options.plugins?.states() ?? []
    return [...engine.lookups.keys()].map(service => ({
      service,
      delivery: deliveries.get(service) ?? null,
      process: processes.find(({ names }) => names.includes(service)) ?? null
    }))
  }
  return [
    route({
      ...admin('get', 'lookups', 'adminLookups', 'The lookup services: deliveries, processes, errors.'),
      handle: async () => success(await lookupStates())
    }),
    route({
      ...admin(
        'post',
        'lookups/:service/replay',
        'replayLookup',
        'Delivers the changes of topics to a lookup service again, from a position of their logs.'
      ),
      params: { service: Type.String({ maxLength: 128 }) },
      body: Type.Object({
        topic: Type.Optional(Type.String({ maxLength: 128, description: 'All topics unless given.' })),
        after: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: Number.MAX_SAFE_INTEGER,
            default: 0,
            description: 'The position of the log of `topic` after which to begin; 0 is the whole log.'
          })
        )
      }),
      async handle({ params: { service }, body: { topic, after = 0 }, id }) {
        if (engine.lookups.has(service) && ![...engine.outbox.services].includes(service)) {
          throw new QuoinError(
            'ERR_REQUEST',
            `the lookup service ${service} is written in the commits of the node: there is nothing to replay; ` +
              'quoin repair derives an index again',
            { service }
          )
        }
        const delivery = engine.outbox.delivery(service)
        if (topic === undefined && after > 0) {
          throw new QuoinError(
            'ERR_REQUEST',
            'after is a position of the log of one topic; expected topic, too',
            {
              after
            }
          )
        }
        if (topic !== undefined) await expectTopic(context, topic, after)
        await delivery.replay({ after, ...(topic !== undefined && { topic: topic as Topic }) })
        logger.warn('replay', { id, service, topic, after })
        return success(await delivery.state())
      }
    })
  ]
}

/** A cursor past the end of a log would skip changes to come. */
const expectTopic = async ({ engine }: Context, topic: string, after: number): Promise<void> => {
  const last = await engine.outputs.membership(topic as Topic).last()
  if (last === 0 && !new Set(engine.topics.keys()).has(topic))
    throw new QuoinError('ERR_TOPIC_UNKNOWN', `no topic is called ${topic}`, { topic })
  if (after <= last) return
  throw new QuoinError('ERR_REQUEST', `invalid position ${after}: the log of ${topic} ends at ${last}`, {
    topic,
    after,
    last
  })
}
