/** Refusals of layout files: each has the path in the file, and the small guards that throw them. */
import { QuoinError } from '@quoin/primitives'

export const malformed = (path: string, message: string, cause?: unknown): QuoinError =>
  new QuoinError('ERR_AUDIT_FORMAT', `${path}: ${message}`, { path, cause })

/** Adds the path in the file to the error of a declaration. */
export const located = <T>(path: string, make: () => T): T => {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    throw malformed(path, error.message, error)
  }
}

export const record = (given: unknown, path: string, fields?: readonly string[]): Record<string, unknown> => {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw malformed(path, 'an object is needed')
  for (const field of Object.keys(given)) {
    if (fields && !fields.includes(field))
      throw malformed(`${path}.${field}`, `unknown; known: ${fields.join(', ')}`)
  }
  return given as Record<string, unknown>
}

export const array = (given: unknown, path: string, most: number): unknown[] => {
  if (!Array.isArray(given)) throw malformed(path, 'an array is needed')
  if (given.length > most) throw malformed(path, `at most ${most} entries, not ${given.length}`)
  return given
}

export const nonEmpty = (given: unknown, path: string): string => {
  if (typeof given !== 'string' || given === '') throw malformed(path, 'a name is needed')
  // Names are printed, and these characters could control a terminal.
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(given))
    throw malformed(path, 'a name has no control or formatting characters')
  return given
}

export const integer = (given: unknown, path: string, least: number, most: number): number => {
  if (typeof given !== 'number' || !Number.isInteger(given) || given < least || given > most) {
    throw malformed(path, `a whole number from ${least} to ${most}`)
  }
  return given
}
