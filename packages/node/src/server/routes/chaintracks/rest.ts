/** Headers as resources, in one dialect: as JSON, and as 80 bytes where the path ends with `.bin`. */
import { type ChainHeader, type HeaderStore, parseHash } from '@quoin/chain'
import { BYTES_TYPE, bytes, JSON_TYPE, json, type Route, type RouteResponse, route } from '@quoin/http'
import { hasCode, QuoinError } from '@quoin/primitives'
import { type TProperties, Type } from '@sinclair/typebox'
import type { Context } from '../../context.ts'
import type { Dialect } from './dialect.ts'
import { reorgStream, tipStream } from './header-stream.ts'

/** Headers in one answer. */
const MAX_HEADERS = 10_000
const MAX_HEIGHT = 0xffffffff
/** Blocks above a header after which caches may keep it for an hour. */
const SETTLED = 100

export const headerRoutes = (context: Context, headers: HeaderStore, dialect: Dialect): Route[] => {
  const at = answerer(dialect)
  const cached = async (height: number): Promise<Record<string, string>> => ({
    'cache-control': height + SETTLED < (await headers.currentHeight()) ? 'public, max-age=3600' : 'no-cache'
  })
  /** The header that was found, in the form that the suffix asks for. */
  const found = async (
    header: ChainHeader | undefined,
    asked: HeaderRequest,
    where: string
  ): Promise<RouteResponse> => {
    if (!header) throw new QuoinError('ERR_NOT_FOUND', `unknown block ${where}`)
    return shown(dialect, header, asked.isBinary, await cached(header.height))
  }
  const lines = async (query: HeightAndCount): Promise<RouteResponse> => {
    const height = wholeOf('height', query.height, 0)
    const count = wholeOf('count', query.count, 1)
    const there = Math.min(count, Math.max(0, (await headers.currentHeight()) - height + 1))
    if (there > MAX_HEADERS) {
      throw new QuoinError('ERR_REQUEST', `count is ${count}; one answer has up to ${MAX_HEADERS} headers`)
    }
    const range = await headers.range(height, there)
    // A chain that begins at a checkpoint lacks the headers below it.
    const held = range[0]?.height === height ? range : []
    return {
      ...bytes(new Uint8Array(Buffer.concat(held.map(({ header }) => header.raw)))),
      headers: {
        ...(await cached(height)),
        'x-start-height': String(height),
        'x-header-count': String(held.length)
      }
    }
  }
  const tip = async (isBinary: boolean): Promise<RouteResponse> =>
    shown(dialect, await headers.tip(), isBinary, { 'cache-control': 'no-cache' })
  return [
    at('/network', 'Network', 'Which network the node is on.', {
      field: ['network', Type.String()],
      handle: async () => json(dialect.body(headers.network, 'network'))
    }),
    at('/height', 'Height', 'The height of the last block.', {
      field: ['height', Type.Integer()],
      handle: async () => json(dialect.body(await headers.currentHeight(), 'height'))
    }),
    at('/tip', 'Tip', 'The header of the last block.', { handle: () => tip(false) }),
    at('/tip.bin', 'TipBytes', 'The header of the last block, 80 bytes.', {
      isBinary: true,
      handle: () => tip(true)
    }),
    at('/headers', 'Headers', HEADERS, {
      isBinary: true,
      query: Range(dialect),
      handle: asked => lines(asked.query)
    }),
    at('/headers.bin', 'HeadersBytes', HEADERS, {
      isBinary: true,
      query: Range(dialect),
      handle: asked => lines(asked.query)
    }),
    at(
      '/header/height/:height',
      'HeaderAt',
      'The header of the block at a height; its bytes for `{height}.bin`.',
      {
        params: { height: textOf(dialect, HEIGHT) },
        async handle({ params }) {
          const asked = askedFor(params['height'])
          const height = wholeOf('height', asked.text, 0)
          return found(await headers.header(height), asked, `at ${height}`)
        }
      }
    ),
    at('/header/hash/:hash', 'HeaderOf', 'The header of a block by its hash; its bytes for `{hash}.bin`.', {
      params: { hash: textOf(dialect, HASH) },
      async handle({ params }) {
        const asked = askedFor(params['hash'])
        return found(await headers.headerOf(hashOf(asked.text)), asked, asked.text)
      }
    }),
    at('/tip/stream', 'TipStream', 'The header of the last block, and of each that becomes it.', {
      isStream: true,
      handle: () => tipStream(context, headers, dialect.describe)
    }),
    at('/reorg/stream', 'ReorgStream', REORGS, {
      isStream: true,
      handle: () => reorgStream(context, headers, dialect.describe)
    })
  ]
}

const HEADERS = 'Headers one after the other, 80 bytes each; fewer where the chain ends.'
const REORGS =
  'Each reorg: the hashes of the blocks that left, the last common block, the tip, and how many left.'

interface HeightAndCount {
  readonly height?: string
  readonly count?: string
}

/** A route of a dialect: what it takes, and whether it answers a value, a header, bytes or events. */
interface Answer {
  readonly params?: TProperties
  readonly query?: TProperties
  readonly field?: readonly [name: string, schema: TProperties[string]]
  readonly isBinary?: boolean
  readonly isStream?: boolean
  handle(asked: {
    readonly params: Readonly<Record<string, string>>
    readonly query: HeightAndCount
  }): Promise<RouteResponse> | RouteResponse
}

const answerer =
  (dialect: Dialect) =>
  (path: string, name: string, summary: string, answer: Answer): Route => {
    const { params, query, field, isBinary, isStream } = answer
    const [fieldName, value] = field ?? [undefined, dialect.header]
    return route({
      method: 'get',
      path: dialect.prefix + path,
      name: dialect.nameOf(name),
      summary,
      tag: dialect.tag,
      ...(params && { params }),
      ...(query && { query }),
      responses: {
        200: {
          description: isStream ? 'A stream of events.' : 'As the path asks.',
          content: isStream
            ? { 'text/event-stream': Type.String() }
            : isBinary
              ? { [BYTES_TYPE]: undefined }
              : {
                  [JSON_TYPE]: dialect.bodySchema(value, fieldName),
                  ...(params && { [BYTES_TYPE]: undefined })
                }
        },
        ...(params && { 404: { description: 'Unknown block.' } })
      },
      async handle(asked) {
        const work = async (): Promise<RouteResponse> =>
          answer.handle(asked as Parameters<Answer['handle']>[0])
        return dialect.hasServiceErrors ? work().catch(serviceError) : work()
      }
    })
  }

/** Errors as the conformance vectors of chaintracks-server have them. */
const serviceError = (error: unknown): RouteResponse => {
  const [status, code] = hasCode(error, 'ERR_REQUEST')
    ? [400, 'ERR_INVALID_PARAMS']
    : hasCode(error, 'ERR_NOT_FOUND')
      ? [404, 'ERR_NOT_FOUND']
      : []
  if (status === undefined) throw error
  const description = (error as QuoinError).message
  return json({ status: 'error', code, message: description, description }, status)
}

const shown = (
  dialect: Dialect,
  header: ChainHeader,
  isBinary: boolean,
  headers: Readonly<Record<string, string>>
): RouteResponse => ({
  ...(isBinary ? bytes(new Uint8Array(header.header.raw)) : json(dialect.body(dialect.describe(header)))),
  headers: { ...headers, 'x-block-height': String(header.height) }
})

interface HeaderRequest {
  readonly text: string
  readonly isBinary: boolean
}

const BINARY = '.bin'
const askedFor = (text = ''): HeaderRequest =>
  text.endsWith(BINARY) ? { text: text.slice(0, -BINARY.length), isBinary: true } : { text, isBinary: false }

const HEIGHT = '^(0|[1-9][0-9]{0,9})(\\.bin)?$'
const HASH = '^[0-9a-fA-F]{64}(\\.bin)?$'
/** Text that the handler parses where the dialect has errors of its own. */
const textOf = ({ hasServiceErrors }: Dialect, pattern: string) =>
  Type.String(hasServiceErrors ? { maxLength: 100 } : { pattern })
const Range = (dialect: Dialect) => {
  const number = textOf(dialect, '^[0-9]{1,10}$')
  return dialect.hasServiceErrors
    ? { height: Type.Optional(number), count: Type.Optional(number) }
    : { height: number, count: number }
}

const wholeOf = (name: string, text: string | undefined, least: number): number => {
  const value = text !== undefined && /^[0-9]{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= MAX_HEIGHT) return value
  throw new QuoinError(
    'ERR_REQUEST',
    `${name} is ${text ?? 'missing'}; expected a whole number from ${least} to ${MAX_HEIGHT}`
  )
}

const hashOf = (text: string): Uint8Array => parseHash(text, 'ERR_REQUEST')
