/**
 * Random programs for a store: batches and reads over a universe so small that they keep meeting each other. Two
 * engines that run the same program have to give the same answers, refuse the same batches for the same reason, and
 * hold the same contents at the end.
 */
import assert from 'node:assert/strict'
import { QuoinError } from '@quoin/primitives'
import fc from 'fast-check'
import { contents } from '../../store-contract/src/contents.ts'
import { type BatchStep, batchOf, bytes } from '../../store-contract/src/steps.ts'
import { answerOf, Subject, TextReads } from '../../store-contract/src/subject.ts'
import { type Engine, MAX_KEY } from './engine.ts'
import { type ArgumentName, isCondition, STEP_NAMES, STEPS, type StepName } from './operations.ts'

const LONGEST = 'k'.repeat(MAX_KEY)
const KEYS = ['', 'a', 'a\0', 'b', '\xff', LONGEST]
const NAMES = ['', 'm', 'm\0', 'n', '\xff\xff', LONGEST]
const TOKENS = ['token--A', 'token--B', '\0\xff{}\r\n*?']
/** Classes and reasons; the last two are text that was cut within a character. */
const TEXTS = ['', 'class', 'ü€😀', '\ufeff']
  .map(each => Buffer.from(each).toString('latin1'))
  .concat(['cut\xc3', '\xf0\x9f\x98'])
const SCORES = [
  0,
  -0,
  1,
  2,
  -1,
  0.1,
  0.2,
  850000.000000123,
  1703097600.1234567,
  2 ** 53,
  5e-324,
  -5e-324,
  1.7976931348623157e308,
  -1.7976931348623157e308,
  Infinity,
  -Infinity
]

const key = fc.constantFrom(...KEYS)
const name = fc.constantFrom(...NAMES)
const entry = fc.constantFrom(...NAMES.filter(each => each !== ''))
const token = fc.constantFrom(...TOKENS)
const value = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('', 'v', 'w', 'v\0') },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 12 }).map(latin1) },
  { weight: 1, arbitrary: fc.nat(600).map(length => 'long'.repeat(length)) }
)
const score = fc.oneof(
  fc.constantFrom(...SCORES),
  fc.integer({ min: -3, max: 3 }),
  fc.double({ noNaN: true })
)
const increment = score.map(each => (Number.isFinite(each) ? each : 1))
/** Few moments, so that leases and waits end while the program runs. */
const time = fc.oneof(
  { weight: 6, arbitrary: fc.nat(20) },
  { weight: 1, arbitrary: fc.double({ min: 0, max: 20, noNaN: true }) }
)
const text = fc.constantFrom(...TEXTS)
const small = fc.nat(4)

type Values = fc.Arbitrary<string | number>

/** Values of each argument, byte strings as latin-1. */
const VALUES: Readonly<Record<ArgumentName, Values>> = {
  key,
  field: name,
  member: name,
  item: name,
  token,
  dependency: name,
  errorClass: text,
  reason: text,
  entry,
  value,
  expected: value,
  score,
  at: fc.oneof(time, score),
  deadline: fc.oneof(time, score),
  increment,
  count: small,
  allowed: small,
  until: time,
  now: time,
  clock: time
}

/** Items become due while the program runs. */
const valuesOf = (stepName: StepName): Values[] =>
  STEPS[stepName].args.map(each =>
    stepName === 'enqueue' && each === 'score' ? fc.oneof(time, score) : VALUES[each]
  )

/** Items meet in queues only if there are many leases, and few items that are removed. */
const WEIGHTS: Partial<Record<StepName, number>> = { enqueue: 6, lease: 6, zadd: 3, remove: 1 }

const stepNamed = (stepName: StepName): fc.Arbitrary<BatchStep> =>
  fc.tuple(...valuesOf(stepName)).map(args => ({
    name: stepName,
    args: args.map(arg => (typeof arg === 'string' ? bytes(arg) : arg))
  }))

const conditions = fc.oneof(...STEP_NAMES.filter(isCondition).map(stepNamed))
const operations = fc.oneof(
  // Deferred appends have no place among the other operations of a batch.
  ...STEP_NAMES.filter(each => !isCondition(each) && each !== 'appendDeferred').map(each => ({
    weight: WEIGHTS[each] ?? 2,
    arbitrary: stepNamed(each)
  }))
)

const place = fc.record(
  { score: fc.oneof(score, time), member: name, exclusive: fc.boolean() },
  { requiredKeys: ['score'] }
)
const rows = fc.record(
  { min: place, max: place, reverse: fc.boolean(), offset: small, count: small },
  { requiredKeys: [] }
)
const bound = fc.oneof(
  key,
  fc.constantFrom('a\0\0', 'aa', 'c', `${LONGEST}\0`, '\xff\xff', 'k'.repeat(2 * MAX_KEY))
)
const range = fc
  .tuple(bound, fc.option(bound), fc.boolean())
  .map(([start, end, reverse]) => ({ start: bytes(start), end: end === null ? null : bytes(end), reverse }))
const limit = fc.option(small, { nil: undefined })
const state = fc.constantFrom('due', 'leased', 'waiting', 'dead')

type ReadName = keyof TextReads

/** The arguments of each read. */
const READS: Record<ReadName, readonly fc.Arbitrary<unknown>[]> = {
  get: [key],
  mget: [fc.array(key, { maxLength: 4 })],
  range: [range, limit],
  hget: [key, name],
  hmget: [key, fc.array(name, { maxLength: 4 })],
  hgetall: [key],
  hscan: [key, fc.integer({ min: 1, max: 5 })],
  mhgetall: [fc.array(key, { maxLength: 4 })],
  mhexists: [fc.array(key, { maxLength: 4 })],
  hrange: [range, limit],
  sismember: [key, name],
  smembers: [key],
  zscore: [key, name],
  zscores: [fc.array(key, { maxLength: 3 }), fc.array(name, { maxLength: 3 })],
  zcard: [key],
  zrows: [key, rows],
  zsum: [key],
  zkeys: [range, limit],
  qcounts: [key],
  qlist: [key, state, rows]
}

interface Read {
  readonly name: ReadName
  readonly args: readonly unknown[]
}
export type Action =
  | { readonly do: 'commit'; readonly steps: readonly BatchStep[] }
  | { readonly do: 'commitMany'; readonly batches: readonly (readonly BatchStep[])[] }
  | { readonly do: 'read'; readonly read: Read }
  | { readonly do: 'snapshot'; readonly reads: readonly Read[] }

const reads: fc.Arbitrary<Read> = fc.oneof(
  ...(Object.keys(READS) as ReadName[]).map(each =>
    fc.tuple(...READS[each]).map(args => ({ name: each, args }))
  )
)

/** A batch: often without checks, since most of them fail. */
export const steps = (): fc.Arbitrary<BatchStep[]> =>
  fc
    .tuple(
      fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(conditions, { maxLength: 3 })),
      fc.array(operations, { maxLength: 12 })
    )
    .map(([checked, done]) => [...checked, ...done])

/** A program: a sequence of batches and reads. */
export const actions = (): fc.Arbitrary<Action[]> => {
  const commit = steps().map((each): Action => ({ do: 'commit', steps: each }))
  const commitMany = fc
    .array(fc.array(operations, { maxLength: 4 }), { maxLength: 4 })
    .map((batches): Action => ({ do: 'commitMany', batches }))
  const read = reads.map((each): Action => ({ do: 'read', read: each }))
  const snapshot = fc.array(reads, { maxLength: 4 }).map((each): Action => ({ do: 'snapshot', reads: each }))
  return fc
    .array(
      fc.oneof(
        { weight: 12, arbitrary: commit },
        { weight: 1, arbitrary: commitMany },
        { weight: 8, arbitrary: read },
        { weight: 1, arbitrary: snapshot }
      ),
      { minLength: 1, maxLength: 500, size: 'max' }
    )
    .map(program =>
      Object.assign(program, { [fc.toStringMethod]: () => program.map(shownAction).join('\n') })
    )
}

/** For the report of a failure: an action in a line. */
const shownAction = (action: Action): string => {
  const shownSteps = (of: readonly BatchStep[]) =>
    of.map(each => `${each.name}(${shown(each.args).slice(1, -1)})`).join(' ')
  const shownRead = (each: Read) => `${each.name}(${shown(each.args).slice(1, -1)})`
  switch (action.do) {
    case 'commit':
      return `commit ${shownSteps(action.steps)}`
    case 'commitMany':
      return `commitMany ${action.batches.map(shownSteps).join(' | ')}`
    case 'read':
      return shownRead(action.read)
    case 'snapshot':
      return `snapshot ${action.reads.map(shownRead).join(' ')}`
  }
}

/** Bytes as latin-1 text, and the longest name by a name for it. */
const shown = (data: unknown): string =>
  JSON.stringify(data, (_, each) => {
    if (each instanceof Uint8Array) return latin1(each)
    return typeof each === 'number' && !Number.isFinite(each) ? String(each) : each
  })?.replaceAll(LONGEST, 'LONGEST')

/** How many checks, operations and reads a program has. */
export const sizeOf = (program: readonly Action[]): number =>
  program.reduce((size, action) => {
    if (action.do === 'commit') return size + action.steps.length
    if (action.do === 'commitMany') return size + action.batches.flat().length
    return size + (action.do === 'read' ? 1 : action.reads.length)
  }, 0)

/** Runs the program on both engines, step by step, and throws at the first difference. */
export const compareEngines = async (
  program: readonly Action[],
  engine: Engine,
  reference: Engine
): Promise<void> => {
  for (const [index, action] of program.entries()) {
    const [found, expected] = [await outcomeOf(engine, action), await outcomeOf(reference, action)]
    assert.deepStrictEqual(found, expected, differenceAt(`action ${index}`, found, expected))
  }
  const known = { sets: KEYS, queues: KEYS }
  const [found, expected] = [
    await contents(new Subject(engine), known),
    await contents(new Subject(reference), known)
  ]
  assert.deepStrictEqual(found, expected, differenceAt('the contents at the end', found, expected))
}

/** The answers of a batch, the code and check of its refusal, or what was read. */
const outcomeOf = async (engine: Engine, action: Action): Promise<unknown> => {
  try {
    switch (action.do) {
      case 'commit':
        return (await engine.commit(batchOf(action.steps))).map(answerOf)
      case 'commitMany':
        return await engine.commitMany(action.batches.map(batchOf))
      case 'read':
        return await run(new TextReads(engine.reads), action.read)
      case 'snapshot':
        return await engine.snapshot(async reads => {
          const found: unknown[] = []
          for (const read of action.reads) found.push(await run(new TextReads(reads), read))
          return found
        })
    }
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    return { code: error.code, ...error.details }
  }
}

const run = (reads: TextReads, read: Read): Promise<unknown> =>
  (reads[read.name] as (...args: readonly unknown[]) => Promise<unknown>).call(reads, ...read.args)

const differenceAt = (where: string, found: unknown, expected: unknown): string =>
  `${where} gives\n${shown(found)}\ninstead of\n${shown(expected)}`

function latin1(each: Uint8Array): string {
  return Buffer.from(each).toString('latin1')
}
