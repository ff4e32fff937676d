/**
 * Requests to the node that served the page, and to no other host. Requests and responses are typed by the server's
 * schemas.
 */
import { at } from '../base.ts'
import type { Routes } from './types.ts'

type Name = keyof Routes
export type Answer<N extends Name> = Routes[N]['answer']

type Part<K extends string, T> = [T] extends [undefined]
  ? { readonly [P in K]?: undefined }
  : Record<string, never> extends T
    ? { readonly [P in K]?: T }
    : { readonly [P in K]: T }
type RequestParameters<N extends Name> = Part<'path', Routes[N]['path']> &
  Part<'query', Routes[N]['query']> &
  Part<'body', Routes[N]['body']> & { readonly token?: string; readonly signal?: AbortSignal | undefined }

/** An error response of the node, or a missing response. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }

  get isNotFound(): boolean {
    return this.status === 404
  }

  /** The node runs without the part that the route belongs to. */
  get isMissing(): boolean {
    return this.code === 'ERR_ROUTE_NOT_FOUND'
  }
}

interface Parts {
  readonly path?: object | undefined
  readonly query?: object | undefined
  readonly body?: unknown
  readonly token?: string | undefined
  readonly signal?: AbortSignal | undefined
}

const urlOf = (template: string, { path = {}, query = {} }: Parts): string => {
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String((path as Record<string, unknown>)[name]))
  )
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => {
      if (value === undefined) return []
      return (Array.isArray(value) ? value : [value]).map(each => [name, String(each)])
    })
  ).toString()
  return search === '' ? filled : `${filled}?${search}`
}

export const ask = async <N extends Name>(name: N, ...[asked]: RequestArguments<N>): Promise<Answer<N>> => {
  const parts: Parts = asked ?? {}
  const [method, template] = name.split(' ') as [string, string]
  const { body, token, signal } = parts
  const response = await send(urlOf(template, parts), {
    method,
    headers: {
      accept: 'application/json, application/octet-stream',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` })
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal })
  })
  if (!response.ok) throw await failure(response)
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('application/json')) return (await response.json()) as Answer<N>
  if (type.startsWith('text/')) return (await response.text()) as Answer<N>
  return new Uint8Array(await response.arrayBuffer()) as Answer<N>
}

/** Optional when the route has no required parameters. */
type RequestArguments<N extends Name> =
  Record<string, never> extends RequestParameters<N>
    ? [asked?: RequestParameters<N>]
    : [asked: RequestParameters<N>]

/** A response of any status. Without one, throws with the reason. */
export const send = async (url: string, init: RequestInit): Promise<Response> => {
  try {
    return await fetch(at(url), init)
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(
      0,
      'NO_ANSWER',
      'The node does not answer. It may be restarting, or the network may be down.'
    )
  }
}

const failure = async (response: Response): Promise<ApiError> => {
  const { status } = response
  try {
    const { code, message } = (await response.json()) as { code: string; message: string }
    return new ApiError(status, code, message)
  } catch {
    return new ApiError(status, `HTTP_${status}`, `The node answered with status ${status}.`)
  }
}
