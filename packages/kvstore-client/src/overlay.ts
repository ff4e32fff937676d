/**
 * The overlay over HTTP (BRC-22, BRC-24): questions and submissions to several hosts, of which each answers or fails. A
 * failure is never taken for an answer of nothing.
 */
import { type AtomicBEEF, Utils } from '@bsv/sdk'
import { QuoinError, Reader } from '@quoin/primitives'
import { readBody } from './body.ts'
import { Bundle } from './bundle.ts'
import { SERVICE, TOPIC } from './hosts.ts'

/** An output of an answer, with the transactions that came along. */
export interface Answered {
  readonly txid: string
  readonly vout: number
  readonly bundle: Bundle
  readonly context: Uint8Array | undefined
}

/** What went wrong, by host. */
export type Failures = Readonly<Record<string, string>>

interface Asked<T> {
  readonly answers: readonly T[]
  readonly failures: Failures
}

const TIMEOUT_MS = 15_000
const BYTES = 'application/octet-stream'

/** Asks all hosts at once. */
export const lookUp = (hosts: readonly string[], query: object): Promise<Asked<readonly Answered[]>> =>
  askAll(hosts, async host => {
    const response = await post(`${host}/lookup`, JSON.stringify({ service: SERVICE, query }), {
      'content-type': 'application/json',
      'x-aggregation': 'yes'
    })
    return response.headers.get('content-type') === BYTES
      ? readAggregate(await readBody(response))
      : readList(await jsonOf(response))
  })

/** What one host did with a transaction. */
export interface Submitted {
  readonly host: string
  /** Outputs that the topic took. */
  readonly admitted: readonly number[]
  /** Tokens that it knew and that the transaction spends. */
  readonly spent: readonly number[]
  readonly error: string | undefined
}

/** Submits to all hosts at once. What a host refuses outright is an answer too: it has nothing of it. */
export const submit = (hosts: readonly string[], beef: AtomicBEEF): Promise<Asked<Submitted>> =>
  askAll(hosts, async host => {
    try {
      const response = await post(`${host}/submit`, Uint8Array.from(beef), {
        'content-type': BYTES,
        'x-topics': JSON.stringify([TOPIC])
      })
      return { host, ...readSteak(await jsonOf(response)) }
    } catch (error) {
      if (error instanceof Refused) return { host, admitted: [], spent: [], error: error.message }
      throw error
    }
  })

const askAll = async <T>(hosts: readonly string[], ask: (host: string) => Promise<T>): Promise<Asked<T>> => {
  const settled = await Promise.allSettled(hosts.map(ask))
  const answers: T[] = []
  const failures: Record<string, string> = {}
  for (const [i, each] of settled.entries()) {
    if (each.status === 'fulfilled') answers.push(each.value)
    else failures[hosts[i]!] = reasonOf(each.reason)
  }
  return { answers, failures }
}

/** Of a request that failed, the cause says why. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}

/** The host understood, and will not do it; asking again is of no use. */
class Refused extends Error {}

const post = async (
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>
): Promise<Response> => {
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS)
  })
  if (response.ok) return response
  const said = `${response.status} ${await messageOf(response)}`
  throw response.status >= 500 || response.status === 429 || response.status === 408
    ? new Error(said)
    : new Refused(said)
}

const jsonOf = async (response: Response): Promise<unknown> =>
  JSON.parse(new TextDecoder().decode(await readBody(response)))

const messageOf = async (response: Response): Promise<string> => {
  const text = new TextDecoder().decode(await readBody(response))
  try {
    const { message, description } = JSON.parse(text) as { message?: unknown; description?: unknown }
    return String(message ?? description ?? text)
  } catch {
    return text.slice(0, 200)
  }
}

/** Outpoints with their contexts, then one BEEF for all of them. */
const readAggregate = (bytes: Uint8Array): Answered[] => {
  const reader = new Reader(bytes, 'ERR_KV_HOST')
  const outpoints: Omit<Answered, 'bundle'>[] = []
  for (let count = reader.count(34, 'outputs'); count > 0; count--) {
    const txid = Utils.toHex(Array.from(reader.bytes(32)))
    const vout = reader.varint()
    const context = reader.bytes(reader.varint())
    outpoints.push({ txid, vout, context: context.length > 0 ? context : undefined })
  }
  const bundle = new Bundle(reader.bytes(reader.remaining))
  return outpoints.map(each => ({ ...each, bundle }))
}

const readList = (answer: unknown): Answered[] => {
  const { type, outputs } = Object(answer) as { type?: unknown; outputs?: unknown }
  if (type !== 'output-list' || !Array.isArray(outputs)) throw new Error('the answer is no list of outputs')
  return outputs.map(each => {
    const { beef, outputIndex: vout, context } = Object(each) as Record<string, unknown>
    if (!isBytes(beef) || !Number.isSafeInteger(vout)) throw new Error('the answer is no list of outputs')
    const bundle = new Bundle(Uint8Array.from(beef))
    return {
      txid: bundle.subject ?? '',
      vout: vout as number,
      bundle,
      context: isBytes(context) ? Uint8Array.from(context) : undefined
    }
  })
}

const isBytes = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every(byte => Number.isInteger(byte) && byte >= 0 && byte <= 255)

const readSteak = (steak: unknown): Omit<Submitted, 'host'> => {
  const said = (steak as Record<string, unknown> | null)?.[TOPIC] as Record<string, unknown> | undefined
  if (typeof said !== 'object') return { admitted: [], spent: [], error: `it has no ${TOPIC}` }
  const { error } = said as { error?: { message?: unknown } }
  return {
    admitted: indexes(said['outputsToAdmit']),
    spent: [...indexes(said['coinsRemoved']), ...indexes(said['coinsToRetain'])],
    error: error && String(error.message)
  }
}

const indexes = (value: unknown): number[] => (Array.isArray(value) ? value.filter(Number.isSafeInteger) : [])

export const hostError = (message: string, hosts: Failures, more: Record<string, unknown> = {}): QuoinError =>
  new QuoinError('ERR_KV_HOST', message, { hosts, ...more })
