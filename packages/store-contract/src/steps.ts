/**
 * Batches as the contract writes them: one function for each check and each operation, whose byte strings are
 * latin-1 text (one character is one byte), so that a test shows what it stores.
 */
import { CODE, ProgramWriter } from '@quoin/store/engine'

/** What each check and operation takes, and which method of `ArgumentWriter` writes it. */
export const ARGUMENTS = {
  valueIs: ['key', 'value'],
  valueAbsent: ['key'],
  fieldIs: ['key', 'key', 'value'],
  fieldAbsent: ['key', 'key'],
  scoreIs: ['key', 'key', 'score'],
  scoreAbsent: ['key', 'key'],
  memberPresent: ['key', 'key'],
  memberAbsent: ['key', 'key'],
  leaseHeld: ['key', 'key', 'key'],

  set: ['key', 'value'],
  del: ['key'],
  hset: ['key', 'key', 'value'],
  hdel: ['key', 'key'],
  sadd: ['key', 'key'],
  srem: ['key', 'key'],
  zadd: ['key', 'key', 'score'],
  zrem: ['key', 'key'],
  zincrby: ['key', 'key', 'finite'],
  ztally: ['key', 'key', 'finite'],
  append: ['key', 'entry'],

  enqueue: ['key', 'key', 'score', 'finite'],
  lease: ['key', 'key', 'finite', 'finite', 'finite', 'finite', 'finite'],
  renew: ['key', 'key', 'finite', 'finite'],
  remove: ['key', 'key'],
  retry: ['key', 'key', 'key', 'key', 'score', 'finite'],
  bury: ['key', 'key', 'key', 'key', 'finite'],
  wait: ['key', 'key', 'key', 'key', 'key', 'score', 'finite'],
  wake: ['key', 'key'],
  revive: ['key', 'key']
} as const satisfies Record<keyof typeof CODE, readonly ArgumentKind[]>

export type ArgumentKind = 'key' | 'entry' | 'value' | 'score' | 'finite'
type BytesKind = 'key' | 'entry' | 'value'
export type StepName = keyof typeof CODE

/** A check or an operation. */
export interface Step {
  readonly name: StepName
  readonly args: readonly (Uint8Array | number)[]
}

type Given<Kinds extends readonly ArgumentKind[]> = {
  [Index in keyof Kinds]: Kinds[Index] extends BytesKind ? string : number
}

const step =
  <Name extends StepName>(name: Name) =>
  (...args: Given<(typeof ARGUMENTS)[Name]>): Step => ({
    name,
    args: (args as readonly (string | number)[]).map(arg => (typeof arg === 'string' ? bytes(arg) : arg))
  })

export const valueIs = step('valueIs')
export const valueAbsent = step('valueAbsent')
export const fieldIs = step('fieldIs')
export const fieldAbsent = step('fieldAbsent')
export const scoreIs = step('scoreIs')
export const scoreAbsent = step('scoreAbsent')
export const memberPresent = step('memberPresent')
export const memberAbsent = step('memberAbsent')
export const leaseHeld = step('leaseHeld')

export const set = step('set')
export const del = step('del')
export const hset = step('hset')
export const hdel = step('hdel')
export const sadd = step('sadd')
export const srem = step('srem')
export const zadd = step('zadd')
export const zrem = step('zrem')
export const zincrby = step('zincrby')
export const ztally = step('ztally')
export const append = step('append')

export const enqueue = step('enqueue')
/** One clock for all unless leases have another. */
export const lease = (
  key: string,
  token: string,
  count: number,
  until: number,
  allowed: number,
  now: number,
  clock = now
): Step => step('lease')(key, token, count, until, allowed, now, clock)
/** Long ago unless said when, as are the retries and waits below. */
export const renew = (key: string, item: string, until: number, clock = 0): Step =>
  step('renew')(key, item, until, clock)
export const remove = step('remove')
export const retry = (
  key: string,
  item: string,
  errorClass: string,
  reason: string,
  at: number,
  now = 0
): Step => step('retry')(key, item, errorClass, reason, at, now)
export const bury = step('bury')
export const wait = (
  key: string,
  item: string,
  errorClass: string,
  reason: string,
  dependency: string,
  until: number,
  now = 0
): Step => step('wait')(key, item, errorClass, reason, dependency, until, now)
export const wake = step('wake')
export const revive = step('revive')

export const isBytes = (kind: ArgumentKind): kind is BytesKind => kind !== 'score' && kind !== 'finite'

export const isCheck = (name: StepName): boolean => CODE[name] < CODE.set

export const batchOf = (steps: readonly Step[]): Uint8Array => {
  const program = new ProgramWriter()
  for (const { name, args } of steps) {
    const writer = isCheck(name) ? program.check(CODE[name]) : program.operation(CODE[name])
    ARGUMENTS[name].forEach((kind: ArgumentKind, index) => {
      if (isBytes(kind)) writer[kind](args[index] as Uint8Array)
      else writer[kind](args[index] as number)
    })
  }
  return program.take()
}

export const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'))
