/**
 * How a process ends while its thread writes. It takes the thread down wherever that is, and LMDB would wait for ever
 * for a transaction that was left half-way: so the process waits until the one under way is over, and no other begins.
 */
import { workerData } from 'node:worker_threads'

/** Indexes of the shared flags: the process ends; a transaction is in flight. */
const IS_ENDING = 0
const IS_AT_WORK = 1

/** The worker data of the writer thread. */
export interface ShutdownLatch {
  readonly ending: Int32Array
}

/** The side of the process: hands `shared` to the thread, and says when it is going to end. */
export const newShutdownLatch = (): { readonly shared: ShutdownLatch; end(): void; ended(): void } => {
  const ending = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
  return {
    shared: { ending },
    end() {
      Atomics.store(ending, IS_ENDING, 1)
      Atomics.wait(ending, IS_AT_WORK, 1)
    },
    // A thread that is gone finishes no transaction: nobody waits for it.
    ended() {
      Atomics.store(ending, IS_AT_WORK, 0)
      Atomics.notify(ending, IS_AT_WORK)
    }
  }
}

/** Absent where a writer is not in a thread of its own. */
const given = (workerData as Partial<ShutdownLatch> | null)?.ending

/** The side of the thread: does work that must not be left half-way. */
export const criticalSection = <T>(work: () => T): T => {
  if (!given) return work()
  // Said before it is asked: so one of the two sides sees the other.
  Atomics.store(given, IS_AT_WORK, 1)
  try {
    if (Atomics.load(given, IS_ENDING) === 1) throw new Error('the process is ending')
    return work()
  } finally {
    Atomics.store(given, IS_AT_WORK, 0)
    Atomics.notify(given, IS_AT_WORK)
  }
}
