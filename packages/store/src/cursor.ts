/** A place in the order of (score, member) as text that callers keep and hand back without looking into it. */
import { QuoinError } from '@quoin/primitives'
import type { ScoredMember } from './engine.ts'
import { MAX_KEY } from './engine.ts'

const VERSION = 1

/** A version byte, the score as float64, the member; as base64url. */
export const writeCursor = ({ score, member }: ScoredMember): string => {
  const bytes = new Uint8Array(9 + member.length)
  bytes[0] = VERSION
  new DataView(bytes.buffer).setFloat64(1, score)
  bytes.set(member, 9)
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Accepts only the output of `writeCursor`. */
export const readCursor = (cursor: string): ScoredMember => {
  const refuse = (): QuoinError =>
    new QuoinError('ERR_STORE_CURSOR', 'invalid cursor: expected one of this store')
  if (typeof cursor !== 'string' || cursor.length > 2 * MAX_KEY || !/^[A-Za-z0-9_-]{12,}$/.test(cursor)) {
    throw refuse()
  }
  let text: string
  try {
    text = atob(cursor.replaceAll('-', '+').replaceAll('_', '/'))
  } catch {
    throw refuse()
  }
  const bytes = Uint8Array.from(text, char => char.charCodeAt(0))
  const score = new DataView(bytes.buffer).getFloat64(1)
  const found = { score, member: bytes.slice(9) }
  if (bytes[0] !== VERSION || Number.isNaN(score) || found.member.length > MAX_KEY) throw refuse()
  if (writeCursor(found) !== cursor) throw refuse()
  return found
}
