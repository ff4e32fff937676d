/**
 * Times of the chain: nanoseconds since 1970, from the year 1 to the year 9999. An unset time is the first of them,
 * not zero.
 */
import { QuoinError } from '@quoin/primitives'

/** Nanoseconds since 1970. */
export type Time = bigint

export const SECOND = 1_000_000_000n

/** The first second of the year 1, which stands for "never". */
export const NEVER: Time = -62_135_596_800n * SECOND
/** The first time after the year 9999. */
export const TIME_END: Time = 253_402_300_800n * SECOND

const TEXT = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?Z$/

/**
 * Parses RFC 3339 in UTC, as in an export: `2023-04-13T04:30:20.485083198Z`.
 *
 * @example
 * parseTime('2024-01-01T00:00:00.5Z') // 1704067200500000000n
 * parseTime('2024-01-01') // throws ERR_LIQUIDITY_VALUE
 */
export const parseTime = (text: string): Time => {
  const [, seconds, fraction = ''] = TEXT.exec(text) ?? []
  const millis = seconds === undefined ? Number.NaN : Date.parse(`${seconds}Z`)
  // Date.parse reads the 30th of February as the 1st of March; formatting the result reveals it.
  if (Number.isNaN(millis) || new Date(millis).toISOString().slice(0, 19) !== seconds || millis < firstMillis)
    throw new QuoinError('ERR_LIQUIDITY_VALUE', 'invalid time: expected UTC as 2024-01-01T00:00:00Z', {
      given: text.slice(0, 80)
    })
  return BigInt(millis) * 1_000_000n + BigInt(fraction.padEnd(9, '0'))
}

const firstMillis = Number(NEVER / 1_000_000n)

/** With 0, 3, 6 or 9 fraction digits, as in protobuf's JSON. */
export const formatTime = (time: Time): string => {
  const nanos = ((time % SECOND) + SECOND) % SECOND
  const seconds = new Date(Number((time - nanos) / 1_000_000n)).toISOString().slice(0, 19)
  const fraction = nanos
    .toString()
    .padStart(9, '0')
    .replace(/(000)+$/, '')
  return `${seconds}${fraction && `.${fraction}`}Z`
}
