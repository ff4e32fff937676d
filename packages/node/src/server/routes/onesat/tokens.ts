/** Routes beyond `@1sat/client`: holders of a token, holdings of an address, supply, listings, explanations and live changes. */

import { bsv21Events, type Holder, parseTokenId, queueOfToken, topicOf } from '@quoin/bsv21'
import { Cursor, JSON_TYPE, json, type Route, route } from '@quoin/http'
import { why } from '@quoin/overlay'
import { formatOutpoint, parseOutpoint } from '@quoin/primitives'
import { type Bsv21Data, decodeOrdLock, type LiveChange } from '@quoin/txo'
import { Type } from '@sinclair/typebox'
import { Position, streamOf } from '../../journal-stream.ts'
import { Address, Amount, Outpoint as OutpointText } from '../../schemas.ts'
import {
  BASE,
  knownToken,
  NO_TOKEN,
  StatusJson,
  statusJson,
  type TokenContext,
  TokenIdText,
  TokenJson,
  tokenJson
} from './bsv21.ts'
import { answerWith, CompletenessJson, PendingJson, WithCompleteness } from './completeness.ts'
import { tokenProofRoutes } from './token-proofs.ts'

export const tokenRoutes = (context: TokenContext): Route[] => [
  search(context),
  status(context),
  supply(context),
  holders(context),
  holdings(context),
  listings(context),
  whyOf(context),
  ...tokenProofRoutes(context),
  following(context)
]

const params = { token: TokenIdText }
const search = ({ tokens, limits }: TokenContext): Route =>
  route({
    method: 'get',
    path: `${BASE}/tokens`,
    name: 'tokens',
    summary:
      'Tokens in the order of deployment, or by the beginning of their symbols in the order of the symbols.',
    tag: '1sat',
    query: {
      sym: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
      limit: Type.Integer({ minimum: 1, maximum: limits.page, default: limits.defaultPage }),
      cursor: Type.Optional(Type.String())
    },
    responses: {
      200: {
        description: 'A page.',
        content: { [JSON_TYPE]: Type.Object({ tokens: Type.Array(TokenJson), cursor: Cursor }) }
      }
    },
    async handle({ query: { sym, limit, cursor } }) {
      const page = { limit, cursor }
      const found = await (sym === undefined ? tokens.all(page) : tokens.bySymbol(sym, page))
      return json({ tokens: found.tokens.map(tokenJson), cursor: found.cursor ?? null })
    }
  })

const status = (context: TokenContext): Route =>
  route({
    method: 'get',
    path: `${BASE}/:token/status`,
    name: 'tokenStatus',
    summary: 'Whether a token is indexed and why, and its pending transactions.',
    tag: '1sat',
    params,
    responses: {
      200: {
        description: 'The status.',
        content: {
          [JSON_TYPE]: Type.Composite([
            StatusJson,
            Type.Object({ discovered: Type.Boolean(), queue: PendingJson }),
            WithCompleteness
          ])
        }
      }
    },
    handle({ params: { token } }) {
      const id = parseTokenId(token)
      return answerWith(context, id, async () => {
        const [known, found, { age: _, ...queue }] = await Promise.all([
          context.tokens.token(id),
          context.node.activation.status(id),
          queueOfToken(context.engine.outputs.store, id).stats()
        ])
        return { ...statusJson(id, found), discovered: known !== undefined, queue }
      })
    }
  })

const supply = (context: TokenContext): Route =>
  route({
    method: 'get',
    path: `${BASE}/:token/supply`,
    name: 'tokenSupply',
    summary:
      'Minted, existing and burned amounts of a token; of the existing amount, the parts for sale and under contracts.',
    tag: '1sat',
    params,
    responses: {
      200: {
        description: 'Exact amounts.',
        content: {
          [JSON_TYPE]: Type.Object({
            minted: Amount,
            supply: Amount,
            burned: Amount,
            listed: Amount,
            ltm: Amount,
            pow20: Amount,
            holders: Type.Integer(),
            listings: Type.Integer(),
            completeness: CompletenessJson
          })
        }
      },
      ...NO_TOKEN
    },
    handle({ params: { token } }) {
      return answerWith(context, parseTokenId(token), async () => {
        const { id } = await knownToken(context, token)
        const { holders: count, listings: offers, ...amounts } = await context.tokens.totals(id)
        const texts = Object.entries(amounts).map(([name, amount]) => [name, amount.toString()])
        return { ...Object.fromEntries(texts), holders: count, listings: offers }
      })
    }
  })

const Locks = Type.Record(Type.String(), Type.Object({ amount: Amount, outputs: Type.Integer() }), {
  description: 'The amounts, by lock.'
})
const locksJson = (locks: Holder['locks']) =>
  Object.fromEntries(
    Object.entries(locks).map(([lock, { amount, outputs }]) => [lock, { amount: amount.toString(), outputs }])
  )

/** The query of a page. */
const paging = ({ limits }: TokenContext) => ({
  limit: Type.Integer({ minimum: 1, maximum: limits.page, default: limits.defaultPage }),
  cursor: Type.Optional(Type.String())
})

const holdings = (context: TokenContext): Route =>
  route({
    method: 'get',
    path: '/1sat/owner/:address/tokens',
    name: 'holdings',
    summary: 'The balances of all tokens at an address, in the order of token ids.',
    tag: '1sat',
    params: { address: Address },
    query: paging(context),
    responses: {
      200: {
        description:
          'A page. With a cursor it may still have few tokens or none, when the address has spent many.',
        content: {
          [JSON_TYPE]: Type.Object({
            tokens: Type.Array(
              Type.Object({
                id: Type.String(),
                sym: Type.Optional(Type.String()),
                dec: Type.Integer(),
                icon: Type.Optional(Type.String()),
                amount: Amount,
                locks: Locks
              })
            ),
            cursor: Cursor,
            completeness: CompletenessJson
          })
        }
      }
    },
    handle({ params: { address }, query }) {
      return answerWith(context, undefined, async () => {
        const page = await context.tokens.holdings(address, query)
        const known = await context.tokens.tokens(page.holdings.map(({ id }) => id))
        return {
          tokens: page.holdings.map(({ id, amount, locks }, i) => {
            const { sym, dec = 0, icon } = known[i] ?? {}
            return {
              id,
              ...(sym !== undefined && { sym }),
              dec,
              ...(icon !== undefined && { icon }),
              amount: amount.toString(),
              locks: locksJson(locks)
            }
          }),
          cursor: page.cursor ?? null
        }
      })
    }
  })

const holders = (context: TokenContext): Route =>
  route({
    method: 'get',
    path: `${BASE}/:token/holders`,
    name: 'tokenHolders',
    summary: 'The holders of a token, the largest first.',
    tag: '1sat',
    params,
    query: paging(context),
    responses: {
      200: {
        description: 'A page.',
        content: {
          [JSON_TYPE]: Type.Object({
            holders: Type.Array(
              Type.Object({
                address: Type.String(),
                amount: Amount,
                locks: Locks
              })
            ),
            cursor: Cursor,
            completeness: CompletenessJson
          })
        }
      },
      ...NO_TOKEN
    },
    handle({ params: { token }, query }) {
      return answerWith(context, parseTokenId(token), async () => {
        const { id } = await knownToken(context, token)
        const page = await context.tokens.holders(id, query)
        return {
          holders: page.holders.map(({ address, amount, locks }) => ({
            address,
            amount: amount.toString(),
            locks: locksJson(locks)
          })),
          cursor: page.cursor ?? null
        }
      })
    }
  })

const listings = (context: TokenContext): Route =>
  route({
    method: 'get',
    path: `${BASE}/:token/listings`,
    name: 'tokenListings',
    summary: 'The listings of a token, with their prices in satoshis.',
    tag: '1sat',
    params,
    query: paging(context),
    responses: {
      200: {
        description: 'A page.',
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
            cursor: Cursor,
            completeness: CompletenessJson
          })
        }
      },
      ...NO_TOKEN
    },
    handle({ params: { token }, query }) {
      return answerWith(context, parseTokenId(token), async () => {
        const { id } = await knownToken(context, token)
        const page = await context.engine.outputs.searchOutputs({
          keys: [bsv21Events.types.list.text(id)],
          filterSpent: true,
          ...query,
          includeOutput: true,
          includeTags: ['bsv21']
        })
        return {
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
        }
      })
    }
  })

const whyOf = ({ engine }: TokenContext): Route =>
  route({
    method: 'get',
    path: `${BASE}/:token/why/:outpoint`,
    name: 'tokenWhy',
    summary: 'Why an output is a good output of a token, or is not.',
    tag: '1sat',
    params: { token: TokenIdText, outpoint: OutpointText },
    responses: { 200: { description: 'Codes and sentences.', content: { [JSON_TYPE]: Type.Unknown() } } },
    handle: async ({ params: { token, outpoint } }) =>
      json(await why(engine, parseOutpoint(outpoint), topicOf(parseTokenId(token))))
  })

const following = (context: TokenContext): Route =>
  route({
    method: 'get',
    path: `${BASE}/:token/live`,
    name: 'liveToken',
    summary:
      'Changes of a token as they are committed, as server-sent events: `saved`, `moved` and `removed`, each with the outputs of the token that are made and spent by it.',
    tag: '1sat',
    params,
    query: { after: Type.Optional(Position) },
    headers: { 'last-event-id': Type.Optional(Position) },
    responses: {
      200: { description: 'A stream of events.', content: { 'text/event-stream': Type.String() } },
      410: { description: 'The journal no longer has the position.' }
    },
    handle({ params: { token }, query: { after }, headers }) {
      const topic = topicOf(parseTokenId(token))
      return streamOf(context, headers['last-event-id'] ?? after, {
        topics: [topic],
        describe: change => describeChange(change, topic)
      })
    }
  })

type ChangedOutput = LiveChange['outputs'][number]

const isOrWasIn = ({ topics, left = [] }: ChangedOutput, topic: string): boolean =>
  topics.includes(topic) || left.includes(topic)

const describeChange = ({ kind, txid, score, outputs, spends }: LiveChange, topic: string): object => {
  const made = outputs.filter(output => isOrWasIn(output, topic))
  const spent = spends.filter(({ topics }) => topics.includes(topic))
  return {
    kind,
    txid,
    score,
    outputs: made.map(({ vout, events }) => ({ outpoint: `${txid}_${vout}`, events })),
    spends: spent.map(({ outpoint, events }) => ({ outpoint: outpoint.replace('.', '_'), events }))
  }
}
