/** The error of a value that does not belong to its type: `txid: "zz" is not 64 hexadecimal digits`. */
import { shortHex } from './bytes.ts'
import { QuoinError } from './error.ts'

export const valueError = (type: string, value: unknown, expected: string): QuoinError =>
  new QuoinError('ERR_KEY_VALUE', `${type}: ${printValue(value)} is not ${expected}`, {
    codec: type,
    value: printValue(value),
    expected
  })

/** A value as messages print it, cut at 80 characters or 40 bytes. */
export const printValue = (value: unknown): string => {
  if (value instanceof Uint8Array) return `bytes ${shortHex(value)}`
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'bigint' ? `${value}n` : String(value)
}
