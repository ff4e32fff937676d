/**
 * The setting `plugins`: each entry is a module as text, `[name=]module[#export]`, or an object. Both forms become module
 * specs for the host of plug-ins.
 */
import { dirname, isAbsolute, resolve } from 'node:path'
import type { ModuleSpec } from '@quoin/overlay'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { nearest } from './nearest-word.ts'

/** BRC-87 has `tm_` and `ls_`. */
const SERVICE_NAME = '^(tm|ls)_[A-Za-z0-9_.-]{1,125}$'

/** Each key of an entry in the form of an object, with the values that it takes. */
const ENTRY = {
  module: Type.String({ minLength: 1, expects: 'the path of a file or the name of a package' }),
  export: Type.String({ minLength: 1, maxLength: 200, expects: 'the name of an export' }),
  name: Type.String({ pattern: SERVICE_NAME, expects: 'tm_… for a topic or ls_… for a lookup service' }),
  options: Type.Unknown({ expects: 'any value' }),
  hydrateWith: Type.Union([Type.Literal('mongo'), Type.Literal('knex')], { expects: 'mongo or knex' }),
  isolate: Type.Boolean({ expects: 'true or false' }),
  topics: Type.Array(Type.String({ pattern: '^tm_[A-Za-z0-9_.-]{1,125}$' }), {
    minItems: 1,
    expects: 'a list of topics, tm_…'
  }),
  concurrency: Type.Integer({ minimum: 1, maximum: 1000, expects: 'a whole number from 1 to 1000' }),
  compilerOptions: Type.Record(Type.String(), Type.Unknown(), {
    expects: 'an object with compiler options of TypeScript'
  }),
  directory: Type.String({
    minLength: 1,
    expects: 'the directory that the names of packages are resolved from'
  })
} as const
type EntryKey = keyof typeof ENTRY
const KEYS = Object.keys(ENTRY) as readonly EntryKey[]
const MAX_ENTRIES = 1000

const { module: moduleSchema, ...optional } = ENTRY
const PluginEntry = Type.Object(
  { module: moduleSchema, ...Type.Partial(Type.Object(optional)).properties },
  { additionalProperties: false }
)
export const PluginSetting = Type.Union([Type.String({ minLength: 1 }), PluginEntry])
type PluginEntry = Static<typeof PluginEntry>
export type PluginSetting = Static<typeof PluginSetting>

/** Every reason why a value is not a list of plug-ins, with the entry that it is about. */
export const pluginProblems = (value: unknown): string[] => {
  if (!Array.isArray(value) || value.length > MAX_ENTRIES)
    return [`plugins: expected a list of at most ${MAX_ENTRIES} modules`]
  return value.flatMap((entry: unknown, i) => entryProblems(`plugins[${i}]`, entry))
}

const entryProblems = (at: string, entry: unknown): string[] => {
  if (typeof entry === 'string') return textProblems(at, entry)
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    return [`${at} is ${shown(entry)}; expected a module as text or an object with the key module`]
  const unknown = Object.keys(entry).filter(key => !Object.hasOwn(ENTRY, key))
  const problems = unknown.map(key => {
    const meant = nearest(key, KEYS)
    return `${at}: unknown key ${key}; ${meant ? `did you mean ${meant}?` : `expected ${KEYS.join(', ')}`}`
  })
  if (!Object.hasOwn(entry, 'module'))
    problems.push(`${at} has no module; expected ${ENTRY.module['expects']}`)
  for (const key of KEYS) {
    if (!Object.hasOwn(entry, key)) continue
    const value = (entry as Record<string, unknown>)[key]
    if (!Value.Check(ENTRY[key], value))
      problems.push(`${at}.${key} is ${shown(value)}; expected ${ENTRY[key]['expects']}`)
  }
  return problems
}

const textProblems = (at: string, text: string): string[] => {
  if (text.startsWith('{')) {
    try {
      const entry: unknown = JSON.parse(text)
      return entryProblems(at, entry)
    } catch (error) {
      return [`${at} is ${shown(text)}; expected JSON: ${(error as Error).message}`]
    }
  }
  const { module } = parseText(text)
  return module === '' || /^#/.test(module)
    ? [`${at} is ${shown(text)}; expected [name=]module[#export], for example tm_x=./x.js#X`]
    : []
}

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}

/** Entries of the text of an option or a variable. Malformed JSON stays text, to be reported. */
export const parsePlugins = (text: string): unknown[] =>
  splitPlugins(text).map((entry): unknown => {
    if (!entry.startsWith('{')) return entry
    try {
      return JSON.parse(entry)
    } catch {
      return entry
    }
  })

/** Splits at commas, except inside of JSON objects. */
const splitPlugins = (text: string): string[] => {
  const entries: string[] = []
  let [start, depth, isQuoted] = [0, 0, false]
  for (let i = 0; i < text.length; i++) {
    const character = text[i]
    if (isQuoted && character === '\\') i++
    else if (character === '"' && depth > 0) isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (character === '{') depth++
    else if (character === '}' && depth > 0) depth--
    else if (character === ',' && depth === 0) {
      entries.push(text.slice(start, i))
      start = i + 1
    }
  }
  return [...entries, text.slice(start)].map(entry => entry.trim())
}

/** Entries of a file, with their paths and package names resolved from the directory of the file. */
export const pluginsRelativeTo = (file: string, value: unknown): unknown => {
  if (!Array.isArray(value)) return value
  const directory = dirname(resolve(file))
  return value.map((entry: unknown) => {
    // Malformed entries stay as they are, to be reported.
    if (entryProblems('', entry).length > 0) return entry
    const { module, ...rest } = parseEntry(entry as PluginSetting)
    const isInFile = typeof entry === 'string'
    if (isPath(module)) {
      const path = resolve(directory, module)
      return isInFile && Object.keys(rest).length === 0 ? path : { module: path, ...rest }
    }
    return {
      module,
      directory,
      ...rest,
      ...(rest.directory && { directory: resolve(directory, rest.directory) })
    }
  })
}

/** Module specs of the entries; paths and packages are resolved from the working directory unless an entry says. */
export const moduleSpecs = (entries: readonly PluginSetting[]): ModuleSpec[] =>
  entries.map(entry => {
    const { module, directory = process.cwd(), ...rest } = parseEntry(entry)
    const from = resolve(directory)
    return { ...rest, module: isPath(module) ? resolve(from, module) : module, directory: from }
  })

const parseEntry = (entry: PluginSetting): PluginEntry => {
  if (typeof entry !== 'string') return entry
  return entry.startsWith('{') ? (JSON.parse(entry) as PluginEntry) : parseText(entry)
}

/** `tm_x=./x.js#X`: name and export are optional. */
const parseText = (text: string): PluginEntry => {
  const [, name, rest = ''] = /^(?:((?:tm|ls)_[A-Za-z0-9_.-]{1,125})=)?(.*)$/s.exec(text)!
  const [, module = '', exported] = /^(.+?)(?:#([A-Za-z_$][\w$]*))?$/s.exec(rest) ?? []
  return {
    module,
    ...(exported !== undefined && { export: exported }),
    ...(name !== undefined && { name })
  }
}

/** A path, or else the name of a package. */
const isPath = (module: string): boolean =>
  isAbsolute(module) || /^\.{1,2}[/\\]/.test(module) || (!/^@/.test(module) && /\.[cm]?[jt]s$/.test(module))
