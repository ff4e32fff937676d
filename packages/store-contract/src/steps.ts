/**
 * Batches as the contract writes them: one function for each condition and operation, whose byte strings are latin-1
 * text (one character is one byte), so that a test shows its contents.
 */
import {
  ARGUMENTS,
  type ArgumentsOf,
  BatchEncoder,
  ENCODING,
  encode,
  STEP_NAMES,
  STEPS,
  type StepName
} from '@quoin/store/engine'

/** A condition or an operation. */
export interface BatchStep {
  readonly name: StepName
  readonly args: readonly (Uint8Array | number)[]
}

type TextArguments<Args extends readonly unknown[]> = {
  [Index in keyof Args]: Args[Index] extends Uint8Array ? string : number
}

const stepOf =
  (name: StepName) =>
  (...args: readonly (string | number)[]): BatchStep => ({
    name,
    args: args.map(arg => (typeof arg === 'string' ? bytes(arg) : arg))
  })

const steps = Object.fromEntries(STEP_NAMES.map(name => [name, stepOf(name)])) as unknown as {
  readonly [Name in StepName]: (...args: TextArguments<ArgumentsOf<Name>>) => BatchStep
}

export const {
  valueIs,
  valueAbsent,
  fieldIs,
  fieldAbsent,
  scoreIs,
  scoreAbsent,
  memberPresent,
  memberAbsent,
  leaseHeld,
  set,
  del,
  hset,
  hdel,
  sadd,
  srem,
  zadd,
  zrem,
  zincrby,
  zcounter,
  append,
  appendDeferred,
  enqueue,
  remove,
  bury,
  wake,
  revive
} = steps

/** One clock for all unless leases have another. */
export const lease = (
  key: string,
  token: string,
  count: number,
  until: number,
  allowed: number,
  now: number,
  clock = now
): BatchStep => steps.lease(key, token, count, until, allowed, now, clock)
/** The lease began at 0 unless said when, as did the retries and waits below. */
export const renew = (key: string, item: string, until: number, clock = 0): BatchStep =>
  steps.renew(key, item, until, clock)
export const retry = (
  key: string,
  item: string,
  errorClass: string,
  reason: string,
  at: number,
  now = 0
): BatchStep => steps.retry(key, item, errorClass, reason, at, now)
export const wait = (
  key: string,
  item: string,
  errorClass: string,
  reason: string,
  dependency: string,
  deadline: number,
  now = 0
): BatchStep => steps.wait(key, item, errorClass, reason, dependency, deadline, now)

/** Bytes and a number that a step of each kind of argument takes. */
export const exampleOf = (name: StepName): BatchStep => ({
  name,
  args: STEPS[name].args.map(each => (ENCODING[ARGUMENTS[each]] === 'bytes' ? Uint8Array.of(65) : 1))
})

export const batchOf = (of: readonly BatchStep[]): Uint8Array => {
  const encoder = new BatchEncoder()
  for (const { name, args } of of) {
    ;(encode[name] as (to: BatchEncoder, ...args: readonly (Uint8Array | number)[]) => void)(encoder, ...args)
  }
  return encoder.take()
}

export const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'))
