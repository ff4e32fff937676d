/** The output store over HTTP (seed 001): outputs by transaction, by outpoint and by events. */

import { Cursor, JSON_TYPE, json, type Route, route } from '@quoin/http'
import { formatOutpoint, formatTxid, parseTxid, QuoinError, type Topic, toHex } from '@quoin/primitives'
import type { LoadedOutput, LoadOptions, OutputSearch, OutputStore } from '@quoin/txo'
import { type Static, Type } from '@sinclair/typebox'
import type { Context } from '../context.ts'
import { Amount, Hex, Outpoint, TopicName, Txid } from '../schemas.ts'
import { type OutputForm, outputHandlers } from './output-handlers.ts'

export const txoRoutes = (context: Context): Route[] => [
  byTransaction(context),
  byOutpoint(context),
  balance(context),
  ...searches(context)
]

const INCLUDES = [
  'satoshis',
  'spend',
  'events',
  'topics',
  'block',
  'data',
  'output',
  'rawtx',
  'proof'
] as const
type OutputField = (typeof INCLUDES)[number]

const Including = {
  include: Type.Optional(
    Type.Array(Type.Union(INCLUDES.map(each => Type.Literal(each))), {
      maxItems: INCLUDES.length,
      description: 'Fields of each output, repeated: `include=satoshis&include=spend`.'
    })
  ),
  tags: Type.Optional(
    Type.Array(Type.String({ maxLength: 128 }), { maxItems: 100, description: 'Data under these tags only.' })
  )
}

const Output = Type.Object(
  {
    outpoint: Type.String({ description: '`txid.vout`' }),
    score: Type.Number({ description: '`height + index/1e9` when mined, unix seconds when not.' }),
    key: Type.Optional(Type.String({ description: 'The event that found it.' })),
    satoshis: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    spend: Type.Optional(Type.Union([Txid, Type.Null()], { description: 'The spender.' })),
    events: Type.Optional(Type.Array(Type.String())),
    topics: Type.Optional(Type.Array(Type.String())),
    block: Type.Optional(
      Type.Union([Type.Object({ height: Type.Integer(), index: Type.Integer() }), Type.Null()])
    ),
    data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    output: Type.Optional(Type.Union([Type.Object({ satoshis: Type.Integer(), script: Hex }), Type.Null()])),
    rawtx: Type.Optional(Type.Union([Hex, Type.Null()])),
    proof: Type.Optional(Type.Union([Hex, Type.Null()], { description: 'A BUMP.' }))
  },
  { $id: 'Output' }
)
const Page = Type.Object({ outputs: Type.Array(Output), cursor: Cursor })

interface FieldQuery {
  readonly include?: readonly OutputField[]
  readonly tags?: readonly string[]
}

const loadOptions = ({ include, tags }: FieldQuery, otherwise: readonly OutputField[]): LoadOptions => {
  const wanted = new Set(include ?? otherwise)
  return {
    includeSatoshis: wanted.has('satoshis'),
    includeSpend: wanted.has('spend'),
    includeEvents: wanted.has('events'),
    includeTopics: wanted.has('topics'),
    includeBlock: wanted.has('block'),
    includeOutput: wanted.has('output'),
    includeRawtx: wanted.has('rawtx'),
    includeMerkleProof: wanted.has('proof'),
    ...((tags || wanted.has('data')) && { includeTags: tags ?? 'all' })
  }
}

/** The JSON of an output. Fields that the request did not name are absent; unknown ones are null. */
const outputJson = (
  loaded: LoadedOutput & { readonly key?: string },
  options: LoadOptions
): Static<typeof Output> => {
  const { outpoint, score, key, satoshis, spend, events, topics, block, data, output, rawtx, merkleProof } =
    loaded
  return {
    outpoint: formatOutpoint(outpoint),
    score,
    ...(key !== undefined && { key }),
    ...(options.includeSatoshis && { satoshis: satoshis === undefined ? null : Number(satoshis) }),
    ...(spend !== undefined && { spend: spend && formatTxid(spend) }),
    ...(events && { events: [...events] }),
    ...(topics && { topics: [...topics] }),
    ...(block !== undefined && { block: block && { height: block.height, index: Number(block.index) } }),
    ...(data && { data }),
    ...(output !== undefined && {
      output: output && { satoshis: output.satoshis, script: toHex(output.script) }
    }),
    ...(rawtx !== undefined && { rawtx: rawtx && toHex(rawtx) }),
    ...(merkleProof !== undefined && { proof: merkleProof && toHex(merkleProof.toBytes()) })
  }
}

const formOf = (otherwise: readonly OutputField[]): OutputForm<FieldQuery, Static<typeof Output>> => ({
  optionsOf: query => loadOptions(query, otherwise),
  describe: outputJson
})

/** The fields of outputs in a page, and of outputs that a request names. */
const LISTED = formOf(['satoshis', 'spend', 'block'])
const WHOLE = formOf(['satoshis', 'spend', 'events', 'topics', 'block', 'data'])

const byTransaction = ({ engine: { outputs } }: Context): Route =>
  route({
    method: 'get',
    path: '/txo/tx/:txid',
    name: 'outputsOfTransaction',
    summary: 'The outputs of a transaction, in order; with a topic, the admitted ones.',
    tag: 'txo',
    params: { txid: Txid },
    query: { topic: Type.Optional(TopicName), ...Including },
    responses: {
      200: {
        description: 'The outputs.',
        content: { [JSON_TYPE]: Type.Object({ txid: Txid, outputs: Type.Array(Output) }) }
      },
      404: { description: 'The transaction is not known.' }
    },
    async handle({ params, query: { topic, ...fields } }) {
      const txid = parseTxid(params.txid)
      const found = await outputHandlers(outputs, WHOLE).ofTransaction(txid, fields, topic as Topic)
      if (found.length === 0 && !(await outputs.record(txid))) {
        throw new QuoinError('ERR_NOT_FOUND', `transaction ${params.txid} is not known`)
      }
      return json({ txid: formatTxid(txid), outputs: found })
    }
  })

const byOutpoint = ({ engine: { outputs } }: Context): Route =>
  route({
    method: 'get',
    path: '/txo/outpoint/:outpoint',
    name: 'output',
    summary: 'One output.',
    tag: 'txo',
    params: { outpoint: Outpoint },
    query: Including,
    responses: {
      200: { description: 'The output.', content: { [JSON_TYPE]: Output } },
      404: { description: 'It is not known.' }
    },
    handle: async ({ params, query }) =>
      json(await outputHandlers(outputs, WHOLE).output(params.outpoint, query))
  })

const eventsOf = (most: number, about: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
    minItems: 1,
    maxItems: most,
    description: about
  })

/** Outputs to add up for one answer. */
const SUMMED = 10_000

const balance = ({ engine: { outputs }, limits }: Context): Route =>
  route({
    method: 'get',
    path: '/txo/balance',
    name: 'balance',
    summary:
      'The sum of the unspent outputs with any of these events. Where no balance is kept, a page of them is summed, and the cursor leads to the rest.',
    tag: 'txo',
    query: {
      events: eventsOf(limits.events, 'Repeated: `events=own:1A…&events=own:1B…`.'),
      cursor: Type.Optional(Type.String())
    },
    responses: {
      200: {
        description: 'Satoshis as text.',
        content: {
          [JSON_TYPE]: Type.Object({
            satoshis: Amount,
            outputs: Type.Integer(),
            cursor: Cursor
          })
        }
      }
    },
    async handle({ query: { events, cursor } }) {
      const keys = [...new Set(events)]
      if (keys.length === 1 && cursor === undefined && outputs.events.find(keys[0]!)?.balance) {
        return json({ ...(await outputs.searchBalance({ keys })), cursor: null })
      }
      return json(await summed(outputs, { keys, limit: SUMMED, ...(cursor !== undefined && { cursor }) }))
    }
  })

const summed = async (outputs: OutputStore, query: OutputSearch) => {
  const { rows, cursor = null } = await outputs.search({ ...query, filterSpent: true })
  const amounts = await outputs.satoshis(rows.map(({ outpoint }) => outpoint))
  const satoshis = amounts.reduce((sum: bigint, each) => sum + (each ?? 0n), 0n)
  return { satoshis, outputs: rows.length, cursor }
}

const searches = ({ engine: { outputs }, limits }: Context): Route[] => {
  const Paging = {
    from: Type.Optional(Type.Number({ description: 'The least score.' })),
    to: Type.Optional(Type.Number({ description: 'The greatest score.' })),
    reverse: Type.Optional(Type.Boolean({ description: 'The greatest score first.' })),
    limit: Type.Integer({ minimum: 1, maximum: limits.page, default: limits.defaultPage }),
    cursor: Type.Optional(Type.String({ description: 'From the page before.' }))
  }
  const responses = { 200: { description: 'A page.', content: { [JSON_TYPE]: Page } } }
  const handlers = outputHandlers(outputs, LISTED)
  const found = async ({ include, tags, ...search }: FieldQuery & Omit<OutputSearch, keyof LoadOptions>) =>
    json(await handlers.search(search, { ...(include && { include }), ...(tags && { tags }) }))
  const byEvents = (path: string, name: string, summary: string, filterSpent: boolean): Route =>
    route({
      method: 'get',
      path,
      name,
      summary,
      tag: 'txo',
      query: {
        events: eventsOf(limits.events, 'Outputs with any of these, repeated.'),
        ...Paging,
        ...Including
      },
      responses,
      handle: ({ query: { events, ...rest } }) => found({ ...rest, keys: [...new Set(events)], filterSpent })
    })
  return [
    byEvents('/txo/history', 'history', 'Outputs with these events, spent or not.', false),
    byEvents('/txo/unspent', 'unspent', 'Outputs with these events that are not spent.', true),
    route({
      method: 'get',
      path: '/txo/search',
      name: 'search',
      summary: 'Outputs by events and topics, joined.',
      tag: 'txo',
      query: {
        key: eventsOf(
          limits.events,
          'Repeated: an event (`own:1A…`), the spent ones of it (`own:1A…:spnd`), or a topic (`tp:tm_example`).'
        ),
        join: Type.Optional(
          Type.Union([Type.Literal('union'), Type.Literal('intersect'), Type.Literal('difference')])
        ),
        unspent: Type.Boolean({ default: false }),
        ...Paging,
        ...Including
      },
      responses,
      handle: ({ query: { key, unspent, ...rest } }) => found({ ...rest, keys: key, filterSpent: unspent })
    })
  ]
}
