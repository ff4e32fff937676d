/**
 * The overlay over HTTP (BRC-22, BRC-24): lookups and submissions to several hosts. Each host answers or fails; a failure
 * is never read as an empty answer.
 */
import { type AtomicBEEF, Utils } from '@bsv/sdk'
import { QuoinError, Reader } from '@quoin/primitives'
import { readBody } from './body.ts'
import { Bundle } from './bundle.ts'
import { SERVICE, TOPIC } from './hosts.ts'

/** An output of a lookup answer, with the transactions of the answer. */
export interface LookupOutput {
  readonly txid: string
  readonly vout: number
  readonly bundle: Bundle
  readonly context: Uint8Array | undefined
}

/** Reasons of failure by host. */
export type Failures = Readonly<Record<string, string>>

interface HostResults<T> {
  readonly answers: readonly T[]
  readonly failures: Failures
}

const TIMEOUT_MS = 15_000
const BYTES = 'application/octet-stream'

/** Queries all hosts concurrently. */
export const lookUp = (
  hosts: readonly string[],
  query: object
): Promise<HostResults<readonly LookupOutput[]>> =>
  requestAll(hosts, async host => {
    const response = await post(`${host}/lookup`, JSON.stringify({ service: SERVICE, query }), {
      'content-type': 'application/json',
      'x-aggregation': 'yes'
    })
    return response.headers.get('content-type') === BYTES
      ? readAggregate(await readBody(response))
      : readList(await jsonOf(response))
  })

/** The answer of one host to a submission. */
export interface SubmissionResult {
  readonly host: string
  /** Outputs that the topic admitted. */
  readonly admitted: readonly number[]
  /** Inputs that spend tokens of the topic. */
  readonly spent: readonly number[]
  readonly error: string | undefined
}

/** Submits to all hosts concurrently. A refused submission counts as an answer, with its error. */
export const submit = (hosts: readonly string[], beef: AtomicBEEF): Promise<HostResults<SubmissionResult>> =>
  requestAll(hosts, async host => {
    try {
      const response = await post(`${host}/submit`, Uint8Array.from(beef), {
        'content-type': BYTES,
        'x-topics': JSON.stringify([TOPIC])
      })
      return { host, ...readSteak(await jsonOf(response)) }
    } catch (error) {
      if (error instanceof HostRefusal) return { host, admitted: [], spent: [], error: error.message }
      throw error
    }
  })

const requestAll = async <T>(
  hosts: readonly string[],
  request: (host: string) => Promise<T>
): Promise<HostResults<T>> => {
  const settled = await Promise.allSettled(hosts.map(request))
  const answers: T[] = []
  const failures: Record<string, string> = {}
  for (const [i, each] of settled.entries()) {
    if (each.status === 'fulfilled') answers.push(each.value)
    else failures[hosts[i]!] = reasonOf(each.reason)
  }
  return { answers, failures }
}

/** `fetch` puts the reason of a failed request into `cause`. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}

/** The host refused the request; a retry would fail too. */
class HostRefusal extends Error {}

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
  const reason = `${response.status} ${await messageOf(response)}`
  throw response.status >= 500 || response.status === 429 || response.status === 408
    ? new Error(reason)
    : new HostRefusal(reason)
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

/** The binary answer: outpoints with their contexts, then one BEEF for all outputs. */
const readAggregate = (bytes: Uint8Array): LookupOutput[] => {
  const reader = new Reader(bytes, 'ERR_KV_HOST')
  const outpoints: Omit<LookupOutput, 'bundle'>[] = []
  for (let count = reader.count(34, 'outputs'); count > 0; count--) {
    const txid = Utils.toHex(Array.from(reader.bytes(32)))
    const vout = reader.varint()
    const context = reader.bytes(reader.varint())
    outpoints.push({ txid, vout, context: context.length > 0 ? context : undefined })
  }
  const bundle = new Bundle(reader.bytes(reader.remaining))
  return outpoints.map(each => ({ ...each, bundle }))
}

const readList = (answer: unknown): LookupOutput[] => {
  const { type, outputs } = Object(answer) as { type?: unknown; outputs?: unknown }
  if (type !== 'output-list' || !Array.isArray(outputs))
    throw new Error('invalid answer: expected an output-list')
  return outputs.map(each => {
    const { beef, outputIndex: vout, context } = Object(each) as Record<string, unknown>
    if (!isBytes(beef) || !Number.isSafeInteger(vout))
      throw new Error('invalid answer: expected an output-list')
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

const readSteak = (steak: unknown): Omit<SubmissionResult, 'host'> => {
  const admittance = (steak as Record<string, unknown> | null)?.[TOPIC] as Record<string, unknown> | undefined
  if (typeof admittance !== 'object') {
    return { admitted: [], spent: [], error: `the STEAK has no admittance for ${TOPIC}` }
  }
  const { error } = admittance as { error?: { message?: unknown } }
  return {
    admitted: indexes(admittance['outputsToAdmit']),
    spent: [...indexes(admittance['coinsRemoved']), ...indexes(admittance['coinsToRetain'])],
    error: error && String(error.message)
  }
}

const indexes = (value: unknown): number[] => (Array.isArray(value) ? value.filter(Number.isSafeInteger) : [])

export const hostError = (message: string, hosts: Failures, more: Record<string, unknown> = {}): QuoinError =>
  new QuoinError('ERR_KV_HOST', message, { hosts, ...more })
