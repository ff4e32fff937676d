/** The roles of a process: the parts of a node that it runs, over a store that other processes run the others on. */
import { parseFilesUrl, readOnlyUrl } from '@quoin/store'

export const ROLES = ['api', 'worker', 'sources'] as const
export type Role = (typeof ROLES)[number]

/** Whether a process reads a store beside the process that writes to it. */
export const isReadOnly = (store: string): boolean => parseFilesUrl(store)?.readOnly ?? false

/** The URL of the store in a process that only reads it; undefined where the engine has no readers. */
export const storeOfReader = (store: string): string | undefined => {
  const url = readOnlyUrl(store)
  return isReadOnly(url) ? url : undefined
}

/** The problem with the roles of a configuration; undefined when there is none. */
export const rolesProblem = (
  roles: readonly Role[],
  { store, chain }: { readonly store: string; readonly chain: string }
): string | undefined => {
  const missing = ROLES.filter(role => !roles.includes(role))
  if (missing.length === 0 || isReadOnly(store)) return undefined
  const without = `the process is without ${missing.join(' and ')}`
  if (store === 'memory:' || parseFilesUrl(store))
    return `${without}, and ${store} has no other process that writes; use all roles, or a store on a server (redis://, postgres://)`
  if (chain === 'dev')
    return `${without}, and the chain dev is mined by the process that takes submissions; use all roles, or headers:URL`
  return undefined
}
