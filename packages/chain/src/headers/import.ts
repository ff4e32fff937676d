/**
 * Headers from files of any size: 80 bytes each, or one line of hexadecimal digits each. Progress is the store itself:
 * an interrupted import resumes there.
 */
import { type FileHandle, open } from 'node:fs/promises'
import { equalBytes, fromHex, QuoinError, reasonOf } from '@quoin/primitives'
import { HEADER_LENGTH, type Header, readHeaders } from './header.ts'
import type { HeaderStore } from './header-store.ts'

/** Headers in one batch: enough that its sync does not matter, few enough that its memory does not. */
const PART = 50_000
const LINE = 2 * HEADER_LENGTH

export interface ImportProgress {
  /** Headers done, counted from the start of the file. */
  readonly done: number
  /** Headers of a binary file; of text, lines read so far. */
  readonly total: number
  /** Height of the tip. */
  readonly height: number
}

export interface ImportOptions {
  readonly onProgress?: (progress: ImportProgress) => void
  readonly signal?: AbortSignal
}

export interface HeaderImport {
  /** Headers that the store did not have. */
  readonly added: number
  /** Headers in the file. */
  readonly total: number
  /** Height of the tip. */
  readonly height: number
}

/** Imports a file of headers of 80 bytes each, in the order of their heights. */
export const importHeaders = async (
  store: HeaderStore,
  path: string,
  options: ImportOptions = {}
): Promise<HeaderImport> => {
  const file = await opened(path)
  try {
    const { size } = await file.stat()
    const total = size / HEADER_LENGTH
    if (!Number.isInteger(total)) {
      throw new QuoinError('ERR_HEADER_FORMAT', `${path} has ${size} bytes: not headers of 80 each`, {
        path,
        size
      })
    }
    const read = (from: number, count: number): Promise<Header[]> =>
      readPart(file, from, Math.min(count, total - from))
    const first = await firstUnknown(store, total, read)
    return await load(store, partsFrom(first, total, read), { ...options, done: first, total })
  } finally {
    await file.close()
  }
}

/**
 * Imports text with the 160 hexadecimal digits of one header in each line, for example `createReadStream(path, 'utf8')`.
 */
export const importHeaderText = (
  store: HeaderStore,
  text: AsyncIterable<string> | Iterable<string>,
  options: ImportOptions = {}
): Promise<HeaderImport> => load(store, partsOfText(text), options)

const load = async (
  store: HeaderStore,
  parts: AsyncIterable<readonly Header[]>,
  { onProgress, signal, done = 0, total }: ImportOptions & { done?: number; total?: number }
): Promise<HeaderImport> => {
  let added = 0
  let read = done
  const counted = async function* (): AsyncGenerator<readonly Header[]> {
    for await (const part of parts) {
      signal?.throwIfAborted()
      read += part.length
      yield part
    }
  }
  await store.load(counted(), (change, part) => {
    added += change.added.length
    done += part
    onProgress?.({ done, total: total ?? read, height: change.tip.height })
  })
  return { added, total: total ?? read, height: await store.currentHeight() }
}

const opened = async (path: string): Promise<FileHandle> => {
  try {
    return await open(path)
  } catch (error) {
    throw new QuoinError('ERR_FILE', `cannot read ${path}: ${reasonOf(error)}`, { path, cause: error })
  }
}

const readPart = async (file: FileHandle, from: number, count: number): Promise<Header[]> => {
  const bytes = new Uint8Array(count * HEADER_LENGTH)
  let filled = 0
  while (filled < bytes.length) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, from * HEADER_LENGTH + filled)
    if (bytesRead === 0)
      throw new QuoinError('ERR_HEADER_FORMAT', 'the file became shorter while it was read')
    filled += bytesRead
  }
  return readHeaders(bytes)
}

const partsFrom = async function* (
  first: number,
  total: number,
  read: (from: number, count: number) => Promise<Header[]>
): AsyncGenerator<Header[]> {
  for (let at = first; at < total; at += PART) yield read(at, PART)
}

/**
 * Index of the first header that the store does not have. A file is one line of headers, and the store has one unbroken
 * piece of it: its start is found, then its end by bisection. That piece usually begins with the file; a store that
 * began at a checkpoint has no earlier headers.
 */
const firstUnknown = async (
  store: HeaderStore,
  total: number,
  read: (from: number, count: number) => Promise<Header[]>
): Promise<number> => {
  const isKnown = async (header: Header): Promise<boolean> =>
    (await store.headerOf(header.hash)) !== undefined
  if (total === 0) return 0
  const [first] = await read(0, 1)
  let low = 0
  if (!(await isKnown(first!))) {
    if (await store.headerOf(first!.previous)) return 0
    const origin = (await store.header(store.start))!.header
    low = await indexOf(origin, total, read)
  }
  let high = total
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const [header] = await read(middle, 1)
    if (await isKnown(header!)) low = middle
    else high = middle
  }
  return high
}

const indexOf = async (
  wanted: Header,
  total: number,
  read: (from: number, count: number) => Promise<Header[]>
): Promise<number> => {
  for (let at = 0; at < total; at += PART) {
    const index = (await read(at, PART)).findIndex(({ raw }) => equalBytes(raw, wanted.raw))
    if (index !== -1) return at + index
  }
  throw new QuoinError('ERR_HEADER_UNKNOWN', 'the file does not continue any header of the store')
}

const partsOfText = async function* (
  text: AsyncIterable<string> | Iterable<string>
): AsyncGenerator<Header[]> {
  let rest = ''
  let number = 0
  let part: Header[] = []
  for await (const chunk of text) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    for (const line of lines) part.push(...headersOfLine(line, ++number))
    // No valid line is longer; without this check a file without line breaks would be read whole.
    if (rest.length > LINE + 1) headersOfLine(rest, number + 1)
    if (part.length >= PART) {
      yield part
      part = []
    }
  }
  yield [...part, ...headersOfLine(rest, number + 1)]
}

/** The header of a line; none for an empty line. */
const headersOfLine = (line: string, number: number): Header[] => {
  const digits = line.trim()
  if (digits === '') return []
  if (digits.length !== LINE || /[^0-9a-fA-F]/.test(digits)) {
    throw new QuoinError('ERR_HEADER_FORMAT', `line ${number} is not the ${LINE} digits of a header`, {
      line: number
    })
  }
  return readHeaders(fromHex(digits))
}
