/** `quoin liquidity explain`: a raw key of a node's store, and its value, given or looked up. */
import type { ExplainedSpan } from '@quoin/keyspace'
import { fromHex, shortHex, toHex } from '@quoin/primitives'
import { EXIT, paint, print, printJson, table } from '@quoin/primitives/command'
import { liquidity, parseProfile } from './arguments.ts'

export interface ExplainOptions {
  readonly store?: string
  readonly profile?: string
  readonly json?: boolean
}

export const explain = async (
  hex: string,
  valueHex: string | undefined,
  options: ExplainOptions
): Promise<number> => {
  const { explainEntry } = await liquidity()
  const key = bytesOf(hex)
  const value = valueHex === undefined ? await stored(options.store, key) : bytesOf(valueHex)
  const explained = explainEntry(key, value, parseProfile(options.profile) ?? 'chain')
  if (options.json) {
    printJson({
      key: toHex(key),
      found: explained.found,
      ...(explained.found ? explained.entry : { nearest: explained.nearest ?? null })
    })
  } else if (explained.found) {
    const { collection, about, spans, value: shown } = explained.entry
    print(`${paint('bold', collection)}  ${about}`)
    print(table(spans.map(row)))
    if (shown !== undefined) print(JSON.stringify(shown, null, 2))
    else if (options.store !== undefined) print('It is not in the store.')
  } else {
    print(`${shortHex(key) || 'the empty key'} fits nothing.`)
    if (explained.nearest) print(`Nearest: ${explained.nearest}.`)
  }
  return explained.found ? EXIT.ok : EXIT.no
}

const row = ({ start, end, hex, component = '', text }: ExplainedSpan): string[] => [
  `  ${start}–${end}`,
  hex,
  component,
  text
]

const bytesOf = (hex: string): Uint8Array => fromHex(hex.replace(/^0x/i, ''))

const stored = async (url: string | undefined, key: Uint8Array): Promise<Uint8Array | undefined> => {
  if (url === undefined) return undefined
  const { openStore, readOnlyUrl } = await import('@quoin/store')
  const store = await openStore(readOnlyUrl(url), { create: false })
  try {
    return await store.get(key)
  } finally {
    await store.close()
  }
}
