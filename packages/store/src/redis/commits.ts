/** Commits batches: each is one script, which the server runs as a whole. */

import { BatchDecoder } from '../batch-decoder.ts'
import type { OperationResult } from '../engine.ts'
import { mergeBatches } from './merge.ts'
import { queueItem } from './record.ts'
import type { Command, Reply } from './resp.ts'
import { scoreFrom } from './rows.ts'
import { batchScript } from './scripts/batch.ts'

/** Of `commitMany`: scripts of so many bytes, so many of them on their way. */
const MERGED_BYTES = 64 * 1024
const IN_FLIGHT = 64
const IN_FLIGHT_BYTES = 32 * 1024 * 1024

/** Sends a script that is done at most once, and gives its reply when the batch is to be acknowledged. */
export type Send = (script: Command) => Promise<Reply>

export class Commits {
  readonly #send: Send
  /** Under way: `close` waits for them. */
  readonly #pending = new Set<Promise<unknown>>()

  constructor(send: Send) {
    this.#send = send
  }

  async commit(batch: Uint8Array): Promise<OperationResult[]> {
    const reply = await this.#track(this.#send(batchScript(batch)))
    if (typeof reply === 'number') throw new BatchDecoder(batch).refusal(reply)
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

  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending)
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

const answerFrom = (reply: Reply): OperationResult => {
  if (reply instanceof Uint8Array) return scoreFrom(reply)
  const flat = reply as Uint8Array[]
  return Array.from({ length: flat.length / 2 }, (_, i) => queueItem(flat[2 * i]!, flat[2 * i + 1]!))
}
