/** The routes of an overlay node (BRC-22, BRC-24), byte for byte as overlay-express has them. */

import { type BeefTransaction, writeBeef } from '@quoin/chain'
import { BYTES, BYTES_TYPE, bytes, JSON_TYPE, json, type Route, type RouteResponse, route } from '@quoin/http'
import { type AnsweredOutput, answerBeef, type SubmissionRequest, why } from '@quoin/overlay'
import {
  formatTxid,
  parseOutpoint,
  QuoinError,
  Reader,
  reasonOf,
  txidOf,
  voutOf,
  Writer,
  withTimeout
} from '@quoin/primitives'
import { Type } from '@sinclair/typebox'
import type { Context } from '../context.ts'
import { Outpoint, TopicName } from '../schemas.ts'
import { parseTopicList, topicListHeader } from '../topic-list.ts'

export const overlayRoutes = (context: Context): Route[] => [
  submit(context),
  lookup(context),
  whyRoute(context),
  ...plugins(context)
]

const Indexes = Type.Array(Type.Integer({ minimum: 0 }))
const Steak = Type.Record(
  Type.String(),
  Type.Object({
    outputsToAdmit: Indexes,
    coinsToRetain: Indexes,
    coinsRemoved: Indexes,
    error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() }))
  })
)

const submit = ({ engine, limits, metrics }: Context): Route =>
  route({
    method: 'post',
    path: '/submit',
    name: 'submit',
    summary: 'Submits a transaction to topics. Answered when everything is durable.',
    tag: 'overlay',
    headers: {
      'x-topics': topicListHeader(limits.topics),
      'x-includes-off-chain-values': Type.Optional(
        Type.String({
          description: '`true`: the body is the length of the BEEF as a varint, the BEEF, and the values.'
        })
      )
    },
    body: BYTES,
    responses: { 200: { description: 'The admission of each topic.', content: { [JSON_TYPE]: Steak } } },
    async handle({ headers, body, client }) {
      const since = performance.now()
      try {
        const parts = headers['x-includes-off-chain-values'] === 'true' ? split(body) : { beef: body }
        const steak = await engine.submit({
          ...parts,
          topics: parseTopicList(headers['x-topics'], limits.topics),
          client
        })
        metrics.submitted(steak, (performance.now() - since) / 1000)
        return json(steak)
      } catch (error) {
        metrics.refused()
        throw error
      }
    }
  })

const split = (body: Uint8Array): Pick<SubmissionRequest, 'beef' | 'offChainValues'> => {
  const reader = new Reader(body, 'ERR_BEEF_FORMAT')
  const beef = reader.bytes(reader.varint())
  return { beef, offChainValues: reader.bytes(reader.remaining) }
}

const LookupAnswer = Type.Object({
  type: Type.Literal('output-list'),
  outputs: Type.Array(
    Type.Object({
      beef: Type.Array(Type.Integer({ minimum: 0, maximum: 255 })),
      outputIndex: Type.Integer({ minimum: 0 }),
      context: Type.Optional(Type.Array(Type.Integer({ minimum: 0, maximum: 255 })))
    })
  )
})

const lookup = ({ engine, limits, metrics }: Context): Route =>
  route({
    method: 'post',
    path: '/lookup',
    name: 'lookup',
    summary:
      'Asks a lookup service. With `x-aggregation: yes` the outputs come with one BEEF for all of them, as bytes.',
    tag: 'overlay',
    headers: { 'x-aggregation': Type.Optional(Type.String()) },
    body: Type.Object({
      service: Type.String({ maxLength: 128 }),
      query: Type.Optional(Type.Unknown({ description: 'A query in the form of the service.' }))
    }),
    responses: {
      200: { description: 'Outputs.', content: { [JSON_TYPE]: LookupAnswer, [BYTES_TYPE]: undefined } }
    },
    async handle({ headers, body: { service, query } }) {
      const answer = engine.lookup(service, query).catch(refuseLookup)
      const found = await withinLimit(service, answer, limits.lookupAnswer)
      metrics.looked(service)
      return headers['x-aggregation'] === 'yes' ? bytes(aggregated(found)) : listed(found)
    }
  })

/** A client that gave up learns nothing: the reason comes before its timeout. */
const withinLimit = <T>(service: string, answer: Promise<T>, limit: number): Promise<T> => {
  if (limit === 0) return answer
  return withTimeout(answer, limit, () => {
    throw new QuoinError(
      'ERR_LOOKUP_TIMEOUT',
      `${service} did not answer within ${limit} ms; ask for less, or again (limits.lookupAnswer)`,
      { service, milliseconds: limit, seconds: 1 }
    )
  })
}

/** Lookup services of others throw any error for a question that they refuse. */
const refuseLookup = (error: unknown): never => {
  if (error instanceof QuoinError) throw error
  throw new QuoinError('ERR_LOOKUP_FAILED', reasonOf(error), { cause: error })
}

/** JSON with bytes as arrays of numbers, which are never made. */
const listed = (found: readonly AnsweredOutput[]): RouteResponse => {
  const outputs = found.map(each => {
    const context = each.context ? `,"context":[${each.context.join(',')}]` : ''
    return `{"beef":[${answerBeef(each).join(',')}],"outputIndex":${voutOf(each.outpoint)}${context}}`
  })
  return { type: JSON_TYPE, body: `{"type":"output-list","outputs":[${outputs.join(',')}]}` }
}

/**
 * The outpoints with their contexts, then one BEEF (V2) for all. A transaction that is opened for one answer, so that
 * its history can be walked, is open in the whole: its proof would end the walk.
 */
const aggregated = (found: readonly AnsweredOutput[]): Uint8Array => {
  const writer = Writer.ofAnySize()
  writer.varint(found.length)
  const merged = new Map<string, BeefTransaction>()
  for (const { outpoint, context, transactions } of found) {
    writer.bytes(txidOf(outpoint).reverse())
    writer.varint(voutOf(outpoint))
    writer.sized(context ?? NOTHING)
    for (const each of transactions) {
      const name = formatTxid(each.txid)
      if (!merged.has(name) || !each.bump) merged.set(name, each)
    }
  }
  writer.bytes(writeBeef({ version: 2, transactions: [...merged.values()] }))
  return writer.finish()
}

const NOTHING = new Uint8Array()

const whyRoute = ({ engine }: Context): Route =>
  route({
    method: 'get',
    path: '/why/:outpoint',
    name: 'why',
    summary: 'Why an output is, or is not, admitted, indexed, spent or waiting.',
    tag: 'overlay',
    params: { outpoint: Outpoint },
    query: { topic: Type.Optional(TopicName) },
    responses: {
      200: {
        description: 'Codes for programs, sentences for people.',
        content: {
          [JSON_TYPE]: Type.Object({
            outpoint: Type.String(),
            reasons: Type.Array(
              Type.Object({
                code: Type.String(),
                message: Type.String(),
                topic: Type.Optional(Type.String()),
                details: Type.Optional(Type.Record(Type.String(), Type.Unknown()))
              })
            )
          })
        }
      }
    },
    handle: async ({ params, query }) => json(await why(engine, parseOutpoint(params.outpoint), query.topic))
  })

const MetaData = Type.Record(
  Type.String(),
  Type.Object({
    name: Type.String(),
    shortDescription: Type.String(),
    iconURL: Type.Optional(Type.String()),
    version: Type.Optional(Type.String()),
    informationURL: Type.Optional(Type.String())
  })
)
const MARKDOWN = 'text/markdown; charset=utf-8'
const UNDOCUMENTED = 'No documentation found!'

const plugins = ({ engine }: Context): Route[] => [
  route({
    method: 'get',
    path: '/listTopicManagers',
    name: 'listTopicManagers',
    summary: 'The topics, by name.',
    tag: 'overlay',
    responses: { 200: { description: 'Name and description of each.', content: { [JSON_TYPE]: MetaData } } },
    handle: async () => json(await engine.topicMetaData())
  }),
  route({
    method: 'get',
    path: '/listLookupServiceProviders',
    name: 'listLookupServiceProviders',
    summary: 'The lookup services, by name.',
    tag: 'overlay',
    responses: { 200: { description: 'Name and description of each.', content: { [JSON_TYPE]: MetaData } } },
    handle: async () => json(await engine.lookupMetaData())
  }),
  route({
    method: 'get',
    path: '/getDocumentationForTopicManager',
    name: 'getDocumentationForTopicManager',
    summary: 'The documentation of a topic.',
    tag: 'overlay',
    query: { manager: Type.Optional(Type.String()) },
    responses: { 200: { description: 'Markdown.', content: { 'text/markdown': Type.String() } } },
    handle: async ({ query: { manager = '' } }) => ({
      type: MARKDOWN,
      body: (await engine.topics.get(manager)?.getDocumentation()) ?? UNDOCUMENTED
    })
  }),
  route({
    method: 'get',
    path: '/getDocumentationForLookupServiceProvider',
    name: 'getDocumentationForLookupServiceProvider',
    summary: 'The documentation of a lookup service.',
    tag: 'overlay',
    query: { lookupService: Type.Optional(Type.String()) },
    responses: { 200: { description: 'Markdown.', content: { 'text/markdown': Type.String() } } },
    handle: async ({ query: { lookupService = '' } }) => ({
      type: MARKDOWN,
      body: (await engine.lookups.get(lookupService)?.getDocumentation()) ?? UNDOCUMENTED
    })
  })
]
