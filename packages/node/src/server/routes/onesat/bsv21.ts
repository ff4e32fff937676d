/** Tokens as the 1Sat API has them: the routes of `@1sat/client` under `/1sat/bsv21`, with exact amounts beside its numbers. */

import {
  HOLDER_LOCKS,
  type HolderLock,
  parseTokenId,
  type Token,
  type TokenStatus,
  Tokens,
  topicOf
} from '@quoin/bsv21'
import { JSON_TYPE, json, type Route, route } from '@quoin/http'
import {
  formatTxid,
  makeOutpoint,
  type Outpoint,
  parseOutpoint,
  parseTxid,
  QuoinError,
  type TokenId,
  type Txid,
  voutOf
} from '@quoin/primitives'
import type { LoadedOutput } from '@quoin/txo'
import { type TString, Type } from '@sinclair/typebox'
import type { Context } from '../../context.ts'
import { Address, Amount, Outpoint as OutpointText, Txid as TxidText } from '../../schemas.ts'
import type { NodeTokens } from '../../tokens.ts'
import { answerWith, answerWithList, CompletenessJson, WithCompleteness } from './completeness.ts'
import { IndexedOutput, indexedOutput, loadOptions, wanted } from './indexed-output.ts'

/** The context of the token routes. */
export interface TokenContext extends Context {
  readonly tokens: Tokens
  readonly node: NodeTokens
}

/** Undefined when the node has no tokens. */
export const tokenContext = (context: Context): TokenContext | undefined => {
  const { tokens: node } = context.options
  return node && { ...context, node, tokens: new Tokens(context.engine.outputs) }
}

export const oneSatTokenRoutes = (context: TokenContext): Route[] => [
  lookup(context, 'lookup', 'oneSatTokens'),
  // The path of newer clients.
  lookup(context, 'tokens', 'oneSatTokensOf'),
  details(context),
  ofTransaction(context),
  ...validations(context),
  ...balances(context),
  ...outputsOf(context, 'unspent'),
  ...outputsOf(context, 'history')
]

export const TokenIdText: TString = {
  ...OutpointText,
  description: 'The outpoint of the deployment: `txid_vout`.'
}
export const NO_TOKEN = { 404: { description: 'No deployment of the token is known.' } }
export const BASE = '/1sat/bsv21'
const MAX_TOKENS = 100
const MAX_ADDRESSES = 100
export const MAX_OUTPOINTS = 1000

export const TokenJson = Type.Object({
  id: Type.String(),
  op: Type.String(),
  amt: Amount,
  sym: Type.Optional(Type.String()),
  dec: Type.Integer(),
  icon: Type.Optional(Type.String()),
  encoding: Type.Union([Type.Literal('json'), Type.Literal('binary')], {
    description: 'The form of the deployment: an inscription (BRC-161), or pushed fields (BRC-162).'
  })
})
export const StatusJson = Type.Object({
  token_id: Type.String(),
  is_active: Type.Boolean(),
  reason: Type.String({ description: 'Why it is active, or not.' }),
  balance: Type.Integer({ description: 'Satoshis that are left of the credits.' }),
  credits: Type.Integer(),
  debits: Type.Integer(),
  output_count: Type.Integer(),
  fee_per_output: Type.Integer(),
  fee_address: Type.String({ description: 'Empty when nothing can be paid for.' }),
  is_whitelisted: Type.Boolean(),
  is_blacklisted: Type.Boolean()
})
const Details = Type.Object(
  { tokenId: Type.String(), token: TokenJson, status: StatusJson },
  { $id: 'TokenDetails' }
)
const DetailsWithCompleteness = Type.Composite([Details, WithCompleteness])

export const tokenJson = ({ id, op, amt, sym, dec, icon, encoding }: Token) => ({
  id,
  op,
  amt: amt.toString(),
  ...(sym !== undefined && { sym }),
  dec,
  ...(icon !== undefined && { icon }),
  encoding
})

export const statusJson = (id: TokenId, status: TokenStatus) => ({
  token_id: id,
  is_active: status.isActive,
  reason: status.reason,
  balance: Number(status.balance),
  credits: Number(status.credits),
  debits: Number(status.debits),
  output_count: status.outputs,
  fee_per_output: Number(status.feePerOutput),
  fee_address: status.feeAddress ?? '',
  is_whitelisted: status.isWhitelisted,
  is_blacklisted: status.isBlacklisted
})

const detailsOf = async ({ node }: TokenContext, token: Token) => ({
  tokenId: token.id,
  token: tokenJson(token),
  status: statusJson(token.id, await node.activation.status(token.id))
})

/** Refused when no deployment of it is known. */
export const knownToken = async ({ tokens }: TokenContext, text: string): Promise<Token> => {
  const token = await tokens.token(parseTokenId(text))
  if (token) return token
  throw new QuoinError('ERR_NOT_FOUND', `token ${text} is not known`)
}

const lookup = (context: TokenContext, path: string, name: string): Route =>
  route({
    method: 'post',
    path: `${BASE}/${path}`,
    name,
    summary: 'Tokens by their ids; unknown ones are left out.',
    tag: '1sat',
    body: Type.Array(TokenIdText, { maxItems: MAX_TOKENS }),
    responses: { 200: { description: 'The known tokens.', content: { [JSON_TYPE]: Type.Array(Details) } } },
    async handle({ body }) {
      return answerWithList(context, undefined, async () => {
        const found = await context.tokens.tokens(body.map(parseTokenId))
        const known = found.filter(each => each !== undefined)
        return json(await Promise.all(known.map(each => detailsOf(context, each))))
      })
    }
  })

const details = (context: TokenContext): Route =>
  route({
    method: 'get',
    path: `${BASE}/:token`,
    name: 'oneSatToken',
    summary: 'A token as it was deployed, and whether it is indexed.',
    tag: '1sat',
    params: { token: TokenIdText },
    responses: {
      200: { description: 'The token.', content: { [JSON_TYPE]: DetailsWithCompleteness } },
      ...NO_TOKEN
    },
    handle: ({ params }) =>
      answerWith(context, parseTokenId(params.token), async () =>
        detailsOf(context, await knownToken(context, params.token))
      )
  })

const Side = Type.Object({
  txid: Type.Optional(TxidText),
  vout: Type.Integer(),
  data: Type.Record(Type.String(), Type.Unknown()),
  spend: Type.Optional(TxidText)
})

const ofTransaction = (context: TokenContext): Route =>
  route({
    method: 'get',
    path: `${BASE}/:token/tx/:txid`,
    name: 'oneSatTokenTransaction',
    summary: 'The valid outputs of a token that a transaction spends and creates.',
    tag: '1sat',
    params: { token: TokenIdText, txid: TxidText },
    query: {
      beef: Type.Boolean({ default: false, description: 'With the transaction as BEEF, in base64.' })
    },
    responses: {
      200: {
        description: 'Inputs and outputs.',
        content: {
          [JSON_TYPE]: Type.Object({
            txid: TxidText,
            inputs: Type.Array(Side),
            outputs: Type.Array(Side),
            beef: Type.Optional(Type.String()),
            block_height: Type.Optional(Type.Integer()),
            completeness: CompletenessJson
          })
        }
      },
      404: { description: 'It does nothing with the token, or is not known.' }
    },
    handle({ params, query }) {
      const { outputs } = context.engine
      const token = parseTokenId(params.token)
      return answerWith(context, token, async () => {
        const txid = parseTxid(params.txid)
        const [transaction, record] = await Promise.all([
          outputs.transactions.get(txid),
          outputs.record(txid)
        ])
        const spent = (transaction?.inputs ?? []).map(input => makeOutpoint(input.txid, input.vout))
        const made = (transaction?.outputs ?? []).map((_, vout) => makeOutpoint(txid, vout))
        const [inputs, good] = await Promise.all([
          inToken(context, token, spent),
          inToken(context, token, made)
        ])
        if (inputs.length + good.length === 0) {
          throw new QuoinError('ERR_NOT_FOUND', `nothing of token ${token} is in transaction ${params.txid}`)
        }
        return {
          txid: formatTxid(txid),
          inputs: inputs.map(sideJson),
          outputs: good.map(({ spend, ...rest }) => ({
            ...sideJson(rest),
            ...(spend && { spend: formatTxid(spend) })
          })),
          ...(query.beef && { beef: Buffer.from(await outputs.transactions.beef(txid)).toString('base64') }),
          ...(record?.position && { block_height: record.position.height })
        }
      })
    }
  })

const sideJson = ({ outpoint, data = {} }: LoadedOutput) => ({
  txid: formatTxid(outpoint.slice(0, 32) as Txid),
  vout: voutOf(outpoint),
  data
})

/** The outputs that the token's topic admitted. */
const inToken = async (
  { engine: { outputs } }: TokenContext,
  token: TokenId,
  outpoints: readonly Outpoint[]
): Promise<LoadedOutput[]> => {
  const options = { includeTopics: true, includeSpend: true, includeTags: ['bsv21'] }
  const loaded = await outputs.loadOutputs(outpoints, options)
  const topic = topicOf(token)
  return loaded.filter(each => each !== null).filter(({ topics }) => topics!.includes(topic))
}

const validations = (context: TokenContext): Route[] => {
  const find = async (
    token: TokenId,
    outpoints: readonly Outpoint[],
    { unspent, ...rest }: Parameters<typeof loadOptions>[0] & { readonly unspent: boolean }
  ): Promise<LoadedOutput[]> => {
    const { outputs } = context.engine
    const options = { ...loadOptions(rest), includeTopics: true }
    const [loaded, spenders] = await Promise.all([
      outputs.loadOutputs(outpoints, options),
      unspent ? outputs.spends(outpoints) : []
    ])
    const topic = topicOf(token)
    return loaded.flatMap((each, i) => (each?.topics?.includes(topic) && !spenders[i] ? [each] : []))
  }
  const query = {
    unspent: Type.Boolean({ default: false, description: 'Unspent outputs only.' }),
    ...wanted()
  }
  return [
    route({
      method: 'post',
      path: `${BASE}/:token/outputs`,
      name: 'oneSatValidOutputs',
      summary: 'The valid outputs of the token among the given outputs.',
      tag: '1sat',
      params: { token: TokenIdText },
      query,
      body: Type.Array(OutpointText, { maxItems: MAX_OUTPOINTS }),
      responses: {
        200: { description: 'The good ones.', content: { [JSON_TYPE]: Type.Array(IndexedOutput) } }
      },
      handle({ params, query: rest, body }) {
        const token = parseTokenId(params.token)
        return answerWithList(context, token, async () =>
          json((await find(token, body.map(parseOutpoint), rest)).map(indexedOutput))
        )
      }
    }),
    route({
      method: 'get',
      path: `${BASE}/:token/outputs/:outpoint`,
      name: 'oneSatValidOutput',
      summary: 'An output, if it is a good output of the token.',
      tag: '1sat',
      params: { token: TokenIdText, outpoint: OutpointText },
      query,
      responses: {
        200: { description: 'It is.', content: { [JSON_TYPE]: IndexedOutput } },
        404: { description: 'It is not.' }
      },
      async handle({ params, query: rest }) {
        const token = parseTokenId(params.token)
        return answerWithList(context, token, async () => {
          const [found] = await find(token, [parseOutpoint(params.outpoint)], rest)
          if (found) return json(indexedOutput(found))
          const message = `${params.outpoint} is not a valid output of token ${params.token}`
          throw new QuoinError('ERR_NOT_FOUND', message)
        })
      }
    })
  ]
}

const Lock = Type.Union(
  HOLDER_LOCKS.map(lock => Type.Literal(lock)),
  { description: 'The lock of the outputs: a key, a key and a cosigner, or an offer to sell.' }
)
const Addresses = Type.Array(Address, { minItems: 1, maxItems: MAX_ADDRESSES })

const balances = (context: TokenContext): Route[] => {
  const answer = (text: string, lock: HolderLock, addresses: readonly string[]) => {
    const token = parseTokenId(text)
    return answerWith(context, token, async () => {
      const { amount, outputs } = await context.tokens.balance(token, lock, addresses)
      return { balance: Number(amount), utxoCount: outputs, amount: amount.toString() }
    })
  }
  const responses = {
    200: {
      description: 'The balance as a number, which may be too large to be exact, and as text, which is.',
      content: {
        [JSON_TYPE]: Type.Object({
          balance: Type.Number(),
          utxoCount: Type.Integer(),
          amount: Amount,
          completeness: CompletenessJson
        })
      }
    }
  }
  return [
    route({
      method: 'get',
      path: `${BASE}/:token/:lock/:address/balance`,
      name: 'oneSatTokenBalance',
      summary: 'The balance of a token at an address.',
      tag: '1sat',
      params: { token: TokenIdText, lock: Lock, address: Address },
      responses,
      handle: ({ params: { token, lock, address } }) => answer(token, lock, [address])
    }),
    route({
      method: 'post',
      path: `${BASE}/:token/:lock/balance`,
      name: 'oneSatTokenBalances',
      summary: 'The balance of a token at several addresses, summed.',
      tag: '1sat',
      params: { token: TokenIdText, lock: Lock },
      body: Addresses,
      responses,
      handle: ({ params: { token, lock }, body }) => answer(token, lock, body)
    })
  ]
}

/** Outputs of addresses with their amounts. A header has the cursor of the next page, as the list itself has no place for it. */
const outputsOf = (context: TokenContext, which: 'unspent' | 'history'): Route[] => {
  const {
    engine: { outputs },
    limits
  } = context
  const query = {
    from: Type.Optional(Type.Number({ description: 'The least score.' })),
    to: Type.Optional(Type.Number({ description: 'The greatest score.' })),
    limit: Type.Integer({ minimum: 1, maximum: limits.page, default: limits.page }),
    rev: Type.Boolean({ default: false, description: 'The greatest score first.' }),
    cursor: Type.Optional(Type.String())
  }
  const answer = (
    token: TokenId,
    lock: HolderLock,
    addresses: readonly string[],
    { rev, ...page }: { limit: number; rev: boolean; from?: number; to?: number; cursor?: string }
  ) =>
    answerWithList(context, token, async () => {
      const { rows, cursor } = await outputs.searchOutputs({
        keys: [...new Set(addresses)].map(address => `${lock}:${address}:${token}`),
        filterSpent: which === 'unspent',
        reverse: rev,
        ...page,
        includeSatoshis: true,
        includeSpend: which === 'history',
        includeBlock: true,
        includeTags: ['bsv21']
      })
      return {
        ...json(rows.map(indexedOutput)),
        headers: cursor === undefined ? {} : { 'x-next-cursor': cursor }
      }
    })
  const name = which === 'unspent' ? 'Unspent' : 'History'
  const about = which === 'unspent' ? 'Unspent outputs' : 'All outputs, spent or not,'
  const responses = {
    200: {
      description: 'Outputs with their amounts; `x-next-cursor` leads to more.',
      content: { [JSON_TYPE]: Type.Array(IndexedOutput) }
    }
  }
  return [
    route({
      method: 'get',
      path: `${BASE}/:token/:lock/:address/${which}`,
      name: `oneSatToken${name}`,
      summary: `${about} of a token that an address has.`,
      tag: '1sat',
      params: { token: TokenIdText, lock: Lock, address: Address },
      query,
      responses,
      handle: ({ params: { token, lock, address }, query: page }) =>
        answer(parseTokenId(token), lock, [address], page)
    }),
    route({
      method: 'post',
      path: `${BASE}/:token/:lock/${which}`,
      name: `oneSatTokens${name}`,
      summary: `${about} of a token that addresses have.`,
      tag: '1sat',
      params: { token: TokenIdText, lock: Lock },
      query,
      body: Addresses,
      responses,
      handle: ({ params: { token, lock }, query: page, body }) =>
        answer(parseTokenId(token), lock, body, page)
    })
  ]
}
