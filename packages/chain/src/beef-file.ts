/** BEEFs in a file, one after the other, each with its end offset. */
import { createReadStream } from 'node:fs'
import { open, readFile, stat } from 'node:fs/promises'
import { QuoinError, reasonOf } from '@quoin/primitives'
import { Beef } from './beef.ts'
import { isBeef, parseBeefText } from './beef-text.ts'

/** Bytes of the longest line. */
const MAX_LINE = 256 * 1024 * 1024
const NEWLINE = 10

export interface FileRecord {
  /** BEEF as bytes, or a line of text. */
  readonly content: Uint8Array | string
  /** Line number, from 1; always 1 in a binary file. */
  readonly line: number
  /** Offset of the byte after the record. */
  readonly end: number
}

/** Parses the BEEF of a record. */
export const beefOfRecord = ({ content }: FileRecord): Beef =>
  Beef.parse(typeof content === 'string' ? parseBeefText(content) : content)

export const fileSize = async (path: string): Promise<number> => {
  try {
    const found = await stat(path)
    if (found.isFile()) return found.size
  } catch (error) {
    throw new QuoinError('ERR_FILE', `cannot read ${path}: ${reasonOf(error)}`, { path, cause: error })
  }
  throw new QuoinError('ERR_FILE', `${path} is not a file`, { path })
}

/** First `length` bytes of a file. */
export const headOf = async (path: string, length: number): Promise<Uint8Array> => {
  const file = await open(path)
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Records from offset `from`, which is the end of an earlier record. Lines are counted from there. */
export async function* recordsOf(path: string, from: number): AsyncGenerator<FileRecord, void, undefined> {
  if (isBeef(await headOf(path, 4))) {
    const content = await readFile(path)
    if (from < content.length) yield { content, line: 1, end: content.length }
    return
  }
  const parts: Buffer[] = []
  let [line, end, length] = [0, from, 0]
  const taken = (): FileRecord | undefined => {
    line++
    const content = Buffer.concat(parts).toString('utf8').trim()
    parts.length = 0
    length = 0
    return content === '' ? undefined : { content, line, end }
  }
  for await (const chunk of createReadStream(path, { start: from }) as AsyncIterable<Buffer>) {
    let start = 0
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
      parts.push(chunk.subarray(start, at))
      end += at + 1 - start
      start = at + 1
      const record = taken()
      if (record) yield record
    }
    parts.push(chunk.subarray(start))
    end += chunk.length - start
    length += chunk.length - start
    if (length > MAX_LINE) {
      throw new QuoinError('ERR_FILE', `${path} has a line longer than ${MAX_LINE} bytes`, {
        path,
        line: line + 1
      })
    }
  }
  const record = taken()
  if (record) yield record
}
