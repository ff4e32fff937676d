/**
 * The path under which a proxy serves the node, without a slash at its end: empty at the root. The modules of the page are
 * in `assets` below it, so their own addresses say it.
 */
export const baseOf = (module: string): string =>
  /^(.*)\/assets\/[^/]+$/.exec(new URL(module).pathname)?.[1] ?? ''

const BASE = baseOf(import.meta.url)

/** The address of a route of the node: `at('/docs')`. */
export const at = (route: string): string => BASE + route

/** The path of a view or route within the node; undefined for an address outside of it. */
export const within = (pathname: string, base = BASE): string | undefined =>
  pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : undefined
