/**
 * The plug-ins of a node: modules in the form of `@bsv/overlay` run in processes of their own (`overlay/hosting`), modules
 * in Quoin's form are loaded into this one. A name that two of them have is refused.
 */

import { createRequire } from 'node:module'
import { isAbsolute, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  hostPlugins,
  type Installed,
  type Logger,
  type ModuleSpec,
  type Plugin,
  type PluginHost
} from '@quoin/overlay'
import { QuoinError } from '@quoin/primitives'
import { openPluginDatabase } from './databases.ts'
import { moduleSpecs } from './plugin-settings.ts'
import type { Config } from './settings.ts'

/** Ends parts of a node in the reverse order. */
interface Closing {
  add(close: () => Promise<void>): void
}

/** Starts the processes of the plug-ins that a configuration names; undefined without any. */
export const openPluginHost = async (
  config: Config,
  logger: Logger,
  closing: Closing
): Promise<PluginHost | undefined> => {
  const specs = moduleSpecs(config.plugins)
  if (specs.length === 0) return undefined
  const { topicTimeout, lookupTimeout, pluginMemory } = config.limits
  const database = await openPluginDatabase(config)
  closing.add(() => database.close())
  const host = await hostPlugins(specs, {
    logger,
    mongo: config.mongo,
    knex: database.knex,
    callTimeout: Math.max(topicTimeout, lookupTimeout),
    memoryMb: pluginMemory
  })
  closing.add(() => host.close())
  return host
}

/** Topics and lookup services of the node together with the hosted ones. */
export const withHosted = (installed: Installed, host: PluginHost | undefined): Installed => {
  if (!host) return installed
  const named = [
    ['topic', installed.topics, host.topics, 'kvstore and bsv21.enabled turn built-in ones off'],
    ['lookup service', installed.lookups, host.lookups, 'kvstore and bsv21.enabled turn built-in ones off']
  ] as const
  for (const [kind, own, hosted, hint] of named) {
    const name = Object.keys(hosted).find(each => Object.hasOwn(own, each))
    if (name === undefined) continue
    throw new QuoinError(
      'ERR_PLUGIN',
      `the ${kind} ${name} exists twice; rename one, or leave one out: ${hint}`,
      {
        name
      }
    )
  }
  return {
    ...installed,
    topics: { ...installed.topics, ...host.topics },
    lookups: { ...installed.lookups, ...host.lookups },
    delivery: { ...installed.delivery, ...hostedDelivery(host) }
  }
}

/** Submissions to built-in topics do not wait for the lookup services of plug-ins that bring topics of their own. */
const hostedDelivery = ({ topics, delivery }: PluginHost): Installed['delivery'] => {
  const names = Object.keys(topics)
  if (names.length === 0) return delivery
  return Object.fromEntries(
    Object.entries(delivery).map(([name, options]) => [name, { home: options.topics ?? names, ...options }])
  )
}

/** Modules in Quoin's form, imported into this process. */
export const loadPlugins = (specs: readonly ModuleSpec[]): Promise<Plugin[]> =>
  Promise.all(specs.map(loadPlugin))

type Exports = Readonly<Record<string, unknown>>

const loadPlugin = async (spec: ModuleSpec): Promise<Plugin> => {
  const { module: path } = spec
  let exports: Exports
  try {
    exports = (await import(locationOf(spec))) as Exports
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new QuoinError('ERR_PLUGIN', `cannot load the plug-in ${path}: ${reason}`, { path, reason })
  }
  const chosen = await exportOf(spec, exports)
  if (isPlugin(chosen)) return withOptions(chosen, spec.options)
  for (const records of [chosen, exports]) {
    const { topics, lookups } = (records ?? {}) as Partial<Installed>
    if ((topics === undefined && lookups === undefined) || !isRecords(topics) || !isRecords(lookups)) continue
    return { name: nameOf(path), setup: () => ({ ...(topics && { topics }), ...(lookups && { lookups }) }) }
  }
  if (spec.name !== undefined && isObject(chosen)) {
    const kind = spec.name.startsWith('tm_') ? 'topics' : 'lookups'
    return { name: nameOf(path), setup: () => ({ [kind]: { [spec.name!]: chosen } }) }
  }
  throw new QuoinError(
    'ERR_PLUGIN',
    `no plug-in in ${path}: expected the export ${spec.export ?? 'default'} to be { name, setup }, a function that ` +
      'returns it, or the exports topics and lookups',
    { path, exports: Object.keys(exports) }
  )
}

/** The chosen export; a function is called with the options. */
const exportOf = async (spec: ModuleSpec, exports: Exports): Promise<unknown> => {
  if (spec.export !== undefined && !Object.hasOwn(exports, spec.export)) {
    const known = Object.keys(exports).join(', ') || 'none'
    throw new QuoinError('ERR_PLUGIN', `${spec.module} has no export ${spec.export}; its exports: ${known}`, {
      path: spec.module,
      exports: Object.keys(exports)
    })
  }
  const chosen = spec.export === undefined ? (exports['plugin'] ?? exports['default']) : exports[spec.export]
  return typeof chosen === 'function' ? (chosen(spec.options) as unknown) : chosen
}

const locationOf = ({ module, directory }: ModuleSpec): string => {
  if (isAbsolute(module)) return pathToFileURL(module).href
  return pathToFileURL(createRequire(join(directory, 'package.json')).resolve(module)).href
}

const withOptions = (plugin: Plugin, options: unknown): Plugin =>
  options === undefined ? plugin : { ...plugin, setup: context => plugin.setup({ ...context, options }) }

const isPlugin = (value: unknown): value is Plugin =>
  isObject(value) &&
  'name' in value &&
  'setup' in value &&
  typeof value.name === 'string' &&
  typeof value.setup === 'function'

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const isRecords = (value: unknown): boolean =>
  value === undefined || (isObject(value) && Object.values(value).every(isObject))

/** The name of its file, for the logs. */
const nameOf = (path: string): string =>
  path
    .replace(/^.*[/\\]/, '')
    .replace(/\.[^.]*$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '-')
    .replace(/^[^a-z]+/, '') || 'plugin'
