/** The admin plane (D15): it exists only with an admin token, and needs it. */
import { join } from 'node:path'
import { type ChainHeader, type HeaderStore, headerJson } from '@quoin/chain'
import { BYTES, type Route, type RouteResponse, route } from '@quoin/http'
import {
  formatOutpoint,
  makeOutpoint,
  type Outpoint as OutpointBytes,
  parseOutpoint,
  parseTxid,
  QuoinError,
  type Topic
} from '@quoin/primitives'
import { outputs as outputKeys } from '@quoin/txo'
import { Type } from '@sinclair/typebox'
import { bearer } from '../bearer-auth.ts'
import type { Context } from '../context.ts'
import { tokenQueue } from '../queues.ts'
import { Outpoint, Txid } from '../schemas.ts'
import { discoveryRoutes } from './admin-discovery.ts'
import { lookupRoutes } from './admin-lookups.ts'
import { admin, success } from './admin-route.ts'

export const adminRoutes = (context: Context): Route[] => {
  const { adminToken } = context.options
  if (adminToken === undefined) return []
  const auth = bearer(adminToken)
  const routes = [
    ...evictions(context),
    ...topics(context),
    ...queues(context),
    ...lookupRoutes(context),
    ...discoveryRoutes(context),
    ...(context.headers ? headers(context.headers) : []),
    ...(context.options.backups === undefined ? [] : backups(context, context.options.backups))
  ]
  return routes.map((each): Route => ({ ...each, auth }))
}

const evictions = ({ engine, logger }: Context): Route[] => {
  const evict = async (outpoint: OutpointBytes, id: string): Promise<RouteResponse> => {
    if (!(await engine.evict(outpoint))) throw new QuoinError('ERR_NOT_FOUND', 'unknown output')
    logger.warn('evicted', { id, outpoint: formatOutpoint(outpoint) })
    return success({ evicted: formatOutpoint(outpoint) })
  }
  return [
    route({
      ...admin('post', 'evict', 'evict', 'Takes an output out of all topics, and everything known of it.'),
      body: Type.Object({ outpoint: Outpoint }),
      handle: ({ body, id }) => evict(parseOutpoint(body.outpoint), id)
    }),
    route({
      ...admin('post', 'evictOutpoint', 'evictOutpoint', '`/admin/evict` in the form of overlay-express.'),
      body: Type.Object({ txid: Txid, outputIndex: Type.Integer({ minimum: 0, maximum: 0xffffffff }) }),
      handle: ({ body, id }) => evict(makeOutpoint(parseTxid(body.txid), body.outputIndex), id)
    })
  ]
}

const { topicOutputs, topicTransactions } = outputKeys.collections

const topics = ({ engine }: Context): Route[] => [
  route({
    ...admin('get', 'topics', 'adminTopics', 'The topics, with how much is in them.'),
    async handle() {
      const { store } = engine.outputs
      return success(
        await Promise.all(
          [...engine.topics.keys()].map(async name => ({
            name,
            outputs: await store
              .use(topicOutputs)
              .at(name as Topic)
              .count(),
            transactions: await store
              .use(topicTransactions)
              .at(name as Topic)
              .count()
          }))
        )
      )
    }
  })
]

/** Dead letters to revive at once. */
const REVIVED = 1000

const queues = ({ engine, queues: all, limits }: Context): Route[] => {
  const Queue = Type.String({
    maxLength: 1024,
    description: 'As the list of queues has it, or `tok:{tokenId}`.'
  })
  const Item = Type.String({
    maxLength: 160,
    description: 'A txid, an outpoint, or an entry of a membership log, as the list of items has it.'
  })
  const queueOf = (name: string) => {
    const queue = all().get(name) ?? tokenQueue(engine, name)
    if (!queue) throw new QuoinError('ERR_NOT_FOUND', `no queue is called ${name}`)
    return queue
  }
  return [
    route({
      ...admin('get', 'queues', 'queues', 'The queues: how many items are due, leased, waiting and dead.'),
      handle: async () =>
        success(
          await Promise.all([...all()].map(async ([name, queue]) => ({ name, ...(await queue.stats()) })))
        )
    }),
    route({
      ...admin('get', 'queues/:queue/:state', 'queueItems', 'Items of a queue: the dead with the reasons.'),
      params: {
        queue: Queue,
        state: Type.Union(['due', 'leased', 'waiting', 'dead'].map(state => Type.Literal(state)))
      },
      query: {
        limit: Type.Integer({ minimum: 1, maximum: limits.page, default: limits.defaultPage }),
        cursor: Type.Optional(Type.String())
      },
      async handle({ params: { queue, state }, query }) {
        const { items, cursor = null } = await queueOf(queue).list(state as 'dead', query)
        return success({ items, cursor })
      }
    }),
    route({
      ...admin(
        'post',
        'queues/:queue/retry',
        'retryDead',
        'Dead items become due again: one, or up to 1,000.'
      ),
      params: { queue: Queue },
      body: Type.Object({ item: Type.Optional(Item) }),
      async handle({ params: { queue: name }, body: { item } }) {
        const queue = queueOf(name)
        const items = item
          ? [item]
          : (await queue.list('dead', { limit: REVIVED })).items.map(each => each.item)
        for (const each of items) await queue.revive(each)
        return success({ retried: items.length })
      }
    }),
    route({
      ...admin('delete', 'queues/:queue/items/:item', 'removeItem', 'Takes an item out of a queue.'),
      params: { queue: Queue, item: Item },
      async handle({ params: { queue, item } }) {
        await queueOf(queue).remove(item)
        return success({ removed: item })
      }
    })
  ]
}

const headers = (store: HeaderStore): Route[] => {
  const shown = (header: ChainHeader | undefined) => {
    if (!header) throw new QuoinError('ERR_NOT_FOUND', 'unknown header')
    return headerJson(header)
  }
  return [
    route({
      ...admin('get', 'headers', 'headers', 'The network, where its headers begin, and the last.'),
      handle: async () =>
        success({ network: store.network, start: store.start, tip: shown(await store.tip()) })
    }),
    route({
      ...admin('get', 'headers/:height', 'header', 'The header at a height of the chain of most work.'),
      params: { height: Type.Integer({ minimum: 0, maximum: 0xffffffff }) },
      handle: async ({ params: { height } }) => success(shown(await store.header(height)))
    }),
    route({
      ...admin('post', 'headers', 'addHeaders', 'Adds headers, 80 bytes each, parents first.'),
      body: BYTES,
      async handle({ body }) {
        const { tip, added, reorg } = await store.add(body)
        return success({ added: added.length, tip: shown(tip), reorg: reorg !== undefined })
      }
    })
  ]
}

const backups = ({ engine, logger }: Context, directory: string): Route[] => [
  route({
    ...admin('post', 'backup', 'backup', 'Writes a copy of the store, as it is now, and reads it back.'),
    body: Type.Object({
      name: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$',
          description: 'A directory in that of the backups; the time unless given.'
        })
      )
    }),
    async handle({ body: { name = timeName() }, id }) {
      const path = join(directory, name)
      await engine.outputs.store.backup(path)
      logger.info('backup', { id, path })
      return success({ name })
    }
  })
]

const timeName = (): string => new Date().toISOString().replaceAll(/[:.]/g, '-')
