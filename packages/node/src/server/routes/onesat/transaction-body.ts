/** The transaction of a request body: BEEF, Extended Format or raw; in bytes, in hex, or as JSON `{rawTx}` in hex. */
import { Beef, isBeef, parseExtended } from '@quoin/chain'
import { fromHex, QuoinError } from '@quoin/primitives'

const JSON_START = 0x7b

export const beefOfBody = (body: Uint8Array): Beef => {
  const bytes = bytesOf(body)
  if (isBeef(bytes)) return Beef.parse(bytes)
  // Its ancestry is in the index, or it is refused.
  const transaction = parseExtended(bytes)
  return Beef.of([{ txid: transaction.txid, transaction, bump: undefined }])
}

const bytesOf = (body: Uint8Array): Uint8Array => {
  if (body[0] === JSON_START) return fromText(rawTxOf(body))
  return isHex(body) ? fromText(Buffer.from(body).toString('latin1').trim()) : body
}

/** The version of a transaction begins with bytes that are no hexadecimal digits. */
const isHex = (body: Uint8Array): boolean => body.length > 0 && body.subarray(0, 8).every(isHexDigit)
const isHexDigit = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)

const fromText = (text: string): Uint8Array => {
  if (!/^([0-9a-fA-F]{2})+$/.test(text)) throw malformed('expected hexadecimal digits')
  return fromHex(text)
}

const rawTxOf = (body: Uint8Array): string => {
  try {
    const { rawTx } = JSON.parse(Buffer.from(body).toString('utf8')) as { readonly rawTx?: unknown }
    if (typeof rawTx === 'string') return rawTx
  } catch (cause) {
    throw malformed('the body begins with { and is not JSON', cause)
  }
  throw malformed('the JSON has no text "rawTx"')
}

const malformed = (reason: string, cause?: unknown): QuoinError =>
  new QuoinError('ERR_REQUEST', `invalid transaction: ${reason}`, { where: 'body', path: '', cause })
