/** The processes of an operator's plug-in modules. */
import { resolve } from 'node:path'
import { QuoinError } from '@quoin/primitives'
import type { DeliveryOptions } from '../delivery/lookup-delivery.ts'
import type { Logger } from '../logger.ts'
import type { HostedLookup, HostedTopic } from '../types.ts'
import { HostedModule, type HostedModuleState } from './hosted-module.ts'
import { hostedLookup, hostedTopic } from './hosted-services.ts'
import type { InProcessModule } from './in-process.ts'
import type { HostOptions, ModuleSpec } from './module-spec.ts'
import type { ServiceDescription, SpecDescription } from './protocol.ts'
import { compareDescriptions, type ReloadReport } from './reload-report.ts'

export interface PluginHost {
  /** By name, as their modules last described them. */
  readonly topics: Readonly<Record<string, HostedTopic>>
  readonly lookups: Readonly<Record<string, HostedLookup>>
  /** Modules of Quoin's form that did not ask for isolation, for `importPlugin`. */
  readonly inProcess: readonly InProcessModule[]
  /** By the name of a lookup: the topics and the concurrency of its spec. */
  readonly delivery: Readonly<Record<string, DeliveryOptions>>
  states(): HostedModuleState[]
  /** Loads a changed module in another process and replaces the running one; the running process stays if that fails. */
  reload(module: string): Promise<ReloadReport>
  close(): Promise<void>
}

/**
 * Loads modules, each in a process of its own, and describes what they export. Refuses with `ERR_PLUGIN` a module that
 * does not load, and a topic or lookup whose name is taken.
 *
 *     const host = await hostPlugins([{ module: '/srv/hello.js', directory: '/srv', name: 'tm_hello' }], options)
 *     const engine = new Engine({ outputs, tracker, topics: host.topics, lookups: host.lookups })
 */
export const hostPlugins = async (
  specs: readonly ModuleSpec[],
  options: HostOptions
): Promise<PluginHost> => {
  const host = new Host(specs, options)
  try {
    await host.start()
  } catch (error) {
    await host.close()
    throw error
  }
  return host
}

class Host implements PluginHost {
  #topics: Readonly<Record<string, HostedTopic>> = {}
  #lookups: Readonly<Record<string, HostedLookup>> = {}
  #delivery: Readonly<Record<string, DeliveryOptions>> = {}
  #inProcess: readonly InProcessModule[] = []
  #modules: readonly HostedModule[]

  constructor(specs: readonly ModuleSpec[], options: HostOptions) {
    const groups = new Map<string, ModuleSpec[]>()
    for (const spec of specs) {
      const key = `${spec.module}\0${resolve(spec.directory)}`
      groups.set(key, [...(groups.get(key) ?? []), spec])
    }
    this.#modules = Array.from(groups.values(), group => {
      const logger = labelled(options.logger, group[0]!.module)
      return new HostedModule(group, { ...options, logger })
    })
  }

  get topics(): Readonly<Record<string, HostedTopic>> {
    return this.#topics
  }

  get lookups(): Readonly<Record<string, HostedLookup>> {
    return this.#lookups
  }

  get delivery(): Readonly<Record<string, DeliveryOptions>> {
    return this.#delivery
  }

  get inProcess(): readonly InProcessModule[] {
    return this.#inProcess
  }

  async start(): Promise<void> {
    const outcomes = await Promise.allSettled(this.#modules.map(module => module.start()))
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    this.#inProcess = this.#modules.flatMap(({ specs, description }) =>
      specs.flatMap((spec, i) => {
        const { form, url } = description[i]!
        return form === 'quoin' ? [{ spec, url }] : []
      })
    )
    const isUsed = ({ description }: HostedModule): boolean =>
      description.some(({ form }) => form === 'hosted')
    const unused = this.#modules.filter(module => !isUsed(module))
    this.#modules = this.#modules.filter(isUsed)
    await Promise.all(unused.map(module => module.close()))
    this.#bind()
  }

  states(): HostedModuleState[] {
    return this.#modules.map(({ state }) => state)
  }

  async reload(name: string): Promise<ReloadReport> {
    const modules = this.#modules.filter(({ module }) => module === name)
    if (modules.length === 0) {
      throw new QuoinError('ERR_PLUGIN', `no plug-in process runs the module ${name}`, { module: name })
    }
    const reports: ReloadReport[] = []
    for (const module of modules) {
      const before = module.description
      await module.reload(description => this.#check(module, description))
      reports.push(compareDescriptions(name, before, module.description))
    }
    this.#bind()
    return reports.reduce((all, each) => ({
      module: name,
      added: [...all.added, ...each.added],
      removed: [...all.removed, ...each.removed],
      changed: [...all.changed, ...each.changed],
      migrations: [...all.migrations, ...each.migrations]
    }))
  }

  async close(): Promise<void> {
    await Promise.all(this.#modules.map(module => module.close()))
  }

  /** Refuses a name of a topic or lookup that another module has. */
  #check(changed: HostedModule, description: readonly SpecDescription[]): void {
    const others = this.#modules.filter(module => module !== changed)
    const taken = new Map(
      others.flatMap(({ module, description: of }) =>
        servicesOf(of).map(({ name }) => [name, module] as const)
      )
    )
    for (const { name } of servicesOf(description)) {
      const by = taken.get(name)
      if (by !== undefined) {
        throw new QuoinError('ERR_PLUGIN', `${changed.module} has ${name}, which ${by} has already`, { name })
      }
    }
  }

  #bind(): void {
    const topics: Record<string, HostedTopic> = {}
    const lookups: Record<string, HostedLookup> = {}
    const delivery: Record<string, DeliveryOptions> = {}
    for (const module of this.#modules) {
      this.#check(module, module.description)
      for (const [i, { services }] of module.description.entries()) {
        const { topics: subscribed, concurrency } = module.specs[i]!
        for (const service of services) {
          const { kind, name } = service
          if (kind === 'topic') {
            topics[name] = this.#topics[name] ?? hostedTopic(module, latest(module, service))
          } else {
            lookups[name] = this.#lookups[name] ?? hostedLookup(module, latest(module, service))
            delivery[name] = {
              ...(subscribed && { topics: subscribed }),
              ...(concurrency && { concurrency })
            }
          }
        }
      }
    }
    this.#topics = topics
    this.#lookups = lookups
    this.#delivery = delivery
  }
}

const servicesOf = (description: readonly SpecDescription[]): ServiceDescription[] =>
  description.flatMap(({ services }) => services)

/** The last description of a service, also of one that a reload removed. */
const latest = <D extends ServiceDescription>(module: HostedModule, first: D): (() => D) => {
  let last = first
  return () => {
    const found = servicesOf(module.description).find(
      ({ kind, name }) => kind === first.kind && name === first.name
    )
    if (found) last = found as D
    return last
  }
}

const labelled = (logger: Logger, plugin: string): Logger => ({
  info: (event, fields) => logger.info(event, { plugin, ...fields }),
  warn: (event, fields) => logger.warn(event, { plugin, ...fields }),
  error: (event, fields) => logger.error(event, { plugin, ...fields })
})
