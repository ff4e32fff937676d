/** The key reference: every keyspace as a table (like seed 000) and in the notation of seed 004. */
import { toHex } from '@quoin/primitives'
import type { Collection } from './collection.ts'
import type { AnyKeyspace } from './keyspace.ts'
import { inNotation, keyPattern, walkOrder } from './notation.ts'
import { PROPERTIES } from './proof/prove.ts'
import { describeShape } from './value.ts'

const lengthOf = ({ layout: { minLength, maxLength } }: Collection): string => {
  if (minLength === maxLength) return `${minLength}`
  return maxLength === Number.POSITIVE_INFINITY ? `${minLength}+` : `${minLength}–${maxLength}`
}

const scansOf = (collection: Collection): string[] =>
  collection.scans.map(({ components, parts = 0 }) => {
    const under = components.length === 0 ? 'all keys' : `the keys of one ${components.join(' and ')}`
    const order = walkOrder(collection.layout.parts, collection.orders, parts)
    return `Iterate over ${inNotation(collection.layout.parts.slice(0, parts)) || '`everything`'}: ${under}${order && `, by ${order}`}.`
  })

const table = (collections: readonly Collection[]): string[] => [
  '| Collection | Key pattern | Components | Bytes | Holds | Purpose |',
  '|---|---|---|---|---|---|',
  ...collections.map(each => {
    const components = each.layout.parts.flatMap(part =>
      part.kind === 'component' ? [`${part.component.name}: ${part.component.codec.name}`] : []
    )
    return `| ${each.name} | \`${keyPattern(each.layout.parts).replaceAll('|', '\\|')}\` | ${components.join(', ') || '–'} | ${lengthOf(each)} | ${describeShape(each.value)} | ${each.about ?? ''} |`
  })
]

const inWords = (collection: Collection): string[] => [
  `#### ${collection.name}`,
  '',
  inNotation(collection.layout.parts),
  '',
  ...scansOf(collection).map(line => `- ${line}`),
  ...(collection.scans.length > 0 ? [''] : [])
]

/** A keyspace as plain data, for programs. */
export const describeKeyspace = ({ name, about, all }: AnyKeyspace): KeyspaceDescription => ({
  name,
  about,
  collections: all.map(collection => ({
    name: collection.name,
    about: collection.about ?? '',
    key: keyPattern(collection.layout.parts),
    parts: collection.layout.parts.map((part, i) =>
      part.kind === 'literal'
        ? { literal: toHex(part.bytes) }
        : {
            component: part.component.name,
            codec: part.component.codec.name,
            walksBy: collection.orders[i]!.by
          }
    ),
    minLength: collection.layout.minLength,
    maxLength: Number.isFinite(collection.layout.maxLength) ? collection.layout.maxLength : null,
    scans: collection.scans.map(({ components, parts = 0 }) => ({
      components,
      order: walkOrder(collection.layout.parts, collection.orders, parts)
    })),
    holds: describeShape(collection.value)
  }))
})

export interface KeyspaceDescription {
  readonly name: string
  readonly about: string
  readonly collections: readonly {
    readonly name: string
    readonly about: string
    /** The key as a pattern. */
    readonly key: string
    readonly parts: readonly (
      | { readonly literal: string }
      | { readonly component: string; readonly codec: string; readonly walksBy: 'value' | 'word' | 'neither' }
    )[]
    readonly minLength: number
    /** Null without an upper bound. */
    readonly maxLength: number | null
    readonly scans: readonly { readonly components: readonly string[]; readonly order: string }[]
    readonly holds: string
  }[]
}

export const documentKeyspaces = (keyspaces: readonly AnyKeyspace[]): string => {
  const lines = [
    '# Keys',
    '',
    'Every key that Quoin ships, written by `quoin keyspace doc` from the declarations. `||` outside backticks',
    'appends; a `string encoding` of an integer is base 10 without leading zeros. Each keyspace is proved when it',
    'is defined:',
    '',
    ...Object.entries(PROPERTIES).map(([property, meaning]) => `- ${property}: ${meaning}`),
    ''
  ]
  for (const space of keyspaces) {
    lines.push(`## ${space.name}`, '', space.about, '', ...table(space.all), '', '### In words', '')
    for (const collection of space.all) lines.push(...inWords(collection))
  }
  return `${lines.join('\n').trimEnd()}\n`
}
