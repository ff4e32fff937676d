/**
 * A project file of BRC-102 (`deployment-info.json`), as LARS and CARS read it: topic managers are classes, lookup services
 * are factories, and paths are relative to the file. Unknown keys are tolerated.
 */

import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Hydration } from '@quoin/overlay'
import { QuoinError, reasonOf } from '@quoin/primitives'

/** A module spec of a project: the default export, under a name. */
interface DeploymentPlugin {
  readonly module: string
  /** The directory of the file, from which paths are resolved. */
  readonly directory: string
  readonly name: string
  readonly hydrateWith?: Hydration
  readonly compilerOptions: typeof COMPILER_OPTIONS
}

export interface DeploymentInfo {
  /** The absolute path of the file. */
  readonly path: string
  readonly plugins: readonly DeploymentPlugin[]
  /** Of the entry of `configs` that applies, if it names one. */
  readonly network: 'main' | 'test' | undefined
  /** Parts of the project that a node does not serve, each with the program that does. */
  readonly notServed: readonly string[]
}

/** LARS and CARS put their own `tsconfig.json` in place of that of a project: contracts have legacy decorators. */
const COMPILER_OPTIONS = { experimentalDecorators: true, emitDecoratorMetadata: true }

const MAX_FILE = 1024 * 1024
const MAX_ENTRIES = 1000

/** Reads a file; refused with `ERR_CONFIG` and every problem, each with its place in the file. */
export const readDeploymentInfo = (file: string): DeploymentInfo => {
  const path = resolve(file)
  return parseDeploymentInfo(readText(path, file), path)
}

export const parseDeploymentInfo = (text: string, path: string): DeploymentInfo => {
  const problems: string[] = []
  const root = parsedJson(text, path)
  const expectKey = (at: string, value: unknown, isRight: boolean, expected: string): boolean => {
    if (!isRight) problems.push(`${at} is ${shown(value)}; expected ${expected}`)
    return isRight
  }
  if (!isRecord(root)) throw refused(path, [`expected an object with the key schema, not ${shown(root)}`])
  const { schema, schemaVersion, topicManagers = {}, lookupServices = {}, configs = [] } = root
  expectKey('schema', schema, schema === 'bsv-app', '"bsv-app" (BRC-102)')
  const isKnownVersion =
    schemaVersion === undefined || (typeof schemaVersion === 'string' && /^1(\.|$)/.test(schemaVersion))
  expectKey('schemaVersion', schemaVersion, isKnownVersion, '"1.0"')

  const plugins: DeploymentPlugin[] = []
  const directory = dirname(path)
  const add = (at: string, name: string, prefix: string, module: unknown, hydrateWith?: Hydration): void => {
    const isNamed = new RegExp(`^${prefix}_[A-Za-z0-9_.-]{1,125}$`).test(name)
    if (!isNamed) problems.push(`${at}: expected a name of the form ${prefix}_…`)
    const isPath = typeof module === 'string' && module !== ''
    if (!expectKey(at, module, isPath, 'the path of a module, relative to this file')) return
    const target = resolve(directory, module as string)
    if (!isFile(target)) problems.push(`${at} is ${shown(module)}; the file does not exist: ${target}`)
    else if (isNamed)
      plugins.push({
        module: target,
        directory,
        name,
        ...(hydrateWith && { hydrateWith }),
        compilerOptions: COMPILER_OPTIONS
      })
  }
  const record = 'an object with an entry for each name'
  if (expectKey('topicManagers', topicManagers, isEntries(topicManagers), record)) {
    for (const [name, module] of Object.entries(topicManagers as object))
      add(`topicManagers.${name}`, name, 'tm', module)
  }
  if (expectKey('lookupServices', lookupServices, isEntries(lookupServices), record)) {
    for (const [name, entry] of Object.entries(lookupServices as object)) {
      const at = `lookupServices.${name}`
      if (!expectKey(at, entry, isRecord(entry), 'an object with serviceFactory and hydrateWith')) continue
      const { serviceFactory, hydrateWith } = entry as Record<string, unknown>
      // The generators of LARS and CARS call the factory without a database where the key is absent.
      const isDatabase = hydrateWith === 'mongo' || hydrateWith === 'knex'
      const isNone = hydrateWith === undefined || hydrateWith === null || hydrateWith === 'none'
      expectKey(`${at}.hydrateWith`, hydrateWith, isDatabase || isNone, '"mongo", "knex", or the key absent')
      add(`${at}.serviceFactory`, name, 'ls', serviceFactory, isDatabase ? hydrateWith : undefined)
    }
  }
  expectKey('configs', configs, Array.isArray(configs), 'a list of configurations')
  const network = Array.isArray(configs) ? networkOf(configs, problems) : undefined
  if (problems.length > 0) throw refused(path, problems)
  return { path, plugins, network, notServed: notServed(root) }
}

/** The network of the configuration for LARS, which runs on this machine as a node does, or else of the first one. */
const networkOf = (configs: readonly unknown[], problems: string[]): 'main' | 'test' | undefined => {
  const index = configs.findIndex(each => isRecord(each) && each['provider'] === 'LARS')
  const at = Math.max(index, 0)
  const chosen = configs[at]
  if (chosen === undefined) return undefined
  if (!isRecord(chosen)) {
    problems.push(`configs[${at}] is ${shown(chosen)}; expected an object`)
    return undefined
  }
  const network = parseNetwork(chosen['network'])
  if (chosen['network'] !== undefined && network === undefined)
    problems.push(`configs[${at}].network is ${shown(chosen['network'])}; expected "mainnet" or "testnet"`)
  return network
}

/** `main`, `mainnet`, `test` and `testnet`, as the tools spell them. */
export const parseNetwork = (value: unknown): 'main' | 'test' | undefined => {
  const [, network] = (typeof value === 'string' && /^(main|test)(?:net)?$/.exec(value)) || []
  return network as 'main' | 'test' | undefined
}

const notServed = ({ frontend, contracts }: Readonly<Record<string, unknown>>): string[] => {
  const parts: string[] = []
  if (isRecord(frontend)) {
    const { sourceDirectory } = frontend
    const place = typeof sourceDirectory === 'string' ? ` in ${sourceDirectory}` : ''
    parts.push(`frontend: run your own dev server${place}`)
  }
  if (isRecord(contracts)) parts.push('contracts: compile them yourself, for example npm run compile')
  return parts
}

const parsedJson = (text: string, path: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw refused(path, [`invalid JSON: ${(error as Error).message}`])
  }
}

const readText = (path: string, file: string): string => {
  try {
    if (statSync(path).size > MAX_FILE)
      throw new QuoinError('ERR_FILE', `${file} is larger than ${MAX_FILE} bytes`, { path, limit: MAX_FILE })
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof QuoinError) throw error
    throw new QuoinError('ERR_FILE', `cannot read the deployment file: ${reasonOf(error)}`, {
      path,
      cause: error
    })
  }
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isEntries = (value: unknown): boolean => isRecord(value) && Object.keys(value).length <= MAX_ENTRIES

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'absent'
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}

const refused = (path: string, problems: readonly string[]): QuoinError =>
  new QuoinError(
    'ERR_CONFIG',
    problems.length === 1
      ? `${path}: ${problems[0]}`
      : `invalid deployment file ${path}\n  ${problems.join('\n  ')}`,
    { path, problems }
  )
