/** `insc`: inscriptions on single satoshis (1Sat Ordinals). The index keeps the hash of their content. */
import { sha256 } from '@quoin/chain'
import { formatOutpoint, type TokenId } from '@quoin/primitives'
import { type InscriptionField, readInscription } from './envelope.ts'
import { scriptEvents } from './events.ts'
import { readOwners } from './locking.ts'
import type { ScriptParser } from './parser.ts'
import { hexOf, isClaim, mediaTypeOf } from './text.ts'

/** Longer values of fields that the parser does not interpret are replaced by their size. */
const MAX_FIELD_BYTES = 1024

const { inscriptionType, inscriptionParent } = scriptEvents.types

export const inscriptionParser: ScriptParser = {
  tag: 'insc',
  about: 'Inscriptions on single satoshis.',
  parse(view, { satoshis }) {
    const inscription = satoshis === 1 ? view.once(readInscription) : undefined
    if (!inscription) return undefined
    const { type, content, fields } = inscription
    const parent = inscription.parent && (formatOutpoint(inscription.parent, '_') as TokenId)
    const mediaType = mediaTypeOf(type)
    return {
      data: {
        file: { hash: hexOf(sha256(content)), size: content.length, type },
        ...(parent && { parent }),
        ...(fields.length > 0 && { fields: fieldsOf(fields) })
      },
      events: [
        ...(isClaim(mediaType) ? [inscriptionType.text(mediaType)] : []),
        ...(parent ? [inscriptionParent.text(parent)] : [])
      ],
      owners: view.once(readOwners)
    }
  }
}

/** Fields by number or name. */
const fieldsOf = (fields: readonly InscriptionField[]): unknown[] =>
  fields
    .filter(({ field }) => typeof field === 'number' || field.length <= MAX_FIELD_BYTES)
    .map(({ field, value }) => ({
      field: typeof field === 'number' ? field : hexOf(field),
      size: value.length,
      ...(value.length <= MAX_FIELD_BYTES && { value: hexOf(value) })
    }))
