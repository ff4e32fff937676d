/**
 * A plan is a computation that yields its reads instead of calling them, so that one text runs over synchronous reads,
 * without a promise, and over asynchronous ones.
 *
 * @example
 * import type { ReadPlan } from '@quoin/store'
 * const store = await openStore('memory:')
 * const [a, b] = [Uint8Array.of(1), Uint8Array.of(2)]
 * function* sum(): ReadPlan<number> {
 *   return (yield* ask(reads => reads.zcard(a))) + (yield* ask(reads => reads.zcard(b)))
 * }
 * await store.run(sum()) // 0
 */
import type { Reads, SyncReads } from './engine.ts'

type Read<Source, R = unknown> = (source: Source) => R

/** It yields a read, or several that do not depend on each other. */
export type Plan<Source, T> = Generator<Read<Source> | readonly Read<Source>[], T, unknown>

export type ReadSource = Reads | SyncReads

/** A plan over the reads of an engine. */
export type ReadPlan<T> = Plan<ReadSource, T>

/** One read of a plan, by `yield*`. */
export function* ask<Source, R>(read: Read<Source, R>): Plan<Source, Awaited<R>> {
  return (yield read) as Awaited<R>
}

/** Several reads at once. */
export function* askAll<const R extends readonly unknown[], Source = ReadSource>(
  reads: {
    readonly [Index in keyof R]: Read<Source, R[Index]>
  }
): Plan<Source, { -readonly [Index in keyof R]: Awaited<R[Index]> }> {
  return (yield reads) as { -readonly [Index in keyof R]: Awaited<R[Index]> }
}

/** Runs a plan at once, over a source whose reads are synchronous. */
export const runSync = <Source, T>(plan: Plan<Source, T>, source: Source): T => {
  let step = plan.next()
  while (!step.done) {
    const reads = step.value
    step = plan.next(typeof reads === 'function' ? reads(source) : reads.map(read => read(source)))
  }
  return step.value
}

/** Runs a plan over a source whose reads are promised. */
export const runAsync = async <Source, T>(plan: Plan<Source, T>, source: Source): Promise<T> => {
  let step = plan.next()
  while (!step.done) {
    const reads = step.value
    step = plan.next(
      await (typeof reads === 'function' ? reads(source) : Promise.all(reads.map(read => read(source))))
    )
  }
  return step.value
}
