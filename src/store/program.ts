/**
 * A batch as bytes: the checks it makes, then the operations it does, in order. Every engine executes these, so what
 * a batch means is written down once. The bytes go to a writer thread, or to another machine, as they are.
 *
 * `u32 length of the checks ‖ checks ‖ operations`, with the top bit of the length set when the batch walks. Each check
 * and operation is a code byte and its arguments: bytes as a u32 length and the bytes, numbers as float64, both
 * little-endian. Classes and reasons are UTF-8 of at most `MAX_KEY` bytes. `retry` and `wait` take a score for a time
 * (it may be infinite), the other times are finite.
 */
import { QuoinError, shortHex } from '../keyspace/index.ts'
import { MAX_KEY, MAX_VALUE } from './engine.ts'

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

  /** key, item, score, now */
  enqueue: 32,
  /** key, token, count, until, attempts allowed, now */
  lease: 33,
  /** key, item, until */
  renew: 34,
  /** key, item */
  remove: 35,
  /** key, item, class, reason, at */
  retry: 36,
  /** key, item, class, reason, now */
  bury: 37,
  /** key, item, class, reason, dependency, until */
  wait: 38,
  /** key, dependency */
  wake: 39,
  /** key, item */
  revive: 40
} as const

const WALKS = 2 ** 31

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

  /**
   * An item that the queue does not have becomes due at the score. One that is due and has no attempts behind it moves
   * to the score; any other stays as it is.
   */
  enqueue(key: Uint8Array, item: Uint8Array, score: number, now: number): void
  /**
   * First, leases and waits that are over (`at` ≤ now) end, leases first, each kind in the order of (`at`, item) and
   * at most `EXPIRE_LIMIT` of it: a waiting item becomes due at its score; a leased one too, or dies now with class
   * `expired` if it has been leased as often as this lease allows. Then the first `count` items that are due (score ≤ now) are
   * leased until `until` under the token: each counts one more attempt. Answers them as they are after that.
   */
  lease(key: Uint8Array, token: Uint8Array, count: number, until: number, allowed: number, now: number): Lease
  /** A leased item is leased until `until`; any other stays as it is. */
  renew(key: Uint8Array, item: Uint8Array, until: number): void
  /** The item leaves the queue, whatever its state. */
  remove(key: Uint8Array, item: Uint8Array): void
  /**
   * A leased item becomes due at `at`, and remembers why; its score stays what it was. Any other item stays as it is;
   * so with the next two.
   */
  retry(key: Uint8Array, item: Uint8Array, errorClass: Uint8Array, reason: Uint8Array, at: number): void
  /** A leased item dies, and remembers why. */
  bury(key: Uint8Array, item: Uint8Array, errorClass: Uint8Array, reason: Uint8Array, now: number): void
  /** A leased item waits for a dependency, until `until` at most; that was not an attempt. */
  wait(
    key: Uint8Array,
    item: Uint8Array,
    errorClass: Uint8Array,
    reason: Uint8Array,
    dependency: Uint8Array,
    until: number
  ): void
  /** Items that wait for the dependency become due at their scores, and still remember why they waited. */
  wake(key: Uint8Array, dependency: Uint8Array): void
  /** A dead item becomes due at its score, with no attempts behind it. */
  revive(key: Uint8Array, item: Uint8Array): void
}

/** How many ended leases, and how many ended waits, one `lease` takes up. */
export const EXPIRE_LIMIT = 1000
export const EXPIRED_CLASS = 'expired'
export const EXPIRED_REASON = 'the lease ended before the work was done'

/** Writes a batch. It can be taken once. */
export class ProgramWriter {
  readonly #checks = new ArgumentWriter()
  readonly #operations = new ArgumentWriter()
  #walks = false

  check(code: number): ArgumentWriter {
    return this.#checks.code(code)
  }

  operation(code: number): ArgumentWriter {
    if (code === CODE.lease || code === CODE.wake) this.#walks = true
    return this.#operations.code(code)
  }

  get isEmpty(): boolean {
    return this.#checks.length === 0 && this.#operations.length === 0
  }

  take(): Uint8Array {
    if (this.#checks.refused || this.#operations.refused) {
      throw new QuoinError('ERR_STORE_OPTION', 'an argument of this batch was refused; make a new one')
    }
    const checks = this.#checks.written()
    const operations = this.#operations.written()
    const program = new Uint8Array(4 + checks.length + operations.length)
    new DataView(program.buffer).setUint32(0, checks.length + (this.#walks ? WALKS : 0), true)
    program.set(checks, 4)
    program.set(operations, 4 + checks.length)
    this.#checks.release()
    this.#operations.release()
    return program
  }
}

interface Memory {
  readonly bytes: Uint8Array
  readonly view: DataView
}

const newMemory = (length: number): Memory => {
  const bytes = new Uint8Array(length)
  return { bytes, view: new DataView(bytes.buffer) }
}

const NO_MEMORY = newMemory(0)
const FIRST_LENGTH = 4096
/** Memory that batches have given back, for those to come: making it anew would be half of the work. */
const spare: Memory[] = []
const SPARE_LIMIT = 64
const SPARE_LENGTH = 64 * 1024

/** Appends arguments, each checked: what an engine is given is within the limits. */
export class ArgumentWriter {
  #memory = NO_MEMORY
  #length = 0
  /** Whether an argument was: what is written then ends in the middle. */
  refused = false

  get length(): number {
    return this.#length
  }

  written(): Uint8Array {
    return this.#memory.bytes.subarray(0, this.#length)
  }

  /** Gives its memory back. Nothing can be appended any more. */
  release(): void {
    const { bytes } = this.#memory
    if (bytes.length > 0 && bytes.length <= SPARE_LENGTH && spare.length < SPARE_LIMIT)
      spare.push(this.#memory)
    this.#memory = NO_MEMORY
    this.#length = 0
  }

  code(code: number): this {
    this.#reserve(1)
    this.#memory.bytes[this.#length++] = code
    return this
  }

  /** A key, field, member or item. */
  key(bytes: Uint8Array): this {
    return this.#append(this.#checked(keyOnly, bytes))
  }

  value(bytes: Uint8Array): this {
    return this.#append(this.#checked(valueOnly, bytes))
  }

  /** A score: any number but NaN. -0 is 0. */
  score(score: number): this {
    return this.#number(this.#checked(scoreOnly, score))
  }

  /** A number that is neither NaN nor infinite. */
  finite(value: number): this {
    return this.#number(this.#checked(finiteOnly, value))
  }

  #checked<T>(check: (value: T) => T, value: T): T {
    try {
      return check(value)
    } catch (error) {
      this.refused = true
      throw error
    }
  }

  #append(bytes: Uint8Array): this {
    this.#reserve(4 + bytes.length)
    this.#memory.view.setUint32(this.#length, bytes.length, true)
    this.#memory.bytes.set(bytes, this.#length + 4)
    this.#length += 4 + bytes.length
    return this
  }

  #number(value: number): this {
    this.#reserve(8)
    this.#memory.view.setFloat64(this.#length, value === 0 ? 0 : value, true)
    this.#length += 8
    return this
  }

  #reserve(more: number): void {
    const needed = this.#length + more
    const { length } = this.#memory.bytes
    if (needed <= length) return
    const larger =
      needed <= FIRST_LENGTH && spare.length > 0
        ? spare.pop()!
        : newMemory(Math.max(needed, length * 2, FIRST_LENGTH))
    larger.bytes.set(this.written())
    this.#memory = larger
  }
}

/** A key, field, member or item as an engine may be asked for: bytes, and not too long. */
export const keyOnly = (key: Uint8Array): Uint8Array => {
  if (!(key instanceof Uint8Array)) {
    throw new QuoinError('ERR_STORE_KEY', `a key, field or member is bytes, not ${typeof key}`)
  }
  if (key.length > MAX_KEY) {
    throw new QuoinError(
      'ERR_STORE_KEY',
      `a key, field or member has at most ${MAX_KEY} bytes; this one has ${key.length}: ${shortHex(key)}`,
      { length: key.length, limit: MAX_KEY }
    )
  }
  return key
}

const valueOnly = (bytes: Uint8Array): Uint8Array => {
  if (!(bytes instanceof Uint8Array)) {
    throw new QuoinError('ERR_STORE_VALUE', `a value is bytes, not ${typeof bytes}`)
  }
  if (bytes.length > MAX_VALUE) {
    throw new QuoinError(
      'ERR_STORE_VALUE',
      `a value has at most ${MAX_VALUE} bytes; this one has ${bytes.length}`,
      { length: bytes.length, limit: MAX_VALUE }
    )
  }
  return bytes
}

const finiteOnly = (value: number): number => {
  if (!Number.isFinite(value)) {
    throw new QuoinError('ERR_STORE_SCORE', `must be a finite number: ${value}`, { value: String(value) })
  }
  return value
}

export const scoreOnly = (score: number): number => {
  if (typeof score !== 'number' || Number.isNaN(score)) {
    throw new QuoinError('ERR_STORE_SCORE', `a score is a number other than NaN, not ${String(score)}`)
  }
  return score
}

/** Reads a program, one argument after the other. What it returns are views of the program. */
export class ProgramReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #checksEnd: number
  /** Whether it has an operation that walks a sorted set or a set: `lease`, `wake`. */
  readonly walks: boolean
  #at = 4

  constructor(program: Uint8Array) {
    this.#bytes = program
    this.#view = new DataView(program.buffer, program.byteOffset, program.byteLength)
    const head = this.#view.getUint32(0, true)
    this.walks = head >= WALKS
    this.#checksEnd = 4 + (head % WALKS)
  }

  /** The bytes of the whole program from where the operations begin. */
  get operations(): Uint8Array {
    return this.#bytes.subarray(this.#checksEnd)
  }

  /** Makes the checks in order, and returns the first that fails, or -1. */
  firstFailing(checks: Checks): number {
    this.#at = 4
    for (let index = 0; this.#at < this.#checksEnd; index++) if (!this.#check(checks)) return index
    return -1
  }

  /** Does the operations in order, and returns the answers of those that have one. */
  run<Lease>(operations: Operations<Lease>): (number | Lease)[] {
    const answers: (number | Lease)[] = []
    this.#at = this.#checksEnd
    while (this.#at < this.#bytes.length) this.#operation(operations, answers)
    return answers
  }

  /** The error for a check that failed. */
  refusal(index: number): QuoinError {
    this.#at = 4
    for (let passed = 0; passed < index; passed++) this.#check(NO_CHECKS)
    const code = this.#code()
    const key = shortHex(this.#bytesArgument())
    if (code === CODE.leaseHeld) {
      const item = shortHex(this.#bytesArgument())
      return new QuoinError(
        'ERR_STORE_LEASE_LOST',
        `item ${item} of queue ${key} is no longer leased to you`,
        {
          key,
          item,
          check: index
        }
      )
    }
    const name = Object.entries(CODE).find(([, each]) => each === code)?.[0]
    return new QuoinError(
      'ERR_STORE_PRECONDITION',
      `the batch needs ${name} at ${key}, which does not hold`,
      {
        key,
        needs: name,
        check: index
      }
    )
  }

  #code(): number {
    return this.#bytes[this.#at++]!
  }

  #bytesArgument(): Uint8Array {
    const start = this.#at + 4
    this.#at = start + this.#view.getUint32(this.#at, true)
    return this.#bytes.subarray(start, this.#at)
  }

  #numberArgument(): number {
    this.#at += 8
    return this.#view.getFloat64(this.#at - 8, true)
  }

  #check(checks: Checks): boolean {
    const code = this.#code()
    const key = this.#bytesArgument()
    switch (code) {
      case CODE.valueIs:
        return checks.valueIs(key, this.#bytesArgument())
      case CODE.valueAbsent:
        return checks.valueAbsent(key)
      case CODE.fieldIs:
        return checks.fieldIs(key, this.#bytesArgument(), this.#bytesArgument())
      case CODE.fieldAbsent:
        return checks.fieldAbsent(key, this.#bytesArgument())
      case CODE.scoreIs:
        return checks.scoreIs(key, this.#bytesArgument(), this.#numberArgument())
      case CODE.scoreAbsent:
        return checks.scoreAbsent(key, this.#bytesArgument())
      case CODE.memberPresent:
        return checks.memberPresent(key, this.#bytesArgument())
      case CODE.memberAbsent:
        return checks.memberAbsent(key, this.#bytesArgument())
      case CODE.leaseHeld:
        return checks.leaseHeld(key, this.#bytesArgument(), this.#bytesArgument())
      default:
        throw unknownCode(code)
    }
  }

  #operation<Lease>(to: Operations<Lease>, answers: (number | Lease)[]): void {
    const code = this.#code()
    const key = this.#bytesArgument()
    switch (code) {
      case CODE.set:
        to.set(key, this.#bytesArgument())
        break
      case CODE.del:
        to.del(key)
        break
      case CODE.hset:
        to.hset(key, this.#bytesArgument(), this.#bytesArgument())
        break
      case CODE.hdel:
        to.hdel(key, this.#bytesArgument())
        break
      case CODE.sadd:
        to.sadd(key, this.#bytesArgument())
        break
      case CODE.srem:
        to.srem(key, this.#bytesArgument())
        break
      case CODE.zadd:
        to.zadd(key, this.#bytesArgument(), this.#numberArgument())
        break
      case CODE.zrem:
        to.zrem(key, this.#bytesArgument())
        break
      case CODE.zincrby:
        answers.push(to.zincrby(key, this.#bytesArgument(), this.#numberArgument()))
        break
      case CODE.enqueue:
        to.enqueue(key, this.#bytesArgument(), this.#numberArgument(), this.#numberArgument())
        break
      case CODE.lease:
        answers.push(
          to.lease(
            key,
            this.#bytesArgument(),
            this.#numberArgument(),
            this.#numberArgument(),
            this.#numberArgument(),
            this.#numberArgument()
          )
        )
        break
      case CODE.renew:
        to.renew(key, this.#bytesArgument(), this.#numberArgument())
        break
      case CODE.remove:
        to.remove(key, this.#bytesArgument())
        break
      case CODE.retry:
        to.retry(
          key,
          this.#bytesArgument(),
          this.#bytesArgument(),
          this.#bytesArgument(),
          this.#numberArgument()
        )
        break
      case CODE.bury:
        to.bury(
          key,
          this.#bytesArgument(),
          this.#bytesArgument(),
          this.#bytesArgument(),
          this.#numberArgument()
        )
        break
      case CODE.wait:
        to.wait(
          key,
          this.#bytesArgument(),
          this.#bytesArgument(),
          this.#bytesArgument(),
          this.#bytesArgument(),
          this.#numberArgument()
        )
        break
      case CODE.wake:
        to.wake(key, this.#bytesArgument())
        break
      case CODE.revive:
        to.revive(key, this.#bytesArgument())
        break
      default:
        throw unknownCode(code)
    }
  }
}

/** Passes over checks. */
const NO_CHECKS: Checks = {
  valueIs: () => true,
  valueAbsent: () => true,
  fieldIs: () => true,
  fieldAbsent: () => true,
  scoreIs: () => true,
  scoreAbsent: () => true,
  memberPresent: () => true,
  memberAbsent: () => true,
  leaseHeld: () => true
}

const unknownCode = (code: number): Error => new Error(`unreachable: no such code in a batch: ${code}`)
