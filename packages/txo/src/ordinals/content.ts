/**
 * The content of an output, as ordinal file systems serve it: of an inscription, otherwise of a B file behind an OP_RETURN,
 * with the metadata (MAP) beside it.
 */
import type { Outpoint } from '@quoin/primitives'
import { decodeB } from '../scripts/b.ts'
import { readInscription } from '../scripts/envelope.ts'
import { decodeMap } from '../scripts/map.ts'
import { ScriptView } from '../scripts/view.ts'

export interface Content {
  /** The media type as the script has it; `application/octet-stream` where it has none. */
  readonly type: string
  readonly bytes: Uint8Array
}

export interface OutputContent {
  readonly content: Content | undefined
  /** The pairs that MAP sets. */
  readonly map: Readonly<Record<string, string>> | undefined
  readonly parent: Outpoint | undefined
}

const UNTYPED = 'application/octet-stream'

export const readContent = (script: Uint8Array): OutputContent => {
  const view = new ScriptView(script)
  const inscription = view.once(readInscription)
  const file = inscription ? undefined : decodeB(view)
  const map = decodeMap(view)
  return {
    content: inscription
      ? { type: inscription.type || UNTYPED, bytes: inscription.content }
      : file && { type: file.mediaType || UNTYPED, bytes: file.content },
    map: map?.cmd === 'SET' ? map.data : undefined,
    parent: inscription?.parent
  }
}
