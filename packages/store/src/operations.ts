/**
 * The conditions and operations of a batch, each declared once. The encoder, the decoder, the types of engines, the Lua
 * of the Redis scripts, the steps of the contract suite and the tables of the README follow from this declaration.
 *
 * A batch is encoded as `u32 length of the conditions ‖ conditions ‖ operations`, with the top bit of the length set when
 * an operation scans. Each step is a code byte and its arguments: bytes as a u32 length and the bytes, numbers as
 * float64, both little-endian.
 */
import type { QueueItem } from './engine.ts'

/** Kinds of arguments, by their encoding. */
export const ENCODING = { key: 'bytes', entry: 'bytes', value: 'bytes', score: 'f64', finite: 'f64' } as const
export type Kind = keyof typeof ENCODING

/** The kind of each argument. */
export const ARGUMENTS = {
  key: 'key',
  field: 'key',
  member: 'key',
  item: 'key',
  token: 'key',
  dependency: 'key',
  /** UTF-8, as is the reason. */
  errorClass: 'key',
  reason: 'key',
  /** Of a log: not empty. */
  entry: 'entry',
  value: 'value',
  expected: 'value',
  /** Any number but NaN, as are the two times that may be infinite. */
  score: 'score',
  at: 'score',
  deadline: 'score',
  increment: 'finite',
  count: 'finite',
  /** Attempts after which an item is dead. */
  allowed: 'finite',
  until: 'finite',
  now: 'finite',
  /** The time by the clock of leases. */
  clock: 'finite'
} as const satisfies Record<string, Kind>
export type ArgumentName = keyof typeof ARGUMENTS

export interface StepSpec {
  readonly code: number
  readonly args: readonly ArgumentName[]
  readonly about: string
  /** The answer of an operation: a score, the items that were leased. */
  readonly answers?: 'score' | 'items' | undefined
  /** Whether it scans rows. */
  readonly hasScan?: boolean
}

const step = <const Args extends readonly ArgumentName[]>(code: number, args: Args, about: string) => ({
  code,
  args,
  about
})

/** Expectations of the state before the batch, in order; the first that fails refuses the batch. */
export const CONDITIONS = {
  valueIs: step(1, ['key', 'expected'], 'The key has this value.'),
  valueAbsent: step(2, ['key'], 'The key has no value.'),
  fieldIs: step(3, ['key', 'field', 'expected'], 'The field of the hash has this value.'),
  fieldAbsent: step(4, ['key', 'field'], 'The hash does not have the field.'),
  scoreIs: step(5, ['key', 'member', 'score'], 'The member of the sorted set has this score.'),
  scoreAbsent: step(6, ['key', 'member'], 'The sorted set does not have the member.'),
  memberPresent: step(7, ['key', 'member'], 'The set has the member.'),
  memberAbsent: step(8, ['key', 'member'], 'The set does not have the member.'),
  leaseHeld: step(9, ['key', 'item', 'token'], 'The item is leased under the token, expired or not.')
} as const satisfies Record<string, StepSpec>

/** Items of a queue are in one state each: due, leased, waiting or dead. */
export const OPERATIONS = {
  set: step(16, ['key', 'value'], 'Sets the value of the key.'),
  del: step(17, ['key'], 'Deletes the value of the key.'),
  hset: step(18, ['key', 'field', 'value'], 'Sets a field of the hash.'),
  hdel: step(19, ['key', 'field'], 'Deletes a field of the hash.'),
  sadd: step(20, ['key', 'member'], 'Adds a member to the set.'),
  srem: step(21, ['key', 'member'], 'Removes a member from the set.'),
  zadd: step(22, ['key', 'member', 'score'], 'Adds a member to the sorted set, or changes its score.'),
  zrem: step(23, ['key', 'member'], 'Removes a member from the sorted set.'),
  zincrby: {
    ...step(24, ['key', 'member', 'increment'], 'Adds to the score of a member, 0 without one.'),
    answers: 'score'
  },
  zcounter: step(
    25,
    ['key', 'member', 'increment'],
    'Adds to the score of a member, 0 without one; at 0 the member leaves the sorted set.'
  ),
  /**
   * A log (`log.ts`) is a sorted set in which the empty member has the last position as its score, and each entry its
   * own. The position after a log without a last one is 1.
   */
  append: step(
    26,
    ['key', 'entry'],
    'Gives the entry the next position of the log; an entry that the log has stays where it is.'
  ),
  /**
   * For a log that all writers of a store append to. They do not wait for one another: an engine may give the position in
   * a later transaction, which `Engine.appended` waits for. Entries of batches that depend on one another are in their
   * order, and no entry of a batch that was committed is lost.
   */
  appendDeferred: step(27, ['key', 'entry'], 'Appends the entry to the log, in the commit or soon after it.'),

  enqueue: step(
    32,
    ['key', 'item', 'score', 'now'],
    'A new item becomes due at the score; a due item without attempts moves to the score.'
  ),
  /**
   * First, leases and waits that are over (`at` ≤ now) end, leases first, each kind in the order of (`at`, item) and at
   * most `EXPIRE_LIMIT` of it: a waiting item becomes due at its score; a leased one too, or dies now with class
   * `expired` if it was leased `allowed` times. Then the first `count` items that are due (score ≤ now) are leased until
   * `until` under the token, each with one more attempt. Leases begin and end by a clock of their own, `clock`.
   *
   * Before each of these three, times in that state which a fast clock wrote are corrected, at most `CLOCK_REPAIRS` of
   * them, from the latest finite `at` after now downwards. A lease, wait or retry that began after now begins now and
   * keeps its length; the first that did not ends the search. An item that was due when it was enqueued, after now, is
   * due now; others that were never tried are passed over.
   */
  lease: {
    ...step(
      33,
      ['key', 'token', 'count', 'until', 'allowed', 'now', 'clock'],
      'Ends leases and waits that are over, then leases the first `count` due items.'
    ),
    answers: 'items',
    hasScan: true
  },
  renew: step(34, ['key', 'item', 'until', 'clock'], 'The lease of the item begins again.'),
  remove: step(35, ['key', 'item'], 'Removes the item from the queue.'),
  /** The score stays what it was. */
  retry: step(
    36,
    ['key', 'item', 'errorClass', 'reason', 'at', 'now'],
    'A leased item becomes due at `at`, with the reason.'
  ),
  bury: step(37, ['key', 'item', 'errorClass', 'reason', 'now'], 'A leased item dies, with the reason.'),
  wait: step(
    38,
    ['key', 'item', 'errorClass', 'reason', 'dependency', 'deadline', 'now'],
    'A leased item waits for the dependency, until the deadline; the attempt does not count.'
  ),
  wake: {
    ...step(39, ['key', 'dependency'], 'Items that wait for the dependency become due at their scores.'),
    hasScan: true
  },
  revive: step(40, ['key', 'item'], 'A dead item becomes due at its score, with no attempts.')
} as const satisfies Record<string, StepSpec>

export const STEPS = { ...CONDITIONS, ...OPERATIONS }
export type StepName = keyof typeof STEPS
export const STEP_NAMES = Object.keys(STEPS) as StepName[]
export const OPERATION_NAMES = Object.keys(OPERATIONS) as (keyof typeof OPERATIONS)[]
export const isCondition = (name: string): boolean => Object.hasOwn(CONDITIONS, name)

type Argument<Name extends ArgumentName> = (typeof ENCODING)[(typeof ARGUMENTS)[Name]] extends 'bytes'
  ? Uint8Array
  : number
type Arguments<Names extends readonly ArgumentName[]> = {
  -readonly [Index in keyof Names]: Argument<Names[Index]>
}
export type ArgumentsOf<Name extends StepName> = Arguments<(typeof STEPS)[Name]['args']>

/** An engine's conditions: false refuses the batch. */
export type Conditions = {
  readonly [Name in keyof typeof CONDITIONS]: (...args: ArgumentsOf<Name>) => boolean
}

type OperationOf<Name extends keyof typeof OPERATIONS, Items> = (typeof OPERATIONS)[Name] extends {
  answers: 'score'
}
  ? (...args: ArgumentsOf<Name>) => number
  : (typeof OPERATIONS)[Name] extends { answers: 'items' }
    ? (...args: ArgumentsOf<Name>) => Items
    : (...args: ArgumentsOf<Name>) => void

/** An engine's operations. */
export type Operations<Items = readonly QueueItem[]> = {
  readonly [Name in keyof typeof OPERATIONS]: OperationOf<Name, Items>
}

/** The top bit of the length: the batch has an operation that scans. */
export const HAS_SCAN = 2 ** 31
/** Random bytes that distinguish leases. */
export const TOKEN_LENGTH = 8
/** Leases, and waits, that one `lease` ends. */
export const EXPIRE_LIMIT = 1000
/** Times of each state that one `lease` corrects. */
export const CLOCK_REPAIRS = 100
export const EXPIRED_CLASS = 'expired'
export const EXPIRED_REASON = 'the lease ended before the work was done'
