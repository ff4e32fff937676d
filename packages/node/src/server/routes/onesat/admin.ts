/** The operator's lists as `@1sat/client` asks for them. Behind the admin token, except whether there is one. */

import { parseTokenId, type TokenList, tokenOfTopic } from '@quoin/bsv21'
import { JSON_TYPE, json, type Route, route } from '@quoin/http'
import type { TokenId } from '@quoin/primitives'
import { outputs as outputKeys, progressFields } from '@quoin/txo'
import { Type } from '@sinclair/typebox'
import { bearer } from '../../bearer-auth.ts'
import type { TokenContext } from './bsv21.ts'

const BASE = '/1sat/admin/api'
const Texts = Type.Array(Type.String())
const Named = Type.String({ maxLength: 128, description: 'A token id, or the name of its topic.' })

export const oneSatAdminRoutes = (context: TokenContext): Route[] => {
  const { adminToken } = context.options
  const status = route({
    method: 'get',
    path: `${BASE}/status`,
    name: 'oneSatAdminStatus',
    summary: 'Whether there is an admin token.',
    tag: '1sat',
    responses: {
      200: {
        description: 'It is set, or not.',
        content: { [JSON_TYPE]: Type.Object({ configured: Type.Boolean() }) }
      }
    },
    handle: () => json({ configured: adminToken !== undefined })
  })
  if (adminToken === undefined) return [status]
  const auth = bearer(adminToken)
  const setup = route({
    method: 'post',
    path: `${BASE}/setup`,
    name: 'oneSatAdminSetup',
    summary: 'That the node is set up: its admin token comes from its settings.',
    tag: '1sat',
    responses: {
      200: {
        description: 'It is.',
        content: { [JSON_TYPE]: Type.Object({ message: Type.String() }) }
      }
    },
    handle: () => json({ message: 'the admin token is set; it comes from the settings of the node' })
  })
  const guarded = [setup, ...lists(context, 'whitelist'), ...lists(context, 'blacklist'), ...actives(context)]
  return [status, ...guarded.map((each): Route => ({ ...each, auth }))]
}

const named = (text: string): TokenId => tokenOfTopic(text) ?? parseTokenId(text)

const lists = ({ node: { activation }, logger }: TokenContext, list: TokenList): Route[] => {
  const name = list === 'whitelist' ? 'Whitelist' : 'Blacklist'
  const Done = Type.Object({ message: Type.String(), token: Type.String(), topic: Type.String() })
  const done = (message: string, token: TokenId) => json({ message, token, topic: token })
  const responses = { 200: { description: 'Done.', content: { [JSON_TYPE]: Done } } }
  return [
    route({
      method: 'get',
      path: `${BASE}/${list}`,
      name: `oneSat${name}`,
      summary: `The tokens on the ${list}.`,
      tag: '1sat',
      responses: { 200: { description: 'Their ids.', content: { [JSON_TYPE]: Texts } } },
      handle: async () => json(await activation.list(list))
    }),
    route({
      method: 'post',
      path: `${BASE}/${list}`,
      name: `oneSatAddTo${name}`,
      summary: `Puts a token on the ${list}.`,
      tag: '1sat',
      body: Type.Object({ topic: Named }),
      responses,
      async handle({ body: { topic }, id }) {
        const token = named(topic)
        await activation.add(list, token)
        logger.warn('token listed', { id, list, token })
        return done(`added to the ${list}`, token)
      }
    }),
    route({
      method: 'delete',
      path: `${BASE}/${list}/:token`,
      name: `oneSatRemoveFrom${name}`,
      summary: `Takes a token off the ${list}.`,
      tag: '1sat',
      params: { token: Named },
      responses,
      async handle({ params, id }) {
        const token = named(params.token)
        await activation.remove(list, token)
        logger.warn('token no longer listed', { id, list, token })
        return done(`removed from the ${list}`, token)
      }
    })
  ]
}

const { progress } = outputKeys.collections
const { subscription } = progressFields.collections

const actives = ({ engine }: TokenContext): Route[] => [
  route({
    method: 'get',
    path: `${BASE}/topics/active`,
    name: 'oneSatActiveTopics',
    summary: 'The topics, without the topics of tokens.',
    tag: '1sat',
    responses: { 200: { description: 'Names.', content: { [JSON_TYPE]: Texts } } },
    handle: () => json([...engine.topics.keys()])
  }),
  route({
    method: 'get',
    path: `${BASE}/lookups/active`,
    name: 'oneSatActiveLookups',
    summary: 'The lookup services.',
    tag: '1sat',
    responses: { 200: { description: 'Names.', content: { [JSON_TYPE]: Texts } } },
    handle: () => json([...engine.lookups.keys()])
  }),
  route({
    method: 'get',
    path: `${BASE}/progress`,
    name: 'oneSatProgress',
    summary: 'The next block of each subscription.',
    tag: '1sat',
    responses: {
      200: {
        description: 'By subscription.',
        content: { [JSON_TYPE]: Type.Array(Type.Object({ id: Type.String(), block: Type.Integer() })) }
      }
    },
    async handle() {
      const fields = await engine.outputs.store.use(progress).at().all()
      return json(
        fields.entries(subscription).map(({ key, value }) => ({
          id: Buffer.from(key[0]).toString('hex'),
          block: value
        }))
      )
    }
  })
]
