/** A topic or a lookup in its process: its description for the node, and the methods that the node calls. */

import { reasonOf } from '@quoin/primitives'
import type { MetaData } from '../../types.ts'
import { type ExportedService, isObject } from '../module-exports.ts'
import { DOCUMENTATION_CHARS, type ServiceDescription, type ServiceText } from '../protocol.ts'

export interface HostedService {
  readonly described: ServiceDescription
  readonly methods: Readonly<Record<string, (...args: unknown[]) => unknown>>
  readonly warnings: readonly string[]
}

interface CheckedText extends ServiceText {
  readonly warnings: readonly string[]
}

/** Documentation and metadata, read once. A service that fails at either runs with a warning, as in `@bsv/overlay`. */
export const describeText = async ({ kind, name, service }: ExportedService): Promise<CheckedText> => {
  const warnings: string[] = []
  const ask = async (method: 'getDocumentation' | 'getMetaData'): Promise<unknown> => {
    try {
      return await (service[method] as () => unknown).call(service)
    } catch (error) {
      warnings.push(`${method} of the ${kind} ${name} failed: ${reasonOf(error)}`)
      return undefined
    }
  }
  const documentation = await ask('getDocumentation')
  if (documentation !== undefined && typeof documentation !== 'string') {
    warnings.push(`getDocumentation of the ${kind} ${name} gave ${typeof documentation}; expected text`)
  }
  const given = await ask('getMetaData')
  if (given !== undefined && (!isObject(given) || typeof given['name'] !== 'string')) {
    warnings.push(`getMetaData of the ${kind} ${name} gave no object with a name`)
  }
  return {
    name,
    documentation: typeof documentation === 'string' ? documentation.slice(0, DOCUMENTATION_CHARS) : '',
    metaData: metaDataOf(name, isObject(given) ? given : {}),
    warnings: warnings.map(each => each.slice(0, 500))
  }
}

const metaDataOf = (fallback: string, given: Readonly<Record<string, unknown>>): MetaData => {
  const text = (field: string, most: number): string | undefined =>
    typeof given[field] === 'string' ? given[field].slice(0, most) : undefined
  const optional = (['iconURL', 'version', 'informationURL'] as const).flatMap(field => {
    const value = text(field, 10_000)
    return value === undefined ? [] : [[field, value] as const]
  })
  return {
    name: text('name', 1000) ?? fallback,
    shortDescription: text('shortDescription', 10_000) ?? '',
    ...Object.fromEntries(optional)
  }
}
