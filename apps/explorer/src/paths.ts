/** The address of each view. */
import { at } from './base.ts'

const encode = encodeURIComponent
const withQuery = (path: string, query: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return given.length === 0 ? at(path) : at(`${path}?${new URLSearchParams(given)}`)
}

export const paths = {
  home: at('/'),
  transaction: (txid: string) => at(`/explore/tx/${encode(txid)}`),
  block: (height: number) => at(`/explore/block/${height}`),
  output: (outpoint: string) => at(`/explore/output/${encode(outpoint)}`),
  address: (address: string) => at(`/explore/address/${encode(address)}`),
  /** Outputs by an event or a topic. */
  find: (key: string) => withQuery('/explore/find', { key }),
  search: (q: string) => withQuery('/explore/search', { q }),
  tokens: (query: { readonly sym?: string } = {}) => withQuery('/explore/tokens', query),
  token: (id: string) => at(`/explore/token/${encode(id)}`),
  entries: (query: Readonly<Record<string, string | undefined>> = {}) => withQuery('/explore/kv', query),
  entry: (controller: string, key: string, protocol?: string) =>
    withQuery('/explore/kv/entry', { controller, key, protocol }),
  pools: at('/explore/pools'),
  pool: (id: string) => at(`/explore/pool/${encode(id)}`),
  positions: (owner: string) => withQuery('/explore/positions', { owner }),
  keyspaces: at('/explore/keyspaces'),
  explain: (hex = '') => at(`/explore/explain${hex && `/${encode(hex)}`}`),
  playground: at('/explore/playground'),
  operator: at('/explore/operator')
} as const
