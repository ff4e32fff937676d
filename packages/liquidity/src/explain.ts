/** Explains a raw entry of a node's store: the components of its key, and its decoded value. */
import type { ExplainedSpan } from '@quoin/keyspace'
import { liquidityChain, liquiditySeed } from './keys.ts'
import type { Profile } from './profile.ts'
import { VALUE_VIEWS } from './view.ts'

export interface ExplainedEntry {
  readonly profile: Profile
  readonly collection: string
  readonly about: string
  readonly spans: readonly ExplainedSpan[]
  /** The value as views show it, when one was given. */
  readonly value?: unknown
}

const PROFILES = { chain: liquidityChain, seed: liquiditySeed } as const

export type EntryExplanation =
  | { readonly found: true; readonly entry: ExplainedEntry }
  | { readonly found: false; readonly nearest: string | undefined }

/** Explains an entry. A value that does not decode is refused with `ERR_VALUE_DECODE`. */
export const explainEntry = (
  key: Uint8Array,
  value: Uint8Array | undefined,
  profile: Profile
): EntryExplanation => {
  const space = PROFILES[profile]
  const explained = space.explain(key)
  if (!explained.found) {
    const { nearest } = explained
    return { found: false, nearest: nearest && `${nearest.collection}: ${nearest.message}` }
  }
  const { collection: name, spans } = explained
  const collection = space.all.find(each => each.name === name)!
  return {
    found: true,
    entry: {
      profile,
      collection: name,
      about: collection.about ?? '',
      spans,
      ...(value &&
        collection.value.kind === 'value' && { value: shown(name, collection.value.codec.decode(value)) })
    }
  }
}

const shown = (collection: string, value: unknown): unknown => {
  const view = VALUE_VIEWS[collection]
  if (view) return view(value as never)
  return typeof value === 'bigint' ? value.toString() : value
}
