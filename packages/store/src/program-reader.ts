/** Reads batches (`program.ts`): makes their checks and does their operations on whatever an engine has for them. */
import { QuoinError, shortHex } from '@quoin/primitives'
import { type Checks, CODE, type Operations, WALKS } from './program.ts'

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
      case CODE.ztally:
        to.ztally(key, this.#bytesArgument(), this.#numberArgument())
        break
      case CODE.append:
        to.append(key, this.#bytesArgument())
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
            this.#numberArgument(),
            this.#numberArgument()
          )
        )
        break
      case CODE.renew:
        to.renew(key, this.#bytesArgument(), this.#numberArgument(), this.#numberArgument())
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
          this.#numberArgument(),
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
          this.#numberArgument(),
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
