/** Outputs and balances of addresses in the 1Sat API. */

import { JSON_TYPE, json, type Route, route } from '@quoin/http'
import { formatOutpoint, formatTxid } from '@quoin/primitives'
import type { FoundOutput, LoadedOutput, OutputSearch, OutputStore } from '@quoin/txo'
import { type Static, Type } from '@sinclair/typebox'
import type { Context } from '../../context.ts'
import { Amount } from '../../schemas.ts'
import { eventStream, type StreamEvent } from './event-stream.ts'
import { indexedOutput, listed, loadOptions, wanted } from './indexed-output.ts'

const Owner = Type.String({ minLength: 1, maxLength: 100, description: 'An address.' })
const Score = Type.Number({ minimum: 0 })
const STREAM = {
  200: { description: 'A stream of events.', content: { 'text/event-stream': Type.String() } }
}
const MAX_OWNERS = 100
const PAGE = 500

export const oneSatOwnerRoutes = (context: Context): Route[] => [
  sync(context),
  txos(context),
  balance(context)
]

/** The client waits for this event. A node synchronises by itself, so it comes first. */
const settled = (owner?: string): StreamEvent => ({
  event: 'sync',
  data: { phase: 'done', ...(owner !== undefined && { owner }) }
})

const txos = (context: Context): Route => {
  const query = {
    from: Type.Optional(Score),
    limit: Type.Optional(Type.Integer({ minimum: 1, description: 'As many as there are, unless given.' })),
    rev: Type.Boolean({ default: false, description: 'The greatest score first.' }),
    unspent: Type.Boolean({ default: true, description: 'Unspent outputs only.' }),
    refresh: Type.Optional(Type.Boolean({ description: 'Has no effect: the node is in step by itself.' })),
    ...wanted({ all: true })
  }
  type Query = Static<ReturnType<typeof Type.Object<typeof query>>>
  const { outputs } = context.engine
  async function* eventsOf(owner: string, query: Query): AsyncGenerator<StreamEvent, void, undefined> {
    const { from, limit = Number.POSITIVE_INFINITY, rev, unspent, refresh: _, ...rest } = query
    yield settled(owner)
    const search = {
      keys: [`own:${owner}`],
      reverse: rev,
      filterSpent: unspent,
      ...(from !== undefined && { from }),
      ...loadOptions(rest)
    }
    for await (const row of rowsOf(outputs, search, limit)) {
      yield { event: 'txo', id: row.score, data: indexedOutput(row) }
    }
  }
  return route({
    method: 'get',
    path: '/1sat/owner/:owner/txos',
    name: 'oneSatOwnerOutputs',
    summary: 'The outputs of an address, one `txo` after the other, and then `done`.',
    tag: '1sat',
    params: { owner: Owner },
    query,
    headers: { 'last-event-id': Type.Optional(Score) },
    responses: STREAM,
    handle({ params: { owner }, query, headers }) {
      outputs.events.parseQuery(`own:${owner}`)
      const from = headers['last-event-id'] ?? query.from
      return eventStream(context, eventsOf(owner, { ...query, ...(from !== undefined && { from }) }))
    }
  })
}

const sync = (context: Context): Route => {
  const { outputs } = context.engine
  async function* eventsOf(
    owners: readonly string[],
    from: number | undefined
  ): AsyncGenerator<StreamEvent, void, undefined> {
    yield settled()
    const search = {
      keys: owners.flatMap(owner => [`own:${owner}`, `own:${owner}:spnd`]),
      includeSpend: true,
      ...(from !== undefined && { from })
    }
    for await (const { outpoint, score, spend } of rowsOf(outputs, search, Number.POSITIVE_INFINITY)) {
      const spent = spend && { spendTxid: formatTxid(spend) }
      yield { id: score, data: { outpoint: formatOutpoint(outpoint, '_'), score, ...spent } }
    }
  }
  return route({
    method: 'get',
    path: '/1sat/owner/sync',
    name: 'oneSatOwnerSync',
    summary:
      'Everything that addresses got and spent, in the order of the scores: an output when it came, and again when it was spent. Then `done`.',
    tag: '1sat',
    query: {
      owner: Type.Array(Type.String({ maxLength: 4096 }), {
        minItems: 1,
        maxItems: MAX_OWNERS,
        description: 'Addresses, repeated.'
      }),
      from: Type.Optional(Score)
    },
    headers: { 'last-event-id': Type.Optional(Score) },
    responses: STREAM,
    handle({ query: { owner, from }, headers }) {
      const owners = [...new Set(listed(owner))]
      for (const each of owners) outputs.events.parseQuery(`own:${each}`)
      return eventStream(context, eventsOf(owners, headers['last-event-id'] ?? from))
    }
  })
}

const balance = ({ engine: { outputs } }: Context): Route =>
  route({
    method: 'get',
    path: '/1sat/owner/:owner/balance',
    name: 'oneSatOwnerBalance',
    summary: 'The sum of the unspent outputs of an address.',
    tag: '1sat',
    params: { owner: Owner },
    responses: {
      200: {
        description: 'Satoshis as a number, and exactly as text.',
        content: {
          [JSON_TYPE]: Type.Object({ balance: Type.Number(), count: Type.Integer(), satoshis: Amount })
        }
      }
    },
    async handle({ params: { owner } }) {
      const { satoshis, outputs: count } = await outputs.searchBalance({ keys: [`own:${owner}`] })
      return json({ balance: Number(satoshis), count, satoshis })
    }
  })

/** Rows page by page, as the reader takes them. */
async function* rowsOf(
  outputs: OutputStore,
  search: OutputSearch,
  limit: number
): AsyncGenerator<LoadedOutput & FoundOutput, void, undefined> {
  let [left, cursor] = [limit, undefined as string | undefined]
  do {
    const page = await outputs.searchOutputs({
      ...search,
      limit: Math.min(left, PAGE),
      ...(cursor !== undefined && { cursor })
    })
    yield* page.rows
    left -= page.rows.length
    cursor = page.cursor
  } while (cursor !== undefined && left > 0)
}
