/** The thread that writes: opens stores, commits groups of batches, one request after the other for each store. */
import { parentPort } from 'node:worker_threads'
import type { Answer } from '../engine.ts'
import { storeError } from './failure.ts'
import { LevelWriter } from './level.ts'
import { LmdbWriter } from './lmdb.ts'
import type { Reply, Request } from './threaded.ts'
import type { Outcome } from './writer.ts'

interface RowWriter {
  write(batches: readonly Uint8Array[]): Promise<Outcome[]>
  close(): Promise<void>
}

const stores = new Map<number, RowWriter>()
const queues = new Map<number, Promise<void>>()

parentPort!.on('message', (request: Request) => {
  const before = queues.get(request.store) ?? Promise.resolve()
  queues.set(
    request.store,
    before.then(() => answer(request)).then(reply => parentPort!.postMessage(reply))
  )
})

const answer = async (request: Request): Promise<Reply> => {
  const { id, store } = request
  try {
    if (request.type === 'open') {
      stores.set(store, await (request.kind === 'lmdb' ? LmdbWriter : LevelWriter).open(request.path))
      return { id }
    }
    if (request.type === 'close') {
      await stores.get(store)?.close()
      stores.delete(store)
      queues.delete(store)
      return { id }
    }
    return { id, ...summary(await stores.get(store)!.write(split(request))) }
  } catch (error) {
    const { code, message, details } = storeError(error)
    return { id, error: { code, message, details } }
  }
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
