/**
 * The script of a token (BRC-48, BRC-35 §5): a PushDrop with its lock before the fields.
 *
 *     ‹lock key› OP_CHECKSIG ‹field› … ‹signature› OP_2DROP … [OP_DROP]
 *
 * The reader accepts any encoding of a push and any drops of exactly the pushed fields, because the output is spent alike.
 */
import { buildScript, OP, pushedBy, ScriptCursor } from '@quoin/primitives'

export interface PushDropScript {
  readonly lockKey: Uint8Array
  /** Without the signature. OP_0 is read as no bytes. */
  readonly fields: readonly Uint8Array[]
  readonly signature: Uint8Array
}

/** The reason why a script is not the PushDrop of a token. */
export interface ScriptFault {
  readonly code: 'shape' | 'fields'
  readonly reason: string
}

const COMPRESSED = 33
const UNCOMPRESSED = 65
const FIELDS_WITHOUT_TAGS = 4
const FIELDS_WITH_TAGS = 5
const NO_BYTES = new Uint8Array()

export const isCompressed = (key: Uint8Array): boolean =>
  key.length === COMPRESSED && (key[0] === 2 || key[0] === 3)

const isLockKey = (key: Uint8Array): boolean =>
  isCompressed(key) || (key.length === UNCOMPRESSED && key[0] === 4)

/** Parses a locking script with four or five fields and a signature. */
export const readScript = (script: Uint8Array): PushDropScript | ScriptFault => {
  const cursor = new ScriptCursor(script)
  const lockKey = cursor.next() ? cursor.data : undefined
  const hasLock = lockKey !== undefined && isLockKey(lockKey) && cursor.next() && cursor.op === OP.CHECKSIG
  if (!hasLock) return shape('the script does not begin with a public key and OP_CHECKSIG')
  const pushed: Uint8Array[] = []
  let dropped = 0
  while (cursor.next()) {
    const field = dropped === 0 ? pushedBy(cursor) : undefined
    if (field) {
      if (pushed.push(field) > FIELDS_WITH_TAGS + 1) return fieldCount('more than 6')
      continue
    }
    const drops = cursor.op === OP['2DROP'] ? 2 : cursor.op === OP.DROP ? 1 : 0
    if (drops === 0) return shape('the script has an opcode that neither pushes a field nor drops one')
    dropped += drops
  }
  if (cursor.truncated) return shape('the script ends within a push')
  const { length } = pushed
  if (length !== FIELDS_WITHOUT_TAGS + 1 && length !== FIELDS_WITH_TAGS + 1) return fieldCount(length)
  if (dropped !== length) return shape(`the script drops ${dropped} of its ${length} fields`)
  return { lockKey, fields: pushed.slice(0, -1), signature: pushed[length - 1]! }
}

const shape = (reason: string): ScriptFault => ({ code: 'shape', reason })
const fieldCount = (count: number | string): ScriptFault => ({
  code: 'fields',
  reason: `the script has ${count} fields, expected 5 or 6`
})

/** The canonical locking script: shortest pushes, OP_2DROP for each pair of fields, OP_DROP for an odd one. */
export const writeToken = ({ lockKey, fields, signature }: PushDropScript): Uint8Array => {
  const pushed = [...fields, signature].map(field =>
    field.length === 1 && field[0] === 0 ? NO_BYTES : field
  )
  const drops = Array.from({ length: pushed.length >> 1 }, () => OP['2DROP'])
  return buildScript([lockKey, OP.CHECKSIG, ...pushed, ...drops, ...(pushed.length & 1 ? [OP.DROP] : [])])
}
