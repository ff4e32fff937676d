/** The key-value store for people (BRC-35): entries with their values decoded, their history, and changes as they come. */

import { Cursor, JSON_TYPE, json, type Route, route } from '@quoin/http'
import {
  anyEventOf,
  findEntries,
  historyOf,
  type KvEntry,
  type KvQuery,
  loadEntries,
  readQuery,
  selects
} from '@quoin/kvstore'
import {
  formatOutpoint,
  makeOutpoint,
  type Outpoint,
  parseOutpoint,
  parseTxid,
  QuoinError,
  toHex
} from '@quoin/primitives'
import type { LiveChange } from '@quoin/txo'
import { Type } from '@sinclair/typebox'
import type { Context } from '../context.ts'
import { Position, streamOf } from '../journal-stream.ts'
import { Outpoint as OutpointText } from '../schemas.ts'

/** Only there when the node has the lookup. */
export const kvRoutes = (context: Context): Route[] =>
  context.engine.lookups.has('ls_kvstore')
    ? [search(context), following(context), entry(context), history(context)]
    : []

const ProtocolID = Type.Unknown({
  contentMediaType: JSON_TYPE,
  description: 'A level and a name, as JSON: `[1,"kvstore"]`.'
})
const Controller = Type.String({
  pattern: '^0[23][0-9a-fA-F]{64}$',
  description: 'A compressed public key in hex.'
})
const Key = Type.String({ minLength: 1, maxLength: 800 })
const Selectors = {
  key: Type.Optional(Key),
  controller: Type.Optional(Controller),
  protocolID: Type.Optional(ProtocolID),
  tag: Type.Optional(Type.Array(Type.String(), { maxItems: 100, description: 'Repeated: `tag=a&tag=b`.' })),
  mode: Type.Optional(
    Type.Union([Type.Literal('all'), Type.Literal('any')], {
      description: 'Whether all of the tags have to be there, or any; all unless given.'
    })
  )
}

const Entry = Type.Object(
  {
    outpoint: Type.String({ description: '`txid.vout`' }),
    protocolID: Type.Array(Type.Unknown()),
    key: Type.String(),
    value: Type.String({ description: 'As UTF-8; with U+FFFD for other bytes.' }),
    valueHex: Type.Optional(Type.String({ description: 'The bytes of a value that is not UTF-8.' })),
    controller: Type.String(),
    tags: Type.Array(Type.String()),
    height: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Of its block; null when it is not mined.'
    }),
    score: Type.Number({ description: '`height + index/1e9` when mined, unix seconds when not.' }),
    ambiguous: Type.Boolean({ description: 'Whether its tuple has more than one live token.' })
  },
  { $id: 'KvEntry' }
)

const entryJson = ({ outpoint, live: count, valueBytes, ...entry }: KvEntry) => ({
  outpoint: formatOutpoint(outpoint),
  ...entry,
  ...(valueBytes && { valueHex: toHex(valueBytes) }),
  ambiguous: count > 1
})

interface EntrySelection {
  readonly key?: string
  readonly controller?: string
  readonly protocolID?: unknown
  readonly tag?: readonly string[]
  readonly mode?: string
}

const queryOf = ({ tag, mode, ...selected }: EntrySelection, more: object = {}): KvQuery =>
  readQuery({ ...selected, tags: tag, tagQueryMode: mode, ...more })

const search = ({ engine: { outputs }, limits }: Context): Route =>
  route({
    method: 'get',
    path: '/kv',
    name: 'entries',
    summary: 'Live entries of the key-value store, with at least one of key, controller, protocolID and tag.',
    tag: 'kv',
    query: {
      ...Selectors,
      sort: Type.Optional(
        Type.Union([Type.Literal('asc'), Type.Literal('desc')], { description: 'Newest first unless given.' })
      ),
      limit: Type.Integer({ minimum: 1, maximum: limits.page, default: limits.defaultPage }),
      cursor: Type.Optional(Type.String())
    },
    responses: {
      200: {
        description: 'A page.',
        content: { [JSON_TYPE]: Type.Object({ entries: Type.Array(Entry), cursor: Cursor }) }
      }
    },
    async handle({ query: { sort, limit, cursor, ...selected } }) {
      const query = queryOf(selected, { sortOrder: sort, limit, cursor })
      const page = await findEntries(outputs, query)
      const entries = await loadEntries(
        outputs,
        page.rows.map(({ outpoint }) => outpoint)
      )
      return json({
        entries: entries.flatMap(each => (each ? entryJson(each) : [])),
        cursor: page.cursor ?? null
      })
    }
  })

const Named = {
  params: { controller: Controller, key: Key },
  query: { protocolID: Type.Optional(ProtocolID) }
}
const NONE = { 404: { description: 'Unknown entry.' } }

const entry = (context: Context): Route =>
  route({
    method: 'get',
    path: '/kv/:controller/:key',
    name: 'entry',
    summary: 'The live entries of a key: one for each protocol, and more where they are ambiguous.',
    tag: 'kv',
    ...Named,
    responses: {
      200: {
        description: 'All of them.',
        content: { [JSON_TYPE]: Type.Object({ entries: Type.Array(Entry) }) }
      },
      ...NONE
    },
    async handle({ params, query }) {
      const tips = await tipsOf(context, { ...params, ...query })
      const entries = await loadEntries(context.engine.outputs, tips)
      return json({ entries: entries.flatMap(each => (each ? entryJson(each) : [])) })
    }
  })

/** Of one key; more than so many are nobody's. */
const TIPS = 100

const tipsOf = async ({ engine: { outputs } }: Context, selected: EntrySelection): Promise<Outpoint[]> => {
  const { rows } = await findEntries(outputs, queryOf(selected, { limit: TIPS }))
  if (rows.length > 0) return rows.map(({ outpoint }) => outpoint)
  throw new QuoinError('ERR_NOT_FOUND', 'unknown entry')
}

const STEPS = 1000

const history = (context: Context): Route =>
  route({
    method: 'get',
    path: '/kv/:controller/:key/history',
    name: 'entryHistory',
    summary: 'The history of the live entries of a key, each from the oldest value to the newest.',
    tag: 'kv',
    params: Named.params,
    query: {
      ...Named.query,
      limit: Type.Integer({ minimum: 1, maximum: STEPS, default: STEPS }),
      before: Type.Optional(
        Type.Array(OutpointText, { maxItems: STEPS, description: 'From the page before, repeated.' })
      )
    },
    responses: {
      200: {
        description: 'The newest values of each; `before` leads to earlier ones.',
        content: {
          [JSON_TYPE]: Type.Object({
            histories: Type.Array(
              Type.Object({
                outpoint: Type.String({ description: 'Of the live entry.' }),
                entries: Type.Array(Entry),
                before: Type.Array(Type.String(), {
                  description: 'For the next page; empty on the last.'
                })
              })
            )
          })
        }
      },
      ...NONE
    },
    async handle({ params, query: { limit, before, ...query } }) {
      const tips = await tipsOf(context, { ...params, ...query })
      const most = Math.ceil(limit / tips.length)
      return json({
        histories: await Promise.all(tips.map(tip => historyJson(context, tip, most, before)))
      })
    }
  })

const historyJson = async (
  { engine: { outputs } }: Context,
  tip: Outpoint,
  limit: number,
  before: readonly string[] | undefined
) => {
  const { tokens, rest } = await historyOf(outputs, tip, limit, before?.map(parseOutpoint))
  const entries = await loadEntries(outputs, tokens.toReversed())
  return {
    outpoint: formatOutpoint(tip),
    entries: entries.flatMap(each => (each ? entryJson(each) : [])),
    before: rest.slice(0, STEPS).map(each => formatOutpoint(each))
  }
}

const following = (context: Context): Route =>
  route({
    method: 'get',
    path: '/kv/live',
    name: 'liveEntries',
    summary:
      'Changes of entries as they are committed, as server-sent events: `saved`, `moved` and `removed`, each with its new live entries and the outpoints of ended ones.',
    tag: 'kv',
    query: { ...Selectors, after: Type.Optional(Position) },
    headers: { 'last-event-id': Type.Optional(Position) },
    responses: {
      200: { description: 'A stream of events.', content: { 'text/event-stream': Type.String() } },
      410: { description: 'The journal no longer has the position.' }
    },
    handle({ query: { after, ...selected }, headers }) {
      const query = queryOf(selected)
      const isSelected = selects(query)
      return streamOf(context, headers['last-event-id'] ?? after, {
        events: anyEventOf(query),
        matches: ({ outputs, spends }) => [...outputs, ...spends].some(({ events }) => isSelected(events)),
        describe: change => describeChange(context, change, isSelected)
      })
    }
  })

const describeChange = async (
  { engine: { outputs } }: Context,
  { kind, txid, outputs: changed, spends }: LiveChange,
  isSelected: (events: readonly string[]) => boolean
): Promise<object | undefined> => {
  const own = changed
    .filter(({ events }) => isSelected(events))
    .map(({ vout }) => makeOutpoint(parseTxid(txid), vout))
  const spent = spends
    .filter(({ events }) => isSelected(events))
    .map(({ outpoint }) => parseOutpoint(outpoint))
  // A rollback makes the outputs live that the transaction spent.
  const [made, gone] = kind === 'removed' ? [spent, own] : [own, spent]
  const spenders = await outputs.spends(made)
  const live = made.filter((_, i) => !spenders[i])
  // An entry that is spent already is not live by this change.
  if (live.length + gone.length === 0) return undefined
  const entries = await loadEntries(outputs, live)
  return {
    kind,
    txid,
    entries: entries.flatMap(each => (each ? entryJson(each) : [])),
    gone: gone.map(each => formatOutpoint(each))
  }
}
