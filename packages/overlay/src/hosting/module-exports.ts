/**
 * Exports of a plug-in module: classes, instances, factories, records of topics and lookups, plug-ins of Quoin's own
 * form. The prefix of a name, `tm_` or `ls_`, is the kind of an export that has the methods of neither.
 */

import { QuoinError, reasonOf } from '@quoin/primitives'
import type { Plugin } from '../plugin.ts'
import { ADMISSION_MODES, SPEND_MODES } from '../types.ts'
import type { ModuleSpec } from './module-spec.ts'

type Kind = 'topic' | 'lookup'
/** `quoin`: the form with `admit` and `index`; `foreign`: that of `@bsv/overlay`. */
type Form = 'quoin' | 'foreign'
export type Methods = Readonly<Record<string, unknown>>

export interface ExportedService {
  readonly kind: Kind
  readonly name: string
  readonly form: Form
  readonly service: Methods
}

/** The module or the plug-in that has a topic or lookup, for errors. */
export type ServiceOwner = Pick<ModuleSpec, 'module' | 'export'>

type Namespace = Readonly<Record<string, unknown>>

/** The value that a spec names, of a module as it was imported. */
export const exportOf = (spec: ModuleSpec, namespace: Namespace): unknown => {
  const names = Object.keys(namespace)
  const { default: main } = namespace
  // A module that was compiled to CommonJS has its exports in the default one.
  const inner = isObject(main) && main['__esModule'] === true ? main : undefined
  const found = spec.export ?? 'default'
  const value = inner?.[found] ?? namespace[found]
  if (spec.export !== undefined) {
    if (value !== undefined) return value
    throw pluginError(spec, `has no export ${found}; it exports ${names.join(', ') || 'nothing'}`)
  }
  for (const each of [value, inner?.['plugin'], namespace['plugin'], inner, namespace]) {
    if (
      typeof each === 'function' ||
      (isObject(each) && (isPlugin(each) || isRecord(each) || isService(each)))
    ) {
      return each
    }
  }
  throw pluginError(
    spec,
    `exports no plug-in; it exports ${names.join(', ') || 'nothing'}. Expected a default export: a class, an instance or ` +
      'a factory of a topic or lookup, records { topics, lookups }, or a plug-in { name, setup }'
  )
}

export const isPlugin = (value: unknown): value is Plugin & { readonly isolate?: boolean } =>
  isObject(value) && typeof value['name'] === 'string' && typeof value['setup'] === 'function'

const isRecord = (value: unknown): boolean =>
  isObject(value) && (isObject(value['topics']) || isObject(value['lookups']))

const TOPIC_METHODS = ['identifyAdmissibleOutputs', 'getDocumentation', 'getMetaData']
const LOOKUP_METHODS = ['outputAdmittedByTopic', 'outputEvicted', 'lookup', 'getDocumentation', 'getMetaData']
const QUOIN_METHODS = {
  topic: ['admit', 'getDocumentation', 'getMetaData'],
  lookup: ['index', 'lookup', 'getDocumentation', 'getMetaData']
}

/** The value that a spec's class, factory or export is. */
export const construct = async (
  spec: ModuleSpec,
  exported: unknown,
  args: readonly unknown[]
): Promise<unknown> => {
  if (typeof exported !== 'function') return exported
  try {
    return await (isClass(exported) ? new exported(...args) : exported(...args))
  } catch (error) {
    const failure = isClass(exported) ? 'the class cannot be built' : 'the factory failed'
    throw pluginError(spec, `${failure}: ${reasonOf(error)}`, error)
  }
}

const isService = (value: Methods): boolean =>
  [...TOPIC_METHODS, ...LOOKUP_METHODS, 'admit', 'index'].some(each => typeof value[each] === 'function')

/** Topics and lookups that the value of a spec is or has, each checked. */
export const servicesOf = (spec: ModuleSpec, value: unknown): ExportedService[] =>
  isRecord(value) ? servicesOfRecords(spec, value as Methods) : [singleService(spec, value)]

const servicesOfRecords = (spec: ModuleSpec, records: Methods): ExportedService[] => {
  const services = (['topic', 'lookup'] as const).flatMap(kind => {
    const record = records[`${kind}s`] ?? {}
    if (!isObject(record))
      throw pluginError(spec, `has invalid ${kind}s; expected an object with an entry for each name`)
    return Object.entries(record).map(([name, service]) => checkedService(spec, kind, name, service))
  })
  if (spec.name === undefined) return services
  const named = services.filter(({ name }) => name === spec.name)
  if (named.length > 0) return named
  const names = services.map(({ name }) => name).join(', ')
  throw pluginError(spec, `has no topic or lookup ${spec.name}; it has ${names || 'none'}`)
}

/** One topic or lookup that a class, a factory or an instance is. */
const singleService = (spec: ModuleSpec, service: unknown): ExportedService => {
  if (spec.name === undefined) {
    throw pluginError(spec, 'is one topic or lookup without a name: set `name: tm_…` or `name: ls_…`')
  }
  return checkedService(spec, kindOf(spec, spec.name, service), spec.name, service)
}

const kindOf = (spec: ModuleSpec, name: string, service: unknown): Kind => {
  const has = (method: string): boolean => isObject(service) && typeof service[method] === 'function'
  if (has('identifyAdmissibleOutputs') || has('admit')) return 'topic'
  if (has('outputAdmittedByTopic') || has('index') || has('lookup')) return 'lookup'
  if (/^tm_/.test(name)) return 'topic'
  if (/^ls_/.test(name)) return 'lookup'
  throw pluginError(
    spec,
    `is neither a topic (method ${TOPIC_METHODS[0]}) nor a lookup (method ${LOOKUP_METHODS[0]}): ${described(service)}`
  )
}

/** Refuses with `ERR_PLUGIN` a topic or lookup that lacks a method of its form. */
export const checkedService = (
  spec: ServiceOwner,
  kind: Kind,
  name: string,
  service: unknown
): ExportedService => {
  if (!/^[\w.-]{1,128}$/.test(name)) {
    throw pluginError(
      spec,
      `has a ${kind} with an invalid name: ${name}; expected 1 to 128 letters, digits, _, - and .`
    )
  }
  if (!isObject(service)) {
    throw pluginError(spec, `has a ${kind} ${name} that is not an object: ${described(service)}`)
  }
  const form = typeof service[kind === 'topic' ? 'admit' : 'index'] === 'function' ? 'quoin' : 'foreign'
  const methods = form === 'quoin' ? QUOIN_METHODS[kind] : kind === 'topic' ? TOPIC_METHODS : LOOKUP_METHODS
  const missing = methods.filter(method => typeof service[method] !== 'function')
  if (missing.length > 0) {
    throw pluginError(
      spec,
      `has a ${kind} ${name} without ${missing.join(', ')}; expected ${methods.join(', ')}`
    )
  }
  if (kind === 'lookup' && form === 'foreign') checkModes(spec, name, service)
  return { kind, name, form, service }
}

const checkModes = (spec: ServiceOwner, name: string, service: Methods): void => {
  const { admissionMode, spendNotificationMode } = service
  if (!(ADMISSION_MODES as readonly unknown[]).includes(admissionMode)) {
    throw pluginError(
      spec,
      `has a lookup ${name} with an invalid admissionMode: ${described(admissionMode)}; expected ${ADMISSION_MODES.join(' or ')}`
    )
  }
  // The engine of @bsv/overlay takes a service without a mode as one with `none`.
  if (spendNotificationMode === undefined) return
  if (!(SPEND_MODES as readonly unknown[]).includes(spendNotificationMode)) {
    throw pluginError(
      spec,
      `has a lookup ${name} with an invalid spendNotificationMode: ${described(spendNotificationMode)}; expected ${SPEND_MODES.join(' or ')}`
    )
  }
}

/** Functions of ES5 are classes if their prototype has methods. */
const isClass = (made: unknown): made is new (...args: unknown[]) => unknown =>
  typeof made === 'function' &&
  (/^class\b/.test(Function.prototype.toString.call(made)) ||
    Object.getOwnPropertyNames(made.prototype ?? {}).some(each => each !== 'constructor'))

export const pluginError = (spec: ServiceOwner, problem: string, cause?: unknown): QuoinError => {
  const named = spec.export === undefined ? '' : ` (export ${spec.export})`
  return new QuoinError('ERR_PLUGIN', `${spec.module}${named} ${problem}`, { module: spec.module, cause })
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const described = (value: unknown): string =>
  typeof value === 'string'
    ? JSON.stringify(value.slice(0, 100))
    : Array.isArray(value)
      ? 'an array'
      : value === null
        ? 'null'
        : typeof value
