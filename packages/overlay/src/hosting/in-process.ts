/** Plug-ins of Quoin's form, imported into the process of the node: their lookups write in its commits. */
import type { Plugin } from '../plugin.ts'
import { importModule } from './import-module.ts'
import { construct, exportOf, isPlugin, pluginError, servicesOf } from './module-exports.ts'
import type { ModuleSpec } from './module-spec.ts'

/** A module that a plug-in process found to be of Quoin's form, and its URL. */
export interface InProcessModule {
  readonly spec: ModuleSpec
  readonly url: string
}

/** The plug-in of a module. Topics and lookups without a plug-in around them get one that is named after the file. */
export const importPlugin = async ({ spec, url }: InProcessModule): Promise<Plugin> => {
  const { module, options, hydrateWith } = spec
  if (hydrateWith !== undefined) {
    throw pluginError(
      spec,
      `is of Quoin's form, which has the database of the node: leave out hydrateWith: ${hydrateWith}`
    )
  }
  const exported = exportOf(spec, await importModule(spec, url))
  const value = await construct(spec, exported, options === undefined ? [] : [options])
  if (isPlugin(value)) {
    return options === undefined
      ? value
      : { name: value.name, setup: context => value.setup({ ...context, options }) }
  }
  const services = servicesOf(spec, value)
  const byName = (kind: 'topic' | 'lookup') =>
    Object.fromEntries(
      services.flatMap(each => (each.kind === kind ? [[each.name, each.service as never]] : []))
    )
  return { name: pluginName(module), setup: () => ({ topics: byName('topic'), lookups: byName('lookup') }) }
}

/** The name of its file, for logs. */
const pluginName = (path: string): string =>
  path
    .replace(/^.*[/\\]/, '')
    .replace(/\.[^.]*$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '-')
    .replace(/^[^a-z]+/, '') || 'plugin'
