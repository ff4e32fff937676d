/** Decodes batches (`operations.ts`): evaluates their conditions and calls their operations on an engine. */
import { QuoinError, shortHex } from '@quoin/primitives'
import {
  ARGUMENTS,
  type Conditions,
  ENCODING,
  HAS_SCAN,
  isCondition,
  type Operations,
  STEP_NAMES,
  STEPS,
  type StepName,
  type StepSpec
} from './operations.ts'

/** Reads a batch, one argument after the other. Arguments of bytes are views of the batch. */
export class BatchDecoder {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #conditionsEnd: number
  /** Whether an operation scans a sorted set or a set. */
  readonly hasScan: boolean
  #at = 4

  constructor(batch: Uint8Array) {
    this.#bytes = batch
    this.#view = new DataView(batch.buffer, batch.byteOffset, batch.byteLength)
    const head = this.#view.getUint32(0, true)
    this.hasScan = head >= HAS_SCAN
    this.#conditionsEnd = 4 + (head % HAS_SCAN)
  }

  /** The bytes from where the operations begin. */
  get operations(): Uint8Array {
    return this.#bytes.subarray(this.#conditionsEnd)
  }

  /** Evaluates the conditions in order, and returns the index of the first that fails, or -1. */
  firstFailing(conditions: Conditions): number {
    this.#at = 4
    for (let index = 0; this.#at < this.#conditionsEnd; index++) {
      if (!this.#step(CONDITION_STEPS).call(this, conditions)) return index
    }
    return -1
  }

  /** Calls the operations in order, and returns their answers. */
  run<Items>(operations: Operations<Items>): (number | Items)[] {
    const answers: (number | Items)[] = []
    this.#at = this.#conditionsEnd
    while (this.#at < this.#bytes.length) {
      const step = this.#step(OPERATION_STEPS)
      const answer = step.call(this, operations)
      if (step.hasAnswer) answers.push(answer as number | Items)
    }
    return answers
  }

  /** The error for a condition that failed. */
  refusal(index: number): QuoinError {
    this.#at = 4
    for (let passed = 0; passed < index; passed++) this.#step(CONDITION_STEPS).call(this, ALWAYS)
    const { name } = this.#step(CONDITION_STEPS)
    const key = shortHex(this.bytes())
    if (name === 'leaseHeld') {
      const item = shortHex(this.bytes())
      return new QuoinError(
        'ERR_STORE_LEASE_LOST',
        `item ${item} of queue ${key} is not leased any more: its lease has expired`,
        { key, item, check: index }
      )
    }
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

  #step(steps: readonly (DecodedStep | undefined)[]): DecodedStep {
    const code = this.#bytes[this.#at++]!
    const step = steps[code]
    if (!step) throw new Error(`unreachable: unknown code in a batch: ${code}`)
    return step
  }

  /** The next argument, of bytes. */
  bytes(): Uint8Array {
    const start = this.#at + 4
    this.#at = start + this.#view.getUint32(this.#at, true)
    return this.#bytes.subarray(start, this.#at)
  }

  /** The next argument, a number. */
  number(): number {
    this.#at += 8
    return this.#view.getFloat64(this.#at - 8, true)
  }
}

type Target = Readonly<Record<string, (...args: (Uint8Array | number)[]) => unknown>>

interface DecodedStep {
  readonly name: StepName
  readonly hasAnswer: boolean
  /** Reads the arguments, and calls the target with them. */
  readonly call: (from: BatchDecoder, target: object) => unknown
}

/** Steps of up to three arguments, which are most, are unrolled. */
const callOf = (name: StepName): ((from: BatchDecoder, target: object) => unknown) => {
  const shape = STEPS[name].args.map(each => (ENCODING[ARGUMENTS[each]] === 'bytes' ? 'b' : 'n')).join('')
  switch (shape) {
    case 'b':
      return (from, target) => (target as Target)[name]!(from.bytes())
    case 'bb':
      return (from, target) => (target as Target)[name]!(from.bytes(), from.bytes())
    case 'bbb':
      return (from, target) => (target as Target)[name]!(from.bytes(), from.bytes(), from.bytes())
    case 'bbn':
      return (from, target) => (target as Target)[name]!(from.bytes(), from.bytes(), from.number())
    default:
      return (from, target) =>
        (target as Target)[name]!(...Array.from(shape, kind => (kind === 'b' ? from.bytes() : from.number())))
  }
}

/** Steps by their codes. */
const stepsOf = (names: readonly StepName[]): readonly (DecodedStep | undefined)[] => {
  const steps: (DecodedStep | undefined)[] = new Array(64).fill(undefined)
  for (const name of names) {
    const { code, answers }: StepSpec = STEPS[name]
    steps[code] = { name, hasAnswer: answers !== undefined, call: callOf(name) }
  }
  return steps
}

const CONDITION_STEPS = stepsOf(STEP_NAMES.filter(isCondition))
const OPERATION_STEPS = stepsOf(STEP_NAMES.filter(name => !isCondition(name)))

const ALWAYS = Object.fromEntries(
  STEP_NAMES.filter(isCondition).map(name => [name, () => true])
) as unknown as Conditions
