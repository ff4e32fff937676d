/**
 * HTTP header services: Chaintracks, as served by a 1Sat stack or another Quoin, and the Block Headers Service of BSV.
 * A header that comes as JSON is serialized again and must have the hash stated with it.
 */
import { formatHash, HEADER_LENGTH, type Header, parseHash, writeHeader } from './header.ts'
import { HttpService, type HttpServiceOptions, type ServiceResponse } from './http-service.ts'
import type { HeaderSource, RootSource, SourceTip } from './sources.ts'

const EMPTY = new Uint8Array()
/** Most blocks of one height for which the Block Headers Service is asked about their state. */
const MAX_RIVALS = 16

/** Chaintracks service with the routes `/tip`, `/headers?height=&count=` and `/header/height/{height}` under `url`. */
export const chaintracksSource = (url: string, options?: HttpServiceOptions): HeaderSource => {
  const service = new HttpService(url, options)
  return {
    name: service.name,
    async tip({ signal } = {}) {
      const path = '/tip'
      return asTip(service, path, service.json(path, await service.ask(path, { signal })))
    },
    async headers(from, count, { signal } = {}) {
      const path = `/headers?height=${from}&count=${count}`
      const answer = await service.ask(path, { signal }, [404])
      if (answer.status !== 404) return headersOf(service, path, answer, count)
      // Not found above the tip, or without that route: one header decides.
      const one = `/header/height/${from}`
      const single = await service.ask(one, { signal }, [404])
      return single.status === 404 ? EMPTY : headersOf(service, one, single, 1)
    }
  }
}

/** Another Quoin, which has the Chaintracks routes under `/1sat/chaintracks`. */
export const peerSource = (url: string, options?: HttpServiceOptions): HeaderSource =>
  chaintracksSource(`${url.replace(/\/$/, '')}/1sat/chaintracks`, options)

/**
 * The Block Headers Service. Its ranges of heights are unordered and include other branches, so the line is found by
 * its links. Of two equally long lines, the state of their tips decides.
 */
export const blockHeadersServiceSource = (
  url: string,
  options?: HttpServiceOptions
): HeaderSource & RootSource => {
  const service = new HttpService(url, options)
  const api = '/api/v1/chain'

  const isOnLongestChain = async (header: Header, signal: AbortSignal | undefined): Promise<boolean> => {
    const path = `${api}/header/state/${formatHash(header.hash)}`
    const state = record(service.json(path, await service.ask(path, { signal })))
    if (typeof state.state !== 'string') throw service.failure(path, 'answered without the state of a header')
    return state.state === 'LONGEST_CHAIN'
  }

  const tip = async (signal: AbortSignal | undefined): Promise<SourceTip> => {
    const path = `${api}/tip/longest`
    const state = record(service.json(path, await service.ask(path, { signal })))
    return asTip(service, path, { height: state.height, hash: record(state.header).hash })
  }

  return {
    name: service.name,
    tip: ({ signal } = {}) => tip(signal),
    async headers(from, count, { signal } = {}) {
      const path = `${api}/header/byHeight?height=${from}&count=${count}`
      const answer = await service.ask(path, { signal }, [404])
      if (answer.status === 404) return EMPTY
      const found = service.json(path, answer)
      if (!Array.isArray(found) || found.length > count + MAX_RIVALS) {
        throw service.failure(path, 'answered with an invalid list of headers')
      }
      const lines = longestLines(found.map(each => headerOf(service, path, each)))
      if (lines.length > MAX_RIVALS || (lines[0]?.length ?? 0) > count) {
        throw service.failure(path, 'answered with headers that are not a chain')
      }
      for (const line of lines) {
        if (lines.length === 1 || (await isOnLongestChain(line.at(-1)!, signal))) return joined(line)
      }
      if (lines.length === 0) return EMPTY
      throw service.failure(path, 'has no header of its longest chain at these heights')
    },
    async isValidRootForHeight(root, height) {
      const path = `${api}/merkleroot/verify`
      const body = [{ blockHeight: height, merkleRoot: root }]
      const state = record(service.json(path, await service.ask(path, { body }))).confirmationState
      if (state !== 'CONFIRMED' && state !== 'INVALID' && state !== 'UNABLE_TO_VERIFY') {
        throw service.failure(path, 'answered without a confirmation state')
      }
      return state === 'CONFIRMED'
    },
    currentHeight: async () => (await tip(undefined)).height
  }
}

type Field =
  | 'height'
  | 'hash'
  | 'version'
  | 'prevHash'
  | 'previousHash'
  | 'prevBlockHash'
  | 'merkleRoot'
  | 'time'
  | 'creationTimestamp'
  | 'bits'
  | 'difficultyTarget'
  | 'nonce'
  | 'header'
  | 'state'
  | 'confirmationState'

/** JSON object with any fields, all unchecked. */
const record = (value: unknown): Partial<Record<Field, unknown>> =>
  typeof value === 'object' && value !== null ? value : {}

const isU32 = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 0xffffffff

const isHash = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{64}$/i.test(value)

const asTip = (service: HttpService, path: string, value: unknown): SourceTip => {
  const tip = record(value)
  if (!isU32(tip.height) || !isHash(tip.hash)) throw service.failure(path, 'answered without a tip')
  return { height: tip.height, hash: parseHash(tip.hash) }
}

/** Headers of an answer in bytes, as a list, or as one object. */
const headersOf = (
  service: HttpService,
  path: string,
  answer: ServiceResponse,
  count: number
): Uint8Array => {
  const { type, bytes } = answer
  if (!/\bjson\b/.test(type)) {
    if (bytes.length % HEADER_LENGTH !== 0 || bytes.length > count * HEADER_LENGTH) {
      throw service.failure(
        path,
        `answered with ${bytes.length} bytes; expected whole headers, no more than requested`
      )
    }
    return bytes
  }
  const value = service.json(path, answer)
  const list = Array.isArray(value) ? value : value === null ? [] : [value]
  if (list.length > count) throw service.failure(path, 'answered with more headers than requested')
  return joined(list.map(each => headerOf(service, path, each)))
}

/**
 * Fields are `prevHash` or `previousHash`, `time` and `bits` at Chaintracks; the Block Headers Service has its own
 * names.
 */
const headerOf = (service: HttpService, path: string, value: unknown): Header => {
  const json = record(value)
  const previous = json.prevHash ?? json.previousHash ?? json.prevBlockHash
  const time = json.time ?? json.creationTimestamp
  const bits = json.bits ?? json.difficultyTarget
  const { version, merkleRoot, nonce, hash } = json
  // Some miners set the highest bit of the version, and JSON may state it signed.
  const isVersion = Number.isInteger(version) && Math.abs(version as number) <= 0xffffffff
  if (
    !isVersion ||
    !isHash(previous) ||
    !isHash(merkleRoot) ||
    !isU32(time) ||
    !isU32(bits) ||
    !isU32(nonce)
  ) {
    throw service.failure(path, 'answered with an invalid header')
  }
  const header = writeHeader({
    version: (version as number) >>> 0,
    previous: parseHash(previous),
    merkleRoot: parseHash(merkleRoot),
    time,
    bits,
    nonce
  })
  if (!isHash(hash) || formatHash(header.hash) !== hash.toLowerCase()) {
    throw service.failure(path, 'answered with a header that does not have the stated hash', { hash })
  }
  return header
}

const joined = (headers: readonly Header[]): Uint8Array => {
  const bytes = new Uint8Array(headers.length * HEADER_LENGTH)
  for (const [i, { raw }] of headers.entries()) bytes.set(raw, i * HEADER_LENGTH)
  return bytes
}

/** Longest lines of linked headers. */
const longestLines = (headers: readonly Header[]): Header[][] => {
  const byHash = new Map(headers.map(header => [formatHash(header.hash), header]))
  const lengths = new Map<Header, number>()
  for (const header of headers) {
    // Walk down to a header of known length, then up. No header is its own ancestor.
    const line: Header[] = []
    for (let at: Header | undefined = header; at && !lengths.has(at); ) {
      line.push(at)
      at = byHash.get(formatHash(at.previous))
    }
    for (const each of line.reverse()) {
      const parent = byHash.get(formatHash(each.previous))
      lengths.set(each, (parent ? lengths.get(parent)! : 0) + 1)
    }
  }
  const longest = Math.max(0, ...lengths.values())
  return [...byHash.values()]
    .filter(header => lengths.get(header) === longest)
    .map(header => {
      const line: Header[] = []
      for (let at: Header | undefined = header; at; at = byHash.get(formatHash(at.previous))) line.push(at)
      return line.reverse()
    })
}
