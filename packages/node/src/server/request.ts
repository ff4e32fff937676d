/** Reads the declared parts of a request, converts them to the types of their schemas, and checks each once. */
import type { IncomingMessage } from 'node:http'
import { BYTES, depthOf, JSON_TYPE, type Route, type RouteRequest } from '@quoin/http'
import { QuoinError } from '@quoin/primitives'
import { type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import type { Limits } from './limits.ts'

type Where = 'path' | 'query' | 'header' | 'body'

/** Where a request comes from: a socket, or a `Request` without one. */
export interface RequestSource {
  readonly params: Readonly<Record<string, string>>
  /** With the question mark, or empty. */
  readonly search: string
  header(name: string): string | undefined
  readonly source: IncomingMessage | Request
  readonly client: string | undefined
}

/** Made once for a route. */
export class RequestReader {
  readonly #params: Part | undefined
  readonly #query: Part | undefined
  readonly #headers: Part | undefined
  readonly #body: 'bytes' | TypeCheck<TSchema> | undefined
  readonly #limits: Limits

  constructor({ params, query, headers, body }: Route, limits: Limits) {
    this.#params = params && new Part('path', params)
    this.#query = query && new Part('query', query)
    this.#headers = headers && new Part('header', headers)
    this.#body = body === undefined || body === BYTES ? body : TypeCompiler.Compile(body as TSchema)
    this.#limits = limits
  }

  async read(incoming: RequestSource, id: string): Promise<RouteRequest> {
    const { params, search, client } = incoming
    const asked = {
      id,
      client,
      params: this.#params?.read(name => one(params[name])) ?? {},
      query: this.#readQuery(search),
      headers: this.#headers?.read(name => one(incoming.header(name))) ?? {},
      body: undefined as unknown
    }
    if (this.#body) asked.body = await this.#readBody(this.#body, incoming)
    return asked as RouteRequest
  }

  #readQuery(search: string): unknown {
    if (!this.#query) return {}
    const given = new URLSearchParams(search)
    return this.#query.read(name => given.getAll(name))
  }

  async #readBody(body: 'bytes' | TypeCheck<TSchema>, incoming: RequestSource): Promise<unknown> {
    const encoding = incoming.header('content-encoding')
    if (encoding && encoding !== 'identity')
      throw malformed('header', '/content-encoding', 'is not supported')
    const length = Number(incoming.header('content-length') ?? 0)
    if (length > this.#limits.body) throw tooLong(this.#limits.body)
    const bytes = await readBytes(incoming.source, this.#limits.body)
    if (body === BYTES) return bytes
    if (depthOf(bytes) > this.#limits.depth) {
      throw new QuoinError('ERR_REQUEST_LIMIT', `the body is nested deeper than ${this.#limits.depth}`)
    }
    let value: unknown
    try {
      value = JSON.parse(utf8.decode(bytes))
    } catch {
      throw malformed('body', '', 'is not JSON')
    }
    return checked('body', body, value)
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
const one = (value: string | undefined): string[] => (value === undefined ? [] : [value])

/** Parameters of one place, each a text, or several of one name. */
class Part {
  readonly #where: Where
  readonly #properties: readonly (readonly [name: string, schema: TSchema])[]
  readonly #check: TypeCheck<TSchema>

  constructor(where: Where, properties: TProperties) {
    this.#where = where
    this.#properties = Object.entries(properties)
    this.#check = TypeCompiler.Compile(Type.Object(properties))
  }

  read(get: (name: string) => string[]): unknown {
    const value: Record<string, unknown> = {}
    for (const [name, schema] of this.#properties) {
      const given = get(name)
      if (given.length > 0) value[name] = coerced(schema, given)
      else if (schema['default'] !== undefined) value[name] = schema['default']
    }
    return checked(this.#where, this.#check, value)
  }
}

const NUMBER = /^-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?$/i

/** Converts texts to the type of the schema. A text of another form stays, and the check refuses it. */
const coerced = (schema: TSchema, given: readonly string[]): unknown => {
  const [text] = given
  if (schema['contentMediaType'] === JSON_TYPE) return parsed(text!)
  if (schema['type'] === 'array') return given.map(each => coerced(schema['items'], [each]))
  if (given.length > 1) return given
  switch (schema['type']) {
    case 'integer':
    case 'number':
      return NUMBER.test(text!) ? Number(text) : text
    case 'boolean':
      return text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : text
    default:
      return text
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const checked = (where: Where, check: TypeCheck<TSchema>, value: unknown): unknown => {
  if (check.Check(value)) return value
  const error = check.Errors(value).First()
  throw malformed(where, error?.path ?? '', error ? expectation(error) : 'is not as declared')
}

/** A regular expression says little to the person who mistyped a name: the description of the schema says more. */
const expectation = ({ type, schema, message }: ValueError): string => {
  if (type !== ValueErrorType.StringPattern) return message
  const form: string | undefined = schema.description
  return `Expected a text of another form${form === undefined ? '' : `: ${form.replace(/\.$/, '')}`}. /openapi.json declares it.`
}

const malformed = (where: Where, path: string, message: string): QuoinError =>
  new QuoinError('ERR_REQUEST', `${where}${path && ` ${path}`}: ${message}`, { where, path })

const tooLong = (limit: number): QuoinError =>
  new QuoinError('ERR_REQUEST_LIMIT', `the body is longer than ${limit} bytes`, { limit })

const readBytes = async (source: IncomingMessage | Request, limit: number): Promise<Uint8Array> => {
  if (source instanceof Request) {
    const bytes = new Uint8Array(await source.arrayBuffer())
    if (bytes.length > limit) throw tooLong(limit)
    return bytes
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    source.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > limit) {
        chunks.length = 0
        source.pause()
        reject(tooLong(limit))
      } else chunks.push(chunk)
    })
    source.on('end', () => resolve(joined(chunks, length)))
    source.on('error', reject)
    source.on('close', () => {
      if (!source.complete) reject(new QuoinError('ERR_REQUEST', 'the connection ended early'))
    })
  })
}

const joined = (chunks: readonly Buffer[], length: number): Uint8Array => {
  const [first] = chunks
  const whole = chunks.length === 1 ? first! : Buffer.concat(chunks, length)
  return new Uint8Array(whole.buffer, whole.byteOffset, whole.length)
}
