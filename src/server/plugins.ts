/**
 * Plug-ins from modules. A module exports a plug-in of Quoin's (by default, or as `plugin`), or `topics` and `lookups`:
 * records of whatever was written for `@bsv/overlay` or for Quoin, by name.
 */
import { isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { QuoinError } from '../error.ts'
import type { Plugin } from '../overlay/index.ts'

export const loadPlugins = (paths: readonly string[]): Promise<Plugin[]> => Promise.all(paths.map(loadPlugin))

const loadPlugin = async (path: string): Promise<Plugin> => {
  // A path, or the name of a package.
  const isPath = isAbsolute(path) || /^\.{1,2}\//.test(path) || /\.[cm]?[jt]s$/.test(path)
  const source = isPath ? pathToFileURL(resolve(path)).href : path
  let module: Readonly<Record<string, unknown>>
  try {
    module = (await import(source)) as Readonly<Record<string, unknown>>
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new QuoinError('ERR_PLUGIN', `cannot load the plug-in ${path}: ${reason}`, { path, reason })
  }
  for (const exported of [module['plugin'], module['default']]) if (isPlugin(exported)) return exported
  const { topics, lookups } = module
  if ((topics === undefined && lookups === undefined) || !isRecord(topics) || !isRecord(lookups)) {
    throw new QuoinError(
      'ERR_PLUGIN',
      `${path} exports no plug-in: expected { name, setup } by default, or the records topics and lookups`,
      { path, exports: Object.keys(module) }
    )
  }
  return {
    name: nameOf(path),
    setup: () => ({
      ...(topics !== undefined && { topics: topics as never }),
      ...(lookups !== undefined && { lookups: lookups as never })
    })
  }
}

const isPlugin = (value: unknown): value is Plugin =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  'setup' in value &&
  typeof value.name === 'string' &&
  typeof value.setup === 'function'

const isRecord = (value: unknown): boolean =>
  value === undefined ||
  (typeof value === 'object' &&
    value !== null &&
    Object.values(value).every(each => typeof each === 'object' && each !== null))

/** By its file, for the logs. */
const nameOf = (path: string): string =>
  path
    .replace(/^.*[/\\]/, '')
    .replace(/\.[^.]*$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '-')
    .replace(/^[^a-z]+/, '') || 'plugin'
