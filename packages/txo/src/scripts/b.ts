/**
 * `b`: a file (github.com/unwriter/B): ‹data› ‹media type› [‹encoding›] [‹file name›]. The index keeps the hash of the
 * data. Some writers give a zero byte for a file without a name.
 */
import { sha256 } from '@quoin/chain'
import { fieldsOf, readBitcom, segmentsOf } from './bitcom.ts'
import { scriptEvents } from './events.ts'
import { NONE, type ScriptParser } from './parser.ts'
import { hexOf, isClaim, mediaTypeOf, textOf } from './text.ts'
import { type ScriptView, viewOf } from './view.ts'

export interface BFile {
  readonly content: Uint8Array
  readonly mediaType: string
  readonly encoding: string | undefined
  readonly filename: string | undefined
}

const PROTOCOL = '19HxigV4QyBv3tHpQVcUEQyq1pzZVdoAut'

/** The first file of a script. */
export const decodeB = (script: Uint8Array | ScriptView): BFile | undefined => {
  const bitcom = viewOf(script).once(readBitcom)
  for (const [, segment] of bitcom ? segmentsOf(bitcom, PROTOCOL) : []) {
    const [content, type, encoding, filename] = fieldsOf(bitcom!, segment, 4)
    const mediaType = textOf(type)
    if (content && mediaType) {
      return { content, mediaType, encoding: nameOf(encoding), filename: nameOf(filename) }
    }
  }
  return undefined
}

const nameOf = (bytes: Uint8Array | undefined): string | undefined => {
  const text = textOf(bytes)
  return text === '' || text === '\0' ? undefined : text
}

export const bParser: ScriptParser = {
  tag: 'b',
  about: 'Files behind an OP_RETURN.',
  parse(view) {
    const file = decodeB(view)
    if (!file) return undefined
    const { content, mediaType, encoding, filename } = file
    const type = mediaTypeOf(mediaType)
    return {
      data: {
        hash: hexOf(sha256(content)),
        size: content.length,
        mediaType,
        ...(encoding !== undefined && { encoding }),
        ...(filename !== undefined && { filename })
      },
      events: isClaim(type) ? [scriptEvents.types.bType.text(type)] : NONE,
      owners: NONE
    }
  }
}
