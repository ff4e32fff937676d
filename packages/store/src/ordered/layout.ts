/**
 * The rows under the structures. Sorted sets and wide hashes are known by short ids, so that a name is stored once;
 * a member's scores in all sorted sets are one row, so that writing a member to many sets touches few pages and one
 * read answers every membership.
 *
 * The declaration proves the layout; the functions below write the same keys fast (a test holds them together).
 */
import { bytes, collection, f64, keyspace, raw, rawValue, word } from '@quoin/keyspace'
import { PROVED } from '../proved.ts'

const ID = 6
export const MAX_ID = 2 ** (8 * ID) - 1

export const storeRows = keyspace(
  'store-rows',
  {
    meta: collection({
      key: ['n', word('name', 'schema', 'next', 'commits')],
      about: 'The schema version, the next id, and the number of commits.'
    }),
    value: collection({ key: ['v', bytes('key')], scans: [[]], about: 'A key-value.' }),
    hash: collection({
      key: ['h', bytes('key')],
      scans: [[]],
      value: rawValue('fields and values, or the id of a wide hash'),
      about: 'A hash; a small one is wholly in this row.'
    }),
    set: collection({
      key: ['s', bytes('key')],
      value: rawValue('members, or the id of a wide set'),
      about: 'A set, stored as a hash whose values are empty.'
    }),
    items: collection({
      key: ['q', bytes('queue')],
      value: rawValue('items and their records, or the id'),
      about:
        'The records of the items of a queue, stored as a hash: score, time of enqueuing, attempts, class and reason of ' +
        'the last failure; token, beginning and owner of a lease, dependency and beginning of a wait.'
    }),
    dependants: collection({
      key: ['d', bytes('id', { length: ID }), bytes('dependency')],
      value: rawValue('items, or the id'),
      about: 'Items that wait for a dependency, by the sorted set of waiting items of their queue; a set.'
    }),
    field: collection({
      key: ['f', bytes('id', { length: ID }), bytes('field')],
      scans: [['id']],
      about: 'A field of a wide hash, a member of a wide set.'
    }),
    sortedSet: collection({
      key: ['z', bytes('role', { length: 1 }), bytes('key')],
      scans: [['role']],
      value: rawValue('id'),
      about: 'The id of a sorted set. Role 0 is those of users, the others are the states of a queue.'
    }),
    cardinality: collection({
      key: ['i', bytes('id', { length: ID }), raw('00')],
      value: rawValue('number of members, number of strays'),
      about:
        'How many members a sorted set has, and how many have other scores elsewhere; beside its first row.'
    }),
    row: collection({
      key: ['i', bytes('id', { length: ID }), raw('01'), f64('score'), bytes('member')],
      scans: [{ prefix: ['id'], order: 'value' }],
      value: rawValue('nothing'),
      about: 'A member of a sorted set, in its order.'
    }),
    member: collection({
      key: ['m', bytes('member')],
      value: rawValue('ids of sorted sets and scores'),
      about: 'The scores of a member in the sorted sets that have it.'
    }),
    furtherScore: collection({
      key: ['o', bytes('id', { length: ID }), bytes('member')],
      value: rawValue('score'),
      about: 'A score of a member that has more of them than its row takes.'
    })
  },
  { about: 'Rows of the store on memory, LMDB and LevelDB.', proved: PROVED }
)

export const TAG = {
  dependants: 0x64,
  field: 0x66,
  hash: 0x68,
  row: 0x69,
  member: 0x6d,
  meta: 0x6e,
  furtherScore: 0x6f,
  items: 0x71,
  set: 0x73,
  value: 0x76,
  sortedSet: 0x7a
} as const

/** Prefixes of the keys of hashes, by kind. */
export const KIND = {
  hash: Uint8Array.of(TAG.hash),
  set: Uint8Array.of(TAG.set),
  items: Uint8Array.of(TAG.items)
} as const

/** Sorted sets of users, and the states of a queue. */
export const ROLE = { user: 0, due: 1, leased: 2, waiting: 3, dead: 4 } as const
export type Role = (typeof ROLE)[keyof typeof ROLE]

const meta = (name: string): Uint8Array => new TextEncoder().encode(`n${name}`)
export const META = { schema: meta('schema'), next: meta('next'), commits: meta('commits') }

/** The first byte, then the rest: keys of values, hashes, sets, items, members. */
export const tagged = (tag: number, rest: Uint8Array): Uint8Array => {
  const key = new Uint8Array(1 + rest.length)
  key[0] = tag
  key.set(rest, 1)
  return key
}

export const sortedSetKey = (role: Role, name: Uint8Array): Uint8Array => {
  const key = new Uint8Array(2 + name.length)
  key[0] = TAG.sortedSet
  key[1] = role
  key.set(name, 2)
  return key
}

export const writeId = (id: number, target: Uint8Array, offset: number): number => {
  const high = Math.floor(id / 2 ** 32)
  target[offset] = high >>> 8
  target[offset + 1] = high
  target[offset + 2] = id >>> 24
  target[offset + 3] = id >>> 16
  target[offset + 4] = id >>> 8
  target[offset + 5] = id
  return offset + ID
}

export const readId = (source: Uint8Array, offset: number): number =>
  (source[offset]! * 256 + source[offset + 1]!) * 2 ** 32 +
  (((source[offset + 2]! << 24) |
    (source[offset + 3]! << 16) |
    (source[offset + 4]! << 8) |
    source[offset + 5]!) >>>
    0)

/** A tag, an id, then the rest: fields of wide hashes, dependants, further scores. */
export const numbered = (tag: number, id: number, rest: Uint8Array = NOTHING): Uint8Array => {
  const key = new Uint8Array(1 + ID + rest.length)
  key[0] = tag
  key.set(rest, writeId(id, key, 1))
  return key
}
const NOTHING = new Uint8Array()

/** A byte tells the cardinality of a sorted set from its rows. */
const CARDINALITY = Uint8Array.of(0)
const ROWS = Uint8Array.of(1)
export const cardinalityKey = (id: number): Uint8Array => numbered(TAG.row, id, CARDINALITY)
/** Makes the key of a cardinality that of another set. */
export const writeCardinalityKey = (id: number, target: Uint8Array): void => {
  writeId(id, target, 1)
}
/** The prefix of all rows of a sorted set. */
export const rowsPrefix = (id: number): Uint8Array => numbered(TAG.row, id, ROWS)

/** Where the keys of rows of one sorted set begin to differ, where the score begins, and the member. */
export const ROW_AT = 1 + ID
const SCORE_AT = ROW_AT + 1
export const MEMBER_AT = SCORE_AT + 8

export const rowKey = (id: number, score: number, member: Uint8Array): Uint8Array => {
  const key = new Uint8Array(MEMBER_AT + member.length)
  key.set(member, writeRowHead(id, score, key))
  return key
}

/** Writes the key of a row up to the member, and returns where the member begins. */
export const writeRowHead = (id: number, score: number, target: Uint8Array): number => {
  target[0] = TAG.row
  target[writeId(id, target, 1)] = 1
  writeScore(score, target, SCORE_AT)
  return MEMBER_AT
}

const scratch = new DataView(new ArrayBuffer(8))

/** A score so that its bytes sort as the numbers do: the f64 component, without its checks. */
const writeScore = (score: number, target: Uint8Array, offset: number): void => {
  scratch.setFloat64(0, score)
  let high = scratch.getInt32(0)
  let low = scratch.getInt32(4)
  if (high < 0) {
    high = ~high
    low = ~low
  } else high ^= 0x80000000
  target[offset] = high >>> 24
  target[offset + 1] = high >>> 16
  target[offset + 2] = high >>> 8
  target[offset + 3] = high
  target[offset + 4] = low >>> 24
  target[offset + 5] = low >>> 16
  target[offset + 6] = low >>> 8
  target[offset + 7] = low
}

/** The score of a row, from its key, which begins at `start`. */
export const scoreOfRow = (source: Uint8Array, start: number): number => {
  const at = start + SCORE_AT
  let high = (source[at]! << 24) | (source[at + 1]! << 16) | (source[at + 2]! << 8) | source[at + 3]!
  let low = (source[at + 4]! << 24) | (source[at + 5]! << 16) | (source[at + 6]! << 8) | source[at + 7]!
  if (high < 0) high ^= 0x80000000
  else {
    high = ~high
    low = ~low
  }
  scratch.setInt32(0, high)
  scratch.setInt32(4, low)
  return scratch.getFloat64(0)
}
