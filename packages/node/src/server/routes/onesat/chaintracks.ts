/** Block headers, as Chaintracks serves them under the 1Sat API. Only there when the node keeps headers. */

import { type ChainHeader, type HeaderStore, headerJson, parseHash } from '@quoin/chain'
import { BYTES_TYPE, bytes, JSON_TYPE, json, type Route, route } from '@quoin/http'
import { QuoinError } from '@quoin/primitives'
import { Type } from '@sinclair/typebox'
import type { Context } from '../../context.ts'
import { Txid } from '../../schemas.ts'
import { chaintracksServiceRoutes } from './chaintracks-service.ts'
import { tipStream } from './tip-stream.ts'

const HeaderJson = Type.Object(
  {
    height: Type.Integer(),
    hash: Type.String(),
    version: Type.Integer(),
    prevHash: Type.String(),
    previousHash: Type.String({ description: '`prevHash` under the name that wallets use.' }),
    merkleRoot: Type.String(),
    time: Type.Integer(),
    bits: Type.Integer(),
    nonce: Type.Integer()
  },
  { $id: 'BlockHeader' }
)
const Height = Type.Integer({ minimum: 0, maximum: 0xffffffff })
const HeaderResponse = { description: 'The header.', content: { [JSON_TYPE]: HeaderJson } }
/** Headers in one answer. */
const MAX_HEADERS = 10_000

export const oneSatChaintracksRoutes = (context: Context): Route[] => {
  const { headers } = context
  if (!headers) return []
  return [
    ...chain(headers),
    ...single(headers),
    following(context, headers),
    ...chaintracksServiceRoutes(headers)
  ]
}

/** As it is sent. */
const shown = (header: ChainHeader) => {
  const shared = headerJson(header)
  return { ...shared, previousHash: shared.prevHash }
}

const chain = (headers: HeaderStore): Route[] => [
  route({
    method: 'get',
    path: '/1sat/chaintracks/network',
    name: 'chaintracksNetwork',
    summary: 'Which network the node is on.',
    tag: '1sat',
    responses: {
      200: {
        description: '`main` or another.',
        content: { [JSON_TYPE]: Type.Object({ network: Type.String() }) }
      }
    },
    handle: () => json({ network: headers.network })
  }),
  route({
    method: 'get',
    path: '/1sat/chaintracks/height',
    name: 'chaintracksHeight',
    summary: 'The height of the last block.',
    tag: '1sat',
    responses: {
      200: { description: 'A number.', content: { [JSON_TYPE]: Type.Object({ height: Height }) } }
    },
    handle: async () => json({ height: await headers.currentHeight() })
  }),
  route({
    method: 'get',
    path: '/1sat/chaintracks/tip',
    name: 'chaintracksTip',
    summary: 'The header of the last block.',
    tag: '1sat',
    responses: { 200: HeaderResponse },
    handle: async () => json(shown(await headers.tip()))
  }),
  route({
    method: 'get',
    path: '/1sat/chaintracks/headers',
    name: 'chaintracksHeaders',
    summary: 'Headers one after the other, 80 bytes each; fewer where the chain ends.',
    tag: '1sat',
    query: { height: Height, count: Type.Integer({ minimum: 1, maximum: MAX_HEADERS }) },
    responses: { 200: { description: 'Bytes.', content: { [BYTES_TYPE]: undefined } } },
    async handle({ query: { height, count } }) {
      const found = await headers.range(height, count)
      return bytes(new Uint8Array(Buffer.concat(found.map(({ header }) => header.raw))))
    }
  })
]

const single = (headers: HeaderStore): Route[] => {
  const found = (header: ChainHeader | undefined, what: string) => {
    if (header) return json(shown(header))
    throw new QuoinError('ERR_NOT_FOUND', `unknown block ${what}`)
  }
  const responses = { 200: HeaderResponse, 404: { description: 'Unknown block.' } }
  return [
    route({
      method: 'get',
      path: '/1sat/chaintracks/header/height/:height',
      name: 'chaintracksHeaderAt',
      summary: 'The header of the block at a height.',
      tag: '1sat',
      params: { height: Height },
      responses,
      handle: async ({ params: { height } }) => found(await headers.header(height), `at ${height}`)
    }),
    route({
      method: 'get',
      path: '/1sat/chaintracks/header/hash/:hash',
      name: 'chaintracksHeaderOf',
      summary: 'The header of a block by its hash.',
      tag: '1sat',
      params: { hash: Txid },
      responses,
      handle: async ({ params: { hash } }) => found(await headers.headerOf(parseHash(hash)), hash)
    })
  ]
}

const following = (context: Context, headers: HeaderStore): Route =>
  route({
    method: 'get',
    path: '/1sat/chaintracks/tip/stream',
    name: 'chaintracksTipStream',
    summary: 'The header of the last block, and of each that becomes it.',
    tag: '1sat',
    responses: {
      200: { description: 'A stream of events.', content: { 'text/event-stream': Type.String() } }
    },
    handle: () => tipStream(context, headers, shown)
  })
