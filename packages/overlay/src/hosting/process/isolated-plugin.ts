/** The setup of an isolated plug-in of Quoin's form: without the store of the node, so with topics alone. */
import { QuoinError, reasonOf } from '@quoin/primitives'
import type { InstalledPlugins, Plugin, PluginContext } from '../../plugin.ts'
import { pluginError } from '../module-exports.ts'
import type { ModuleSpec } from '../module-spec.ts'

export const setUpIsolated = async (
  spec: ModuleSpec,
  plugin: Plugin
): Promise<Readonly<Record<string, unknown>>> => {
  const refuse = (use: string): never => {
    throw pluginError(
      spec,
      `cannot be isolated: the plug-in ${plugin.name} ${use} of the node, which are in another process. Leave out \`isolate\``
    )
  }
  const print = (event: string, fields?: Readonly<Record<string, unknown>>): void => {
    process.stdout.write(`${event}${fields ? ` ${JSON.stringify(fields)}` : ''}\n`)
  }
  const context = {
    name: plugin.name,
    logger: { info: print, warn: print, error: print },
    options: spec.options,
    events: () => refuse('declares events'),
    collections: () => refuse('declares collections'),
    get outputs(): never {
      return refuse('reads outputs')
    }
  } satisfies Record<keyof PluginContext, unknown> & { options: unknown }
  let made: Partial<InstalledPlugins>
  try {
    made = await plugin.setup(context as unknown as PluginContext)
  } catch (error) {
    if (error instanceof QuoinError) throw error
    throw pluginError(spec, `cannot be set up: ${reasonOf(error)}`, error)
  }
  if ((made.families?.length ?? 0) > 0) {
    throw pluginError(
      spec,
      `cannot be isolated: the plug-in ${plugin.name} has families of topics. Leave out \`isolate\``
    )
  }
  return { topics: made.topics ?? {}, lookups: made.lookups ?? {} }
}
