/**
 * The known remedies of layouts: fixed width, escape, length prefix, a separator outside of the alphabet, a distinct
 * prefix, and a few more for orders and scans. Each proposes changed collections; whether they help is for the proof.
 */
import type { CollectionSource } from '../file/parse.ts'
import type { Finding } from '../proof/findings.ts'
import {
  type ComponentSource,
  componentsOfSource,
  described,
  isLiteral,
  type PartSource,
  partsOfSource,
  replaced
} from './parts.ts'

export type Remedy =
  | 'separator in the prefix'
  | 'separator'
  | 'fixed width'
  | 'zero-padded'
  | 'ordered encoding'
  | 'escape'
  | 'length prefix'
  | 'terminator'
  | 'low separator'
  | 'distinct prefix'
  | 'leading component'
  | 'whole digest'
  | 'end of the prefix'
  | 'own prefix'

export interface Proposal {
  readonly remedy: Remedy
  /** The change in words: `positions: decimal pool → u64be pool`. */
  readonly change: string
  readonly collection: string
  readonly source: CollectionSource
}

/** Remedies that may help against a finding, the least change first. */
export const proposalsFor = (
  finding: Finding,
  sources: ReadonlyMap<string, CollectionSource>,
  others: readonly CollectionSource[]
): readonly Proposal[] => {
  const [first, second] = finding.collections.map(name => sources.get(name))
  if (!first) return []
  switch (finding.property) {
    case 'P1':
      return [...variableParts(first, undefined), ...digests(first, finding)]
    case 'P2':
      return [
        ...seeks(first, finding),
        ...trailing(first, finding),
        ...variableParts(first, scannedComponents(first, finding).at(-1)),
        ...variableParts(first, undefined)
      ]
    case 'P3':
    case 'P6':
      return [
        ...[first, ...(second ? [second] : [])].flatMap(ownPrefix),
        ...(second ? variableParts(second, undefined) : []),
        ...variableParts(first, undefined),
        ...(second ? distinctPrefix(second, others) : []),
        ...distinctPrefix(first, others)
      ]
    case 'P4':
      return orders(first, finding)
    case 'P7':
      return leading(first, finding)
    default:
      return []
  }
}

const change = (
  remedy: Remedy,
  source: CollectionSource,
  next: CollectionSource,
  from: string,
  to: string
): Proposal => ({ remedy, collection: source.name, source: next, change: `${source.name}: ${from} → ${to}` })

const scanIndex = (source: CollectionSource, finding: Finding): number =>
  finding.scanIndex ?? source.scans?.length ?? 0

/** The components of the scan of a finding, as the file has them. */
const scannedComponents = (source: CollectionSource, finding: Finding): readonly string[] => {
  const scan = source.scans?.[scanIndex(source, finding)]
  if (Array.isArray(scan)) return scan
  const { prefix, get } = (scan ?? {}) as { readonly prefix?: string[]; readonly get?: string[] }
  return prefix ?? get ?? []
}

const isGet = (source: CollectionSource, finding: Finding): boolean => {
  const scan = source.scans?.[scanIndex(source, finding)]
  return typeof scan === 'object' && scan !== null && 'get' in scan
}

const withScan = (source: CollectionSource, index: number, scan: unknown): CollectionSource => ({
  ...source,
  scans: (source.scans ?? []).with(index, scan)
})

/** The separator after the last component of a prefix, which `trailing: false` leaves out. */
const trailing = (source: CollectionSource, finding: Finding): Proposal[] => {
  const index = scanIndex(source, finding)
  const scan = source.scans?.[index] as Record<string, unknown> | undefined
  if (scan?.['trailing'] !== false) return []
  const { trailing: _, ...rest } = scan
  const only = Object.keys(rest).length === 1 ? rest['prefix'] : rest
  return [
    change(
      'separator in the prefix',
      source,
      withScan(source, index, only),
      'trailing: false',
      'the prefix with its separator'
    )
  ]
}

/** The first literal of the collection as the prefix, instead of the whole store. */
const ownPrefix = (source: CollectionSource): Proposal[] => {
  const scans = source.scans ?? []
  const isAll = (scan: unknown): boolean => typeof scan === 'object' && scan !== null && 'all' in scan
  const parts = partsOfSource(source)
  if (!scans.some(isAll) || !isLiteral(parts[0])) return []
  const next = scans.map(scan => {
    if (!isAll(scan)) return scan
    const { all: _, ...rest } = scan as Record<string, unknown>
    return { prefix: [], ...rest }
  })
  return [
    change(
      'own prefix',
      source,
      { ...source, scans: next },
      'all keys of the store',
      `keys under ${described(parts[0]!)}`
    )
  ]
}

/** The end of the range of the prefix, instead of a seek to some byte after it. */
const seeks = (source: CollectionSource, finding: Finding): Proposal[] => {
  const index = scanIndex(source, finding)
  const scan = source.scans?.[index] as Record<string, unknown> | undefined
  if (scan?.['seek'] === undefined) return []
  const { seek, ...rest } = scan
  return [
    change(
      'end of the prefix',
      source,
      withScan(source, index, rest),
      `seek ${seek}`,
      'the first key after the prefix'
    )
  ]
}

const NUMBERS = /^(decimal|leb128|compactSize|bitcoinVarint)$/
const TEXTS = /^(text|pattern|alphabet|escaped|denom|bech32|base58)$/
const BYTES = /^(bytes|hex|base32|base64url)$/

/** Ways to end components of variable length, all or one of them. */
const variableParts = (source: CollectionSource, only: string | undefined): Proposal[] =>
  componentsOfSource(source)
    .filter(({ name, options }) => (only === undefined || name === only) && options['length'] === undefined)
    .toReversed()
    .flatMap(component => [...separators(source, component), ...encodings(source, component)])

const SEPARATORS = ['/', ':', '|', '#', ',']

/** A literal after the component that its alphabet has not, where there is none. */
const separators = (source: CollectionSource, component: ComponentSource): Proposal[] => {
  const parts = partsOfSource(source)
  const { index, codec, name } = component
  if (!TEXTS.test(codec) && !NUMBERS.test(codec) && !/^(hex|base32|base64url)$/.test(codec)) return []
  if (isLiteral(parts[index + 1]) || codec === 'escaped') return []
  return [...SEPARATORS.map((each): PartSource => each), { raw: '00' }].map(separator =>
    change(
      'separator',
      source,
      replaced(source, index, parts[index]!, separator),
      `${codec} ${name}`,
      `${codec} ${name}, then ${described(separator)}`
    )
  )
}

/** The same values in another encoding, which ends itself or keeps the separator out. */
const encodings = (source: CollectionSource, component: ComponentSource): Proposal[] => {
  const { index, codec, name, options } = component
  const parts = partsOfSource(source)
  const to = (remedy: Remedy, ...next: readonly PartSource[]): Proposal =>
    change(
      remedy,
      source,
      replaced(source, index, ...next),
      described(parts[index]!),
      next.map(described).join(', ')
    )
  if (NUMBERS.test(codec)) {
    const bits = Math.min(256, 8 * Math.ceil(Number(options['bits'] ?? 64) / 8))
    const width = [8, 16, 32, 64, 128, 256].find(each => each >= bits)!
    const sign = options['signed'] || options['zigzag'] ? 'i' : 'u'
    const fixed: PartSource = {
      [`${sign}${width}${width === 8 ? '' : 'be'}`]: name,
      ...(options['max'] !== undefined && sign === 'u' && { max: options['max'] })
    }
    const padded =
      codec === 'decimal' && !options['signed'] && options['decimals'] === undefined
        ? [
            to('zero-padded', {
              ...options,
              decimal: name,
              width: (2n ** BigInt(bits) - 1n).toString().length
            })
          ]
        : []
    return [to('fixed width', fixed), ...padded]
  }
  if (TEXTS.test(codec)) {
    const next = parts[index + 1]
    const separator = typeof next === 'string' && next.length > 0 && next[0]! <= '\x7f' ? next[0]! : undefined
    const escaped: PartSource =
      separator === undefined ? { escaped: name } : { escaped: name, except: separator }
    const own = separator === undefined ? [to('escape', escaped, ':')] : [to('escape', escaped)]
    return [
      ...(codec === 'escaped' ? [] : own),
      to('terminator', { escaped: name, style: 'fdb' }),
      to('length prefix', {
        lengthPrefixed: name,
        ...(options['max'] !== undefined && { max: options['max'] })
      })
    ]
  }
  if (BYTES.test(codec)) {
    const bounds = Object.fromEntries(
      Object.entries(options).filter(([each]) => each === 'min' || each === 'max')
    )
    return [
      to('length prefix', { lengthPrefixed: name, ...bounds }),
      to('terminator', { fdb: name, element: 'bytes' })
    ]
  }
  return []
}

const digests = (source: CollectionSource, finding: Finding): Proposal[] =>
  componentsOfSource(source).flatMap(({ index, codec, name, options }) =>
    codec === 'truncated' && (finding.component === undefined || finding.component === name)
      ? [
          change(
            'whole digest',
            source,
            replaced(source, index, { bytes: name, length: options['from'] ?? 32 }),
            `truncated ${name}`,
            `all ${options['from'] ?? 32} bytes`
          )
        ]
      : []
  )

/** Encodings that walk in the order of their values, and separators that sort below all characters. */
const orders = (source: CollectionSource, finding: Finding): Proposal[] => {
  const parts = partsOfSource(source)
  const component = componentsOfSource(source).find(({ name }) => name === finding.component)
  if (!component) return []
  const { index, codec, name, options } = component
  const to = (remedy: Remedy, next: PartSource): Proposal =>
    change(remedy, source, replaced(source, index, next), described(parts[index]!), described(next))
  const little = /^([uif]\d+)le$/.exec(codec)
  if (little) {
    const { flipped: _, ...rest } = options
    return [
      to('ordered encoding', {
        [`${little[1]}be`]: name,
        ...rest,
        ...(little[1]!.startsWith('f') && { sortable: true })
      })
    ]
  }
  if ((codec === 'uint' || codec === 'int') && options['endian'] === 'little') {
    const { flipped: _, ...rest } = options
    return [to('ordered encoding', { [codec]: name, ...rest, endian: 'big' })]
  }
  if (options['flipped'] === false) {
    const { flipped: _, ...rest } = options
    return [to('ordered encoding', { [codec]: name, ...rest })]
  }
  if (codec === 'lengthPrefixed') return [to('terminator', { fdb: name, element: 'bytes' })]
  if (/^f\d+be$/.test(codec)) return [to('ordered encoding', { [codec]: name, sortable: true })]
  const proposals = [...encodings(source, component)]
  if (codec === 'escaped')
    proposals.unshift(
      to('escape', { escaped: name, ...(options['except'] !== undefined && { except: options['except'] }) })
    )
  if (isLiteral(parts[index + 1]) && (TEXTS.test(codec) || codec === 'hex')) {
    const kept =
      codec === 'text' ? { ...options, text: name, except: `${options['except'] ?? ''}\0` } : parts[index]!
    const next = { ...source, key: parts.toSpliced(index, 2, kept, { raw: '00' }) }
    proposals.unshift(
      change('low separator', source, next, described(parts[index + 1]!), '0x00, below all characters')
    )
  }
  return proposals
}

/** The components of the scan before all others. */
const leading = (source: CollectionSource, finding: Finding): Proposal[] => {
  const names = scannedComponents(source, finding)
  const components = componentsOfSource(source)
  const parts = partsOfSource(source)
  if (isGet(source, finding)) {
    const all = components.map(({ name }) => name)
    return [
      change(
        'leading component',
        source,
        withScan(source, scanIndex(source, finding), { get: all }),
        `a read by ${names.join(', ')}`,
        `a read by ${all.join(', ')}`
      )
    ]
  }
  const moved = [
    ...components.filter(({ name }) => names.includes(name)),
    ...components.filter(({ name }) => !names.includes(name))
  ]
  // Components change places; the literals between them stay.
  const slots = components.map(({ index }) => index)
  const key = parts.map((part, i) => (slots.includes(i) ? parts[moved[slots.indexOf(i)]!.index]! : part))
  return [change('leading component', source, { ...source, key }, describedKey(parts), describedKey(key))]
}

const describedKey = (parts: readonly PartSource[]): string => parts.map(described).join(', ')

/** A first literal that no other collection begins with. */
const distinctPrefix = (source: CollectionSource, others: readonly CollectionSource[]): Proposal[] => {
  const parts = partsOfSource(source)
  const leads = others.map(other => partsOfSource(other)[0])
  const isBinary = leads.some(lead => typeof lead === 'object' && 'raw' in lead)
  const used = new Set(
    leads.flatMap(lead =>
      typeof lead === 'object' && 'raw' in lead ? [String(lead['raw']).slice(0, 2)] : []
    )
  )
  const free = Array.from({ length: 255 }, (_, i) => (i + 1).toString(16).padStart(2, '0')).find(
    byte => !used.has(byte)
  )
  const names: PartSource[] = [
    `${source.name}/`,
    `${source.name}:`,
    ...(free === undefined ? [] : [{ raw: free }])
  ]
  return (isBinary ? names.toReversed() : names).flatMap(lead => {
    const inserted = change(
      'distinct prefix',
      source,
      { ...source, key: [lead, ...parts] },
      described(parts[0]!),
      `${described(lead)}, ${described(parts[0]!)}`
    )
    if (!isLiteral(parts[0])) return [inserted]
    const instead = change(
      'distinct prefix',
      source,
      { ...source, key: [lead, ...parts.slice(1)] },
      described(parts[0]!),
      described(lead)
    )
    return parts.length > 1 ? [instead, inserted] : [inserted]
  })
}
