/** The address of each view. */
const encode = encodeURIComponent
const withQuery = (path: string, query: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

export const paths = {
  home: '/',
  transaction: (txid: string) => `/explore/tx/${encode(txid)}`,
  output: (outpoint: string) => `/explore/output/${encode(outpoint)}`,
  address: (address: string) => `/explore/address/${encode(address)}`,
  /** Outputs by an event or a topic. */
  find: (key: string) => withQuery('/explore/find', { key }),
  search: (q: string) => withQuery('/explore/search', { q }),
  tokens: (query: { readonly sym?: string } = {}) => withQuery('/explore/tokens', query),
  token: (id: string) => `/explore/token/${encode(id)}`,
  entries: (query: Readonly<Record<string, string | undefined>> = {}) => withQuery('/explore/kv', query),
  entry: (controller: string, key: string, protocol?: string) =>
    withQuery('/explore/kv/entry', { controller, key, protocol }),
  pools: '/explore/pools',
  pool: (id: string) => `/explore/pool/${encode(id)}`,
  positions: (owner: string) => withQuery('/explore/positions', { owner }),
  keyspaces: '/explore/keyspaces',
  explain: (hex = '') => `/explore/explain${hex && `/${encode(hex)}`}`,
  playground: '/explore/playground',
  operator: '/explore/operator'
} as const
