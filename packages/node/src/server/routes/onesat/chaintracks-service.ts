/**
 * Block headers in the dialect of `ChaintracksService` of @bsv/wallet-toolbox, so that a wallet verifies proofs with the
 * headers of a node: `new ChaintracksServiceClient(chain, 'http://localhost:8080/1sat/chaintracks')`. Every answer has a
 * status and a value.
 */
import { type ChainHeader, formatHash, type HeaderStore, headerJson, parseHash } from '@quoin/chain'
import { JSON_TYPE, json, type Route, route } from '@quoin/http'
import { toHex } from '@quoin/primitives'
import { type TSchema, Type } from '@sinclair/typebox'
import { Txid } from '../../schemas.ts'

const HeaderValue = Type.Object(
  {
    version: Type.Integer(),
    previousHash: Type.String(),
    merkleRoot: Type.String(),
    time: Type.Integer(),
    bits: Type.Integer(),
    nonce: Type.Integer(),
    height: Type.Integer(),
    hash: Type.String()
  },
  { $id: 'ChaintracksHeader' }
)
const Height = Type.Integer({ minimum: 0, maximum: 0xffffffff })
/** Headers in one answer, in hex. */
const MAX_HEADERS = 10_000

export const chaintracksServiceRoutes = (headers: HeaderStore): Route[] => [
  answer('getChain', 'The network of the headers.', Type.String(), async () => headers.network),
  answer(
    'getInfo',
    'The network and the height of the headers.',
    Type.Object({ chain: Type.String(), heightBulk: Height, heightLive: Height, storage: Type.String() }),
    async () => {
      const height = await headers.currentHeight()
      const none: string[] = []
      return {
        chain: headers.network,
        heightBulk: height,
        heightLive: height,
        storage: 'quoin',
        bulkIngestors: none,
        liveIngestors: none,
        packages: none
      }
    }
  ),
  answer('getPresentHeight', 'The height of the last block.', Height, () => headers.currentHeight()),
  answer('findChainTipHashHex', 'The hash of the last block.', Type.String(), async () =>
    formatHash((await headers.tip()).header.hash)
  ),
  answer('findChainTipHeaderHex', 'The header of the last block.', HeaderValue, async () =>
    headerValue(await headers.tip())
  ),
  route({
    method: 'get',
    path: pathOf('getHeaders'),
    name: 'getHeaders',
    summary: 'Headers one after the other in hex; fewer where the chain ends.',
    tag: '1sat',
    query: { height: Height, count: Type.Integer({ minimum: 1, maximum: MAX_HEADERS }) },
    responses: success(Type.String()),
    async handle({ query: { height, count } }) {
      const found = await headers.range(height, count)
      return json({ status: 'success', value: found.map(({ header }) => toHex(header.raw)).join('') })
    }
  }),
  route({
    method: 'get',
    path: pathOf('findHeaderHexForHeight'),
    name: 'findHeaderHexForHeight',
    summary: 'The header at a height; without a value when there is none.',
    tag: '1sat',
    query: { height: Height },
    responses: success(HeaderValue),
    handle: async ({ query: { height } }) => found(await headers.header(height))
  }),
  route({
    method: 'get',
    path: pathOf('findHeaderHexForBlockHash'),
    name: 'findHeaderHexForBlockHash',
    summary: 'The header of a block of the chain by its hash; without a value when there is none.',
    tag: '1sat',
    query: { hash: Txid },
    responses: success(HeaderValue),
    handle: async ({ query: { hash } }) => found(await headers.headerOf(parseHash(hash)))
  })
]

const pathOf = (name: string): string => `/1sat/chaintracks/${name}`

const success = (value: TSchema) => ({
  200: {
    description: 'The value.',
    content: {
      [JSON_TYPE]: Type.Object({ status: Type.Literal('success'), value: Type.Optional(value) })
    }
  }
})

const answer = (name: string, summary: string, value: TSchema, load: () => Promise<unknown>): Route =>
  route({
    method: 'get',
    path: pathOf(name),
    name,
    summary,
    tag: '1sat',
    responses: success(value),
    handle: async () => json({ status: 'success', value: await load() })
  })

const headerValue = (header: ChainHeader) => {
  const { prevHash, ...rest } = headerJson(header)
  return { ...rest, previousHash: prevHash }
}

const found = (header: ChainHeader | undefined) =>
  json({ status: 'success', ...(header && { value: headerValue(header) }) })
