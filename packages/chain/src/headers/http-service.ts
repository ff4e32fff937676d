/**
 * HTTP requests to a chain service, bounded in time and size: each failure is an `ERR_CHAIN_SOURCE` with the service's
 * address and the reason.
 */
import { fetchReasonOf, QuoinError, readBody } from '@quoin/primitives'

const TIMEOUT = 30_000
/** Many times the largest legitimate answer. */
const MAX_BYTES = 16 * 1024 * 1024

export interface HttpServiceOptions {
  /** Bearer token. */
  readonly token?: string
  /** Sent with each request, beside the token. */
  readonly headers?: Readonly<Record<string, string>>
  /** Milliseconds until the last byte of an answer. */
  readonly timeout?: number
  /** Bytes of the largest answer. */
  readonly maxBytes?: number
  readonly fetch?: typeof fetch
}

export interface ServiceResponse {
  readonly status: number
  /** Media type without parameters. */
  readonly type: string
  readonly bytes: Uint8Array
}

interface ServiceRequest {
  readonly signal?: AbortSignal | undefined
  /** Request body, sent as JSON by POST. */
  readonly body?: unknown
}

export class HttpService {
  /** Address of the service. */
  readonly name: string
  readonly #base: URL
  readonly #headers: Record<string, string>
  readonly #timeout: number
  readonly #maxBytes: number
  readonly #fetch: typeof fetch

  constructor(url: string, options: HttpServiceOptions = {}) {
    this.#base = serviceUrl(url)
    this.name = `${this.#base.origin}${this.#base.pathname}`.replace(/\/$/, '')
    this.#headers = {
      ...options.headers,
      ...(options.token !== undefined && { authorization: `Bearer ${options.token}` })
    }
    this.#timeout = options.timeout ?? TIMEOUT
    this.#maxBytes = options.maxBytes ?? MAX_BYTES
    this.#fetch = options.fetch ?? fetch
  }

  /** The answer of a success or of a status in `expected`; any other status throws. */
  async ask(
    path: string,
    question: ServiceRequest = {},
    expected: readonly number[] = []
  ): Promise<ServiceResponse> {
    const answer = await this.answer(path, question)
    if ((answer.status >= 200 && answer.status < 300) || expected.includes(answer.status)) return answer
    throw this.failure(path, `answered with status ${answer.status}`, { status: answer.status })
  }

  /** Parses a JSON answer. */
  json(path: string, { bytes }: ServiceResponse): unknown {
    try {
      return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    } catch (cause) {
      throw this.failure(path, 'answered with a body that is not JSON', { cause })
    }
  }

  failure(path: string, reason: string, details: Record<string, unknown> = {}): QuoinError {
    return new QuoinError('ERR_CHAIN_SOURCE', `${this.name} ${reason}`, {
      source: this.name,
      path,
      reason,
      ...details
    })
  }

  /** The answer of any status. */
  async answer(path: string, { signal, body }: ServiceRequest = {}): Promise<ServiceResponse> {
    const limit = AbortSignal.timeout(this.#timeout)
    try {
      const response = await this.#fetch(`${this.#base.href.replace(/\/$/, '')}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { ...this.#headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
        ...(body !== undefined && { body: JSON.stringify(body) })
      })
      const bytes = await readBody(response, this.#maxBytes, most =>
        this.failure(path, `answered with more than ${most} bytes`)
      )
      const type = (response.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase()
      return { status: response.status, type, bytes }
    } catch (error) {
      if (error instanceof QuoinError) throw error
      // An abort by the caller is not a failure of the service.
      signal?.throwIfAborted()
      const reason = limit.aborted
        ? `did not answer within ${this.#timeout} ms`
        : `cannot be reached: ${fetchReasonOf(error)}`
      throw this.failure(path, reason, { cause: error })
    }
  }
}

const serviceUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  // Secrets belong in the token, since errors show the address.
  const isPlain = url && !(url.search || url.hash || url.username || url.password)
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    throw new QuoinError(
      'ERR_CHAIN_SOURCE',
      'invalid service address: expected http or https, without a query or a password',
      { given: url ? url.origin : text }
    )
  }
  return url
}
