/** Entries of the key-value store, with a history, with tags, and one that is ambiguous. */

import type { Node } from 'quoin'
import { Author, type Entry, write } from '../../../packages/kvstore/src/author.testing.ts'

export interface Entries {
  readonly controller: string
  readonly other: string
  /** Writes one more, as the first controller. */
  set(key: string, value: string, tags?: readonly string[]): Promise<void>
}

export const writeEntries = async ({ dev, engine }: Node): Promise<Entries> => {
  const { chain } = dev!
  const [first, second] = [new Author('explorer'), new Author('explorer too')]
  type Content = { key: string; value: string; tags?: readonly string[] }
  const set = async (author: Author, content: Content, ...prior: readonly Entry[]): Promise<Entry> => {
    const { transaction, entries } = await write(chain, [[author, { tags: [], ...content }]], prior)
    await engine.submit({ beef: chain.beef(transaction.txid), topics: ['tm_kvstore'] })
    return entries[0]!
  }
  const tags = ['profile', 'public']
  let profile: Entry | undefined
  for (const value of [
    '{ "name": "Ada", "city": "London" }',
    '{ "name": "Ada Lovelace", "city": "London" }',
    '{ "name": "Ada Lovelace", "city": "Ockham", "likes": "engines" }'
  ]) {
    profile = await set(first, { key: 'profile', value, tags }, ...(profile ? [profile] : []))
  }
  await set(first, { key: 'theme', value: 'dark', tags: ['settings'] })
  await set(second, { key: 'profile', value: '{ "name": "Charles" }', tags })
  await set(second, { key: 'motto', value: 'as it was said first' })
  await set(second, { key: 'motto', value: 'as it was said again, without spending the first' })
  return {
    controller: first.controller,
    other: second.controller,
    async set(key, value, given = []) {
      await set(first, { key, value, tags: given })
    }
  }
}
