/** Some collections of the layouts of a keyspace. */
import type { Layouts } from '@quoin/store'

export const pickLayouts = (layouts: Layouts, space: string, names: readonly string[]): Layouts => {
  const { version, collections } = layouts[space]!
  const picked = Object.entries(collections).filter(([name]) => names.includes(name))
  return { [space]: { version, collections: Object.fromEntries(picked) } }
}
