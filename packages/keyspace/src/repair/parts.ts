/** Parts of layout files as they are written, and changes of them. */

import { COMPONENTS } from '../file/components.ts'
import type { CollectionSource } from '../file/parse.ts'

export type PartSource = string | Readonly<Record<string, unknown>>

/** A component as it is written: its codec, its name and its options. */
export interface ComponentSource {
  readonly index: number
  readonly codec: string
  readonly name: string
  readonly options: Readonly<Record<string, unknown>>
}

export const partsOfSource = ({ key }: CollectionSource): readonly PartSource[] =>
  key as readonly PartSource[]

/** The components of a key, of the host's own codecs too. */
export const componentsOfSource = (source: CollectionSource): readonly ComponentSource[] =>
  partsOfSource(source).flatMap((part, index) => {
    if (typeof part === 'string' || 'raw' in part) return []
    const codec = Object.keys(part).find(name => Object.hasOwn(COMPONENTS, name)) ?? Object.keys(part)[0]!
    const { [codec]: name, $comment: _, about: __, ...options } = part
    return [{ index, codec, name: String(name), options }]
  })

/** The key with one part replaced by others. */
export const replaced = (
  source: CollectionSource,
  index: number,
  ...parts: readonly PartSource[]
): CollectionSource => ({ ...source, key: partsOfSource(source).toSpliced(index, 1, ...parts) })

export const isLiteral = (part: PartSource | undefined): boolean =>
  part !== undefined && (typeof part === 'string' || 'raw' in part)

/** A short notation of a part: `decimal tick`, `'|'`. */
export const described = (part: PartSource): string => {
  if (typeof part === 'string') return `'${part}'`
  if ('raw' in part) return `0x${part['raw']}`
  const codec = Object.keys(part).find(name => Object.hasOwn(COMPONENTS, name)) ?? Object.keys(part)[0]!
  const { [codec]: name, ...options } = part
  const shown = Object.entries(options).map(([option, value]) => `${option} ${JSON.stringify(value)}`)
  return `${codec} ${name}${shown.length > 0 ? ` (${shown.join(', ')})` : ''}`
}
