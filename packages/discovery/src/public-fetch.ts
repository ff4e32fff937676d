/**
 * `fetch` for addresses that strangers name. The addresses of a host name are checked after its resolution, and the
 * connection goes to the checked address, so that a second resolution cannot lead elsewhere. Redirects are refused.
 */
import { type LookupAddress, lookup as resolveName } from 'node:dns'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { isPublicAddress } from './public-address.ts'

/** All addresses of a host name. */
export type ResolveHost = (
  hostname: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void
) => void

export interface PublicFetchOptions {
  /** Permits addresses that are not of the public internet: for networks of one operator. */
  readonly allowPrivate?: boolean | undefined
  /** The resolver of the system unless given. */
  readonly resolve?: ResolveHost
}

const ofSystem: ResolveHost = (hostname, done) => resolveName(hostname, { all: true, verbatim: true }, done)

/** Responses with these statuses have no body (Fetch standard §2.2.3). */
const BODILESS = new Set([204, 205, 304])

/**
 * A `fetch` that refuses private addresses and redirects. It takes the options that this program uses: method, headers,
 * a text or bytes as body, and a signal.
 *
 * `publicFetch()('http://127.0.0.1:1')` throws `TypeError: fetch failed`, whose cause has the code ERR_SOURCE_REFUSED.
 */
export const publicFetch = ({
  allowPrivate = false,
  resolve = ofSystem
}: PublicFetchOptions = {}): typeof fetch => {
  const guarded: LookupFunction = (hostname, options, done) =>
    resolve(hostname, (error, addresses) => {
      const refused = allowPrivate ? undefined : addresses?.find(({ address }) => !isPublicAddress(address))
      const [first] = addresses ?? []
      if (error) done(error, '')
      else if (refused) done(notPublic(refused.address, hostname), '')
      else if (!first) done(new Error(`${hostname} has no address`), '')
      else if (options.all) done(null, [...addresses])
      else done(null, first.address, first.family)
    })

  const send = async (url: URL, init: RequestInit): Promise<Response> => {
    const literal = url.hostname.replace(/^\[|\]$/g, '')
    // No name is resolved for an address.
    if (!allowPrivate && isIP(literal) && !isPublicAddress(literal)) throw notPublic(literal, literal)
    const answer = await new Promise<IncomingMessage>((resolved, rejected) => {
      const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
        method: init.method ?? 'GET',
        headers: { 'accept-encoding': 'identity', ...Object.fromEntries(new Headers(init.headers)) },
        lookup: guarded,
        // A pooled connection of another request may lead to an address that was not checked.
        agent: false,
        ...(init.signal && { signal: init.signal })
      })
      request.once('response', resolved)
      request.once('error', rejected)
      request.end(init.body ?? undefined)
    })
    return responseOf(url, answer)
  }

  return async (input, init = {}) => {
    const url = new URL(String(input instanceof Request ? input.url : input))
    try {
      return await send(url, init)
    } catch (cause) {
      init.signal?.throwIfAborted()
      // The error of `fetch`.
      throw new TypeError('fetch failed', { cause })
    }
  }
}

const responseOf = (url: URL, answer: IncomingMessage): Response => {
  const status = answer.statusCode ?? 0
  const isRedirect = status >= 300 && status < 400 && status !== 304
  if (isRedirect || status < 200 || status > 599) {
    answer.destroy()
    throw new Error(
      isRedirect
        ? `${url.origin} redirects, which is not followed`
        : `${url.origin} answers with status ${status}`
    )
  }
  const headers = new Headers()
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const each of [value ?? []].flat()) headers.append(name, each)
  }
  if (!BODILESS.has(status))
    return new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, { status, headers })
  answer.resume()
  return new Response(null, { status, headers })
}

const notPublic = (address: string, hostname: string): Error =>
  new Error(
    `${hostname === address ? address : `${hostname} is ${address}, which`} is not a public address; the setting privateHosts permits it`
  )
