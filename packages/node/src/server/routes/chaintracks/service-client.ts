/**
 * Block headers for `ChaintracksServiceClient` of @bsv/wallet-toolbox, which calls functions by name:
 * `new ChaintracksServiceClient(chain, 'http://localhost:8080/chaintracks/v2')`. Every answer has a status and a value.
 */
import { type ChainHeader, formatHash, type HeaderStore, parseHash } from '@quoin/chain'
import { JSON_TYPE, json, type Route, route } from '@quoin/http'
import { toHex } from '@quoin/primitives'
import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { Txid } from '../../schemas.ts'
import { type Dialect, HeaderValue, headerValue } from './dialect.ts'

const Height = Type.Integer({ minimum: 0, maximum: 0xffffffff })
/** Headers in one answer, in hex. */
const MAX_HEADERS = 10_000

export const serviceClientRoutes = (headers: HeaderStore, { prefix, tag, nameOf }: Dialect): Route[] => {
  const call = <Q extends TProperties>(
    name: string,
    summary: string,
    value: TSchema,
    query: Q,
    load: (query: Static<TObject<Q>>) => Promise<unknown>
  ): Route =>
    route({
      method: 'get',
      path: `${prefix}/${name}`,
      name: nameOf(`Call${name[0]!.toUpperCase()}${name.slice(1)}`),
      summary,
      tag,
      query,
      responses: {
        200: {
          description: 'The value.',
          content: {
            [JSON_TYPE]: Type.Object({ status: Type.Literal('success'), value: Type.Optional(value) })
          }
        }
      },
      async handle(asked) {
        const found = await load(asked.query)
        return json({ status: 'success', ...(found !== undefined && { value: found }) })
      }
    })
  return [
    call('getChain', 'The network of the headers.', Type.String(), {}, async () => headers.network),
    call('getInfo', 'The network and the height of the headers.', Info, {}, () => infoOf(headers)),
    call('getPresentHeight', 'The height of the last block.', Height, {}, () => headers.currentHeight()),
    call('findChainTipHashHex', 'The hash of the last block.', Type.String(), {}, async () =>
      formatHash((await headers.tip()).header.hash)
    ),
    call('findChainTipHeaderHex', 'The header of the last block.', HeaderValue, {}, async () =>
      headerValue(await headers.tip())
    ),
    call(
      'getHeaders',
      'Headers one after the other in hex; fewer where the chain ends.',
      Type.String(),
      { height: Height, count: Type.Integer({ minimum: 1, maximum: MAX_HEADERS }) },
      async ({ height, count }) =>
        (await headers.range(height, count)).map(({ header }) => toHex(header.raw)).join('')
    ),
    call(
      'findHeaderHexForHeight',
      'The header at a height; without a value when there is none.',
      HeaderValue,
      { height: Height },
      async ({ height }) => foundValue(await headers.header(height))
    ),
    call(
      'findHeaderHexForBlockHash',
      'The header of a block of the chain by its hash; without a value when there is none.',
      HeaderValue,
      { hash: Txid },
      async ({ hash }) => foundValue(await headers.headerOf(parseHash(hash)))
    )
  ]
}

const Info = Type.Object({
  chain: Type.String(),
  heightBulk: Height,
  heightLive: Height,
  storage: Type.String()
})

const infoOf = async (headers: HeaderStore) => {
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

const foundValue = (header: ChainHeader | undefined) => header && headerValue(header)
