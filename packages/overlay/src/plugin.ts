/**
 * Plug-ins: topics and lookups with their events and collections. These are declared in the setup of the plug-in, and
 * proved to be disjoint from everything else in the store (D2); a plug-in whose keys could collide is refused.
 *
 * @example
 * import { openStore } from '@quoin/store'
 * import { OutputStore } from '@quoin/txo'
 * const about = {
 *   getDocumentation: async () => 'Admits every output.',
 *   getMetaData: async () => ({ name: 'All', shortDescription: 'Admits every output.' })
 * }
 * const all = definePlugin({
 *   name: 'all',
 *   setup: () => ({
 *     topics: {
 *       tm_all: { ...about, admit: ({ transaction }) => ({ outputs: [...transaction.outputs.keys()] }) }
 *     }
 *   })
 * })
 * const outputs = new OutputStore(await openStore('memory:'))
 * const { topics } = await installPlugins([all], { outputs })
 * Object.keys(topics) // [ 'tm_all' ]
 */
import { chain } from '@quoin/chain'
import { type AnyKeyspace, type Declaration, type Keyspace, KeyspaceGroup, keyspace } from '@quoin/keyspace'
import { QuoinError } from '@quoin/primitives'
import {
  type EventDeclaration,
  EventRegistry,
  type Events,
  type OutputStore,
  outputEvents,
  outputs as outputKeys,
  registerEvents,
  scriptEvents
} from '@quoin/txo'
import { broadcasts } from './broadcast/keys.ts'
import type { DeliveryOptions } from './delivery/lookup-delivery.ts'
import { checkedService } from './hosting/module-exports.ts'
import { overlay } from './keys.ts'
import { type Logger, SILENT } from './logger.ts'
import { PROVED } from './proved.ts'
import type { TopicFamily } from './topics.ts'
import { type AnyLookup, type AnyTopic, isQuoinLookup } from './types.ts'

// biome-ignore lint/suspicious/noExplicitAny: collections of any keys and values; each is inferred.
type Declarations = Readonly<Record<string, Declaration<any, any, any>>>
type EventDeclarations = Readonly<Record<string, EventDeclaration>>

export interface PluginContext {
  readonly name: string
  /** For reads. Lookups write with the admission of an output. */
  readonly outputs: OutputStore
  readonly logger: Logger
  /** The options of the plug-in in the configuration of the node. */
  readonly options?: unknown
  /** Declares event types of the plug-in, once; their texts begin with its name. */
  events<const E extends EventDeclarations>(declared: E): Events<E>['types']
  /** Declares collections of the plug-in, of any kind, once. */
  collections<const D extends Declarations>(declared: D): Keyspace<D>['collections']
}

export interface InstalledPlugins {
  readonly topics: Readonly<Record<string, AnyTopic>>
  readonly lookups: Readonly<Record<string, AnyLookup>>
  readonly families: readonly TopicFamily[]
  /** Lookup services in the form of `@bsv/overlay`: submissions to the topics of their plug-in wait for them. */
  readonly delivery: Readonly<Record<string, DeliveryOptions>>
}

export interface Plugin {
  /** Lower-case letters, digits, `_` and `-`. */
  readonly name: string
  /** Requests a process for the plug-in where its module is hosted (`hostPlugins`): for plug-ins without lookups. */
  readonly isolate?: boolean
  readonly setup: (context: PluginContext) => Partial<InstalledPlugins> | Promise<Partial<InstalledPlugins>>
}

/** Infers the types of a plug-in. */
export const definePlugin = (plugin: Plugin): Plugin => plugin

export interface InstallOptions {
  readonly outputs: OutputStore
  /** All that is in the store; what the engine itself keeps unless given. */
  readonly keyspaces?: KeyspaceGroup
  readonly logger?: Logger
}

/** Sets up plug-ins, one after the other; the answer is what `Engine` takes. */
export const installPlugins = async (
  plugins: readonly Plugin[],
  { outputs, keyspaces = engineStore(), logger = SILENT }: InstallOptions
): Promise<InstalledPlugins> => {
  const topics: Record<string, AnyTopic> = {}
  const lookups: Record<string, AnyLookup> = {}
  const families: TopicFamily[] = []
  const delivery: Record<string, DeliveryOptions> = {}
  for (const { name, setup } of plugins) {
    const made = await setup(contextOf(name, outputs, keyspaces, logger))
    take(name, 'topic', topics, made.topics)
    take(name, 'lookup', lookups, made.lookups)
    families.push(...(made.families ?? []))
    Object.assign(delivery, deliveryOf(made), made.delivery)
  }
  return { topics, lookups, families, delivery }
}

const deliveryOf = ({ topics, lookups = {} }: Partial<InstalledPlugins>): Record<string, DeliveryOptions> => {
  if (!topics) return {}
  const home = Object.keys(topics)
  const foreign = Object.entries(lookups).filter(([, lookup]) => !isQuoinLookup(lookup))
  return Object.fromEntries(foreign.map(([name]) => [name, { home }]))
}

const OWN: readonly AnyKeyspace[] = [
  chain,
  outputKeys,
  outputEvents.keyspace,
  scriptEvents.keyspace,
  overlay,
  broadcasts
]

/** The keyspaces of an engine without plug-ins. */
export const engineStore = (): KeyspaceGroup => new KeyspaceGroup('overlay', OWN, { proved: PROVED })

const contextOf = (
  name: string,
  outputs: OutputStore,
  keyspaces: KeyspaceGroup,
  logger: Logger
): PluginContext => ({
  name,
  outputs,
  logger: named(logger, name),
  events: declared => {
    const registry = outputs.events
    if (!(registry instanceof EventRegistry)) {
      throw new QuoinError('ERR_PLUGIN', `the output store takes no events of ${name}`, { plugin: name })
    }
    const registered = registerEvents(keyspaces, name, declared)
    registry.add(registered)
    return registered.types
  },
  collections: declared => {
    const space = keyspace(name, declared, { about: `What the plug-in ${name} keeps.` })
    keyspaces.add(space)
    return space.collections
  }
})

const take = <T>(
  plugin: string,
  kind: 'topic' | 'lookup',
  all: Record<string, T>,
  given: Readonly<Record<string, T>> = {}
): void => {
  for (const [name, each] of Object.entries(given)) {
    checkedService({ module: `the plug-in ${plugin}` }, kind, name, each)
    if (Object.hasOwn(all, name)) {
      throw new QuoinError(
        'ERR_PLUGIN',
        `the plug-in ${plugin} has the ${kind} ${name}, whose name is taken`,
        {
          plugin,
          name
        }
      )
    }
    all[name] = each
  }
}

const named = (logger: Logger, plugin: string): Logger => ({
  info: (event, fields) => logger.info(event, { plugin, ...fields }),
  warn: (event, fields) => logger.warn(event, { plugin, ...fields }),
  error: (event, fields) => logger.error(event, { plugin, ...fields })
})
