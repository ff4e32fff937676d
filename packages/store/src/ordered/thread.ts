/**
 * The thread that writes: opens stores and commits groups of batches, one request after the other for each store. A
 * database may be at work on the next group while the last is on its way to the disk.
 */

import { parentPort } from 'node:worker_threads'
import { hasCode, type QuoinError } from '@quoin/primitives'

import type { OperationResult } from '../engine.ts'
import { storeError } from './failure.ts'
import type { GroupCommit, GroupResult } from './group-writer.ts'
import type { ErrorMessage, ThreadedKind, WriterRequest, WriterResponse } from './threaded.ts'

interface RowWriter {
  write(batches: readonly Uint8Array[]): Promise<GroupCommit>
  close(): Promise<void>
}

const stores = new Map<number, RowWriter>()
const queues = new Map<number, Promise<unknown>>()

parentPort!.on('message', (request: WriterRequest) => {
  const { id, store } = request
  const answered = (queues.get(store) ?? Promise.resolve()).then(() => answer(request))
  // The reply to this request has the error; the next one does not depend on it.
  queues.set(
    store,
    answered.catch(() => {})
  )
  answered
    .then(async ({ done }) => ({ id, ...summary(await done) }))
    .catch((error): WriterResponse => ({ id, error: toErrorMessage(storeError(error)) }))
    .then(reply => parentPort!.postMessage(reply))
})

/** Imports the database of the kind only. */
const openWriter = async (kind: ThreadedKind, path: string): Promise<RowWriter> =>
  kind === 'lmdb'
    ? (await import('./lmdb-writer.ts')).LmdbWriter.open(path)
    : (await import('./level.ts')).LevelWriter.open(path)

/** Resolves when the next request of the store may be answered. */
const answer = async (request: WriterRequest): Promise<GroupCommit> => {
  const { store } = request
  if (request.type === 'write') return write(stores.get(store)!, split(request))
  if (request.type === 'open') {
    const { kind, path } = request
    const opened = openWriter(kind, path)
    stores.set(store, await opened.catch(error => Promise.reject(storeError(error, path))))
  } else {
    await stores.get(store)?.close()
    stores.delete(store)
    queues.delete(store)
  }
  return { done: Promise.resolve({ outcomes: [], written: false }) }
}

/** A damaged row fails the batches that read it, not the others of their group: each is committed alone then. */
const write = async (writer: RowWriter, batches: readonly Uint8Array[]): Promise<GroupCommit> => {
  try {
    return await writer.write(batches)
  } catch (error) {
    if (batches.length === 1 || !isDamage(error)) throw error
  }
  const alone: GroupResult[] = []
  for (const batch of batches) alone.push(await writeAlone(writer, batch))
  return {
    done: Promise.resolve({
      outcomes: alone.flatMap(({ outcomes }) => outcomes),
      written: alone.some(({ written }) => written)
    })
  }
}

const writeAlone = async (writer: RowWriter, batch: Uint8Array): Promise<GroupResult> => {
  try {
    return await (await writer.write([batch])).done
  } catch (error) {
    if (!isDamage(error)) throw error
    return { outcomes: [{ error }], written: false }
  }
}

const isDamage = (error: unknown): error is QuoinError => hasCode(error, 'ERR_STORE_CORRUPT')

const split = ({ batches, lengths }: WriterRequest & { type: 'write' }): Uint8Array[] => {
  let end = 0
  return Array.from(lengths, length => {
    end += length
    return batches.subarray(end - length, end)
  })
}

const summary = ({ outcomes, written }: GroupResult): Omit<WriterResponse, 'id' | 'error'> => {
  const failed: [number, number][] = []
  const answers: [number, OperationResult[]][] = []
  const errors: [number, ErrorMessage][] = []
  outcomes.forEach((outcome, i) => {
    if ('failed' in outcome) failed.push([i, outcome.failed])
    else if ('error' in outcome) errors.push([i, toErrorMessage(outcome.error)])
    else if (outcome.answers.length > 0) answers.push([i, outcome.answers])
  })
  return { failed, answers, errors, written }
}

const toErrorMessage = ({ code, message, details }: QuoinError): ErrorMessage => ({ code, message, details })
