/** Requests to a node over HTTP: the JSON of the response, or an error with the node's message. */
import { fetchReasonOf, QuoinError } from '@quoin/primitives'

export const DEFAULT_URL = 'http://localhost:8080'

/** POSTs when there is a body; bytes are sent as they are, everything else as JSON. */
export const ask = async (
  url: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {}
): Promise<Response> => {
  const target = targetOf(url, path)
  const isBytes = body instanceof Uint8Array
  try {
    return await fetch(target, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(body !== undefined && {
          'content-type': isBytes ? 'application/octet-stream' : 'application/json'
        }),
        ...headers
      },
      ...(body !== undefined && { body: isBytes ? Buffer.from(body) : JSON.stringify(body) })
    })
  } catch (error) {
    throw new QuoinError(
      'ERR_NODE_UNREACHABLE',
      `${target.origin} cannot be reached: ${fetchReasonOf(error)}; is quoin serve running there?`,
      { url: target.origin, cause: error }
    )
  }
}

/** The JSON of a response; throws the node's message for an error. */
export const askJson = async <T>(
  url: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>
): Promise<T> => {
  const response = await ask(url, path, body, headers)
  const text = await response.text()
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw refused(url, path, response.status, 'something that is not JSON', { cause })
  }
  if (response.ok) return value as T
  const { code, message } = value as { code?: string; message?: string }
  throw refused(url, path, response.status, `${message ?? 'an error'}${code ? ` [${code}]` : ''}`, { code })
}

const refused = (
  url: string,
  path: string,
  status: number,
  said: string,
  details: Readonly<Record<string, unknown>> = {}
): QuoinError =>
  new QuoinError('ERR_NODE_REFUSED', `${url}${path.split('?')[0]} answered ${status}: ${said}`, {
    url,
    status,
    ...details
  })

const targetOf = (url: string, path: string): URL => {
  const base = URL.canParse(url) ? new URL(url) : undefined
  if (!base || !/^https?:$/.test(base.protocol)) {
    throw new QuoinError('ERR_USAGE', `--url is an http or https address, not ${url}`, { url })
  }
  return new URL(`${base.href.replace(/\/$/, '')}${path}`)
}
