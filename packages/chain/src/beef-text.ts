/** BEEF in text: hexadecimal, base64, or JSON with either. */
import { QuoinError } from '@quoin/primitives'

/** First four bytes of a BEEF: version 1, version 2, Atomic. */
const MAGIC = ['0100beef', '0200beef', '01010101']

export const isBeef = (bytes: Uint8Array): boolean =>
  MAGIC.includes(Buffer.from(bytes.subarray(0, 4)).toString('hex'))

/** BEEF of a binary or text file. */
export const beefOf = (bytes: Uint8Array): Uint8Array =>
  isBeef(bytes) ? bytes : parseBeefText(decode(bytes))

/**
 * BEEF of a text: hexadecimal, base64, or `{ "beef": … }` with either, or with an array of bytes as the SDK writes it.
 */
export const parseBeefText = (text: string): Uint8Array => {
  const trimmed = text.trim()
  const bytes = trimmed.startsWith('{') ? fromJson(trimmed) : fromText(trimmed)
  if (!isBeef(bytes)) throw malformed('expected it to begin with 0100beef, 0200beef or 01010101')
  return bytes
}

const fromJson = (text: string): Uint8Array => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw malformed('the text begins with { and is not JSON', cause)
  }
  const { beef } = value as { readonly beef?: unknown }
  if (typeof beef === 'string') return fromText(beef)
  const isBytes =
    Array.isArray(beef) && beef.every(each => Number.isInteger(each) && each >= 0 && each <= 255)
  if (!isBytes) throw malformed('the JSON has no "beef" in hex, in base64, or as an array of bytes')
  return Uint8Array.from(beef as number[])
}

const fromText = (text: string): Uint8Array => {
  if (/^([0-9a-fA-F]{2})+$/.test(text)) return new Uint8Array(Buffer.from(text, 'hex'))
  if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return new Uint8Array(Buffer.from(text, 'base64'))
  throw malformed('it is neither hexadecimal nor base64')
}

const decode = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw malformed('expected it to begin with 0100beef, 0200beef or 01010101', cause)
  }
}

const malformed = (reason: string, cause?: unknown): QuoinError =>
  new QuoinError('ERR_BEEF_FORMAT', `invalid BEEF: ${reason}`, { cause })
