/**
 * The configuration of a node: defaults, then a file, then environment variables, then options of the command line, each
 * over the one before. Whatever is wrong is said at once, with where it stands and what was expected; a key that is not
 * known is wrong too.
 */
import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { Value } from '@sinclair/typebox/value'
import { type Document, LineCounter, parseDocument } from 'yaml'
import { QuoinError } from '../error.ts'
import { nearest } from './nearest.ts'
import { type Config, SETTINGS, type Setting } from './settings.ts'

export interface ConfigSources {
  /** The path of a YAML file; `QUOIN_CONFIG` unless given. */
  readonly file?: string | undefined
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Options of the command line, by the key of their setting: `limits.body`. */
  readonly options?: Readonly<Record<string, string | readonly string[] | undefined>>
}

export interface LoadedConfig {
  readonly config: Config
  /** Where a setting comes from, by its key: `port` from `QUOIN_PORT`. */
  readonly origins: ReadonlyMap<string, string>
}

/** What is wrong with a setting, and where that stands. */
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

export const loadConfig = ({ file, environment = {}, options = {} }: ConfigSources): LoadedConfig => {
  const problems: Problem[] = []
  const given = new Map<string, Given>()
  for (const setting of SETTINGS) {
    if (setting.default !== undefined)
      given.set(setting.key, { value: setting.default, source: 'the default' })
  }
  const path = file ?? (environment[FILE_VARIABLE] || undefined)
  const layers = [
    path === undefined ? [] : fromFile(path, problems),
    fromEnvironment(environment, problems),
    fromOptions(options)
  ]
  for (const layer of layers) {
    for (const [key, each] of layer) {
      const problem = check(settingOf(key), each)
      if (problem) problems.push(problem)
      else given.set(key, each)
    }
  }
  const config = assemble(given)
  if (problems.length === 0) problems.push(...checkTogether(config, key => given.get(key)!.source))
  if (problems.length > 0) throw wrong(problems)
  return { config, origins: new Map([...given].map(([key, { source }]) => [key, source])) }
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
      if (BY_KEY.has(key)) found.push([key, { value: relativeTo(path, key, value), source: path }])
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

const contentOf = (document: Document.Parsed, path: string, problems: Problem[]): unknown => {
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    problems.push({
      setting: '',
      source: path,
      message: error instanceof Error ? error.message : String(error)
    })
    return null
  }
}

const readText = (path: string): string => {
  let bytes: Uint8Array
  try {
    bytes = readFileSync(path)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new QuoinError('ERR_FILE', `cannot read the configuration: ${reason}`, { path })
  }
  if (bytes.length > MAX_FILE) {
    throw new QuoinError('ERR_FILE', `${path} is larger than a configuration can be`, {
      path,
      bytes: bytes.length
    })
  }
  return new TextDecoder().decode(bytes)
}

/** What a file says of other files is relative to it, wherever the command is run. */
const relativeTo = (file: string, key: string, value: unknown): unknown => {
  const place = (path: string): string => (isAbsolute(path) ? path : resolve(dirname(file), path))
  if (key === 'backups' && typeof value === 'string') return place(value)
  if (key === 'plugins' && Array.isArray(value)) {
    return value.map(each => (typeof each === 'string' && /^\.{1,2}\//.test(each) ? place(each) : each))
  }
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

/** A value that was written as text, where there is nothing but text. What is wrong stays as it is, to be refused. */
const parseText = ({ key, schema }: Setting, text: string): unknown => {
  const list = text.split(',').map(each => each.trim())
  if (schema['type'] === 'integer') return /^\d{1,15}$/.test(text) ? Number(text) : text
  if (schema['type'] === 'array') return list
  if (schema['type'] === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (key === 'index') return text === 'all' || text === 'off' ? text : list
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

const check = ({ key, schema, expects, secret }: Setting, { value, source }: Given): Problem | undefined => {
  if (Value.Check(schema, value) && hasOnlyPatterns(key, value)) return undefined
  const shown = secret ? '' : ` is ${short(value)};`
  return { setting: key, source, message: `${key}${shown}${secret ? ':' : ''} expected ${expects}` }
}

/** A record with a pattern says nothing of the keys that do not fit it. */
const hasOnlyPatterns = (key: string, value: unknown): boolean =>
  key !== 'peers' || Object.keys(value as object).every(topic => /^tm_[A-Za-z0-9_.-]{1,125}$/.test(topic))

const short = (value: unknown): string => {
  const text = value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value))
  return withoutPassword(text.length > 80 ? `${text.slice(0, 77)}…` : text)
}

const unknownKey = (key: string, known: readonly string[]): string => {
  const meant = nearest(key, known)
  return meant
    ? `there is no ${key}; did you mean ${meant}?`
    : `there is no ${key}; there are ${known.join(', ')}`
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

/** What each setting cannot say alone. */
const checkTogether = ({ chain, network, host }: Config, sourceOf: (key: string) => string): Problem[] => {
  const problems: Problem[] = []
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
  return problems
}

/** Whether only this machine reaches an address. */
const isLoopbackHost = (host: string): boolean =>
  /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|localhost)$/.test(host.toLowerCase())

/** The network whose headers a node has. */
export const networkOf = ({ chain, network }: Config): 'main' | 'test' | 'regtest' =>
  network ?? (chain === 'dev' ? 'regtest' : 'main')

const HIDDEN = '(hidden)'

/** The configuration as it may be shown: secrets are not in it. */
export const shownConfig = (config: Config): Config => {
  const secrets = SETTINGS.filter(({ secret, path }) => secret && Object.hasOwn(config, path[0]!))
  return {
    ...config,
    store: withoutPassword(config.store),
    ...Object.fromEntries(secrets.map(({ path }) => [path[0]!, HIDDEN]))
  }
}

/** The address of a server may carry a password. */
export const withoutPassword = (url: string): string =>
  url.replace(/(:\/\/[^/@:\s]*):[^/@\s]*@/g, `$1:${HIDDEN}@`)

const wrong = (problems: readonly Problem[]): QuoinError => {
  const lines = problems.map(({ source, message }) => `${source}: ${message}`)
  return new QuoinError(
    'ERR_CONFIG',
    lines.length === 1 ? lines[0]! : `the configuration is wrong\n  ${lines.join('\n  ')}`,
    { problems }
  )
}
