/** Outputs as the 1Sat API has them, and how they are asked for: as `@1sat/client` does. */

import { formatOutpoint, formatTxid } from '@quoin/primitives'
import type { LoadedOutput, LoadOptions, OutputStore } from '@quoin/txo'
import { type Static, type TArray, type TString, Type } from '@sinclair/typebox'
import { Txid } from '../../schemas.ts'
import type { OutputForm } from '../output-handlers.ts'

export const IndexedOutput = Type.Object(
  {
    outpoint: Type.String({ description: '`txid_vout`' }),
    score: Type.Number({ description: '`height + index/1e9` when mined, unix seconds when not.' }),
    satoshis: Type.Optional(Type.Integer()),
    blockHeight: Type.Optional(Type.Integer({ description: 'Present for mined outputs.' })),
    blockIdx: Type.Optional(Type.Integer()),
    spend: Type.Optional(Txid),
    events: Type.Optional(Type.Array(Type.String())),
    data: Type.Optional(Type.Record(Type.String(), Type.Unknown()))
  },
  { $id: 'IndexedOutput' }
)

/** Lists come in one parameter, with commas, or in several. */
const List = Type.Array(Type.String({ maxLength: 4096 }), { maxItems: 100 })

const flag = (what: string, otherwise: boolean) =>
  Type.Boolean({ default: otherwise, description: `Whether to answer ${what}.` })

/** The fields of each output in a response, with the defaults of the route. */
export const wanted = (otherwise: { readonly spend?: boolean; readonly all?: boolean } = {}) => {
  const { all = false, spend = all } = otherwise
  return {
    tags: Type.Optional<TArray<TString>>({ ...List, description: 'Data under these tags, with commas.' }),
    sats: flag('satoshis', all),
    spend: flag('its spender', spend),
    events: flag('events', all),
    block: flag('its place in the chain', all)
  }
}

export const Key: TArray<TString> = {
  ...List,
  minItems: 1,
  description: 'Events or topics, with commas or repeated.'
}

type FieldQuery = Static<ReturnType<typeof Type.Object<ReturnType<typeof wanted>>>>

export const loadOptions = ({ tags, sats, spend, events, block }: FieldQuery): LoadOptions => ({
  includeSatoshis: sats,
  includeSpend: spend,
  includeEvents: events,
  includeBlock: block,
  ...(tags && { includeTags: listed(tags) })
})

/** In the form of the client, which splits outpoints at the underscore. */
export const indexedOutput = (loaded: LoadedOutput): Static<typeof IndexedOutput> => {
  const { outpoint, score, satoshis, spend, events, block, data } = loaded
  return {
    outpoint: formatOutpoint(outpoint, '_'),
    score,
    ...(satoshis !== undefined && { satoshis: Number(satoshis) }),
    ...(block && { blockHeight: block.height, blockIdx: Number(block.index) }),
    ...(spend && { spend: formatTxid(spend) }),
    ...(events && { events: [...events] }),
    ...(data && { data })
  }
}

export const ONE_SAT: OutputForm<FieldQuery, Static<typeof IndexedOutput>> = {
  optionsOf: loadOptions,
  describe: indexedOutput
}

export const listed = (parts: readonly string[]): string[] =>
  parts.flatMap(part => part.split(',')).filter(part => part !== '')

/** An event may contain a comma: a whole event is not split. Upstream's names of keys, `ev:{event}`, are events too. */
export const keysOf = ({ events }: OutputStore, parts: readonly string[]): string[] => {
  const eventOf = (text: string): string => (events.find(text) ? text : text.replace(/^ev:/, ''))
  const keys = parts.flatMap(part => (events.find(eventOf(part)) ? [part] : listed([part])))
  return [...new Set(keys.map(eventOf))]
}
