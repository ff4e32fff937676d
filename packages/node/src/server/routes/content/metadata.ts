/** What content is, without its bytes. */
import { JSON_TYPE, json, type Route, route } from '@quoin/http'
import { formatOutpoint, hasCode } from '@quoin/primitives'
import { OrdinalWalk } from '@quoin/txo'
import { Type } from '@sinclair/typebox'
import type { Context } from '../../context.ts'
import { costOfPointer } from './pointer.ts'
import { mapJson, type ResolvedContent, resolveContent } from './resolved-content.ts'

const Metadata = Type.Object(
  {
    outpoint: Type.String(),
    origin: Type.Optional(Type.String()),
    sequence: Type.Integer({ minimum: 0 }),
    contentType: Type.String({ description: 'Empty for an output with metadata alone.' }),
    contentLength: Type.Integer({ minimum: 0 }),
    map: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    parent: Type.Optional(Type.String())
  },
  { $id: 'ContentMetadata' }
)
const NO_STORE = { 'cache-control': 'no-store' }
/** Pointers of one request, and the requests that it counts as. */
const MAX_POINTERS = 100
const BULK_COST = 50
const Pointer = Type.String({
  maxLength: 100,
  description: '`txid_vout` or a txid, `:sequence` behind it or not.'
})

export const metadataRoutes = ({ engine: { outputs } }: Context): Route[] => [
  route({
    method: 'get',
    path: '/1sat/ordfs/metadata/:pointer',
    name: 'contentMetadata',
    summary: 'The media type, length and metadata of the content of an output.',
    tag: 'content',
    cost: ({ pointer }) => costOfPointer(pointer),
    params: { pointer: Pointer },
    responses: {
      200: { description: 'The metadata.', content: { [JSON_TYPE]: Metadata } },
      404: { description: 'The output is not stored, or has neither content nor metadata.' }
    },
    async handle({ params: { pointer } }) {
      const resolved = await resolveContent(new OrdinalWalk(outputs), pointer)
      return { ...json(metadataOf(resolved)), headers: NO_STORE }
    }
  }),
  route({
    method: 'post',
    path: '/1sat/ordfs/metadata',
    name: 'contentMetadataOf',
    summary: 'The metadata of many outputs by their pointers as given; null for an output without any.',
    tag: 'content',
    cost: BULK_COST,
    body: Type.Object({ outpoints: Type.Array(Pointer, { minItems: 1, maxItems: MAX_POINTERS }) }),
    responses: {
      200: {
        description: 'The metadata.',
        content: { [JSON_TYPE]: Type.Record(Type.String(), Type.Union([Metadata, Type.Null()])) }
      }
    },
    async handle({ body: { outpoints } }) {
      const walk = new OrdinalWalk(outputs)
      const found: [string, unknown][] = []
      for (const pointer of outpoints) {
        const resolved = await resolveContent(walk, pointer).catch(unknown)
        found.push([pointer, resolved ? metadataOf(resolved) : null])
      }
      return { ...json(Object.fromEntries(found)), headers: NO_STORE }
    }
  })
]

const unknown = (error: unknown): undefined => {
  if (hasCode(error, 'ERR_NOT_FOUND')) return undefined
  throw error
}

const metadataOf = ({ outpoint, origin, sequence, content, map, parent }: ResolvedContent) => ({
  outpoint: formatOutpoint(outpoint, '_'),
  ...(origin && { origin: formatOutpoint(origin, '_') }),
  sequence,
  contentType: content?.type ?? '',
  contentLength: content?.bytes.length ?? 0,
  ...(map && { map: mapJson(map) }),
  ...(parent && { parent: formatOutpoint(parent, '_') })
})
