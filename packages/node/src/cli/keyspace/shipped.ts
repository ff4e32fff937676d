/** The shipped keyspaces, by name. */
import type { AnyKeyspace } from '@quoin/keyspace'
import { QuoinError } from '@quoin/primitives'

/** Loaded when asked for, so that an unsound declaration is an answer of `check` and not a crash at start. */
export const shipped = () => import('../../keyspaces.ts')

export const findKeyspace = async (name: string): Promise<AnyKeyspace> => {
  const { shippedKeyspaces } = await shipped()
  const found = shippedKeyspaces.find(space => space.name === name)
  if (found) return found
  const names = shippedKeyspaces.map(space => space.name).join(', ')
  throw new QuoinError('ERR_USAGE', `there is no keyspace ${name}; there are ${names}`, { name })
}
