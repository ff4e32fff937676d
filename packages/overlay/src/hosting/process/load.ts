/** Loads a module for its specs: imports it, builds the export of each spec, connects databases, describes the services. */
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { importModule } from '../import-module.ts'
import {
  construct,
  type ExportedService,
  exportOf,
  isObject,
  isPlugin,
  pluginError,
  servicesOf
} from '../module-exports.ts'
import type { ModuleSpec } from '../module-spec.ts'
import { resolvePackage } from '../packages.ts'
import type { LoadRequest, SpecDescription } from '../protocol.ts'
import { serviceKey } from '../protocol.ts'
import { Databases, type Knex, type Migration, runMigrations } from './databases.ts'
import { HistorySelectors } from './history-selectors.ts'
import { setUpIsolated } from './isolated-plugin.ts'
import { lookupService } from './lookup-service.ts'
import type { HostedService } from './service.ts'
import { topicService } from './topic-service.ts'

export class LoadedModule {
  readonly description: readonly SpecDescription[]
  readonly #services: ReadonlyMap<string, HostedService>
  readonly #selectors: HistorySelectors
  readonly #databases: Databases

  constructor(
    description: readonly SpecDescription[],
    services: ReadonlyMap<string, HostedService>,
    selectors: HistorySelectors,
    databases: Databases
  ) {
    this.description = description
    this.#services = services
    this.#selectors = selectors
    this.#databases = databases
  }

  async call(key: string, method: string, args: readonly unknown[]): Promise<unknown> {
    const found = this.#services.get(key)?.methods[method]
    if (!found) throw new Error(`the module has no ${key} with ${method}`)
    return found(...args)
  }

  history(selector: string, args: readonly unknown[]): Promise<unknown> {
    return this.#selectors.call(selector, args)
  }

  close(): Promise<void> {
    return this.#databases.close()
  }
}

/** The services of one spec. */
interface BuiltSpec {
  readonly form: SpecDescription['form']
  readonly services: readonly ExportedService[]
  readonly migrations: readonly string[]
}

export const loadModule = async (request: LoadRequest): Promise<LoadedModule> => {
  const databases = new Databases(request)
  const selectors = new HistorySelectors()
  const services = new Map<string, HostedService>()
  const description: SpecDescription[] = []
  const [first] = request.specs
  const url = locate(first!)
  const directory = url.startsWith('file:') ? dirname(fileURLToPath(url)) : first!.directory
  const namespace = await importModule(first!, url)
  for (const spec of request.specs) {
    const built = await build(spec, exportOf(spec, namespace), databases, directory)
    const hosted = built.form === 'quoin' ? [] : await Promise.all(built.services.map(hostedService))
    for (const each of hosted) {
      const key = serviceKey(each.described)
      if (services.has(key)) throw pluginError(spec, `has the ${key} twice`)
      services.set(key, each)
    }
    description.push({
      form: built.form,
      url,
      services: hosted.map(({ described }) => described),
      migrations: built.migrations,
      warnings: hosted.flatMap(({ warnings }) => warnings)
    })
  }
  return new LoadedModule(description, services, selectors, databases)

  async function hostedService(exported: ExportedService): Promise<HostedService> {
    return exported.kind === 'topic' ? topicService(exported) : lookupService(exported, directory, selectors)
  }
}

const locate = (spec: ModuleSpec): string => {
  const { module, directory } = spec
  if (isAbsolute(module) || /^\.{1,2}[/\\]/.test(module)) {
    const path = resolve(directory, module)
    if (!existsSync(path)) throw pluginError(spec, `is missing: file ${path} does not exist`)
    return pathToFileURL(path).href
  }
  const url = resolvePackage(module, directory)
  if (url !== undefined) return url
  throw pluginError(spec, `is missing: run \`npm install ${module}\` in ${directory}`)
}

const build = async (
  spec: ModuleSpec,
  exported: unknown,
  databases: Databases,
  directory: string
): Promise<BuiltSpec> => {
  const isConstructed = typeof exported === 'function'
  const args = isConstructed ? await argumentsOf(spec, databases, directory) : []
  let value = await construct(spec, exported, args)
  let migrations: readonly Migration[] = []
  if (isConstructed && isObject(value) && 'service' in value) {
    migrations = (value['migrations'] as readonly Migration[] | undefined) ?? []
    if (!Array.isArray(migrations)) throw pluginError(spec, 'has invalid migrations: expected an array')
    value = value['service']
  }
  if (isPlugin(value)) {
    if (!(spec.isolate ?? value.isolate)) return { form: 'quoin', services: [], migrations: [] }
    const services = servicesOf(spec, await setUpIsolated(spec, value))
    return hosted(spec, services, [])
  }
  const services = servicesOf(spec, value)
  const isOwn = services.length > 0 && services.every(({ form }) => form === 'quoin')
  if (isOwn && !spec.isolate) return { form: 'quoin', services: [], migrations: [] }
  const ran =
    migrations.length > 0
      ? await runMigrations(await databases.knex(directory), spec.name ?? 'plugin', migrations)
      : []
  return hosted(spec, services, ran)
}

/** Refuses lookups of Quoin's form: they write in the commits of the node. */
const hosted = (
  spec: ModuleSpec,
  services: readonly ExportedService[],
  migrations: readonly string[]
): BuiltSpec => {
  const own = services.find(({ kind, form }) => kind === 'lookup' && form === 'quoin')
  if (own) {
    throw pluginError(
      spec,
      `cannot be isolated: the lookup ${own.name} of Quoin's form writes in the commit of the node. ` +
        'Leave out `isolate`, or move the lookup to a module of its own'
    )
  }
  return { form: 'hosted', services, migrations }
}

/** The arguments of a class or a factory. */
const argumentsOf = async (
  { hydrateWith, options }: ModuleSpec,
  databases: Databases,
  directory: string
): Promise<unknown[]> => {
  const args: unknown[] = []
  if (hydrateWith === 'mongo') args.push(await databases.mongo(directory))
  if (hydrateWith === 'knex') args.push((await databases.knex(directory)) satisfies Knex)
  // A class with default parameters is built without arguments, as LARS and CARS build it.
  if (options !== undefined) args.push(options)
  return args
}
