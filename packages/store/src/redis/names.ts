/**
 * The names of keys in Redis: a letter for the kind, then the key. Nothing else makes names but the scripts.
 *
 *     v h s z      a value, a hash, a set, a sorted set of the store: itself
 *     V H Z        sorted set, all scores 0: the keys of all values, hashes, sorted sets
 *     d l w x      sorted set: items of a queue that are due, leased, waiting, dead, by `at`
 *     r            hash: the records of a queue's items (`record.ts`)
 *     y            set, named by u32 length of the queue's key ‖ key ‖ dependency: the items that wait for it
 *     {quoin}      hash: marks the database as a store (`scripts/open.ts`)
 */
export type Kind = 'v' | 'h' | 's' | 'z' | 'V' | 'H' | 'Z' | 'd' | 'l' | 'w' | 'x' | 'r'

export const MARK = '{quoin}'

const NONE = new Uint8Array()

export const nameOf = (kind: Kind, key: Uint8Array = NONE): Uint8Array => {
  const name = new Uint8Array(1 + key.length)
  name[0] = kind.charCodeAt(0)
  name.set(key, 1)
  return name
}
