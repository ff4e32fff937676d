/**
 * Raw keys and values of a node: JSON objects `{"key": …, "value": …}` in hexadecimal or base64, or answers of a node
 * to `abci_query` with the path `/store/concentratedliquidity/subspace`, whose values hold many pairs. Every key must
 * belong to the profile, and every value must decode as the key's collection declares.
 */

import type { ValueCodec } from '@quoin/keyspace'
import { fromHex, QuoinError, shortHex, toHex } from '@quoin/primitives'
import type { Store, StoreReads } from '@quoin/store'
import { layoutOf, liquidityAux, type Profile } from '../profile.ts'
import { StoreRows } from '../rows.ts'
import { type Pair, pairsCodec } from '../values.ts'
import { ownerFinder, wholeRanges } from './collections.ts'
import { isObject } from './form.ts'
import { jsonDocuments } from './json-documents.ts'
import { Load, type LoadOptions, type LoadReport } from './load.ts'

export type Encoding = 'hex' | 'base64'

export interface RawOptions extends LoadOptions {
  /** The encoding of keys and values in pairs; by default `hex` if the first pair is hexadecimal, else `base64`. */
  readonly encoding?: Encoding | undefined
}

/** Fills an empty store from raw pairs in any order, and derives every index and sum from their positions. */
export const importRaw = (
  store: Store,
  source: AsyncIterable<Uint8Array>,
  { encoding, ...options }: RawOptions = {}
): Promise<LoadReport> =>
  Load.run(store, 'raw', options, async load => {
    const ownerOf = ownerFinder(load.profile)
    const indexes = indexesOf(load.profile)
    const counts = countsOf(load.profile)
    const reader = new PairReader(encoding)
    for await (const { text, line: number } of jsonDocuments(source)) {
      for (const { key, value } of reader.pairs(text, number)) {
        const collection = ownerOf(key)
        if (!collection) throw stray(key, number)
        const held = collection.value.kind === 'value' && decodedBy(collection.value.codec, value, number)
        if (indexes.has(collection.name)) load.note(collection)
        else await load.put(collection, key, value)
        const counted = counts.get(collection.name)
        if (counted) load.count(collection, counted(key), held as bigint)
      }
    }
  })

/** The names of collections that are derived from positions and locks. */
const indexesOf = (profile: Profile): ReadonlySet<string> => {
  const { positionsByOwner, positionsByPool, lockPositions } = layoutOf(profile).collections
  return new Set([positionsByOwner.name, positionsByPool.name, lockPositions.name])
}

/** The counts of the chain, and what each row of them counts. */
const countsOf = (profile: Profile): ReadonlyMap<string, (key: Uint8Array) => string> => {
  const { fullRangeLiquidity, totalLiquidity } = layoutOf(profile).collections
  return new Map([
    [fullRangeLiquidity.name, (key: Uint8Array) => `${fullRangeLiquidity.decode(key)[0]}`],
    [totalLiquidity.name, (key: Uint8Array) => totalLiquidity.decode(key)[0]]
  ])
}

const refused = (line: number, message: string, details: Record<string, unknown> = {}): QuoinError =>
  new QuoinError('ERR_LIQUIDITY_IMPORT', `line ${line}: ${message}`, { line, ...details })

const stray = (key: Uint8Array, line: number): QuoinError =>
  refused(line, `${shortHex(key)} is not a key of this profile`, { key: toHex(key.subarray(0, 64)) })

const decodedBy = <T>(codec: ValueCodec<T>, value: Uint8Array, line: number): T => {
  try {
    return codec.decode(value)
  } catch (error) {
    if (error instanceof QuoinError) throw refused(line, error.message, { ...error.details, cause: error })
    throw error
  }
}

class PairReader {
  #encoding: Encoding | undefined

  constructor(encoding: Encoding | undefined) {
    this.#encoding = encoding
  }

  /** The pairs of one object: a pair, or an answer of a node. */
  *pairs(text: string, line: number): Generator<Pair> {
    let json: unknown
    try {
      json = JSON.parse(text)
    } catch (cause) {
      throw refused(line, 'not JSON', { cause })
    }
    const response = responseOf(json)
    if (response) {
      if (response['code']) throw refused(line, `the node answered with code ${response['code']}`)
      yield* decodedBy(pairsCodec, bytesOf(response['value'] ?? '', 'base64', line), line)
      return
    }
    if (!isObject(json)) throw refused(line, 'not an object')
    if (json['error']) throw refused(line, 'the node answered with an error', { error: json['error'] })
    const { key, value } = json
    this.#encoding ??= isHex(key) && isHex(value) ? 'hex' : 'base64'
    yield { key: bytesOf(key, this.#encoding, line), value: bytesOf(value, this.#encoding, line) }
  }
}

/** The answer inside of a JSON-RPC envelope, or alone. */
const responseOf = (json: unknown): Record<string, unknown> | undefined => {
  if (!isObject(json)) return undefined
  const result = isObject(json['result']) ? json['result'] : json
  return isObject(result['response']) ? result['response'] : undefined
}

const isHex = (text: unknown): text is string => typeof text === 'string' && /^(?:[0-9a-f]{2})*$/.test(text)

const bytesOf = (text: unknown, encoding: Encoding, number: number): Uint8Array => {
  if (typeof text === 'string') {
    if (encoding === 'hex' && isHex(text)) return fromHex(text)
    if (encoding === 'base64') {
      const bytes = new Uint8Array(Buffer.from(text, 'base64'))
      // Buffer skips characters outside of base64; encoding again reveals them.
      if (Buffer.from(bytes).toString('base64') === text) return bytes
    }
  }
  throw refused(number, `a key or value is not ${encoding}`)
}

/** Everything that a node of the chain would hold, as lines, collection by collection. */
export async function* exportRaw(
  store: StoreReads,
  { encoding = 'hex' }: { readonly encoding?: Encoding } = {}
): AsyncGenerator<string> {
  const profile = (await store.use(liquidityAux.collections.profile).get()) ?? 'chain'
  const rows = new StoreRows(store)
  const write = (bytes: Uint8Array): string =>
    encoding === 'hex' ? toHex(bytes) : Buffer.from(bytes).toString('base64')
  for (const { range, owns } of wholeRanges(layoutOf(profile), false))
    for await (const page of rows.pages(range))
      for (const { key, value } of page)
        if (owns(key)) yield `{"key":"${write(key)}","value":"${write(value)}"}\n`
}
