/** JSON as it is sent: amounts that may exceed 2^53 are strings, bytes are hexadecimal. */
import { toHex } from '@quoin/primitives'

export const toJson = (value: unknown): string => JSON.stringify(value, plain) ?? 'null'

const plain = (_: string, value: unknown): unknown => {
  if (typeof value === 'bigint') return value.toString()
  return value instanceof Uint8Array ? toHex(value) : value
}

/**
 * How deep the text of a JSON document is nested, counted without parsing: a document that is nested too deep never
 * reaches code that recurses.
 */
export const depthOf = (text: Uint8Array): number => {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]
    if (inString) {
      if (byte === BACKSLASH) at++
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) inString = true
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) deepest = Math.max(deepest, ++depth)
    else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) depth--
  }
  return deepest
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
