/** A migration: a step from the layouts of some collections to others. */
import type { Collection } from '@quoin/keyspace'
import { prefixEnd } from '@quoin/primitives'
import type { Layouts, Store } from '@quoin/store'

export interface Migration {
  readonly name: string
  /** The layouts of the collections that it changes, before and after. */
  readonly from: Layouts
  readonly to: Layouts
  /** Collections that the store has no longer. */
  readonly removed?: Layouts
  run(store: Store, options: MigrationOptions): Promise<void>
}

export interface MigrationOptions {
  /** Called with the rows that are done; their number is not known before. */
  readonly onProgress: (rows: number) => void
  readonly signal?: AbortSignal | undefined
}

/** Whether a value is JSON: binary forms begin with a byte below, which begins no JSON text that a program wrote. */
export const isJson = (value: Uint8Array): boolean => value[0]! >= 0x20

export const readJson = (value: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(value))

/** The range of the keys with the first literal of a collection. */
export const rangeOf = ({ layout }: Collection) => {
  const [first] = layout.parts
  const prefix = first?.kind === 'literal' ? first.bytes : new Uint8Array()
  return { start: prefix, end: prefixEnd(prefix), reverse: false }
}
