/** The reads and deletions that a collection of a layout file promises. */
import { partsSpanned, promisedScan } from '../declaration.ts'
import type { Part } from '../layout.ts'
import type { PromisedScan } from '../proof/findings.ts'
import { array, malformed, record } from './errors.ts'
import { OPTIONS } from './options.ts'

const MAX_COMPONENTS = 64

const FIELDS = ['prefix', 'all', 'get', 'from', 'trailing', 'order', 'reverse', 'delete', 'seek', '$comment']

export const parseScan = (given: unknown, parts: readonly Part[], path: string): PromisedScan => {
  if (typeof given !== 'object' || given === null) throw malformed(path, 'a list of components, or an object')
  if (Array.isArray(given)) return promisedScan(parts, namesAt(given, path, parts), undefined)
  const scan = record(given, path, FIELDS)
  const kinds = ['prefix', 'all', 'get'].filter(field => scan[field] !== undefined)
  if (kinds.length === 0) throw malformed(`${path}.prefix`, 'an array is needed; or all, or get')
  if (kinds.length > 1) throw malformed(path, `${kinds.join(' and ')} do not go together`)
  for (const flag of ['trailing', 'reverse', 'delete', 'all']) {
    if (scan[flag] !== undefined && typeof scan[flag] !== 'boolean')
      throw malformed(`${path}.${flag}`, 'true or false')
  }
  const order = scan['order'] as 'value' | undefined
  if (order !== undefined && order !== 'value')
    throw malformed(`${path}.order`, 'only "value" can be claimed')
  if (scan['get'] !== undefined) {
    const extra = Object.keys(scan).find(field => field !== 'get' && field !== '$comment')
    if (extra !== undefined) throw malformed(`${path}.${extra}`, 'a read of one key has no options')
    return { ...promisedScan(parts, namesAt(scan['get'], `${path}.get`, parts), undefined), kind: 'get' }
  }
  const isAll = scan['all'] !== undefined
  if (scan['all'] === false) throw malformed(`${path}.all`, 'true, or leave it out')
  if (isAll && (scan['trailing'] !== undefined || scan['from'] !== undefined))
    throw malformed(path, 'a scan of all keys of the store takes order, reverse, delete and seek')
  const names = isAll ? [] : namesAt(scan['prefix'], `${path}.prefix`, parts)
  const promised: PromisedScan = isAll
    ? { components: [], parts: 0, order }
    : promisedScan(parts, names, order, scan['trailing'] as boolean | undefined)
  return {
    ...promised,
    ...(scan['delete'] === true && { kind: 'delete' as const }),
    ...(scan['reverse'] === true && { reverse: true }),
    ...(scan['seek'] !== undefined && seekOf(scan, path)),
    ...(scan['from'] !== undefined && fromOf(scan['from'], names, parts, `${path}.from`))
  }
}

/** The bytes after the prefix to which a reverse walk seeks. */
const seekOf = (scan: Record<string, unknown>, path: string): Pick<PromisedScan, 'seek'> => {
  if (scan['reverse'] !== true) throw malformed(`${path}.seek`, 'only a reverse scan seeks to its end')
  const separator = OPTIONS.separator.parse({ raw: scan['seek'] }, `${path}.seek`, () => [])
  return { seek: separator }
}

/** The bound of a range: the components after the prefix, with the literal after the last of them. */
const fromOf = (
  given: unknown,
  prefix: readonly string[],
  parts: readonly Part[],
  path: string
): Pick<PromisedScan, 'from'> => {
  const names = namesAt(given, path, parts)
  if (names.length === 0) throw malformed(path, 'at least one component')
  const all = componentsOf(parts)
  if (!names.every((name, i) => all[prefix.length + i] === name))
    throw malformed(
      path,
      `the components after the prefix, in order: ${all.slice(prefix.length).join(', ') || 'none'}`
    )
  const end = prefix.length + names.length
  const last = parts.findIndex(part => part.kind === 'component' && part.component.name === names.at(-1))
  const at = parts[last]!
  if (at.kind === 'component' && at.component.codec.order === 'longer first')
    throw malformed(
      path,
      'a range from a descending component needs one of fixed length or with a terminator'
    )
  return { from: { components: names, parts: partsSpanned(parts, end) } }
}

const componentsOf = (parts: readonly Part[]): string[] =>
  parts.flatMap(part => (part.kind === 'component' ? [part.component.name] : []))

const namesAt = (given: unknown, path: string, parts: readonly Part[]): string[] => {
  const known = componentsOf(parts)
  const names = array(given, path, MAX_COMPONENTS).map((name, i) => {
    if (typeof name !== 'string' || !known.includes(name)) {
      throw malformed(
        `${path}[${i}]`,
        `the key has no component ${JSON.stringify(name)}; it has ${known.join(', ') || 'none'}`
      )
    }
    return name
  })
  if (new Set(names).size < names.length) throw malformed(path, 'a component is named twice')
  return names
}
