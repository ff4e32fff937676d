/** Outputs by outpoint, by transaction and by events, as the 1Sat API has them. */

import { JSON_TYPE, json, type Route, route } from '@quoin/http'
import { formatTxid, type Outpoint, parseOutpoint, parseTxid } from '@quoin/primitives'
import { Type } from '@sinclair/typebox'
import type { Context } from '../../context.ts'
import { Outpoint as OutpointText, Txid } from '../../schemas.ts'
import { outputHandlers } from '../output-handlers.ts'
import { IndexedOutput, Key, keysOf, ONE_SAT, wanted } from './indexed-output.ts'

const Spend = Type.Object({ spendTxid: Type.Union([Txid, Type.Null()]) })
const Found = { 200: { description: 'Outputs.', content: { [JSON_TYPE]: Type.Array(IndexedOutput) } } }

/** Outpoints in one question. */
const MAX_OUTPOINTS = 1000
const Outpoints = Type.Array(Type.String({ maxLength: 100 }), { maxItems: MAX_OUTPOINTS })

export const oneSatTxoRoutes = (context: Context): Route[] => [
  search(context),
  byTransaction(context),
  ...byOutpoint(context),
  ...byOutpoints(context)
]

const search = ({ engine: { outputs }, limits }: Context): Route =>
  route({
    method: 'get',
    path: '/1sat/txo/search',
    name: 'oneSatSearch',
    summary: 'Outputs with any of these events, in the order of their scores.',
    tag: '1sat',
    query: {
      key: Key,
      from: Type.Optional(Type.Number({ description: 'The least score.' })),
      to: Type.Optional(Type.Number({ description: 'The greatest score.' })),
      limit: Type.Integer({ minimum: 1, maximum: limits.page, default: limits.defaultPage }),
      rev: Type.Boolean({ default: false, description: 'The greatest score first.' }),
      unspent: Type.Boolean({ default: false, description: 'Unspent outputs only.' }),
      ...wanted()
    },
    responses: Found,
    async handle({ query: { key, from, to, limit, rev, unspent, ...fields } }) {
      const search = {
        keys: keysOf(outputs, key),
        limit,
        reverse: rev,
        filterSpent: unspent,
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to })
      }
      return json((await outputHandlers(outputs, ONE_SAT).search(search, fields)).outputs)
    }
  })

const byTransaction = ({ engine: { outputs } }: Context): Route =>
  route({
    method: 'get',
    path: '/1sat/txo/tx/:txid',
    name: 'oneSatOutputsOfTransaction',
    summary: 'The outputs of a transaction, in order; none when it is not known.',
    tag: '1sat',
    params: { txid: Txid },
    query: wanted({ spend: true }),
    responses: Found,
    handle: async ({ params, query }) =>
      json(await outputHandlers(outputs, ONE_SAT).ofTransaction(parseTxid(params.txid), query))
  })

const byOutpoint = ({ engine: { outputs } }: Context): Route[] => [
  route({
    method: 'get',
    path: '/1sat/txo/:outpoint',
    name: 'oneSatOutput',
    summary: 'One output.',
    tag: '1sat',
    params: { outpoint: OutpointText },
    query: wanted({ spend: true }),
    responses: {
      200: { description: 'The output.', content: { [JSON_TYPE]: IndexedOutput } },
      404: { description: 'It is not known.' }
    },
    handle: async ({ params, query }) =>
      json(await outputHandlers(outputs, ONE_SAT).output(params.outpoint, query))
  }),
  route({
    method: 'get',
    path: '/1sat/txo/:outpoint/spend',
    name: 'oneSatSpend',
    summary: 'The spender of an output; null when none is known.',
    tag: '1sat',
    params: { outpoint: OutpointText },
    responses: { 200: { description: 'The transaction.', content: { [JSON_TYPE]: Spend } } },
    async handle({ params }) {
      const [spender] = await outputs.spends([parseOutpoint(params.outpoint)])
      return json({ spendTxid: spender ? formatTxid(spender) : null })
    }
  })
]

/** Results are in the order of the request; a malformed outpoint gets the result of an unknown one. */
const byOutpoints = ({ engine: { outputs } }: Context): Route[] => [
  route({
    method: 'post',
    path: '/1sat/txo/outpoints',
    name: 'oneSatOutputs',
    summary: 'Outputs; null for one that is not known.',
    tag: '1sat',
    query: wanted({ spend: true }),
    body: Outpoints,
    responses: {
      200: {
        description: 'In the order asked.',
        content: { [JSON_TYPE]: Type.Array(Type.Union([IndexedOutput, Type.Null()])) }
      }
    },
    async handle({ query, body }) {
      const { known, placed } = parsedOf(body)
      return json(placed(await outputHandlers(outputs, ONE_SAT).outputs(known, query)))
    }
  }),
  route({
    method: 'post',
    path: '/1sat/txo/spends',
    name: 'oneSatSpends',
    summary: 'The spenders of outputs.',
    tag: '1sat',
    body: Outpoints,
    responses: { 200: { description: 'In the order asked.', content: { [JSON_TYPE]: Type.Array(Spend) } } },
    async handle({ body }) {
      const { known, placed } = parsedOf(body)
      const found = placed(await outputs.spends(known))
      return json(found.map(spender => ({ spendTxid: spender ? formatTxid(spender) : null })))
    }
  })
]

const parsedOf = (texts: readonly string[]) => {
  const parsed = texts.map(outpointOf)
  const known = parsed.filter(each => each !== undefined)
  return {
    known,
    placed: <T>(answers: readonly (T | null)[]): (T | null)[] => {
      const left = answers.values()
      return parsed.map(each => (each ? (left.next().value as T | null) : null))
    }
  }
}

const outpointOf = (text: string): Outpoint | undefined => {
  try {
    return parseOutpoint(text)
  } catch {
    return undefined
  }
}
