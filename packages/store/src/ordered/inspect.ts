/**
 * Reads every row of a store in files: its checksum, the order of keys, that a point read finds it, and how many rows
 * there are. It goes on past damage to the end; where the database itself cannot go on, it goes on from the other end.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { fromHex, QuoinError } from '@quoin/primitives'
import { parseFilesUrl } from '../url.ts'
import { needStore, type StoreKind } from './directory.ts'
import { storeRows } from './layout.ts'

export interface InspectedRow {
  /** The key of the row, in hexadecimal. */
  readonly row: string
  /** The collection of `store-rows` that the key is of. */
  readonly collection: string
  /** Its checksum does not fit; it lies out of order; a point read does not find it. */
  readonly fault: 'checksum' | 'order' | 'unreachable'
}

export interface Inspection {
  /** Rows that were read. */
  readonly rows: number
  readonly damaged: number
  /** Faults of the database beside its rows: rows it cannot read, or another number of them than it says. */
  readonly faults: readonly string[]
  /** Of all rows in their order; undefined when some could not be read. */
  readonly sha256: string | undefined
}

export interface InspectOptions {
  readonly onDamage?: (row: InspectedRow) => void
  readonly onProgress?: (rows: number, total: number | undefined) => void
  readonly signal?: AbortSignal | undefined
  /** Milliseconds without a line from a reader, after which it counts as stuck in the database; a minute unless given. */
  readonly silence?: number
}

/** The request to the process; with `until` it scans backwards, down to that key. */
export interface InspectRequest {
  readonly kind: StoreKind
  readonly path: string
  readonly until?: string
}

/** A line of the process's output. */
export type InspectLine =
  | ({ readonly type: 'damage' } & Omit<InspectedRow, 'collection'>)
  | { readonly type: 'progress'; readonly rows: number; readonly total: number | null; readonly last: string }
  | { readonly type: 'failure'; readonly rows: number; readonly message: string; readonly last: string }
  | { readonly type: 'count'; readonly rows: number; readonly said: number }
  | {
      readonly type: 'error'
      readonly code: QuoinError['code']
      readonly message: string
      readonly details: Readonly<Record<string, unknown>>
    }
  | { readonly type: 'done'; readonly rows: number; readonly sha256: string }

const SILENCE_MS = 60_000
const ENTRY = import.meta.url.endsWith('.ts') ? './inspect-process.source.mjs' : './inspect-process.js'

export const inspectStore = async (url: string, options: InspectOptions = {}): Promise<Inspection> => {
  const target = parseFilesUrl(url)
  if (!target) {
    throw new QuoinError('ERR_STORE_URL', `only lmdb:PATH and level:PATH have rows to inspect, not ${url}`, {
      url
    })
  }
  const { kind, path } = target
  await needStore(kind, path)
  const forward = await walk({ kind, path }, options)
  if (forward.end === undefined) {
    const { rows, damaged, faults, sha256 } = forward
    return { rows, damaged, faults, sha256 }
  }
  const backward = await walk({ kind, path, until: forward.last ?? '' }, options)
  const gap = `rows after ${forward.last ?? 'the first'} cannot be read: ${forward.end}`
  return {
    rows: forward.rows + backward.rows,
    damaged: forward.damaged + backward.damaged,
    faults: [...forward.faults, gap, ...backward.faults, ...(backward.end ? [backward.end] : [])],
    sha256: undefined
  }
}

interface Walk {
  rows: number
  damaged: number
  faults: string[]
  sha256: string | undefined
  /** Of the last row that is known to be read. */
  last: string | undefined
  /** Why it ended early. */
  end: string | undefined
}

const walk = async (
  request: InspectRequest,
  { onDamage, onProgress, signal, silence: most = SILENCE_MS }: InspectOptions
): Promise<Walk> => {
  const found: Walk = { rows: 0, damaged: 0, faults: [], sha256: undefined, last: undefined, end: undefined }
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL(ENTRY, import.meta.url)), JSON.stringify(request)],
    {
      stdio: ['ignore', 'pipe', 'ignore']
    }
  )
  const exited = new Promise<string>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, ended) => resolve(ended ?? `exit code ${code}`))
  })
  const onAbort = (): void => void child.kill('SIGKILL')
  signal?.addEventListener('abort', onAbort)
  let silence = setTimeout(onAbort, most)
  let refusal: QuoinError | undefined
  let isDone = false
  try {
    for await (const text of createInterface(child.stdout)) {
      clearTimeout(silence)
      silence = setTimeout(onAbort, most)
      const line = JSON.parse(text) as InspectLine
      if (line.type === 'damage') {
        found.damaged++
        onDamage?.({ row: line.row, fault: line.fault, collection: collectionOf(line.row) })
      } else if (line.type === 'progress') {
        found.rows = line.rows
        found.last = line.last
        onProgress?.(line.rows, line.total ?? undefined)
      } else if (line.type === 'failure') {
        found.last = line.last
        found.end = line.message
      } else if (line.type === 'count') {
        found.faults.push(`the database says that it has ${line.said} rows, and ${line.rows} are found`)
      } else if (line.type === 'error') refusal = new QuoinError(line.code, line.message, { ...line.details })
      else {
        found.rows = line.rows
        found.sha256 = line.sha256
        isDone = true
      }
    }
    const ended = await exited
    signal?.throwIfAborted()
    if (!isDone) found.end ??= refusal?.message ?? `the database ended the process that reads it (${ended})`
    // Nothing was read: the store cannot be opened, and the message names the remedy.
    if (refusal && found.rows === 0 && found.damaged === 0 && refusal.code !== 'ERR_STORE_ENGINE')
      throw refusal
    return found
  } finally {
    clearTimeout(silence)
    signal?.removeEventListener('abort', onAbort)
    child.kill('SIGKILL')
  }
}

const collectionOf = (row: string): string => {
  const explained = storeRows.explain(fromHex(row))
  return explained.found ? explained.collection : 'unknown'
}
