/** Views by path. Each is loaded on first use. */
import type { ComponentType } from 'preact'

export interface ViewProps {
  readonly parameter: string
  readonly query: URLSearchParams
}
type View = ComponentType<ViewProps>

interface ViewSpec {
  /** With at most one parameter, as `*`. */
  readonly path: string
  /** The title of the window. */
  readonly title: string
  readonly load: () => Promise<View>
}

const VIEWS: readonly ViewSpec[] = [
  { path: '/', title: 'Home', load: async () => (await import('./pages/home.tsx')).Home },
  { path: '/explore', title: 'Home', load: async () => (await import('./pages/home.tsx')).Home },
  {
    path: '/explore/search',
    title: 'Search',
    load: async () => (await import('./pages/search.tsx')).SearchPage
  },
  {
    path: '/explore/tx/*',
    title: 'Transaction',
    load: async () => (await import('./pages/transaction.tsx')).TransactionPage
  },
  {
    path: '/explore/block/*',
    title: 'Block',
    load: async () => (await import('./pages/block.tsx')).BlockPage
  },
  {
    path: '/explore/output/*',
    title: 'Output',
    load: async () => (await import('./pages/output.tsx')).OutputPage
  },
  {
    path: '/explore/address/*',
    title: 'Address',
    load: async () => (await import('./pages/address.tsx')).AddressPage
  },
  {
    path: '/explore/tokens',
    title: 'Tokens',
    load: async () => (await import('./pages/tokens.tsx')).TokensPage
  },
  {
    path: '/explore/token/*',
    title: 'Token',
    load: async () => (await import('./pages/token.tsx')).TokenPage
  },
  {
    path: '/explore/pools',
    title: 'Liquidity',
    load: async () => (await import('./pages/pools.tsx')).PoolsPage
  },
  { path: '/explore/pool/*', title: 'Pool', load: async () => (await import('./pages/pool.tsx')).PoolPage },
  {
    path: '/explore/positions',
    title: 'Positions',
    load: async () => (await import('./pages/positions.tsx')).PositionsPage
  },
  {
    path: '/explore/kv',
    title: 'Key-value store',
    load: async () => (await import('./pages/kv.tsx')).EntriesPage
  },
  {
    path: '/explore/kv/entry',
    title: 'Entry',
    load: async () => (await import('./pages/entry.tsx')).EntryPage
  },
  { path: '/explore/find', title: 'Outputs', load: async () => (await import('./pages/find.tsx')).FindPage },
  {
    path: '/explore/keyspaces',
    title: 'Keys',
    load: async () => (await import('./pages/keyspaces.tsx')).KeyspacesPage
  },
  {
    path: '/explore/explain',
    title: 'A key',
    load: async () => (await import('./pages/explain.tsx')).ExplainPage
  },
  {
    path: '/explore/explain/*',
    title: 'A key',
    load: async () => (await import('./pages/explain.tsx')).ExplainPage
  },
  {
    path: '/explore/playground',
    title: 'Playground',
    load: async () => (await import('./playground/page.tsx')).PlaygroundPage
  },
  {
    path: '/explore/operator',
    title: 'Operator',
    load: async () => (await import('./pages/operator.tsx')).OperatorPage
  }
]

export interface OpenView {
  readonly view: ViewSpec
  readonly parameter: string
}

export const viewOf = (path: string): OpenView | undefined => {
  for (const view of VIEWS) {
    if (view.path === path) return { view, parameter: '' }
    const start = view.path.endsWith('*') ? view.path.slice(0, -1) : undefined
    if (start && path.startsWith(start) && !path.slice(start.length).includes('/')) {
      return { view, parameter: decoded(path.slice(start.length)) }
    }
  }
  return undefined
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    // Percent signs that encode nothing are part of the name.
    return text
  }
}
