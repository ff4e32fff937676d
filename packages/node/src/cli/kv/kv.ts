/** `quoin kv`: entries of the key-value store, through the client and a wallet. */
import { GlobalKV, type KvEntry, type ProtocolID } from '@quoin/kvstore-client'
import { QuoinError } from '@quoin/primitives'
import { EXIT, paint, plural, print, printJson, table } from '@quoin/primitives/command'
import { openWallet } from '../../wallet/open-wallet.ts'

export interface KvOptions {
  readonly url: string
  readonly wallet: string
  readonly protocol: string
  readonly controller?: string
  readonly json?: boolean
}

export interface SetOptions extends KvOptions {
  readonly tag?: readonly string[]
}

export interface ListOptions extends SetOptions {
  readonly key?: string
  readonly any?: boolean
  readonly limit: string
}

export const set = async (
  key: string,
  value: string,
  { tag = [], ...options }: SetOptions
): Promise<number> => {
  const outpoint = await (await open(options)).set(key, value, { tags: tag })
  if (options.json) printJson({ outpoint })
  else print(`${paint('green', 'set')}  ${outpoint}`)
  return EXIT.ok
}

export const get = async (key: string, options: KvOptions): Promise<number> => {
  const entry = await (await open(options)).get(key, options)
  if (options.json) printJson({ entry: entry ?? null })
  else print(entry ? entry.value : paint('yellow', 'no entry'))
  return entry ? EXIT.ok : EXIT.no
}

export const list = async ({ key, tag, any, limit, ...options }: ListOptions): Promise<number> => {
  const kv = await open(options)
  const isOwn = key === undefined && tag === undefined && options.controller === undefined
  const { entries, cursor } = await kv.list({
    ...(key !== undefined && { key }),
    ...(tag && { tags: tag }),
    ...(any && { tagQueryMode: 'any' as const }),
    ...(isOwn
      ? { controller: await kv.identity() }
      : options.controller && { controller: options.controller }),
    limit: limitOf(limit)
  })
  if (options.json) printJson({ entries, cursor: cursor ?? null })
  else {
    if (entries.length > 0) print(table(entries.map(rowOf)))
    print(
      paint(
        'dim',
        `${plural(entries.length, 'entr').replace(/entrs?$/, entries.length === 1 ? 'entry' : 'entries')}`
      )
    )
  }
  return EXIT.ok
}

export const history = async (key: string, options: KvOptions): Promise<number> => {
  const entries = await (await open(options)).history(key, options)
  if (options.json) printJson({ entries })
  else print(entries.length > 0 ? table(entries.map(rowOf)) : paint('yellow', 'no entry'))
  return entries.length > 0 ? EXIT.ok : EXIT.no
}

export const remove = async (key: string, options: KvOptions): Promise<number> => {
  const txid = await (await open(options)).remove(key)
  if (options.json) printJson({ txid: txid ?? null })
  else print(txid === undefined ? paint('yellow', 'no entry') : `${paint('green', 'removed')}  ${txid}`)
  return txid === undefined ? EXIT.no : EXIT.ok
}

const rowOf = ({ key, value, tags, outpoint }: KvEntry): string[] => [key, value, tags.join(' '), outpoint]

const open = async ({ url, wallet, protocol }: KvOptions): Promise<GlobalKV> =>
  new GlobalKV({ wallet: await openWallet(wallet, url), host: url, protocolID: protocolOf(protocol) })

const protocolOf = (text: string): ProtocolID => {
  try {
    return JSON.parse(text)
  } catch {
    throw new QuoinError('ERR_USAGE', `--protocol is JSON, for example '[1,"kvstore"]', not ${text}`, {
      protocol: text
    })
  }
}

const limitOf = (text: string): number => {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text)
  throw new QuoinError('ERR_USAGE', `--limit is a number from 1 to 9999, not ${text}`, { limit: text })
}
