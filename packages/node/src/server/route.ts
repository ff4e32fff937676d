/**
 * Routes are declared: what a request has to look like, and what comes back. The same schemas check the request and
 * make the OpenAPI description, so the two cannot differ.
 */
import type { Static, TObject, TProperties, TSchema } from '@sinclair/typebox'
import { toJson } from './json.ts'

export type Method = 'get' | 'post' | 'delete'

/** A body of bytes, whatever its content type. */
export const BYTES = 'bytes'

// biome-ignore lint/complexity/noBannedTypes: no properties at all.
type None = {}

/** A request that was checked. */
export interface Asked<
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

export interface Answer {
  readonly status?: number
  readonly type: string
  readonly body: string | Uint8Array | ReadableStream<Uint8Array>
  readonly headers?: Readonly<Record<string, string>>
}

export interface Described {
  readonly about: string
  /** By content type; `undefined` for bytes. */
  readonly content?: Readonly<Record<string, TSchema | undefined>>
}

export interface Declared<
  P extends TProperties,
  Q extends TProperties,
  H extends TProperties,
  B extends TSchema | typeof BYTES | undefined
> {
  readonly method: Method
  /** With parameters as `:name`. */
  readonly path: string
  /** The name of the operation, for those who generate clients. */
  readonly name: string
  readonly about: string
  readonly family: Family
  readonly params?: P
  readonly query?: Q
  /** Names in lower case. */
  readonly headers?: H
  readonly body?: B
  /** By status; errors that every route may answer are added. */
  readonly answers: Readonly<Record<number, Described>>
  /** Behind a bearer token. */
  readonly token?: Token
  handle(asked: Asked<P, Q, H, B>): Promise<Answer> | Answer
}

type Family =
  | 'overlay'
  | 'txo'
  | 'kv'
  | 'liquidity'
  | 'beef'
  | '1sat'
  | 'live'
  | 'keyspace'
  | 'health'
  | 'dev'
  | 'admin'
  | 'explorer'

/** Refuses what is not the token. */
export interface Token {
  check(authorization: string | undefined): void
}

// biome-ignore lint/suspicious/noExplicitAny: what a handler is given was checked by its own schemas.
export type Route = Declared<any, any, any, any>

/** Declares a route, with the types of its parts inferred. */
export const route = <
  P extends TProperties = None,
  Q extends TProperties = None,
  H extends TProperties = None,
  B extends TSchema | typeof BYTES | undefined = undefined
>(
  declared: Declared<P, Q, H, B>
): Route => declared

export const JSON_TYPE = 'application/json'
/** Exactly this: clients compare it with `===`. */
export const BYTES_TYPE = 'application/octet-stream'

export const json = (value: unknown, status = 200): Answer => ({
  status,
  type: JSON_TYPE,
  body: toJson(value)
})
export const bytes = (body: Uint8Array): Answer => ({ type: BYTES_TYPE, body })
