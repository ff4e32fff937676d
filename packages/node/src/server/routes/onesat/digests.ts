/** Digests of token states, by which `quoin verify --against` compares nodes. */
import { MAX_DIGESTED, parseTokenId, type RangeDigest, StoredStates, type TokenDigest } from '@quoin/bsv21'
import { JSON_TYPE, json, type Route, route } from '@quoin/http'
import { formatOutpoint, formatTxid, QuoinError } from '@quoin/primitives'
import { Type } from '@sinclair/typebox'
import { Amount, Txid } from '../../schemas.ts'
import { BASE, NO_TOKEN, type TokenContext, TokenIdText } from './bsv21.ts'

/** Tokens of a page. */
const MAX_TOKENS = 100
const Count = Type.Integer({ minimum: 0 })
const Digest = Type.Union([Type.String(), Type.Null()])

const TokenDigestJson = Type.Object(
  {
    id: Type.String(),
    minted: Amount,
    supply: Amount,
    listed: Amount,
    holders: Count,
    outputs: Type.Integer({ minimum: 0, description: 'Outputs in the topic, spent or not.' }),
    outputsDigest: {
      ...Digest,
      description: 'Null of more outputs than one answer digests: ask for ranges.'
    },
    holdersDigest: Digest,
    pending: Type.Boolean({ description: 'Whether the node still has work on the token.' })
  },
  { $id: 'TokenDigest' }
)
const RangeJson = Type.Object({
  outputs: Count,
  digest: Type.String(),
  next: Type.Union([Type.Number(), Type.Null()], { description: 'The score at which the limit ended it.' }),
  rows: Type.Optional(
    Type.Array(Type.Object({ outpoint: Type.String(), spender: Type.Union([Txid, Type.Null()]) }))
  )
})

export const digestRoutes = (context: TokenContext): Route[] => {
  const states = new StoredStates(context.engine.outputs)
  return [pages(states), ofToken(states), ranges(states)]
}

const pages = (states: StoredStates): Route =>
  route({
    method: 'get',
    path: `${BASE}/digests`,
    name: 'tokenDigests',
    summary: 'Sums of tokens, and digests of their outputs and holders, in the order of token ids.',
    tag: '1sat',
    query: {
      after: Type.Optional(TokenIdText),
      limit: Type.Integer({ minimum: 1, maximum: MAX_TOKENS, default: MAX_TOKENS })
    },
    responses: {
      200: {
        description: 'A page.',
        content: {
          [JSON_TYPE]: Type.Object({ tokens: Type.Array(TokenDigestJson), hasMore: Type.Boolean() })
        }
      }
    },
    async handle({ query: { after, limit } }) {
      const page = await states.page(after === undefined ? undefined : parseTokenId(after), limit)
      return json({ tokens: page.tokens.map(tokenJson), hasMore: page.hasMore })
    }
  })

const ofToken = (states: StoredStates): Route =>
  route({
    method: 'get',
    path: `${BASE}/:token/digest`,
    name: 'tokenDigest',
    summary: 'Sums of a token, and digests of its outputs and holders.',
    tag: '1sat',
    params: { token: TokenIdText },
    responses: {
      200: { description: 'The digest.', content: { [JSON_TYPE]: TokenDigestJson } },
      ...NO_TOKEN
    },
    async handle({ params }) {
      const found = await states.token(parseTokenId(params.token))
      if (found) return json(tokenJson(found))
      throw new QuoinError('ERR_NOT_FOUND', `token ${params.token} is not known`)
    }
  })

const ranges = (states: StoredStates): Route =>
  route({
    method: 'get',
    path: `${BASE}/:token/digests`,
    name: 'tokenRange',
    summary: 'The digest of the outputs of a token in a range of scores, with their spenders.',
    tag: '1sat',
    params: { token: TokenIdText },
    query: {
      from: Type.Number({ minimum: 0, description: 'The least score.' }),
      to: Type.Number({ minimum: 0, description: 'The score after the greatest one.' }),
      limit: Type.Integer({ minimum: 1, maximum: MAX_DIGESTED, default: MAX_DIGESTED }),
      list: Type.Boolean({ default: false, description: 'With the outputs.' })
    },
    responses: { 200: { description: 'The range.', content: { [JSON_TYPE]: RangeJson } } },
    async handle({ params, query: { from, to, limit, list } }) {
      return json(
        rangeJson(await states.range(parseTokenId(params.token), { from, to, limit, isListed: list }))
      )
    }
  })

const tokenJson = ({
  minted,
  supply,
  listed,
  outputsDigest,
  holdersDigest,
  isPending,
  ...rest
}: TokenDigest) => ({
  ...rest,
  minted: minted.toString(),
  supply: supply.toString(),
  listed: listed.toString(),
  outputsDigest: outputsDigest ?? null,
  holdersDigest: holdersDigest ?? null,
  pending: isPending
})

const rangeJson = ({ outputs, digest, next, rows }: RangeDigest) => ({
  outputs,
  digest,
  next: next ?? null,
  ...(rows && {
    rows: rows.map(({ outpoint, spender }) => ({
      outpoint: formatOutpoint(outpoint, '_'),
      spender: spender ? formatTxid(spender) : null
    }))
  })
})
