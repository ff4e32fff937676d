/**
 * Commits batches, and finishes those that were left half done.
 *
 * A batch in one partition is one script. A batch in several begins at its home: one script makes the checks, applies
 * the home's part and enters the other parts into the journal of the home. Then each other part is applied by a
 * script that also notes the number of the entry, so that it is applied once however often it is sent; then the
 * entry leaves the journal. Whoever opens the store, and everyone from time to time, finishes what is in the journal.
 *
 * Notes of applied parts need no removal of their own. Entries of a home are numbered upwards, and a part comes with
 * the lowest number that was in the journal when it began: every lower one is applied everywhere, so the partition
 * remembers that number instead of the notes below it, and refuses parts below it.
 */
import { QuoinError } from '../../keyspace/index.ts'
import type { Answer } from '../engine.ts'
import { ProgramReader } from '../program-reader.ts'
import type { Partition } from './names.ts'
import { queueItem } from './record.ts'
import type { Reply } from './resp.ts'
import type { Router } from './router.ts'
import { scoreFrom } from './rows.ts'
import { batchScript } from './scripts/batch.ts'
import { entriesScript, finishScript } from './scripts/journal.ts'
import { mergeBatches, type Part, type Split, splitBatch } from './split.ts'

/** Where a commit over several partitions is: for tests that stop it there. */
export type Step = 'home' | 'part' | 'applied'

const ENTRIES_PAGE = 100
/** Of `commitMany`: scripts of so many bytes, so many of them on their way. */
const MERGED_BYTES = 64 * 1024
const IN_FLIGHT = 64
const IN_FLIGHT_BYTES = 32 * 1024 * 1024

export class Commits {
  readonly #router: Router
  readonly #partitions: readonly Partition[]
  readonly #onStep: ((step: Step) => void) | undefined
  /** What was begun and is not over: `close` waits for it. */
  readonly #pending = new Set<Promise<unknown>>()

  constructor(router: Router, partitions: readonly Partition[], onStep?: (step: Step) => void) {
    this.#router = router
    this.#partitions = partitions
    this.#onStep = onStep
  }

  async commit(batch: Uint8Array): Promise<Answer[]> {
    const split = splitBatch(batch, this.#partitions.length)
    if (split.others.length > 0) return this.#track(this.#commitParts(batch, split))
    const { home, program } = split
    const reply = await this.#track(this.#router.once(home, batchScript(this.#partitions[home]!, program)))
    if (typeof reply === 'number') throw new ProgramReader(batch).refusal(reply)
    return reply === null ? [] : (reply as Reply[]).map(answerFrom)
  }

  async commitMany(batches: readonly Uint8Array[]): Promise<void> {
    const running = new Set<Promise<void>>()
    let bytes = 0
    let failure: unknown
    for (const batch of mergeBatches(batches, MERGED_BYTES)) {
      while (running.size >= IN_FLIGHT || (bytes > IN_FLIGHT_BYTES && running.size > 0)) {
        await Promise.race(running)
      }
      if (failure !== undefined) break
      bytes += batch.length
      const commit = this.commit(batch)
        .then(
          () => {},
          error => {
            failure ??= error
          }
        )
        .finally(() => {
          bytes -= batch.length
          running.delete(commit)
        })
      running.add(commit)
    }
    await Promise.all(running)
    if (failure !== undefined) throw failure
  }

  /** Finishes the batches in the journals that are at least so many seconds old, and returns how many it were. */
  async repair(age: number): Promise<number> {
    const repaired = await Promise.all(this.#partitions.map(home => this.#repairIn(home, age)))
    return repaired.reduce((sum, each) => sum + each, 0)
  }

  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending)
  }

  async #commitParts(batch: Uint8Array, { home, program, others, answering }: Split): Promise<Answer[]> {
    const command = batchScript(this.#partitions[home]!, program, packParts(others))
    const reply = await this.#router.once(home, command)
    if (typeof reply === 'number') throw new ProgramReader(batch).refusal(reply)
    const [number, lowest, ...own] = reply as [Uint8Array, Uint8Array, ...Reply[]]
    const given = new Map([[home, own]])
    const replies = await this.#applyParts(home, number, lowest, others).catch(error => {
      throw error instanceof QuoinError ? unfinished(error.message, error.details) : error
    })
    others.forEach(({ partition }, i) => {
      const reply = replies[i]!
      if (reply === 0) throw unfinished('it took so long that others may have finished the batch, or not')
      given.set(partition, (reply ?? []) as Reply[])
    })
    // An entry that stays is finished again, with no effect.
    void this.#track(this.#finish(home, number).catch(() => {}))
    return answering.map(partition => answerFrom(given.get(partition)!.shift()!))
  }

  /** The replies to each part. */
  async #applyParts(
    home: number,
    number: Uint8Array,
    lowest: Uint8Array,
    parts: readonly Part[]
  ): Promise<Reply[]> {
    this.#onStep?.('home')
    const replies = await Promise.all(
      parts.map(async ({ partition, program }) => {
        const where = this.#partitions[partition]!
        const command = batchScript(where, program, '', String(home), number, lowest)
        const reply = await this.#router.repeatable(partition, command)
        this.#onStep?.('part')
        return reply
      })
    )
    this.#onStep?.('applied')
    return replies
  }

  async #finish(home: number, number: Uint8Array): Promise<void> {
    await this.#router.repeatable(home, finishScript(this.#partitions[home]!, number))
  }

  async #repairIn(home: Partition, age: number): Promise<number> {
    for (let repaired = 0; ; ) {
      const command = entriesScript(home, String(age), String(ENTRIES_PAGE))
      const [lowest, ...entries] = (await this.#router.repeatable(home.number, command)) as Uint8Array[]
      for (let i = 0; i < entries.length; i += 2) {
        await this.#applyParts(home.number, entries[i]!, lowest!, unpackParts(entries[i + 1]!))
        await this.#finish(home.number, entries[i]!)
        repaired++
      }
      if (entries.length < 2 * ENTRIES_PAGE) return repaired
    }
  }

  #track<T>(promise: Promise<T>): Promise<T> {
    this.#pending.add(promise)
    const over = (): void => {
      this.#pending.delete(promise)
    }
    promise.then(over, over)
    return promise
  }
}

/** The batch has begun, so that it is finished some time; whatever the reason, it must not be taken for undone. */
const unfinished = (why: string, details: Readonly<Record<string, unknown>> = {}): QuoinError =>
  new QuoinError('ERR_STORE_CONNECTION', `a batch was begun and will be finished from the journal: ${why}`, {
    ...details,
    outcome: 'unknown'
  })

const answerFrom = (reply: Reply): Answer => {
  if (reply instanceof Uint8Array) return scoreFrom(reply)
  const flat = reply as Uint8Array[]
  return Array.from({ length: flat.length / 2 }, (_, i) => queueItem(flat[2 * i]!, flat[2 * i + 1]!))
}

/** Each part as u16 partition ‖ u32 length ‖ program, little-endian. */
const packParts = (parts: readonly Part[]): Uint8Array => {
  const packed = new Uint8Array(parts.reduce((length, { program }) => length + 6 + program.length, 0))
  const view = new DataView(packed.buffer)
  let at = 0
  for (const { partition, program } of parts) {
    view.setUint16(at, partition, true)
    view.setUint32(at + 2, program.length, true)
    packed.set(program, at + 6)
    at += 6 + program.length
  }
  return packed
}

const unpackParts = (packed: Uint8Array): Part[] => {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength)
  const parts: Part[] = []
  for (let at = 0; at < packed.length; ) {
    const end = at + 6 + view.getUint32(at + 2, true)
    parts.push({ partition: view.getUint16(at, true), program: packed.subarray(at + 6, end) })
    at = end
  }
  return parts
}
