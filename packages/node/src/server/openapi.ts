/** The description of the routes (OpenAPI 3.1), made from the schemas that check the requests, and a page to read it on. */

import { BYTES, BYTES_TYPE, JSON_TYPE, type ResponseSpec, type Route, route, toJson } from '@quoin/http'
import { type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { page } from './openapi-page.ts'
import { Failure } from './schemas.ts'

export interface OpenApi {
  readonly openapi: '3.1.0'
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>
    readonly securitySchemes: Readonly<Record<string, unknown>>
  }
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly required: true; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>
  readonly security?: readonly unknown[]
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string
  readonly schema?: unknown
  readonly content?: Content
}

type Content = Readonly<Record<string, { readonly schema?: unknown }>>

/** The version of the interface, not of the program. */
const VERSION = '1'

export const describe = (routes: readonly Route[]): OpenApi => {
  const schemas = new Map<string, unknown>()
  const paths: Record<string, Record<string, Operation>> = {}
  for (const each of routes) {
    const path = each.path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, '{$1}')
    paths[path] = { ...paths[path], [each.method]: operationOf(each, schemas) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Quoin',
      version: VERSION,
      description: 'A node for overlays and an output index.'
    },
    paths,
    components: {
      schemas: Object.fromEntries(schemas),
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } }
    }
  }
}

const operationOf = (declared: Route, schemas: Map<string, unknown>): Operation => {
  const { name, summary, tag, body, auth } = declared
  const bodyContent: Content | undefined =
    body && (body === BYTES ? { [BYTES_TYPE]: {} } : { [JSON_TYPE]: { schema: referred(body, schemas) } })
  const failure = {
    description: 'An error, with its code and message.',
    content: { [JSON_TYPE]: { schema: referred(Failure, schemas) } }
  }
  const responses = Object.entries(declared.responses as Record<string, ResponseSpec>).map(
    ([status, { description, content }]) => [
      status,
      { description, content: content ? contentOf(content, schemas) : failure.content }
    ]
  )
  return {
    operationId: name,
    summary,
    tags: [tag],
    parameters: [
      ...parametersOf('path', declared.params),
      ...parametersOf('query', declared.query),
      ...parametersOf('header', declared.headers)
    ],
    ...(bodyContent && { requestBody: { required: true as const, content: bodyContent } }),
    responses: { ...Object.fromEntries(responses), default: failure },
    ...(auth && { security: [{ token: [] }] })
  }
}

const parametersOf = (place: Parameter['in'], properties: TProperties = {}): Parameter[] => {
  const { required = [] } = Type.Object(properties)
  return Object.entries(properties).map(([name, schema]) => {
    const { description } = schema
    const isJson = schema['contentMediaType'] === JSON_TYPE
    return {
      name,
      in: place,
      // A parameter with a default need not be sent.
      required: required.includes(name) && !('default' in schema),
      ...(description !== undefined && { description }),
      ...(isJson ? { content: { [JSON_TYPE]: { schema: plain(schema) } } } : { schema: plain(schema) })
    }
  })
}

const contentOf = (
  content: Readonly<Record<string, TSchema | undefined>>,
  schemas: Map<string, unknown>
): Content =>
  Object.fromEntries(
    Object.entries(content).map(([type, schema]) => [
      type,
      schema ? { schema: referred(schema, schemas) } : {}
    ])
  )

/** As plain JSON: schemas carry symbols that mean something only to the library. */
const plain = (schema: TSchema): Record<string, unknown> => JSON.parse(JSON.stringify(schema))

/** Schemas with a name of their own stand among the components. */
const referred = (schema: TSchema, schemas: Map<string, unknown>): unknown => {
  const moved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(moved)
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value)
    const { $id } = value as { $id?: unknown }
    const rest = Object.fromEntries(
      entries.filter(([name]) => name !== '$id').map(([name, each]) => [name, moved(each)])
    )
    if (typeof $id !== 'string') return rest
    schemas.set($id, rest)
    return { $ref: `#/components/schemas/${$id}` }
  }
  return moved(plain(schema))
}

/** Where all of this is served. */
export const describedRoutes = (routes: readonly Route[]): Route[] => {
  const own: Route[] = []
  let text: string | undefined
  let html: string | undefined
  const described = (): OpenApi => describe([...routes, ...own])
  own.push(
    route({
      method: 'get',
      path: '/openapi.json',
      name: 'openapi',
      summary: 'This description.',
      tag: 'health',
      responses: { 200: { description: 'OpenAPI 3.1.', content: { [JSON_TYPE]: Type.Unknown() } } },
      handle() {
        text ??= toJson(described())
        return { type: JSON_TYPE, body: text }
      }
    }),
    ...['/', '/docs'].map(path =>
      route({
        method: 'get',
        path,
        name: path === '/' ? 'index' : 'docs',
        summary: 'The documentation of the routes as a page.',
        tag: 'health',
        responses: { 200: { description: 'A page.', content: { 'text/html': Type.String() } } },
        handle() {
          html ??= page(described())
          return {
            type: 'text/html; charset=utf-8',
            body: html,
            headers: { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'" }
          }
        }
      })
    )
  )
  return own
}
