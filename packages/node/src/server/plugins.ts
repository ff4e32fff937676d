/**
 * The plug-ins of a node: modules in the form of `@bsv/overlay` run in processes of their own (`overlay/hosting`), modules
 * in Quoin's form are loaded into this one. A name that two of them have is refused.
 */
import { hostPlugins, type InstalledPlugins, type Logger, type PluginHost } from '@quoin/overlay'
import { QuoinError } from '@quoin/primitives'
import { openPluginDatabase } from './databases.ts'
import { moduleSpecs } from './plugin-settings.ts'
import type { Config } from './settings.ts'

/** Ends parts of a node in the reverse order. */
interface ShutdownSteps {
  add(close: () => Promise<void>): void
}

/** Starts the processes of the plug-ins that a configuration names; undefined without any. */
export const openPluginHost = async (
  config: Config,
  logger: Logger,
  closing: ShutdownSteps
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
    topicTimeout,
    lookupTimeout,
    memoryMb: pluginMemory
  })
  closing.add(() => host.close())
  return host
}

/** Topics and lookup services of the node together with the hosted ones. */
export const withHosted = (installed: InstalledPlugins, host: PluginHost | undefined): InstalledPlugins => {
  if (!host) return installed
  const named = [
    ['topic', installed.topics, host.topics, 'kvstore, discovery and bsv21.enabled turn built-in ones off'],
    [
      'lookup service',
      installed.lookups,
      host.lookups,
      'kvstore, discovery and bsv21.enabled turn built-in ones off'
    ]
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
const hostedDelivery = ({ topics, delivery }: PluginHost): InstalledPlugins['delivery'] => {
  const names = Object.keys(topics)
  if (names.length === 0) return delivery
  return Object.fromEntries(
    Object.entries(delivery).map(([name, options]) => [name, { home: options.topics ?? names, ...options }])
  )
}
