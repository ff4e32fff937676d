/** Keyspaces and groups that modules export. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { QuoinError, reasonOf } from '@quoin/primitives'
import type { AnyKeyspace, KeyspaceGroup } from '../keyspace.ts'
import type { LoadedKeyspaces } from './source.ts'

/** Imports files and packages, as seen from the working directory, and collects their exports. */
export const loadModules = async (specifiers: readonly string[]): Promise<LoadedKeyspaces> => {
  if (specifiers.length === 0)
    throw new QuoinError('ERR_USAGE', 'no module given; name a file or package that exports keyspaces')
  const values: unknown[] = []
  for (const specifier of specifiers) {
    const exported = await importModule(specifier)
    const found = [exported, exported['default']].flatMap(each => Object.values(each ?? {})).flat()
    if (!found.some(each => isKeyspace(each) || isGroup(each))) {
      throw new QuoinError('ERR_USAGE', `${specifier} exports no keyspace and no group of keyspaces`, {
        specifier
      })
    }
    values.push(...found, exported['default'])
  }
  const all = [...new Set(values)]
  const stores = all.filter(isGroup)
  const keyspaces = [...new Set([...all.filter(isKeyspace), ...stores.flatMap(({ members }) => members)])]
  return { keyspaces, storeKeyspaces: keyspaces, stores }
}

const importModule = async (specifier: string): Promise<Record<string, unknown>> => {
  try {
    const path = resolve(specifier)
    const file = existsSync(path) ? path : createRequire(resolve('keyspaces.js')).resolve(specifier)
    return await import(pathToFileURL(file).href)
  } catch (error) {
    // The module may have a copy of this package of its own, and then a QuoinError of another class.
    if (error instanceof Error && error.name === 'QuoinError') {
      const { code, message, details } = error as QuoinError
      throw new QuoinError(code, message, details)
    }
    throw new QuoinError('ERR_FILE', `cannot load ${specifier}: ${reasonOf(error)}`, { specifier })
  }
}

// By their members and not by their class, for the same reason.
const isKeyspace = (value: unknown): value is AnyKeyspace => hasMembers(value, 'subjects', 'proof', 'explain')
const isGroup = (value: unknown): value is KeyspaceGroup => hasMembers(value, 'members', 'proofs', 'explain')
const hasMembers = (value: unknown, ...names: string[]): boolean =>
  typeof value === 'object' && value !== null && names.every(name => name in value)
