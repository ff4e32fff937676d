/**
 * A batch as bytes: the checks it makes, then the operations it does, in order. Every engine executes these, so what
 * a batch means is written down once. The bytes go to a writer thread, or to another machine, as they are.
 *
 * `u32 length of the checks ‖ checks ‖ operations`, with the top bit of the length set when the batch walks. Each check
 * and operation is a code byte and its arguments: bytes as a u32 length and the bytes, numbers as float64, both
 * little-endian. Classes and reasons are UTF-8 of at most `MAX_KEY` bytes. `retry` and `wait` take a score for a time
 * (it may be infinite), the other times are finite.
 */
/** Codes of checks and operations. The comments name the arguments in order. */
export const CODE = {
  /** key, expected */
  valueIs: 1,
  /** key */
  valueAbsent: 2,
  /** key, field, expected */
  fieldIs: 3,
  /** key, field */
  fieldAbsent: 4,
  /** key, member, score */
  scoreIs: 5,
  /** key, member */
  scoreAbsent: 6,
  /** key, member */
  memberPresent: 7,
  /** key, member */
  memberAbsent: 8,
  /** key, item, token */
  leaseHeld: 9,

  /** key, value */
  set: 16,
  /** key */
  del: 17,
  /** key, field, value */
  hset: 18,
  /** key, field */
  hdel: 19,
  /** key, member */
  sadd: 20,
  /** key, member */
  srem: 21,
  /** key, member, score */
  zadd: 22,
  /** key, member */
  zrem: 23,
  /** key, member, increment */
  zincrby: 24,
  /** key, member, increment */
  ztally: 25,
  /** key, entry */
  append: 26,

  /** key, item, score, now */
  enqueue: 32,
  /** key, token, count, until, attempts allowed, now, clock of leases */
  lease: 33,
  /** key, item, until, clock of leases */
  renew: 34,
  /** key, item */
  remove: 35,
  /** key, item, class, reason, at, now */
  retry: 36,
  /** key, item, class, reason, now */
  bury: 37,
  /** key, item, class, reason, dependency, until, now */
  wait: 38,
  /** key, dependency */
  wake: 39,
  /** key, item */
  revive: 40
} as const

/** The top bit of the length, in a batch that walks. */
export const WALKS = 2 ** 31

/** Leases are told apart by eight random bytes. */
export const TOKEN_LENGTH = 8

/** The checks of a batch, in the order they are made. `false` refuses the batch. */
export interface Checks {
  valueIs(key: Uint8Array, expected: Uint8Array): boolean
  valueAbsent(key: Uint8Array): boolean
  fieldIs(key: Uint8Array, field: Uint8Array, expected: Uint8Array): boolean
  fieldAbsent(key: Uint8Array, field: Uint8Array): boolean
  scoreIs(key: Uint8Array, member: Uint8Array, score: number): boolean
  scoreAbsent(key: Uint8Array, member: Uint8Array): boolean
  memberPresent(key: Uint8Array, member: Uint8Array): boolean
  memberAbsent(key: Uint8Array, member: Uint8Array): boolean
  /** The item is leased under the token, whether or not its time is over. */
  leaseHeld(key: Uint8Array, item: Uint8Array, token: Uint8Array): boolean
}

/**
 * What a batch can do. Items of a queue are in one state each: due, leased, waiting or dead.
 */
export interface Operations<Lease = unknown> {
  set(key: Uint8Array, value: Uint8Array): void
  del(key: Uint8Array): void
  hset(key: Uint8Array, field: Uint8Array, value: Uint8Array): void
  hdel(key: Uint8Array, field: Uint8Array): void
  sadd(key: Uint8Array, member: Uint8Array): void
  srem(key: Uint8Array, member: Uint8Array): void
  zadd(key: Uint8Array, member: Uint8Array, score: number): void
  zrem(key: Uint8Array, member: Uint8Array): void
  /** Adds to the score (0 without one) and answers it. The increment is finite, so the score never becomes NaN. */
  zincrby(key: Uint8Array, member: Uint8Array, increment: number): number
  /** Adds to the score (0 without one); a member whose score becomes 0 leaves the set. The increment is finite. */
  ztally(key: Uint8Array, member: Uint8Array, increment: number): void

  /**
   * A log (`log.ts`) is a sorted set in which the empty member has the last position given as its score, and each entry
   * its own. An entry that the log does not have gets the next position, which is 1 without a last one; any other stays
   * where it is. Entries are not empty.
   */
  append(key: Uint8Array, entry: Uint8Array): void

  /**
   * An item that the queue does not have becomes due at the score. One that is due and has no attempts behind it moves
   * to the score; any other stays as it is.
   */
  enqueue(key: Uint8Array, item: Uint8Array, score: number, now: number): void
  /**
   * First, leases and waits that are over (`at` ≤ now) end, leases first, each kind in the order of (`at`, item) and
   * at most `EXPIRE_LIMIT` of it: a waiting item becomes due at its score; a leased one too, or dies now with class
   * `expired` if it has been leased as often as this lease allows. Then the first `count` items that are due (score ≤ now) are
   * leased until `until` under the token: each counts one more attempt. Answers them as they are after that. Leases
   * begin and end by a clock of their own, `clock`.
   *
   * Before each of these three, times in its state that a clock which was ahead has written are mended, at most
   * `MEND_LIMIT` of them, from the latest finite `at` after now downwards. A lease, wait or retry that began after now
   * begins now and keeps its length; the first that did not ends the search. An item that was due when it was enqueued,
   * after now, is due now; others that were never tried are passed over.
   */
  lease(
    key: Uint8Array,
    token: Uint8Array,
    count: number,
    until: number,
    allowed: number,
    now: number,
    clock: number
  ): Lease
  /** The lease of an item begins again and ends at `until`; an item without one stays as it is. */
  renew(key: Uint8Array, item: Uint8Array, until: number, clock: number): void
  /** The item leaves the queue, whatever its state. */
  remove(key: Uint8Array, item: Uint8Array): void
  /**
   * A leased item becomes due at `at`, and remembers why; its score stays what it was. Any other item stays as it is;
   * so with the next two.
   */
  retry(
    key: Uint8Array,
    item: Uint8Array,
    errorClass: Uint8Array,
    reason: Uint8Array,
    at: number,
    now: number
  ): void
  /** A leased item dies, and remembers why. */
  bury(key: Uint8Array, item: Uint8Array, errorClass: Uint8Array, reason: Uint8Array, now: number): void
  /** A leased item waits for a dependency, until `until` at most; that was not an attempt. */
  wait(
    key: Uint8Array,
    item: Uint8Array,
    errorClass: Uint8Array,
    reason: Uint8Array,
    dependency: Uint8Array,
    until: number,
    now: number
  ): void
  /** Items that wait for the dependency become due at their scores, and still remember why they waited. */
  wake(key: Uint8Array, dependency: Uint8Array): void
  /** A dead item becomes due at its score, with no attempts behind it. */
  revive(key: Uint8Array, item: Uint8Array): void
}

/** How many ended leases, and how many ended waits, one `lease` takes up. */
export const EXPIRE_LIMIT = 1000
/** How many times of each state that a clock which was ahead has written one `lease` mends. */
export const MEND_LIMIT = 100
export const EXPIRED_CLASS = 'expired'
export const EXPIRED_REASON = 'the lease ended before the work was done'
