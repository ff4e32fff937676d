/** A host as an advertiser asks it: the names that it serves, the advertisements of a wallet, and submissions. */
import { fetchReasonOf, QuoinError, readBody } from '@quoin/primitives'
import { PROTOCOLS } from './advertisement.ts'
import { type FoundAdvertisement, readFound, type TaggedBeef } from './advertiser.ts'

export interface HostClientOptions {
  /** Milliseconds until the last byte of an answer, 30,000 unless given. */
  readonly timeout?: number
  readonly signal?: AbortSignal
  readonly fetch?: typeof fetch
}

interface Output {
  readonly beef: number[]
  readonly outputIndex: number
}

const TIMEOUT_MS = 30_000
/** Bytes of an answer: JSON of a thousand advertisements with their ancestries. */
const MAX_BYTES = 64 * 1024 * 1024

export class HostClient {
  readonly url: string
  readonly #options: HostClientOptions

  constructor(url: string, options: HostClientOptions = {}) {
    this.url = url.replace(/\/+$/, '')
    this.#options = options
  }

  /** The topics and lookup services that the host serves. */
  async served(): Promise<string[]> {
    const paths = ['/listTopicManagers', '/listLookupServiceProviders']
    return (await Promise.all(paths.map(path => this.#ask(path)))).flatMap(names =>
      Object.keys(names as object)
    )
  }

  /** The live advertisements of an identity key. */
  async advertisements(identityKey: string): Promise<FoundAdvertisement[]> {
    const found = await Promise.all(
      PROTOCOLS.map(async protocol => {
        const service = `ls_${protocol.toLowerCase()}`
        const answer = await this.#ask('/lookup', JSON.stringify({ service, query: { identityKey } }), {
          'content-type': 'application/json'
        })
        const { outputs } = answer as { readonly outputs?: unknown }
        if (!Array.isArray(outputs)) throw this.#refused('/lookup', `an answer of ${service} without outputs`)
        return (outputs as Output[]).flatMap(output => readFound(protocol, output) ?? [])
      })
    )
    return found.flat()
  }

  /** Throws when a topic fails. */
  async submit({ beef, topics }: TaggedBeef): Promise<void> {
    const steak = (await this.#ask('/submit', Uint8Array.from(beef), {
      'content-type': 'application/octet-stream',
      'x-topics': JSON.stringify(topics)
    })) as Record<string, { readonly error?: { readonly message: string } }>
    const [topic, failed] = Object.entries(steak).find(([, { error }]) => error) ?? []
    if (failed?.error) throw this.#refused('/submit', `an error of ${topic}: ${failed.error.message}`)
  }

  async #ask(
    path: string,
    body?: string | Uint8Array<ArrayBuffer>,
    headers: Readonly<Record<string, string>> = {}
  ): Promise<unknown> {
    const { timeout = TIMEOUT_MS, signal, fetch: send = fetch } = this.#options
    const limit = AbortSignal.timeout(timeout)
    let response: Response
    let bytes: Uint8Array
    try {
      response = await send(`${this.url}${path}`, {
        redirect: 'error',
        headers,
        ...(body !== undefined && { method: 'POST', body }),
        signal: signal ? AbortSignal.any([signal, limit]) : limit
      })
      bytes = await readBody(response, MAX_BYTES, most => this.#refused(path, `more than ${most} bytes`))
    } catch (error) {
      if (error instanceof QuoinError) throw error
      signal?.throwIfAborted()
      const reason = limit.aborted ? `no answer within ${timeout} ms` : fetchReasonOf(error)
      throw new QuoinError('ERR_NODE_UNREACHABLE', `${this.url} cannot be reached: ${reason}`, {
        url: this.url,
        cause: error
      })
    }
    return this.#parsed(path, response, bytes)
  }

  #parsed(path: string, { ok, status }: Response, bytes: Uint8Array): unknown {
    let value: unknown
    try {
      value = JSON.parse(new TextDecoder().decode(bytes))
    } catch (cause) {
      throw this.#refused(path, `status ${status} and no JSON`, { cause })
    }
    if (!ok || typeof value !== 'object' || value === null) {
      const { message } = Object(value) as { message?: string }
      throw this.#refused(path, `status ${status}${message === undefined ? '' : `: ${message}`}`)
    }
    return value
  }

  #refused(path: string, said: string, details: Record<string, unknown> = {}): QuoinError {
    return new QuoinError('ERR_NODE_REFUSED', `${this.url}${path} answered with ${said}`, {
      url: this.url,
      ...details
    })
  }
}
