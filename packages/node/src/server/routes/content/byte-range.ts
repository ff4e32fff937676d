/** Conditional and partial answers over immutable bytes (RFC 9110). */

export interface ByteRange {
  readonly start: number
  /** Behind the last byte. */
  readonly end: number
}

/**
 * The range that a header asks for, of so many bytes. Undefined for the whole: no range, several ranges, another unit or
 * another form. `unsatisfiable` where it begins behind the end.
 */
export const byteRange = (
  header: string | undefined,
  length: number
): ByteRange | 'unsatisfiable' | undefined => {
  const [, first, last] = /^bytes=([0-9]{0,15})-([0-9]{0,15})$/.exec(header?.trim() ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined
  if (first === '') {
    const count = Number(last)
    return count === 0 ? 'unsatisfiable' : { start: Math.max(0, length - count), end: length }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return undefined
  if (start >= length) return 'unsatisfiable'
  return { start, end: last === '' ? length : Math.min(length, Number(last) + 1) }
}

/** Whether `If-None-Match` has the tag, compared weakly. */
export const hasTag = (header: string | undefined, tag: string): boolean =>
  header?.split(',').some(each => each.trim() === '*' || each.trim().replace(/^W\//, '') === tag) ?? false
