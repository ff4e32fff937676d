/** Splits JSON objects that follow one another, on lines or formatted: the text of each, and its first line. */
import { QuoinError } from '@quoin/primitives'

export interface JsonDocument {
  readonly line: number
  readonly text: string
}

/** The limit on the bytes of one object: an answer of a node may hold hundreds of thousands of pairs. */
const MAX_DOCUMENT = 256 * 1024 * 1024

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN = 0x7b
const CLOSE = 0x7d
const NEWLINE = 0x0a
const isSpace = (byte: number): boolean => byte === 0x20 || byte === NEWLINE || byte === 0x0d || byte === 0x09

export async function* jsonDocuments(source: AsyncIterable<Uint8Array>): AsyncGenerator<JsonDocument> {
  const decoder = new TextDecoder()
  let line = 1
  let begins = 0
  let depth = 0
  let inString = false
  let isEscaped = false
  let held = ''
  const refused = (message: string): QuoinError =>
    new QuoinError('ERR_LIQUIDITY_IMPORT', `line ${line}: ${message}`, { line })
  for await (const chunk of source) {
    let start = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (byte === NEWLINE) line++
      if (inString) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) inString = false
      } else if (byte === OPEN) {
        if (depth++ === 0) {
          start = at
          begins = line
        }
      } else if (depth === 0) {
        if (!isSpace(byte)) throw refused('not JSON: there must be an object here')
      } else if (byte === QUOTE) inString = true
      else if (byte === CLOSE && --depth === 0) {
        yield { line: begins, text: held + decoder.decode(chunk.subarray(start, at + 1)) }
        held = ''
      }
    }
    if (depth === 0) continue
    held += decoder.decode(chunk.subarray(start), { stream: true })
    if (held.length > MAX_DOCUMENT) throw refused(`an object of more than ${MAX_DOCUMENT} bytes`)
  }
  if (depth > 0) throw refused('not JSON: the last object is incomplete')
}
