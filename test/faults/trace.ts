/** The records of `shim.c`. Files and directories are named by inode numbers, which the system reuses. */
import { readFileSync } from 'node:fs'

export type Event =
  | { readonly type: 'create' | 'mkdir'; readonly file: bigint; readonly name: string }
  | { readonly type: 'write'; readonly file: bigint; readonly at: number; readonly data: Uint8Array }
  | { readonly type: 'truncate'; readonly file: bigint; readonly size: number }
  /** Of a file or a directory; with a range, of a write through a synchronous descriptor. */
  | { readonly type: 'sync' | 'failed sync'; readonly file: bigint; readonly range: Range | undefined }
  | { readonly type: 'rename' | 'link'; readonly from: string; readonly to: string }
  | { readonly type: 'remove'; readonly name: string }
  /** A line that the process printed. */
  | { readonly type: 'line'; readonly text: string }
  /** The ordered fault occurred. */
  | { readonly type: 'fault' }

export interface Range {
  readonly at: number
  readonly size: number
}

const HEADER = 32

const parse = (type: string, file: bigint, { at, size }: Range, data: Uint8Array): Event => {
  const text = (): string => Buffer.from(data).toString()
  const [from = '', to = ''] = type === 'R' || type === 'L' ? text().split('\0') : []
  switch (type) {
    case 'C':
      return { type: 'create', file, name: text() }
    case 'M':
      return { type: 'mkdir', file, name: text() }
    case 'W':
      return { type: 'write', file, at, data }
    case 'T':
      return { type: 'truncate', file, size: at }
    case 'S':
    case 'F':
      return { type: type === 'S' ? 'sync' : 'failed sync', file, range: size > 0 ? { at, size } : undefined }
    case 'R':
      return { type: 'rename', from, to }
    case 'L':
      return { type: 'link', from, to }
    case 'U':
      return { type: 'remove', name: text() }
    case 'A':
      return { type: 'line', text: text().trim() }
    case 'I':
      return { type: 'fault' }
    default:
      throw new Error(`the process called ${text()}, which the simulator does not replay: add it to disk.ts`)
  }
}

export const readTrace = (path: string): Event[] => {
  const bytes = readFileSync(path)
  const events: Event[] = []
  for (let from = 0; from < bytes.length; ) {
    const data = from + HEADER
    const length = bytes.readUInt32LE(from + 4)
    const range = {
      at: Number(bytes.readBigUInt64LE(from + 16)),
      size: Number(bytes.readBigUInt64LE(from + 24))
    }
    const type = String.fromCharCode(bytes.readUInt32LE(from))
    events.push(parse(type, bytes.readBigUInt64LE(from + 8), range, bytes.subarray(data, data + length)))
    from = data + length
  }
  return events
}
