/** All that a store holds, as plain data. Sets and queues cannot be listed, so their keys have to be known. */
import { EVERYTHING, type TextReads } from './subject.ts'

export interface ListedKeys {
  readonly sets: readonly string[]
  readonly queues: readonly string[]
}

export const contents = async (store: TextReads, { sets, queues }: ListedKeys) => ({
  values: await store.range(EVERYTHING),
  hashes: await store.hrange(EVERYTHING),
  sets: await each(sets, key => store.smembers(key)),
  sortedSets: await each(await store.zkeys(''), async key => ({
    rows: await store.zrows(key),
    count: await store.zcard(key)
  })),
  queues: await each(queues, async key => ({
    counts: await store.qcounts(key),
    due: await store.qlist(key, 'due'),
    leased: await store.qlist(key, 'leased'),
    waiting: await store.qlist(key, 'waiting'),
    dead: await store.qlist(key, 'dead')
  }))
})

const each = async <T>(
  keys: readonly string[],
  read: (key: string) => Promise<T>
): Promise<[string, T][]> => {
  const found: [string, T][] = []
  for (const key of keys) found.push([key, await read(key)])
  return found
}
