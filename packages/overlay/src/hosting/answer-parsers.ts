/**
 * Parsers of the answers of plug-in processes. Each returns the value with its type, without properties unknown to the
 * node, or throws `InvalidAnswer`.
 */
import type { LookupFormula, MetaData } from '../types.ts'
import { ADMISSION_MODES, type HostedAdmittance, SPEND_MODES } from '../types.ts'
import type { AnswerError, ServiceDescription, SpecDescription, WorkerResponse } from './protocol.ts'

/** An answer that is not of the form of its interface. */
export class InvalidAnswer extends Error {}

type Fields = Readonly<Record<string, unknown>>

const MAX_INDEX = 0xffffffff
const MAX_REMARK = 1000
const MAX_SERVICES = 1000

export const parseAnswer = (body: Buffer): WorkerResponse => {
  let parsed: unknown
  try {
    parsed = JSON.parse(body.toString('utf8'))
  } catch {
    throw new InvalidAnswer('invalid message: expected JSON')
  }
  const answer = fields(parsed, 'message')
  const started = integer(answer['started'], 'started', MAX_INDEX)
  if (answer['error'] === undefined) return { started, value: answer['value'] }
  const { message, stack } = fields(answer['error'], 'error')
  const error: AnswerError = {
    message: text(message, 'error.message', 4000),
    ...(stack !== undefined && { stack: text(stack, 'error.stack', 16_000) })
  }
  return { started, error }
}

export const parseAdmittance = (value: unknown): HostedAdmittance => {
  const { outputsToAdmit, coinsToRetain, refused } = fields(value, 'admittance instructions')
  return {
    outputsToAdmit: indexes(outputsToAdmit, 'outputsToAdmit'),
    coinsToRetain: coinsToRetain == null ? [] : indexes(coinsToRetain, 'coinsToRetain'),
    ...(refused != null && { refused: parseRefused(refused) })
  }
}

const parseRefused = (value: unknown): Record<number, string> =>
  Object.fromEntries(
    Object.entries(fields(value, 'refused')).map(([output, reason]) => [
      integer(Number(output), 'an index of refused', MAX_INDEX),
      text(reason, 'a reason of refused', MAX_REMARK)
    ])
  )

export const parseOutputs = (value: unknown): { txid: string; outputIndex: number }[] =>
  list(value, 'needed inputs').map(each => {
    const { txid, outputIndex } = fields(each, 'a needed input')
    return { txid: txidText(txid), outputIndex: integer(outputIndex, 'outputIndex', MAX_INDEX) }
  })

/** A history selector stays in the process; `selectorOf` makes the function that calls it. */
export const parseFormula = (
  value: unknown,
  selectorOf: (id: string) => Exclude<LookupFormula[number]['history'], number | undefined>
): LookupFormula =>
  list(value, 'a lookup answer').map(each => {
    const { txid, outputIndex, history, context } = fields(each, 'an output of a lookup answer')
    return {
      txid: txidText(txid),
      outputIndex: integer(outputIndex, 'outputIndex', MAX_INDEX),
      ...(history != null && { history: parseHistory(history, selectorOf) }),
      ...(context != null && { context: parseContext(context) })
    }
  })

const parseHistory = (
  value: unknown,
  selectorOf: (id: string) => Exclude<LookupFormula[number]['history'], number | undefined>
) => {
  if (typeof value !== 'object') {
    if (typeof value !== 'number' || !(value >= 0)) {
      throw new InvalidAnswer(`invalid history: ${shown(value)}; expected a number of steps or a function`)
    }
    return value
  }
  return selectorOf(text(fields(value, 'history')['selector'], 'history.selector', 100))
}

const parseContext = (value: unknown): number[] => {
  const { base64 } = fields(value, 'context')
  return [...Buffer.from(text(base64, 'context', Number.POSITIVE_INFINITY), 'base64')]
}

export const parseBoolean = (value: unknown): boolean => {
  if (typeof value !== 'boolean')
    throw new InvalidAnswer(`invalid answer: ${shown(value)}; expected a boolean`)
  return value
}

export const parseDescription = (value: unknown, specs: number): SpecDescription[] => {
  const described = list(value, 'description').map(parseDescribedSpec)
  if (described.length !== specs) {
    throw new InvalidAnswer(`invalid description: ${described.length} specs, expected ${specs}`)
  }
  return described
}

const parseDescribedSpec = (value: unknown): SpecDescription => {
  const { form, url, services, migrations, warnings } = fields(value, 'description')
  const all = list(services, 'services')
  if (all.length > MAX_SERVICES) {
    throw new InvalidAnswer(`invalid services: ${all.length}, at most ${MAX_SERVICES}`)
  }
  return {
    form: oneOf(form, ['quoin', 'hosted'] as const, 'form'),
    url: text(url, 'url', 10_000),
    services: all.map(parseService),
    migrations: texts(migrations, 'migrations'),
    warnings: texts(warnings, 'warnings')
  }
}

const parseService = (value: unknown): ServiceDescription => {
  const service = fields(value, 'service')
  const name = text(service['name'], 'name', 128)
  if (!/^[\w.-]{1,128}$/.test(name)) throw new InvalidAnswer(`invalid name: ${shown(name)}`)
  const common = {
    name,
    documentation: text(service['documentation'], 'documentation', Number.POSITIVE_INFINITY),
    metaData: parseMetaData(service['metaData'])
  }
  if (oneOf(service['kind'], ['topic', 'lookup'] as const, 'kind') === 'topic') {
    return { kind: 'topic', ...common, namesNeededInputs: parseBoolean(service['namesNeededInputs']) }
  }
  return {
    kind: 'lookup',
    ...common,
    admissionMode: oneOf(service['admissionMode'], ADMISSION_MODES, 'admissionMode'),
    spendNotificationMode: oneOf(service['spendNotificationMode'], SPEND_MODES, 'spendNotificationMode'),
    takesSpends: parseBoolean(service['takesSpends']),
    takesRemovals: parseBoolean(service['takesRemovals'])
  }
}

const parseMetaData = (value: unknown): MetaData => {
  const given = fields(value, 'metadata')
  const optional = (['iconURL', 'version', 'informationURL'] as const).filter(each => given[each] != null)
  return {
    name: text(given['name'], 'metadata.name', MAX_REMARK),
    shortDescription: text(given['shortDescription'], 'metadata.shortDescription', 10_000),
    ...Object.fromEntries(optional.map(each => [each, text(given[each], `metadata.${each}`, 10_000)]))
  }
}

const fields = (value: unknown, name: string): Fields => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidAnswer(`invalid ${name}: ${shown(value)}; expected an object`)
  }
  return value as Fields
}

const list = (value: unknown, name: string): readonly unknown[] => {
  if (!Array.isArray(value)) throw new InvalidAnswer(`invalid ${name}: ${shown(value)}; expected an array`)
  return value
}

const indexes = (value: unknown, name: string): number[] =>
  list(value, name).map(each => integer(each, `index in ${name}`, MAX_INDEX))

const integer = (value: unknown, name: string, most: number): number => {
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > most) {
    throw new InvalidAnswer(`invalid ${name}: ${shown(value)}; expected an integer from 0 to ${most}`)
  }
  return value as number
}

const text = (value: unknown, name: string, most: number): string => {
  if (typeof value !== 'string' || value.length > most) {
    throw new InvalidAnswer(`invalid ${name}: ${shown(value)}; expected text of at most ${most} characters`)
  }
  return value
}

const texts = (value: unknown, name: string): string[] =>
  list(value, name).map(each => text(each, name, 1000))

const txidText = (value: unknown): string => {
  if (typeof value !== 'string' || !/^[0-9a-f]{64}$/i.test(value)) {
    throw new InvalidAnswer(`invalid txid: ${shown(value)}; expected 64 hex digits`)
  }
  return value.toLowerCase()
}

const oneOf = <const T extends string>(value: unknown, allowed: readonly T[], name: string): T => {
  if (!(allowed as readonly unknown[]).includes(value)) {
    throw new InvalidAnswer(`invalid ${name}: ${shown(value)}; expected ${allowed.join(' or ')}`)
  }
  return value as T
}

/** A value in an error message, shortened. */
const shown = (value: unknown): string => {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object'
  const written = typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : String(value)
  return written.slice(0, 120)
}
