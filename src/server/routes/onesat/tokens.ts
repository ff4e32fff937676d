/** Beyond what `@1sat/client` asks for: who has a token, what there is of it, what is for sale, why, and changes as they come. */
import { Type } from '@sinclair/typebox'
import { bsv21Events, parseTokenId, queueOfToken, type Token, topicOf } from '../../../bsv21/index.ts'
import { formatOutpoint, parseOutpoint, type TokenId } from '../../../keyspace/index.ts'
import { why } from '../../../overlay/index.ts'
import { type Bsv21Data, decodeOrdLock, type LiveChange, type OutputStore } from '../../../txo/index.ts'
import { JSON_TYPE, json, type Route, route } from '../../route.ts'
import { Amount, Outpoint as OutpointText } from '../../schemas.ts'
import { Position, streamOf } from '../../stream.ts'
import {
  BASE,
  knownToken,
  NO_TOKEN,
  StatusJson,
  statusJson,
  type TokenContext,
  TokenIdText,
  tokenJson
} from './bsv21.ts'

export const tokenRoutes = (context: TokenContext): Route[] => [
  search(context),
  status(context),
  supply(context),
  holders(context),
  listings(context),
  whyOf(context),
  following(context)
]

const params = { token: TokenIdText }
const Cursor = Type.Union([Type.String(), Type.Null()], {
  description: 'For the next page; null when there is none.'
})
/** Tokens of a symbol, or of several that begin alike. */
const MAX_FOUND = 100

const search = ({ engine: { outputs }, tokens, limits }: TokenContext): Route =>
  route({
    method: 'get',
    path: `${BASE}/tokens`,
    name: 'tokens',
    about: 'Tokens in the order in which they were deployed, or those whose symbols begin with a text.',
    family: '1sat',
    query: {
      sym: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
      limit: Type.Integer({ minimum: 1, maximum: Math.min(MAX_FOUND, limits.page), default: MAX_FOUND }),
      cursor: Type.Optional(Type.String())
    },
    answers: {
      200: {
        about: 'A page. By symbol there is one page only.',
        content: { [JSON_TYPE]: Type.Object({ tokens: Type.Array(Type.Unknown()), cursor: Cursor }) }
      }
    },
    async handle({ query: { sym, limit, cursor } }) {
      const keys = sym === undefined ? ['tp:tm_bsv21'] : await symbolsLike(outputs, sym)
      if (keys.length === 0) return json({ tokens: [], cursor: null })
      const page = await outputs.search({ keys, limit, ...(cursor !== undefined && { cursor }) })
      const ids = page.rows.map(({ outpoint }) => formatOutpoint(outpoint, '_') as TokenId)
      const found = (await tokens.tokens(ids)).filter((each): each is Token => each !== undefined)
      return json({ tokens: found.map(tokenJson), cursor: page.cursor ?? null })
    }
  })

/** The events of symbols that begin with a text, the first in their order. */
const symbolsLike = async ({ store }: OutputStore, text: string): Promise<string[]> => {
  const prefix = bsv21Events.types.sym.index.encode(text)
  const keys = await store.zkeys(prefix)
  const events = keys.map(key => Buffer.from(key.subarray(KEY_PREFIX)).toString())
  return events.filter(event => !event.endsWith(':spnd')).slice(0, MAX_FOUND)
}
/** An event is what its key is without `z:`. */
const KEY_PREFIX = 2

const Queue = Type.Object({
  due: Type.Integer(),
  leased: Type.Integer(),
  waiting: Type.Integer(),
  dead: Type.Integer()
})

const status = (context: TokenContext): Route =>
  route({
    method: 'get',
    path: `${BASE}/:token/status`,
    name: 'tokenStatus',
    about: 'Whether a token is indexed and why, and what waits to be.',
    family: '1sat',
    params,
    answers: {
      200: {
        about: 'The status.',
        content: {
          [JSON_TYPE]: Type.Composite([StatusJson, Type.Object({ discovered: Type.Boolean(), queue: Queue })])
        }
      }
    },
    async handle({ params: { token } }) {
      const id = parseTokenId(token)
      const [known, found, { age: _, ...queue }] = await Promise.all([
        context.tokens.token(id),
        context.node.activation.status(id),
        queueOfToken(context.engine.outputs.store, id).stats()
      ])
      return json({ ...statusJson(id, found), discovered: known !== undefined, queue })
    }
  })

const supply = (context: TokenContext): Route =>
  route({
    method: 'get',
    path: `${BASE}/:token/supply`,
    name: 'tokenSupply',
    about:
      'What was minted of a token, what there is, and what was burned; of what there is, what is for sale or under a contract.',
    family: '1sat',
    params,
    answers: {
      200: {
        about: 'Exact amounts.',
        content: {
          [JSON_TYPE]: Type.Object({
            minted: Amount,
            supply: Amount,
            burned: Amount,
            listed: Amount,
            ltm: Amount,
            pow20: Amount,
            holders: Type.Integer(),
            listings: Type.Integer()
          })
        }
      },
      ...NO_TOKEN
    },
    async handle({ params: { token } }) {
      const { id } = await knownToken(context, token)
      const { holders: count, listings: offers, ...amounts } = await context.tokens.totals(id)
      const texts = Object.entries(amounts).map(([name, amount]) => [name, amount.toString()])
      return json({ ...Object.fromEntries(texts), holders: count, listings: offers })
    }
  })

const holders = (context: TokenContext): Route =>
  route({
    method: 'get',
    path: `${BASE}/:token/holders`,
    name: 'tokenHolders',
    about: 'Who has a token, the one with the most first.',
    family: '1sat',
    params,
    query: {
      limit: Type.Integer({ minimum: 1, maximum: context.limits.page, default: context.limits.defaultPage }),
      cursor: Type.Optional(Type.String())
    },
    answers: {
      200: {
        about: 'A page.',
        content: {
          [JSON_TYPE]: Type.Object({
            holders: Type.Array(
              Type.Object({
                address: Type.String(),
                amount: Amount,
                locks: Type.Record(Type.String(), Type.Object({ amount: Amount, outputs: Type.Integer() }))
              })
            ),
            cursor: Cursor
          })
        }
      },
      ...NO_TOKEN
    },
    async handle({ params: { token }, query }) {
      const { id } = await knownToken(context, token)
      const page = await context.tokens.holders(id, query)
      return json({
        holders: page.holders.map(({ address, amount, locks }) => ({
          address,
          amount: amount.toString(),
          locks: Object.fromEntries(
            Object.entries(locks).map(([lock, held]) => [
              lock,
              { amount: held.amount.toString(), outputs: held.outputs }
            ])
          )
        })),
        cursor: page.cursor ?? null
      })
    }
  })

const listings = (context: TokenContext): Route =>
  route({
    method: 'get',
    path: `${BASE}/:token/listings`,
    name: 'tokenListings',
    about: 'What of a token is for sale, and for how many satoshis.',
    family: '1sat',
    params,
    query: {
      limit: Type.Integer({ minimum: 1, maximum: context.limits.page, default: context.limits.defaultPage }),
      cursor: Type.Optional(Type.String())
    },
    answers: {
      200: {
        about: 'A page.',
        content: {
          [JSON_TYPE]: Type.Object({
            listings: Type.Array(
              Type.Object({
                outpoint: Type.String(),
                score: Type.Number(),
                seller: Type.String(),
                amount: Amount,
                price: Type.Integer({ description: 'For all of it.' })
              })
            ),
            cursor: Cursor
          })
        }
      },
      ...NO_TOKEN
    },
    async handle({ params: { token }, query }) {
      const { id } = await knownToken(context, token)
      const page = await context.engine.outputs.searchOutputs({
        keys: [bsv21Events.types.list.text(id)],
        filterSpent: true,
        ...query,
        includeOutput: true,
        includeTags: ['bsv21']
      })
      return json({
        listings: page.rows.flatMap(({ outpoint, score, output, data }) => {
          const offer = output && decodeOrdLock(output.script)
          if (!offer) return []
          const { amt } = data!['bsv21'] as Bsv21Data
          return {
            outpoint: formatOutpoint(outpoint, '_'),
            score,
            seller: offer.seller,
            amount: amt,
            price: offer.price
          }
        }),
        cursor: page.cursor ?? null
      })
    }
  })

const whyOf = ({ engine }: TokenContext): Route =>
  route({
    method: 'get',
    path: `${BASE}/:token/why/:outpoint`,
    name: 'tokenWhy',
    about: 'Why an output is a good output of a token, or is not.',
    family: '1sat',
    params: { token: TokenIdText, outpoint: OutpointText },
    answers: { 200: { about: 'Codes and sentences.', content: { [JSON_TYPE]: Type.Unknown() } } },
    handle: async ({ params: { token, outpoint } }) =>
      json(await why(engine, parseOutpoint(outpoint), topicOf(parseTokenId(token))))
  })

const following = (context: TokenContext): Route =>
  route({
    method: 'get',
    path: `${BASE}/:token/live`,
    name: 'liveToken',
    about:
      'Changes of a token as they are committed, as server-sent events: `saved`, `moved` and `removed`, each with the outputs of the token that are made and spent by it.',
    family: '1sat',
    params,
    query: { after: Type.Optional(Position) },
    headers: { 'last-event-id': Type.Optional(Position) },
    answers: {
      200: { about: 'A stream of events.', content: { 'text/event-stream': Type.String() } },
      410: { about: 'The position is no longer there.' }
    },
    handle({ params: { token }, query: { after }, headers }) {
      const topic = topicOf(parseTokenId(token))
      return streamOf(context, headers['last-event-id'] ?? after, change => told(change, topic))
    }
  })

const told = ({ kind, txid, score, outputs, spends }: LiveChange, topic: string): object | undefined => {
  const made = outputs.filter(({ topics, left = [] }) => topics.includes(topic) || left.includes(topic))
  const spent = spends.filter(({ topics }) => topics.includes(topic))
  if (made.length + spent.length === 0) return undefined
  return {
    kind,
    txid,
    score,
    outputs: made.map(({ vout, events }) => ({ outpoint: `${txid}_${vout}`, events })),
    spends: spent.map(({ outpoint, events }) => ({ outpoint: outpoint.replace('.', '_'), events }))
  }
}
