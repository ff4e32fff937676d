/**
 * The thread that writes: opens stores and commits groups of batches, one request after the other for each store. A
 * database may be at work on the next group while the last is on its way to the disk.
 */
import { parentPort } from 'node:worker_threads'
import type { Answer } from '../engine.ts'
import { storeError } from './failure.ts'
import { LevelWriter } from './level.ts'
import { LmdbWriter } from './lmdb-writer.ts'
import type { Reply, Request } from './threaded.ts'
import type { Outcome, Writing } from './writer.ts'

interface RowWriter {
  write(batches: readonly Uint8Array[], durable: boolean): Promise<Writing>
  close(): Promise<void>
}

const stores = new Map<number, RowWriter>()
const queues = new Map<number, Promise<unknown>>()

parentPort!.on('message', (request: Request) => {
  const { id, store } = request
  const answered = (queues.get(store) ?? Promise.resolve()).then(() => answer(request))
  // The reply to this request has the error; the next one does not depend on it.
  queues.set(
    store,
    answered.catch(() => {})
  )
  answered
    .then(async ({ done }) => ({ id, ...summary(await done) }))
    .catch((error): Reply => {
      const { code, message, details } = storeError(error)
      return { id, error: { code, message, details } }
    })
    .then(reply => parentPort!.postMessage(reply))
})

/** Resolves when the next request of the store may be answered. */
const answer = async (request: Request): Promise<Writing> => {
  const { store } = request
  if (request.type === 'write') return stores.get(store)!.write(split(request), request.durable)
  if (request.type === 'open') {
    stores.set(store, await (request.kind === 'lmdb' ? LmdbWriter : LevelWriter).open(request.path))
  } else {
    await stores.get(store)?.close()
    stores.delete(store)
    queues.delete(store)
  }
  return { done: Promise.resolve([]) }
}

const split = ({ batches, lengths }: Request & { type: 'write' }): Uint8Array[] => {
  let end = 0
  return Array.from(lengths, length => {
    end += length
    return batches.subarray(end - length, end)
  })
}

const summary = (outcomes: readonly Outcome[]): Pick<Reply, 'failed' | 'answers'> => {
  const failed: [number, number][] = []
  const answers: [number, Answer[]][] = []
  outcomes.forEach((outcome, i) => {
    if ('failed' in outcome) failed.push([i, outcome.failed])
    else if (outcome.answers.length > 0) answers.push([i, outcome.answers])
  })
  return { failed, answers }
}
