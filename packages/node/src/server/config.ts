/**
 * The configuration of a node: defaults, then a file, then environment variables, then options of the command line, each
 * over the one before. All mistakes are reported together, each with its place and the expected value; an unknown key is a
 * mistake too.
 */

import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { QuoinError, reasonOf } from '@quoin/primitives'

import { Value } from '@sinclair/typebox/value'
import { type Document, LineCounter, parseDocument } from 'yaml'
import { isWalletUrl } from '../wallet/open-wallet.ts'
import { isTrustedProxy, TRUST_PROXY_EXPECTS } from './client-address.ts'
import { hydrationProblems, knexRelativeTo } from './databases.ts'
import { type DeploymentInfo, readDeploymentInfo } from './deployment/deployment-info.ts'
import { deploymentEnvironment, type VariableUse } from './deployment/environment.ts'
import { discoveryProblems } from './discovery/settings.ts'
import { nearest } from './nearest-word.ts'
import { moduleSpecs, parsePlugins, pluginProblems, pluginsRelativeTo } from './plugin-settings.ts'
import { rolesProblem, storeOfReader } from './roles.ts'
import { HIDDEN, withoutPassword, withoutSecrets } from './secrets.ts'
import { type Config, SETTINGS, type Setting, TOPIC_PATTERN } from './settings.ts'

export interface ConfigSources {
  /** The path of a YAML file; `QUOIN_CONFIG` unless given. */
  readonly file?: string | undefined
  /** The path of a deployment file (BRC-102); its plug-ins come before the others. */
  readonly deployment?: string | undefined
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Options of the command line, by the key of their setting: `limits.body`. */
  readonly options?: Readonly<Record<string, string | readonly string[] | undefined>>
}

export interface LoadedConfig {
  readonly config: Config
  /** Where a setting comes from, by its key: `port` from `QUOIN_PORT`. */
  readonly origins: ReadonlyMap<string, string>
  readonly deployment: LoadedDeployment | undefined
}

export interface LoadedDeployment {
  readonly info: DeploymentInfo
  /** Variables of LARS and CARS in the environment. */
  readonly variables: readonly VariableUse[]
}

/** A mistake in a setting, and its place. */
export interface Problem {
  readonly setting: string
  readonly source: string
  readonly message: string
}

/** A value, as a source has it. */
interface Given {
  readonly value: unknown
  readonly source: string
}

const FILE_VARIABLE = 'QUOIN_CONFIG'
const MAX_FILE = 1024 * 1024

/**
 * Settings from a file, the environment and options, in ascending precedence.
 *
 * @example
 * const { config } = loadConfig({ options: { store: 'memory:', port: '0' }, environment: { QUOIN_CHAIN: 'dev' } })
 * config.chain // 'dev'
 * loadConfig({ options: { port: 'many' } }) // throws ERR_CONFIG
 */
export const loadConfig = ({
  file,
  deployment,
  environment = {},
  options = {}
}: ConfigSources): LoadedConfig => {
  const problems: Problem[] = []
  const given = new Map<string, Given>()
  for (const setting of SETTINGS) {
    if (setting.default !== undefined)
      given.set(setting.key, { value: setting.default, source: 'the default' })
  }
  const path = file ?? (environment[FILE_VARIABLE] || undefined)
  const info = deployment === undefined ? undefined : readDeploymentInfo(deployment)
  const project = info && fromDeployment(info, environment)
  const layers = [
    project?.layer ?? [],
    path === undefined ? [] : fromFile(path, problems),
    fromEnvironment(environment, problems),
    fromOptions(options)
  ]
  for (const layer of layers) {
    for (const [key, each] of layer) {
      const found = check(settingOf(key), each)
      problems.push(...found)
      if (found.length === 0) given.set(key, each)
    }
  }
  const sourceOf = (key: string): string => given.get(key)?.source ?? 'the configuration'
  // Headers of mainnet have to come from somewhere: without a source the network of a project does not apply.
  const isNetworkOfProject = project?.sources.includes(sourceOf('network')) ?? false
  const isOnDevChain = isNetworkOfProject && given.get('chain')!.value === 'dev'
  if (isOnDevChain) given.delete('network')
  const assembled = assemble(given)
  const config = withReadOnlyStore(
    info ? { ...assembled, plugins: [...info.plugins, ...assembled.plugins] } : assembled
  )
  if (problems.length === 0) problems.push(...checkTogether(config, sourceOf))
  if (problems.length > 0) throw wrong(problems)
  const reason = 'the chain is dev; --chain headers:URL has the headers of a network'
  const variables = (project?.variables ?? []).map(each =>
    isOnDevChain && each.setting === 'network' ? { ...each, setting: undefined, reason } : each
  )
  const origins = new Map([...given].map(([key, { source }]) => [key, source]))
  if (info && assembled.plugins.length === 0) origins.set('plugins', info.path)
  return {
    config,
    origins,
    deployment: info && { info, variables }
  }
}

/** The settings that a project and the variables of its tools come to. */
const fromDeployment = (info: DeploymentInfo, environment: NonNullable<ConfigSources['environment']>) => {
  const { settings, variables } = deploymentEnvironment(environment)
  const bySetting = new Map(variables.map(({ setting, variable }) => [setting, variable]))
  const layer: Layer = [
    ...(info.network ? [['network', { value: info.network, source: info.path }] as const] : []),
    ...Object.entries(settings).map(([key, value]) => [key, { value, source: bySetting.get(key)! }] as const)
  ]
  return { layer, variables, sources: [info.path, 'NETWORK'] }
}

const BY_KEY = new Map(SETTINGS.map(setting => [setting.key, setting]))
const settingOf = (key: string): Setting => BY_KEY.get(key)!

type Layer = readonly (readonly [key: string, given: Given])[]

const fromFile = (path: string, problems: Problem[]): Layer => {
  const counter = new LineCounter()
  const content = readText(path)
  const document = parseDocument(content, { lineCounter: counter, prettyErrors: false })
  for (const { code, message, pos } of document.errors) {
    const source = `${path}, line ${counter.linePos(pos[0]).line}`
    // `store: memory:` is a map within a map to YAML.
    const [text] = (code === 'BLOCK_AS_IMPLICIT_KEY' && /^\S+:/.exec(content.slice(pos[0]))) || []
    const hint = text ? `; quote a value that ends in a colon: "${text}"` : ''
    problems.push({ setting: '', source, message: message + hint })
  }
  if (document.errors.length > 0) return []
  const found: [string, Given][] = []
  const walk = (object: unknown, keys: readonly string[]): void => {
    if (typeof object !== 'object' || object === null || Array.isArray(object)) {
      const expected = keys.length === 0 ? 'settings' : `settings of ${keys.join('.')}`
      problems.push({
        setting: keys.join('.'),
        source: path,
        message: `expected ${expected}, each with its value`
      })
      return
    }
    for (const [name, value] of Object.entries(object)) {
      const here = [...keys, name]
      const key = here.join('.')
      const short = SHORT.get(key)
      if (BY_KEY.has(key)) found.push([key, { value: relativeTo(path, key, value), source: path }])
      else if (short && (typeof value === 'string' || Array.isArray(value)))
        found.push([short.key, { value: [value].flat(), source: path }])
      else if (GROUPS.has(key)) walk(value, here)
      else
        problems.push({ setting: key, source: path, message: unknownKey(key, [...BY_KEY.keys(), ...GROUPS]) })
    }
  }
  const settings = contentOf(document, path, problems)
  if (settings !== null) walk(settings, [])
  return found
}

/** Keys that have settings under them. */
const GROUPS = new Set(SETTINGS.flatMap(({ path }) => (path.length > 1 ? [path[0]!] : [])))

/** Groups that a list may stand for, with the setting that the list is. */
const SHORT = new Map(
  SETTINGS.flatMap(setting => (setting.word === undefined ? [] : [[setting.word, setting] as const]))
)

const contentOf = (document: Document.Parsed, path: string, problems: Problem[]): unknown => {
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    problems.push({
      setting: '',
      source: path,
      message: reasonOf(error)
    })
    return null
  }
}

const readText = (path: string): string => {
  let bytes: Uint8Array
  try {
    bytes = readFileSync(path)
  } catch (error) {
    throw new QuoinError('ERR_FILE', `cannot read the configuration: ${reasonOf(error)}`, {
      path,
      cause: error
    })
  }
  if (bytes.length > MAX_FILE) {
    throw new QuoinError('ERR_FILE', `${path} is larger than a configuration can be`, {
      path,
      bytes: bytes.length
    })
  }
  return new TextDecoder().decode(bytes)
}

/** Paths in a file are relative to the file, not to the working directory. */
const relativeTo = (file: string, key: string, value: unknown): unknown => {
  const place = (path: string): string => (isAbsolute(path) ? path : resolve(dirname(file), path))
  if (key === 'backups' && typeof value === 'string') return place(value)
  if (key === 'advertise.wallet' && typeof value === 'string')
    return isWalletUrl(value) ? value : place(value)
  if (key === 'plugins') return pluginsRelativeTo(file, value)
  if (key === 'knex') return knexRelativeTo(dirname(resolve(file)), value)
  const [, scheme, path] =
    (key === 'store' && typeof value === 'string' && /^(lmdb|level):(.+)$/.exec(value)) || []
  return scheme ? `${scheme}:${place(path!)}` : value
}

const fromEnvironment = (
  environment: Readonly<Record<string, string | undefined>>,
  problems: Problem[]
): Layer => {
  const byVariable = new Map(SETTINGS.map(setting => [setting.variable, setting]))
  const found: [string, Given][] = []
  for (const [name, text] of Object.entries(environment)) {
    // Empty is how many tools write "not set".
    if (!name.startsWith('QUOIN_') || name === FILE_VARIABLE || !text) continue
    const setting = byVariable.get(name)
    if (setting) found.push([setting.key, { value: parseText(setting, text), source: name }])
    else {
      problems.push({
        setting: name,
        source: 'the environment',
        message: unknownKey(name, [...byVariable.keys(), FILE_VARIABLE])
      })
    }
  }
  return found
}

const fromOptions = (options: NonNullable<ConfigSources['options']>): Layer =>
  Object.entries(options).flatMap(([key, given]) => {
    if (given === undefined) return []
    const setting = settingOf(key)
    const text = typeof given === 'string' ? given : given.join(',')
    return [[key, { value: parseText(setting, text), source: setting.option }] as const]
  })

/** The value of a text from the environment or an option. A malformed text stays a text, which the schema refuses. */
const parseText = ({ key, schema }: Setting, text: string): unknown => {
  if (key === 'plugins') return parsePlugins(text)
  if (key === 'knex') return parsedJson(text)
  const list = text.split(',').map(each => each.trim())
  if (schema['type'] === 'integer') return /^\d{1,15}$/.test(text) ? Number(text) : text
  if (schema['type'] === 'array') return list
  if (schema['type'] === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (key === 'index') return text === 'all' || text === 'off' ? text : list
  if (key === 'anchors') return parseHeights(list) ?? text
  if (key === 'index' || key === 'sync.discover') return text === 'all' || text === 'off' ? text : list
  if (key !== 'peers') return text
  const peers = new Map<string, string[]>()
  for (const each of list) {
    const at = each.indexOf('=')
    if (at === -1) return text
    const topic = each.slice(0, at)
    peers.set(topic, [...(peers.get(topic) ?? []), each.slice(at + 1)])
  }
  return Object.fromEntries(peers)
}

/** Heights by topic; undefined if one is malformed. */
const parseHeights = (list: readonly string[]): Record<string, number> | undefined => {
  const pairs = list.map(each => /^([^=]+)=(\d{1,10})$/.exec(each))
  return pairs.every(pair => pair !== null)
    ? Object.fromEntries(pairs.map(([, topic, height]) => [topic!, Number(height)]))
    : undefined
}

/** Text that is not JSON stays text, to be refused. */
const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const check = ({ key, schema, expects, secret }: Setting, { value, source }: Given): Problem[] => {
  if (key === 'plugins') return pluginProblems(value).map(message => ({ setting: key, source, message }))
  if (Value.Check(schema, value) && hasOnlyPatterns(key, value)) return []
  const shown = secret ? '' : ` is ${short(value)};`
  return [{ setting: key, source, message: `${key}${shown}${secret ? ':' : ''} expected ${expects}` }]
}

/** A record with a pattern says nothing of the keys that do not fit it. */
const hasOnlyPatterns = (key: string, value: unknown): boolean =>
  !['peers', 'anchors'].includes(key) || Object.keys(value as object).every(topic => TOPIC.test(topic))

const TOPIC = new RegExp(TOPIC_PATTERN)

const short = (value: unknown): string => {
  const text = value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value))
  const hidden = withoutPassword(text)
  return hidden.length > 80 ? `${hidden.slice(0, 77)}…` : hidden
}

const unknownKey = (key: string, known: readonly string[]): string => {
  const meant = nearest(key, known)
  return meant
    ? `unknown setting ${key}; did you mean ${meant}?`
    : `unknown setting ${key}; expected ${known.join(', ')}`
}

const assemble = (given: ReadonlyMap<string, Given>): Config => {
  const config: Record<string, unknown> = {}
  for (const { path, key } of SETTINGS) {
    const each = given.get(key)
    if (!each) continue
    const [name, inner] = path as [string, string?]
    if (inner === undefined) config[name] = each.value
    else config[name] = { ...(config[name] as object | undefined), [inner]: each.value }
  }
  return config as Config
}

/** Rules between settings. */
/** The store of a process that reads has an URL that says it. */
const withReadOnlyStore = (config: Config): Config =>
  config.readOnly ? { ...config, store: storeOfReader(config.store) ?? config.store } : config

const checkTogether = (config: Config, sourceOf: (key: string) => string): Problem[] => {
  const { chain, network, host } = config
  const problems: Problem[] = hydrationProblems(config, moduleSpecs(config.plugins)).map(problem => ({
    ...problem,
    source: sourceOf('plugins')
  }))
  if (chain === 'dev' && network !== undefined && network !== 'regtest') {
    problems.push({
      setting: 'network',
      source: sourceOf('network'),
      message: `network is ${network}, but the chain dev is regtest; for ${network}, chain is headers:URL`
    })
  }
  if (chain === 'scripts-only' && !isLoopbackHost(host)) {
    problems.push({
      setting: 'host',
      source: sourceOf('host'),
      message: `host is ${host}, but with scripts-only proofs are taken on trust: it listens on loopback only, 127.0.0.1`
    })
  }
  for (const [setting, message] of broadcastProblems(config))
    problems.push({ setting, source: sourceOf(setting), message })
  if (config.readOnly && storeOfReader(config.store) === undefined) {
    problems.push({
      setting: 'readOnly',
      source: sourceOf('readOnly'),
      message: `readOnly is true, but store is ${withoutPassword(config.store)}: only lmdb:PATH is read beside its writer`
    })
  }
  const proxies = config.trustProxy.filter(each => !isTrustedProxy(each))
  if (proxies.length > 0) {
    problems.push({
      setting: 'trustProxy',
      source: sourceOf('trustProxy'),
      message: `trustProxy has ${short(proxies)}; expected ${TRUST_PROXY_EXPECTS}`
    })
  }
  problems.push(...discoveryProblems(config).map(each => ({ ...each, source: sourceOf(each.setting) })))
  const roles = rolesProblem(config.roles, config)
  if (roles !== undefined) {
    problems.push({
      setting: 'roles',
      source: sourceOf('roles'),
      message: `roles is ${config.roles.join(', ')}: ${roles}`
    })
  }
  return problems
}

const broadcastProblems = ({ broadcast, chain, arcToken }: Config): (readonly [string, string])[] => {
  const { processors, tokens = [], callback } = broadcast
  const problems: (readonly [string, string])[] = []
  if (processors.length > 0 && chain === 'dev') {
    const reason =
      'the chain dev takes submissions itself and has no network; chain is headers:URL or another'
    problems.push(['broadcast.processors', `broadcast.processors are given, but ${reason}`])
  }
  if (tokens.length > processors.length) {
    const reason = `${tokens.length} tokens for ${processors.length} processors`
    problems.push(['broadcast.tokens', `broadcast.tokens has ${reason}; expected at most one for each`])
  }
  if (callback !== undefined && arcToken === undefined) {
    const reason = 'processors report without a token; set arcToken too'
    problems.push(['broadcast.callback', `broadcast.callback is ${callback}, but ${reason}`])
  }
  return problems
}

/** Whether only this machine reaches an address. */
const isLoopbackHost = (host: string): boolean =>
  /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|localhost)$/.test(host.toLowerCase())

/** The network whose headers a node has. */
export const networkOf = ({ chain, network }: Config): 'main' | 'test' | 'regtest' =>
  network ?? (chain === 'dev' ? 'regtest' : 'main')

/** The configuration as it may be shown: secrets are not in it. */
export const shownConfig = (config: Config): Config => {
  const shown = withoutSecrets(config) as Record<string, unknown>
  for (const { secret, path } of SETTINGS) {
    const [last] = path.slice(-1) as [string]
    const group = path.length === 1 ? shown : (shown[path[0]!] as Record<string, unknown>)
    if (secret && group[last] !== undefined) group[last] = HIDDEN
  }
  return shown as Config
}

const wrong = (problems: readonly Problem[]): QuoinError => {
  const lines = problems.map(({ source, message }) => `${source}: ${message}`)
  return new QuoinError(
    'ERR_CONFIG',
    lines.length === 1 ? lines[0]! : `the configuration is wrong\n  ${lines.join('\n  ')}`,
    { problems }
  )
}
