/** The keyspaces of a command, and their source. */
import { QuoinError } from '@quoin/primitives'
import type { LayoutComponents } from '../file/parse.ts'
import type { AnyKeyspace, KeyspaceGroup } from '../keyspace.ts'

export interface LoadedKeyspaces {
  readonly keyspaces: readonly AnyKeyspace[]
  /** The keyspaces of raw keys, which `explain` searches by default. */
  readonly storeKeyspaces: readonly AnyKeyspace[]
  readonly stores: readonly KeyspaceGroup[]
}

export interface KeyspaceSource {
  /** Called by commands that need keyspaces, so that an unsound declaration is a result of `check`, not a crash. */
  readonly load: () => Promise<LoadedKeyspaces>
  /** Components that layout files may use beside those of this package. */
  readonly components?: LayoutComponents
}

export const findKeyspace = ({ keyspaces }: LoadedKeyspaces, name: string): AnyKeyspace => {
  const found = keyspaces.find(space => space.name === name)
  if (found) return found
  const names = keyspaces.map(space => space.name).join(', ')
  throw new QuoinError('ERR_USAGE', `unknown keyspace ${name}; known: ${names}`, { name })
}
