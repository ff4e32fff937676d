/**
 * Routes as values: schemas of the request and of the responses, and a handler. The same schemas check requests and write
 * the OpenAPI description.
 */
import type { Static, TObject, TProperties, TSchema } from '@sinclair/typebox'
import { toJson } from './json.ts'

export type Method = 'get' | 'post' | 'delete'

/** A body of bytes, of any content type. */
export const BYTES = 'bytes'

// biome-ignore lint/complexity/noBannedTypes: no properties at all.
type None = {}

/** A checked request. */
export interface RouteRequest<
  P extends TProperties = None,
  Q extends TProperties = None,
  H extends TProperties = None,
  B extends TSchema | typeof BYTES | undefined = undefined
> {
  readonly params: Static<TObject<P>>
  readonly query: Static<TObject<Q>>
  readonly headers: Static<TObject<H>>
  readonly body: B extends TSchema ? Static<B> : B extends typeof BYTES ? Uint8Array : undefined
  readonly id: string
  /** The network of the client (`limits.ts`); undefined for a request without a socket. */
  readonly client: string | undefined
}

export interface RouteResponse {
  readonly status?: number
  readonly type: string
  /** Null for a status that forbids a body, such as 304. */
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null
  readonly headers?: Readonly<Record<string, string>>
}

export interface ResponseSpec {
  readonly description: string
  /** By content type; `undefined` for bytes. */
  readonly content?: Readonly<Record<string, TSchema | undefined>>
}

export interface RouteSpec<
  P extends TProperties,
  Q extends TProperties,
  H extends TProperties,
  B extends TSchema | typeof BYTES | undefined
> {
  readonly method: Method
  /** With parameters as `:name`. */
  readonly path: string
  /** The operation id in OpenAPI. */
  readonly name: string
  readonly summary: string
  readonly tag: string
  readonly params?: P
  readonly query?: Q
  /** Names in lower case. */
  readonly headers?: H
  readonly body?: B
  /** By status; errors that every route may answer are added. */
  readonly responses: Readonly<Record<number, ResponseSpec>>
  /** Only for requests with this bearer token. */
  readonly auth?: BearerAuth
  /** Requests that a request counts as under the limit of an address, by the parameters of its path; 1 unless given. */
  readonly cost?: number | ((params: Readonly<Record<string, string>>) => number)
  handle(request: RouteRequest<P, Q, H, B>): Promise<RouteResponse> | RouteResponse
}

/** Refuses requests without the token. */
export interface BearerAuth {
  check(authorization: string | undefined): void
}

// biome-ignore lint/suspicious/noExplicitAny: the arguments of a handler were checked by its own schemas.
export type Route = RouteSpec<any, any, any, any>

/** Declares a route, with the types of its parts inferred. */
export const route = <
  P extends TProperties = None,
  Q extends TProperties = None,
  H extends TProperties = None,
  B extends TSchema | typeof BYTES | undefined = undefined
>(
  declared: RouteSpec<P, Q, H, B>
): Route => declared

export const JSON_TYPE = 'application/json'
/** Exactly this: clients compare it with `===`. */
export const BYTES_TYPE = 'application/octet-stream'

export const json = (value: unknown, status = 200): RouteResponse => ({
  status,
  type: JSON_TYPE,
  body: toJson(value)
})
export const bytes = (body: Uint8Array): RouteResponse => ({ type: BYTES_TYPE, body })
