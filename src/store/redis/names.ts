/**
 * The names of things in Redis: the prefix of the partition, a letter for the kind, the key. Nothing else makes
 * names but the scripts, which are given the prefix.
 *
 *     v h s z      a value, a hash, a set, a sorted set of the store: itself
 *     V H Z        sorted set, all scores 0: the keys of all values, hashes, sorted sets in the partition
 *     d l w x      sorted set: items of a queue that are due, leased, waiting, dead, by `at`
 *     r            hash: what a queue knows of its items (`record.ts`)
 *     y            set, named by u32 length of the queue's key ‖ key ‖ dependency: the items that wait for it
 *     c j t        the journal: the number of the last entry; hash of the entries; sorted set of their numbers, each
 *                  later than the one before and not before the microsecond it was given in
 *     a e          named by a home partition, of parts that were applied: sorted set of their numbers; hash of answers
 *     b            hash by home partition: the number below which all parts are applied
 *     0 1          never exist (`scripts/script.ts`)
 */
export interface Partition {
  readonly number: number
  /** `{tag}`, or nothing on a single server. */
  readonly prefix: Uint8Array
  readonly guards: readonly [Uint8Array, Uint8Array]
}

export const partition = (number: number, tag: string | undefined): Partition => {
  const prefix = new TextEncoder().encode(tag === undefined ? '' : `{${tag}}`)
  const guard = (letter: '0' | '1'): Uint8Array => nameIn(prefix, letter, new Uint8Array())
  return { number, prefix, guards: [guard('0'), guard('1')] }
}

export type Kind = 'v' | 'h' | 's' | 'z' | 'V' | 'H' | 'Z' | 'd' | 'l' | 'w' | 'x' | 'r' | 'j' | 't'

const nameIn = (prefix: Uint8Array, letter: string, key: Uint8Array): Uint8Array => {
  const name = new Uint8Array(prefix.length + 1 + key.length)
  name.set(prefix)
  name[prefix.length] = letter.charCodeAt(0)
  name.set(key, prefix.length + 1)
  return name
}

const NONE = new Uint8Array()

export const nameOf = ({ prefix }: Partition, kind: Kind, key: Uint8Array = NONE): Uint8Array =>
  nameIn(prefix, kind, key)
