/** The changes of topics and lookups by a reload of their module. */
import { type ServiceDescription, type SpecDescription, serviceKey } from './protocol.ts'

export interface ServiceChange {
  readonly name: string
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

export interface ReloadReport {
  readonly module: string
  /** Names of topics and lookups that an engine does not have until it is made again. */
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly changed: readonly ServiceChange[]
  /** Migrations that ran. */
  readonly migrations: readonly string[]
}

export const compareDescriptions = (
  module: string,
  before: readonly SpecDescription[],
  after: readonly SpecDescription[]
): ReloadReport => {
  const [old, current] = [before, after].map(specs => {
    const services = specs.flatMap(({ services: of }) => of)
    return new Map(services.map(service => [serviceKey(service), service]))
  }) as [Map<string, ServiceDescription>, Map<string, ServiceDescription>]
  const missing = (
    from: Map<string, ServiceDescription>,
    others: Map<string, ServiceDescription>
  ): string[] => [...from].flatMap(([key, { name }]) => (others.has(key) ? [] : [name]))
  return {
    module,
    added: missing(current, old),
    removed: missing(old, current),
    changed: [...current].flatMap(([key, service]) => {
      const previous = old.get(key)
      return previous ? changesOf(previous, service) : []
    }),
    migrations: after.flatMap(({ migrations }) => migrations)
  }
}

const changesOf = (before: ServiceDescription, after: ServiceDescription): ServiceChange[] => {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...fields].flatMap(field => {
    const [old, current] = [before, after].map(each => (each as unknown as Record<string, unknown>)[field])
    return JSON.stringify(old) === JSON.stringify(current)
      ? []
      : [{ name: after.name, field, before: old, after: current }]
  })
}
