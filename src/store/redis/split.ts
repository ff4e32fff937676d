/**
 * Programs (`program.ts`) taken apart and put together as bytes: the parts of a batch for each partition, and many
 * batches as one.
 */
import { QuoinError } from '../../keyspace/index.ts'
import { CODE, WALKS } from '../program.ts'
import { partitionOf } from './slots.ts'

/** How many arguments are bytes, and how many numbers come after them; the first is the key. */
const SHAPES: readonly (readonly [bytes: number, numbers: number])[] = (() => {
  const shapes: (readonly [number, number])[] = []
  const shape = (bytes: number, numbers: number, ...codes: number[]): void => {
    for (const code of codes) shapes[code] = [bytes, numbers]
  }
  shape(1, 0, CODE.valueAbsent, CODE.del)
  shape(2, 0, CODE.valueIs, CODE.fieldAbsent, CODE.scoreAbsent, CODE.memberPresent, CODE.memberAbsent)
  shape(2, 0, CODE.set, CODE.hdel, CODE.sadd, CODE.srem, CODE.zrem, CODE.append)
  shape(2, 0, CODE.remove, CODE.wake, CODE.revive)
  shape(3, 0, CODE.fieldIs, CODE.leaseHeld, CODE.hset)
  shape(2, 1, CODE.scoreIs, CODE.zadd, CODE.zincrby, CODE.ztally, CODE.renew)
  shape(2, 2, CODE.enqueue)
  shape(2, 4, CODE.lease)
  shape(4, 1, CODE.retry, CODE.bury)
  shape(5, 1, CODE.wait)
  return shapes
})()

const answers = (code: number): boolean => code === CODE.zincrby || code === CODE.lease

/** Walks over the checks and operations of a program. */
class Walk {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly checksEnd: number
  /** The current one is from `start` to `end`. */
  start = 0
  end = 4

  constructor(program: Uint8Array) {
    this.#bytes = program
    this.#view = new DataView(program.buffer, program.byteOffset, program.byteLength)
    // The top bit is not of the length.
    this.checksEnd = 4 + (this.#view.getUint32(0, true) % WALKS)
  }

  next(): boolean {
    if (this.end >= this.#bytes.length) return false
    this.start = this.end
    const [bytes, numbers] = SHAPES[this.#bytes[this.start]!]!
    let at = this.start + 1
    for (let i = 0; i < bytes; i++) at += 4 + this.#view.getUint32(at, true)
    this.end = at + 8 * numbers
    return true
  }

  get code(): number {
    return this.#bytes[this.start]!
  }

  get isCheck(): boolean {
    return this.start < this.checksEnd
  }

  get key(): Uint8Array {
    const from = this.start + 5
    return this.#bytes.subarray(from, from + this.#view.getUint32(this.start + 1, true))
  }
}

export interface Split {
  /** The partition of the checks; without any, that of the first operation that answers, or else of the first. */
  readonly home: number
  readonly program: Uint8Array
  /** Programs without checks. */
  readonly others: readonly Part[]
  /** The partitions of the operations that answer, in order; only if there are others than the home. */
  readonly answering: readonly number[]
}

export interface Part {
  readonly partition: number
  readonly program: Uint8Array
}

/** The parts of a batch. */
export const splitBatch = (batch: Uint8Array, partitions: number): Split => {
  if (partitions === 1) return { home: 0, program: batch, others: [], answering: [] }
  const walk = new Walk(batch)
  const spans = new Map<number, number[]>()
  const answering: number[] = []
  let checked: number | undefined
  let first: number | undefined
  while (walk.next()) {
    const partition = partitionOf(walk.key, partitions)
    first ??= partition
    if (walk.isCheck) {
      checked ??= partition
      if (checked !== partition) throw severalHomes(checked, partition)
      continue
    }
    if (answers(walk.code)) answering.push(partition)
    const of = spans.get(partition)
    if (!of) spans.set(partition, [walk.start, walk.end])
    // Operations that follow each other are one span.
    else if (of.at(-1) === walk.start) of[of.length - 1] = walk.end
    else of.push(walk.start, walk.end)
  }
  const home = checked ?? answering[0] ?? first ?? 0
  const isWhole = spans.size === 0 || (spans.size === 1 && spans.has(home))
  if (isWhole) return { home, program: batch, others: [], answering: [] }
  const checks = batch.subarray(0, walk.checksEnd)
  const others: Part[] = []
  for (const [partition, of] of spans) {
    if (partition !== home) others.push({ partition, program: assembled(NO_CHECKS, batch, of) })
  }
  return { home, program: assembled(checks, batch, spans.get(home) ?? []), others, answering }
}

/** Batches without checks can be done as one: the result is that of doing them one by one. */
export const mergeBatches = function* (batches: Iterable<Uint8Array>, limit: number): Generator<Uint8Array> {
  let gathered: Uint8Array[] = []
  let length = 0
  const flush = function* (): Generator<Uint8Array> {
    if (gathered.length === 1) yield gathered[0]!
    else if (gathered.length > 1) yield concatenated(gathered, length)
    gathered = []
    length = 0
  }
  for (const batch of batches) {
    const isMergeable = !hasChecks(batch)
    if (!isMergeable || length + batch.length > limit) yield* flush()
    if (isMergeable) {
      gathered.push(batch)
      length += batch.length - 4
    } else yield batch
  }
  yield* flush()
}

const hasChecks = (batch: Uint8Array): boolean => new Walk(batch).checksEnd > 4

const NO_CHECKS = new Uint8Array(4)

const concatenated = (batches: readonly Uint8Array[], length: number): Uint8Array => {
  const whole = new Uint8Array(4 + length)
  let at = 4
  for (const batch of batches) {
    whole.set(batch.subarray(4), at)
    at += batch.length - 4
  }
  return whole
}

/** A head, then parts of a batch from every first to every second number. */
const assembled = (head: Uint8Array, batch: Uint8Array, spans: readonly number[]): Uint8Array => {
  let length = head.length
  for (let i = 0; i < spans.length; i += 2) length += spans[i + 1]! - spans[i]!
  const program = new Uint8Array(length)
  program.set(head)
  let at = head.length
  for (let i = 0; i < spans.length; i += 2) {
    program.set(batch.subarray(spans[i]!, spans[i + 1]!), at)
    at += spans[i + 1]! - spans[i]!
  }
  return program
}

const severalHomes = (one: number, other: number): QuoinError =>
  new QuoinError('ERR_STORE_SLOTS', 'in a cluster, all conditions of a batch must be in one partition', {
    partitions: [one, other]
  })
